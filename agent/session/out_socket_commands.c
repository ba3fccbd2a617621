/* SPDX-License-Identifier: BSD-2-Clause */
/* out_socket_commands.c: reads commands from the connection, at a bounded rate and into a bounded number of places. */
#include "out_socket_internal.h"
#include <errno.h>

#define PLACES     64u /* most commands handed over and not started; then the peer must wait */
#define PER_WINDOW (1u << 20)
#define WINDOW_NS  UINT64_C(1000000000)

void hpx_socket_reader_reset(struct hpx_out_socket *s)
{
    struct hpx_socket_reader *in = &s->in;
    hpx_commands_init(&in->parser, s->id_size);
    in->reading = true;
    in->end_seen = false;
    in->at = in->len = 0; /* the rate limit continues, so that reconnecting does not reset it */
}

/* true if another command has a place; otherwise begun() wakes the net thread. */
static bool has_place(struct hpx_out_socket *s)
{
    hpx_socket_lock(s);
    s->held = s->in_flight >= PLACES;
    bool place = !s->held;
    hpx_socket_unlock(s);
    return place;
}

bool hpx_socket_wants_input(struct hpx_out_socket *s, uint64_t now, uint64_t *again_at)
{
    struct hpx_socket_reader *in = &s->in;
    *again_at = 0;
    if (!in->reading || !has_place(s)) {
        return false;
    }
    if (now - in->window >= WINDOW_NS) {
        in->window = now;
        in->in_window = 0;
    }
    if (in->in_window >= PER_WINDOW) {
        *again_at = in->window + WINDOW_NS;
        return false;
    }
    return true;
}

static void hand_over(struct hpx_out_socket *s, const struct hpx_command *c)
{
    bool dumps = hpx_command_dumps(c->tag);
    hpx_socket_lock(s);
    bool refused = dumps && s->waiting[c->tag];
    if (refused) {
        s->count.refused_commands++;
    } else {
        s->in_flight++;
        s->waiting[c->tag] = dumps;
    }
    hpx_socket_unlock(s);
    if (refused) {
        hpx_out_socket_complain(s, "command %s, serial %u: ignored: another one is pending", hpx_command_name(c->tag), c->serial);
    } else {
        s->owner.command(s->owner.ctx, c);
    }
}

static void take(struct hpx_out_socket *s, const struct hpx_command *c)
{
    if (c->fault != HPX_COMMAND_GOOD) {
        hpx_socket_lock(s);
        s->count.faulty_commands++;
        hpx_socket_unlock(s);
        hpx_out_socket_complain(s, "%s, tag %u, serial %u, %u bytes: ignored: %s", hpx_command_name(c->tag), c->tag, c->serial, c->length,
                                hpx_command_fault_text(c->fault));
    } else if (c->tag == HPX_COMMAND_EOF) {
        s->in.reading = false;
    } else {
        hand_over(s, c);
    }
}

void hpx_socket_deliver(struct hpx_out_socket *s)
{
    struct hpx_socket_reader *in = &s->in;
    while (in->reading && in->at < in->len && has_place(s)) {
        struct hpx_command c;
        bool found;
        in->at += (uint32_t)hpx_commands_feed(&in->parser, in->bytes + in->at, in->len - in->at, &c, &found);
        if (found) {
            take(s, &c);
        } else if (in->parser.state == HPX_COMMANDS_BROKEN) {
            in->reading = false; /* where the next command begins is unknown */
            hpx_out_socket_complain(
                s,
                "tag %u, serial %u: length of %u bytes exceeds %u; no further command is read from this connection; the output continues",
                c.tag, c.serial, c.length, HPX_COMMAND_MAX_LENGTH);
        }
    }
}

int hpx_socket_receive(struct hpx_out_socket *s)
{
    struct hpx_socket_reader *in = &s->in;
    if (in->at < in->len) {
        hpx_socket_deliver(s);
        return 0;
    }
    ssize_t n = s->ops->recv(s->sys, atomic_load_explicit(&s->fd, memory_order_relaxed), in->bytes, sizeof(in->bytes));
    if (n < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
    }
    if (n == 0) { /* the peer may still read */
        in->reading = false;
        in->end_seen = true;
        return 0;
    }
    in->at = 0;
    in->len = (uint32_t)n;
    in->in_window += (uint64_t)n;
    hpx_socket_deliver(s);
    return 0;
}
