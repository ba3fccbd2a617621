/* SPDX-License-Identifier: BSD-2-Clause */
/* share.c: see share.h. */
#include "share.h"

#define IDLE_PART 16u /* part of the idle time so far that passes unseen: what is misplaced is a small part of what is known */
#define IDLE_MOST 50u /* intervals */

void hpx_share_begin(struct hpx_share *s, uint64_t now, uint64_t cpu)
{
    *s = (struct hpx_share){.looked_ns = now, .cpu_ns = cpu, .idle_since = now};
}

static uint64_t less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

bool hpx_share_look(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay)
{
    uint64_t passed = less(now, s->looked_ns), old = 0;
    bool ran = hpx_share_has_run(s, cpu);
    if (ran) {
        uint64_t idle = less(passed, less(cpu, s->cpu_ns));
        uint64_t ready = delay < idle ? delay : idle;
        uint64_t before = delay - ready < s->carry_ns ? delay - ready : s->carry_ns; /* in looks that found it without a CPU */
        s->ready_ns += ready + before;
        s->carry_ns -= before;
        idle -= ready;
        if (s->placed) {
            old = idle / 2;
        }
        s->due_ns += old;
        s->carry_ns += idle - old;
        s->placed = false;
        s->idle_since = now;
    } else if (s->placed) {
        s->due_ns += passed;
    } else {
        s->carry_ns += passed;
    }
    s->looked_ns = now > s->looked_ns ? now : s->looked_ns;
    s->cpu_ns = cpu;
    return !s->placed;
}

void hpx_share_place(struct hpx_share *s)
{
    s->due_ns += s->carry_ns;
    s->carry_ns = 0;
    s->placed = true;
}

void hpx_share_end(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay)
{
    bool placed = s->placed;
    (void)hpx_share_look(s, now, cpu, delay);
    if (placed) {
        hpx_share_place(s);
    }
}

uint64_t hpx_share_next(const struct hpx_share *s, uint64_t interval)
{
    uint64_t part = s->placed ? (s->looked_ns - s->idle_since) / IDLE_PART : 0, most = IDLE_MOST * interval;
    part = part < most ? part : most;
    return s->looked_ns + (part > interval + interval / 2 ? part : 0); /* looks are spread over half an interval to both sides */
}
