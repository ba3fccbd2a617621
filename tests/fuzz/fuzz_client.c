/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_client.c: libFuzzer over what the command hears from a JVM: the lines of the agent's socket (base/control.h), the answer to a
 * request to attach, and the options in its environment. Input: which of them, then the bytes. */
#include "attach.h"
#include "client.h"
#include "control.h"
#include "fuzz.h"
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uint64_t shown;

static void look(void *unused, const char *text)
{
    (void)unused;
    shown++;
    require(strlen(text) < HPX_CONTROL_LINE, "a line that is too long");
    for (; *text != 0; text++) {
        require((unsigned char)*text >= 0x20 && *text != 0x7F, "a control on its way to the terminal");
    }
}

static uint64_t lines_of(const uint8_t *data, size_t size)
{
    uint64_t n = 0;
    for (const uint8_t *end; (end = memchr(data, '\n', size)) != NULL; n++) {
        size -= (size_t)(end + 1 - data);
        data = end + 1;
    }
    return n;
}

/* Each line is shown or ends an answer, up to one that is too long. */
static void hear_lines(const uint8_t *data, size_t size)
{
    static struct hpx_client c;
    struct hpx_err err;
    char asked[64];
    int ends[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "no sockets");
    require(send(ends[1], data, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size && shutdown(ends[1], SHUT_WR) == 0, "cannot send");
    uint64_t answers = 0, in = lines_of(data, size);
    c.fd = ends[0];
    c.len = 0;
    shown = 0;
    for (enum hpx_status s = HPX_OK; s != HPX_NO_JVM; answers++) {
        s = hpx_client_ask(&c, "status", look, NULL, &err);
        require(recv(ends[1], asked, sizeof asked, MSG_DONTWAIT) > 0, "no request"); /* else they fill the socket */
        require(answers <= in, "an answer from nothing");
    }
    require(shown + answers - 1 <= in && (size > HPX_CONTROL_LINE || shown + answers - 1 == in), "lines lost or made");
    hpx_client_close(&c);
    (void)close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hpx_target none = {.pid = 1};
    struct hpx_err err;
    if (size == 0 || size > 65536) {
        return 0;
    }
    if (data[0] == 'l') {
        hear_lines(data + 1, size - 1);
        return 0;
    }
    char *text = malloc(size);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (data[0] == 'a') {
        (void)hpx_attach_judge(&none, text, "/tmp/libhprofx.so", &err);
    } else {
        (void)hpx_flag_of_text(text, "DisableAttachMechanism");
    }
    free(text);
    return 0;
}
