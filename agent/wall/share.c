/* SPDX-License-Identifier: BSD-2-Clause */
/* share.c: see share.h. */
#include "share.h"

#define IDLE_PART 16u /* a period is at most this part of the idle time so far */
#define SPREAD    16u /* periods over which what is owed is balanced */

static uint64_t less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* After long periods what is owed may be as long, and is balanced as slowly: short waits that follow must not get a part of it that
 * matters to them. The caller has set end_ns. */
static void plan(struct hpx_share *s, const struct hpx_share_pace *p)
{
    uint64_t length = s->stays ? least((s->looked_ns - s->idle_since) / IDLE_PART, p->most) : 0;
    length = length > p->interval ? length : p->interval;
    s->next_ns = s->end_ns + (uint64_t)((double)(p->random >> 11) * 0x1p-53 * (double)length);
    s->next_end_ns = s->end_ns + length;
    s->spread_ns = s->spread_ns > SPREAD * length ? s->spread_ns : SPREAD * length;
}

void hpx_share_begin(struct hpx_share *s, uint64_t now, uint64_t cpu, const struct hpx_share_pace *p)
{
    *s = (struct hpx_share){.looked_ns = now, .cpu_ns = cpu, .ran_ns = now, .idle_since = now, .given_ns = now, .end_ns = now};
    plan(s, p);
}

/* Time until then goes to the place of the period, and a part of what was owed when the period began. */
static void give(struct hpx_share *s, uint64_t until)
{
    uint64_t ns = less(until, s->given_ns);
    int64_t extra = s->placed ? (int64_t)((double)ns * s->balance) : -(int64_t)ns;
    s->given_ns += ns;
    s->owed_ns -= extra;
    if (s->placed) {
        s->due_ns += (uint64_t)((int64_t)ns + extra);
        s->spread_ns = less(s->spread_ns, ns / 2); /* plan() keeps it long enough */
    }
}

/* Time that was not spent waiting, since the clocks were read last: a part of it before the end of the period that was looked at last, the
 * rest after. A thread that was found running was running on. */
static void take(struct hpx_share *s, uint64_t passed, uint64_t ns)
{
    uint64_t first = least(less(s->end_ns, s->looked_ns), passed), part = least(ns, first);
    if (s->placed && passed > 0) {
        part = (uint64_t)((double)ns * (double)first / (double)passed);
    }
    s->owed_ns -= (int64_t)part;
    s->later_ns += ns - part;
}

/* A delay is reported when the thread has a CPU again: the looks before took it for waiting, and its time was owed or due. */
static void read_clocks(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay)
{
    uint64_t passed = less(now, s->looked_ns);
    if (hpx_share_has_run(s, cpu)) {
        uint64_t used = least(less(cpu, s->cpu_ns), passed);
        int64_t nobodys = s->owed_ns - (int64_t)s->later_ns + (int64_t)less(s->looked_ns, s->given_ns);
        uint64_t ready = least(delay, passed - used + (nobodys > 0 ? (uint64_t)nobodys : 0)), late = least(delay - ready, s->due_ns);
        s->due_ns -= late;
        s->ready_ns += ready + late;
        take(s, passed, used + ready);
        s->stays = false;
        s->ran_ns = s->looked_ns;
        s->idle_since = now;
    }
    s->looked_ns = now > s->looked_ns ? now : s->looked_ns;
    s->cpu_ns = cpu;
}

bool hpx_share_look(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay, const struct hpx_share_pace *p)
{
    s->owed_ns -= (int64_t)s->later_ns;
    s->later_ns = 0;
    read_clocks(s, now, cpu, delay);
    give(s, least(s->end_ns, s->looked_ns));
    uint64_t period = less(s->next_end_ns, s->end_ns), spread = s->spread_ns > period ? s->spread_ns : period; /* a late look uses it up */
    double balance = spread > 0 ? (double)s->owed_ns / (double)spread : 0;
    s->balance = balance > 1 ? 1 : balance < -1 ? -1 : balance;
    give(s, s->stays ? s->looked_ns : s->given_ns);
    s->placed = s->stays;
    s->end_ns = s->next_end_ns > s->looked_ns ? s->next_end_ns : s->looked_ns;
    plan(s, p);
    return !s->stays;
}

/* The rest of the next period is a period, too: its look is equally likely at every moment that is left. */
void hpx_share_read(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay)
{
    read_clocks(s, now, cpu, delay);
    if (s->stays && s->looked_ns > s->end_ns && s->looked_ns < s->next_ns) {
        s->end_ns = s->looked_ns;
    }
    give(s, least(s->end_ns, s->looked_ns));
}

void hpx_share_place(struct hpx_share *s)
{
    s->placed = s->stays = true;
    give(s, s->looked_ns);
}

void hpx_share_end(struct hpx_share *s, uint64_t now, uint64_t cpu, uint64_t delay)
{
    read_clocks(s, now, cpu, delay);
    give(s, s->looked_ns);
}

void hpx_share_queued(struct hpx_share *s)
{
    give(s, s->looked_ns);
    int64_t left = s->owed_ns - (int64_t)s->later_ns;
    uint64_t ns = left > 0 ? least((uint64_t)left, less(s->looked_ns, s->ran_ns)) : 0;
    s->owed_ns -= (int64_t)ns;
    s->ready_ns += ns;
}

uint64_t hpx_share_settle(struct hpx_share *s, bool known, uint64_t *debt)
{
    give(s, s->looked_ns); /* the last look found no place, and no other look follows */
    int64_t left = s->owed_ns - (int64_t)s->later_ns;
    uint64_t owed = left > 0 ? (uint64_t)left : 0, owes = left < 0 ? (uint64_t)-left : 0;
    uint64_t paid = least(owes, s->due_ns), pays = known ? least(owed, *debt) : 0;
    bool to_place = known && owed - pays <= s->spread_ns;
    s->owed_ns = 0;
    s->later_ns = 0;
    *debt = *debt + owes - paid - pays;
    s->due_ns = s->due_ns - paid + (to_place ? owed - pays : 0);
    return to_place ? 0 : owed - pays;
}
