/* SPDX-License-Identifier: BSD-2-Clause */
/* socket_fixture.h: an owner of out_socket over the network of socket_fake.h, for its unit tests. */
#ifndef HPX_SOCKET_FIXTURE_H
#define HPX_SOCKET_FIXTURE_H

#include "socket_fake.h"

#define HEADER "HEADER\n"

static struct hpx_out out;
static struct hpx_out_socket *sock;
static unsigned wakes, restarts, ncommands;
static struct hpx_command commands[256];

static void wake(void *ctx)
{
    assert_ptr_equal(ctx, &out);
    wakes++;
}

static bool record(const char *text)
{
    hpx_out_str(&out, text);
    return hpx_out_record(&out);
}

static void restart(void *ctx)
{
    assert_ptr_equal(ctx, &out);
    restarts++;
    record(HEADER);
}

static void command(void *ctx, const struct hpx_command *c)
{
    assert_ptr_equal(ctx, &out);
    assert_true(ncommands < HPX_ARRAY_LEN(commands));
    commands[ncommands++] = *c;
}

static struct hpx_out_socket_config config(void)
{
    return (struct hpx_out_socket_config){.peer = "host.example:9000",
                                          .queue = 1024,
                                          .end_ns = 2000 * FAKE_MS,
                                          .id_size = 8,
                                          .ops = &fake_ops,
                                          .owner = {&out, wake, restart, NULL, command}};
}

static int setup(void **state)
{
    (void)state;
    fake_reset();
    said_begin();
    wakes = restarts = ncommands = 0;
    sock = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (sock != NULL) {
        hpx_out_socket_destroy(sock);
        sock = NULL;
    }
    said_end();
    return 0;
}

/* Everything anew, for one more round of a test. */
static inline void begin_again(void **state)
{
    teardown(state);
    setup(state);
}

static void open_with(const struct hpx_out_socket_config *cfg)
{
    struct hpx_err err;
    assert_int_equal(hpx_out_socket_open(&out, &sock, cfg, &err), 0);
}

static inline void open_live(void)
{
    struct hpx_out_socket_config cfg = config();
    open_with(&cfg);
    assert_true(hpx_out_socket_turn(sock));
}

static void steps(unsigned n)
{
    while (n-- > 0) {
        assert_true(hpx_out_socket_step(sock));
    }
}

static inline void assert_got(const char *text)
{
    if (fake.len != strlen(text) || memcmp(fake.got, text, fake.len) != 0) {
        fail_msg("got %.*s instead of %s", (int)fake.len, fake.got, text);
    }
}

static void end(void)
{
    assert_int_equal(hpx_out_close(&out), 0);
    assert_false(fake.open);
    assert_conserved(sock, 0);
}

#endif
