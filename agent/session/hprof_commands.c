/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_commands.c: the parser of hprof_commands.h. */
#include "hprof_commands.h"
#include "big_endian.h"
#include <string.h>

static float get_float(const uint8_t *p)
{
    uint32_t bits = hpx_get_be4(p);
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

static const struct {
    const char *name;
    uint8_t least; /* bytes of the body without which it means nothing */
    bool dumps;
} known[] = {
    [HPX_COMMAND_FORCE_GC] = {"FORCE GC", 0, false},      [HPX_COMMAND_DUMP_HEAP] = {"DUMP HEAP", 0, true},
    [HPX_COMMAND_ALLOC_SITES] = {"ALLOC SITES", 6, true}, [HPX_COMMAND_HEAP_SUMMARY] = {"HEAP SUMMARY", 0, true},
    [HPX_COMMAND_EXIT] = {"EXIT THE VM", 0, false},       [HPX_COMMAND_DUMP_TRACES] = {"DUMP TRACES", 0, true},
    [HPX_COMMAND_CPU_SAMPLES] = {"CPU SAMPLES", 6, true}, [HPX_COMMAND_CONTROL] = {"CONTROL", 2, false},
};

static bool is_known(uint8_t tag)
{
    return tag < HPX_ARRAY_LEN(known) && known[tag].name != NULL;
}

const char *hpx_command_name(uint8_t tag)
{
    if (tag == HPX_COMMAND_EOF) {
        return "EOF";
    }
    return is_known(tag) ? known[tag].name : "unknown command";
}

const char *hpx_command_fault_text(enum hpx_command_fault f)
{
    switch (f) {
    case HPX_COMMAND_UNKNOWN_TAG:
        return "unknown tag";
    case HPX_COMMAND_UNKNOWN_SUB:
        return "unknown sub option";
    case HPX_COMMAND_SHORT:
        return "the body is too short";
    case HPX_COMMAND_GOOD:
        break;
    }
    return "";
}

bool hpx_command_dumps(uint8_t tag)
{
    return is_known(tag) && known[tag].dumps;
}

void hpx_commands_init(struct hpx_commands *p, uint8_t id_size)
{
    *p = (struct hpx_commands){.id_size = id_size};
}

/* `least`: bytes of the body with the sub option. */
static void control(struct hpx_command *c, enum hpx_control what, uint32_t least)
{
    if (c->length < least) {
        c->fault = HPX_COMMAND_SHORT;
    } else {
        c->control = what;
    }
}

static void control_depth(struct hpx_command *c, const uint8_t *body)
{
    control(c, HPX_CONTROL_DEPTH, 4);
    if (c->control == HPX_CONTROL_DEPTH) {
        uint32_t depth = hpx_get_be2(body + 2);
        c->depth_cut = depth > HPX_COMMAND_MAX_DEPTH;
        c->depth = (uint16_t)(c->depth_cut ? HPX_COMMAND_MAX_DEPTH : depth);
    }
}

static void control_thread(struct hpx_command *c, const uint8_t *body, uint8_t id_size)
{
    control(c, c->sub == 3 ? HPX_CONTROL_CPU_ON : HPX_CONTROL_CPU_OFF, 6);
    if (c->control != HPX_CONTROL_NONE) {
        c->thread = hpx_get_be4(body + 2);
        if (id_size == 8 && c->length >= 10) {
            c->thread = c->thread << 32 | hpx_get_be4(body + 6);
        }
    }
}

static void decode_control(struct hpx_command *c, const uint8_t *body, uint8_t id_size)
{
    c->sub = hpx_get_be2(body);
    switch (c->sub) {
    case 1:
    case 2:
        control(c, c->sub == 1 ? HPX_CONTROL_ALLOC_ON : HPX_CONTROL_ALLOC_OFF, 2);
        break;
    case 3:
    case 4:
        control_thread(c, body, id_size);
        break;
    case 5:
        control(c, HPX_CONTROL_CLEAR_CPU, 2);
        break;
    case 6:
        if (c->length == 2) {
            control(c, HPX_CONTROL_CLEAR_SITES, 2);
            break;
        }
        control_depth(c, body);
        break;
    case 7:
        control_depth(c, body);
        break;
    default:
        c->fault = HPX_COMMAND_UNKNOWN_SUB;
        break;
    }
}

static void decode(const struct hpx_commands *p, struct hpx_command *c)
{
    const uint8_t *body = p->body;
    if (!is_known(c->tag)) {
        c->fault = HPX_COMMAND_UNKNOWN_TAG;
    } else if (c->length < known[c->tag].least) {
        c->fault = HPX_COMMAND_SHORT;
    } else if (c->tag == HPX_COMMAND_CONTROL) {
        decode_control(c, body, p->id_size);
    } else if (c->tag == HPX_COMMAND_ALLOC_SITES || c->tag == HPX_COMMAND_CPU_SAMPLES) {
        c->flags = hpx_get_be2(body);
        c->cutoff = get_float(body + 2);
    }
}

static size_t less(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t take_head(struct hpx_commands *p, const uint8_t *from, size_t n)
{
    size_t k = less(n, sizeof(p->head) - p->have);
    memcpy(p->head + p->have, from, k);
    p->have += (uint32_t)k;
    return k;
}

static size_t take_body(struct hpx_commands *p, const uint8_t *from, size_t n)
{
    size_t k = less(n, p->length - p->got);
    if (p->got < sizeof(p->body)) {
        memcpy(p->body + p->got, from, less(k, sizeof(p->body) - p->got));
    }
    p->got += (uint32_t)k;
    return k;
}

static void start_command(const struct hpx_commands *p, struct hpx_command *c)
{
    *c = (struct hpx_command){.tag = p->head[0], .serial = hpx_get_be4(p->head + 1), .length = hpx_get_be4(p->head + 5)};
}

size_t hpx_commands_feed(struct hpx_commands *p, const void *bytes, size_t n, struct hpx_command *c, bool *found)
{
    const uint8_t *from = bytes;
    size_t taken = 0;
    *found = false;
    while (p->state == HPX_COMMANDS_OPEN) {
        if (p->have == sizeof(p->head) && p->got == p->length) {
            start_command(p, c);
            decode(p, c);
            hpx_commands_init(p, p->id_size);
            *found = true;
            return taken;
        }
        if (taken == n) {
            return taken;
        }
        if (p->have == sizeof(p->head)) {
            taken += take_body(p, from + taken, n - taken);
            continue;
        }
        taken += take_head(p, from + taken, n - taken);
        if (p->head[0] == HPX_COMMAND_EOF) {
            *c = (struct hpx_command){.tag = HPX_COMMAND_EOF};
            p->state = HPX_COMMANDS_ENDED;
            *found = true;
            return n;
        }
        if (p->have == sizeof(p->head)) {
            p->length = hpx_get_be4(p->head + 5);
            if (p->length > HPX_COMMAND_MAX_LENGTH) {
                start_command(p, c);
                p->state = HPX_COMMANDS_BROKEN;
            }
        }
    }
    return n;
}
