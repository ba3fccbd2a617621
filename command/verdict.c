/* SPDX-License-Identifier: BSD-2-Clause */
/* verdict.c: see verdict.h. The limits are judgements: where a person who reads such profiles would begin to ask another question. */
#include "verdict.h"
#include "certainty.h"
#include "places.h"
#include "words.h"
#include <math.h>

#define IDLE        0.05 /* of one CPU */
#define MUCH_GC     0.2  /* of the CPU time */
#define WARMING_UP  0.3
#define SURE_POINTS 5.0
#define KNOWN       10u /* a tenth of what blocked, of which owners are known, is enough to name them */

static bool has_table(struct hpx_profile *p, int tag)
{
    return hpx_profile_table(p, tag)->seen > 0;
}

static void say_usage(FILE *to, const struct hpx_verdict *v, struct hpx_profile *p)
{
    const struct hpx_usage *u = &v->usage;
    double program = u->total - u->gc - u->compiler - u->agent;
    hpx_words_name(to, v->name, HPX_NAME_COLUMNS, false);
    (void)fprintf(to, " used %.2f of %u CPU%s for %.1f s", u->total / u->at, u->cpus, u->cpus == 1 ? "" : "s", u->at);
    if (u->parts && u->total > 0) {
        (void)fprintf(to, ": %.0f %% the program, %.0f %% garbage collector and VM, %.0f %% compiler",
                      100 * (program > 0 ? program : 0) / u->total, 100 * u->gc / u->total, 100 * u->compiler / u->total);
    }
    (void)fputs(".\n", to);
    if (u->total < IDLE * u->at) {
        (void)fprintf(to, "It was idle nearly all the time.%s\n",
                      has_table(p, HPX_TAG_WALL) ? "" : " -e wall shows what its threads wait for.");
    } else if (u->gc > MUCH_GC * u->total) {
        (void)fprintf(to, "The garbage collector takes much%s.\n", has_table(p, HPX_TAG_SITES) ? "" : ": -e alloc shows who allocates");
    } else if (u->compiler > WARMING_UP * u->total) {
        (void)fputs("The compiler is still busy: the program warms up, and a later profile will differ.\n", to);
    }
}

static void say_period(FILE *to, const struct hpx_profile *p)
{
    char period[HPX_PROFILE_PERIOD];
    hpx_profile_period(p, period);
    if (period[0] != '\0') {
        (void)fprintf(to, "%s%s.\n", p->said.to_ms > 0 ? "From " : "", period);
    }
}

/* A session writes the head of its file when it begins, and tables only at a dump. */
static bool has_dump(const struct hpx_profile *p)
{
    uint64_t n = p->heap_dumps + p->reported + p->counts[HPX_TAG_MONITOR_DUMP];
    for (size_t i = 0; i < HPX_ARRAY_LEN(p->tables); i++) {
        n += p->tables[i].seen;
    }
    return n > 0;
}

/* Of the row that is least sure, with half of all samples: 1.96 / sqrt(4 n). */
static void say_certainty(FILE *to, const struct hpx_verdict *v, struct hpx_profile *p)
{
    const struct hpx_profile_table *t = hpx_profile_table(p, HPX_TAG_SAMPLES);
    if (t->seen == 0) {
        return;
    }
    uint64_t n = hpx_profile_effective(p);
    if (t->table.total == 0) {
        (void)fputs("There is no sample: no Java thread used CPU time.\n", to);
        return;
    }
    double points = 98.0 / sqrt((double)n);
    (void)fprintf(to, "%s sample%s: shares are right within %.1f points", hpx_words_number(t->table.total), t->table.total == 1 ? "" : "s",
                  points);
    if (points > SURE_POINTS && v->bounded && v->usage.at > 0) {
        double longer = v->usage.at * (points / SURE_POINTS) * (points / SURE_POINTS);
        (void)fprintf(to, "; -d %.0fs makes that %.0f", ceil(longer), SURE_POINTS);
    }
    (void)fputs(".\n", to);
}

/* held: by the methods, which own what others wait for. */
static void say_places_of(FILE *to, const struct hpx_profile *p, const struct hpx_places *places, const char *of, bool held)
{
    for (size_t i = 0; i < places->n; i++) {
        const struct hpx_own_place *at = &places->top[i];
        (void)fputs(i == 0 ? "Look at " : ", ", to);
        if (at->what != 0) {
            hpx_words_java(to, hpx_profile_name(p, at->what));
            (void)fputs(held ? " held in " : " in ", to);
        }
        hpx_words_java(to, hpx_profile_name(p, at->where));
        (void)fprintf(to, " (%.0f %%%s)", 100.0 * (double)at->value / (double)places->all, i == 0 ? of : "");
    }
    (void)fputs(places->n > 0 ? ".\n" : "", to);
    if (places->n > 0 && places->not_mine) {
        (void)fputs("Less than 5 % of it is in the code of --mine, so these are of others.\n", to);
    }
}

/* What blocks is with its owners, if enough of these are known. */
static bool say_owners(FILE *to, struct hpx_profile *p)
{
    static const int owners[] = {HPX_TAG_MONITOR_OWNERS};
    struct hpx_profile_table *t = hpx_profile_table(p, HPX_TAG_MONITOR_OWNERS);
    uint64_t owned = hpx_sums_total(&t->sums);
    struct hpx_places places;
    char of[96];
    if (owned == 0 || t->table.total < hpx_profile_table(p, HPX_TAG_LOCK_TIME)->table.total || !hpx_places_find(p, owners, 1, &places) ||
        places.all < owned / KNOWN) {
        return false;
    }
    (void)snprintf(of, sizeof of, " of the time blocked by known owners, which is %.0f %% of it",
                   100.0 * (double)places.all / (double)owned);
    say_places_of(to, p, &places, of, true);
    return places.n > 0;
}

/* false: the tables have nothing. */
static bool say_tables(FILE *to, struct hpx_profile *p, const int *tags, size_t n, const char *of)
{
    struct hpx_places places;
    if (!hpx_places_find(p, tags, n, &places)) {
        return true; /* no memory: the tables say it all */
    }
    of = of != NULL ? of : places.allocated ? " of the allocated bytes" : " of the live bytes";
    say_places_of(to, p, &places, of, false);
    return places.n > 0;
}

/* Of the first table that has something. */
static void say_places(FILE *to, struct hpx_profile *p)
{
    static const int samples[] = {HPX_TAG_SAMPLES}, times[] = {HPX_TAG_TIMES}, calls[] = {HPX_TAG_CALLS}, sites[] = {HPX_TAG_SITES},
                     blocks[] = {HPX_TAG_MONITOR_TIME, HPX_TAG_LOCK_TIME};
    (void)(say_tables(to, p, samples, 1, " of the CPU time") || say_tables(to, p, times, 1, " of the CPU time") ||
           say_tables(to, p, calls, 1, " of the calls") || say_tables(to, p, sites, 1, NULL) || say_owners(to, p) ||
           say_tables(to, p, blocks, 2, " of the blocked time"));
}

static void say_older_code(FILE *to, const struct hpx_profile *p)
{
    if (p->said.older[0] != 0) {
        hpx_words_name(to, p->said.older, 0, false);
        (void)fputs(", lack debug information: methods inlined there count for their callers; -XX:+UnlockDiagnosticVMOptions "
                    "-XX:+DebugNonSafepoints, options of the JVM, avoid this.\n",
                    to);
    }
}

/* live=y writes a row only for what lives. */
static void say_no_live(FILE *to, struct hpx_profile *p)
{
    const struct hpx_profile_table *sites = hpx_profile_table(p, HPX_TAG_SITES);
    if (sites->seen == 0 || sites->rows > 0 || !p->said.live_drawn) {
        return;
    }
    if (p->said.live_some) {
        (void)fputs("Objects live, but the rows of all of them are below cutoff=; cutoff=0 shows them.\n", to);
    } else if (p->said.sampled > 0) {
        (void)fprintf(to, "No object lives: %s allocation%s sampled, and the last collection freed all of these objects.\n",
                      hpx_words_number(p->said.sampled), p->said.sampled == 1 ? " was" : "s were");
    } else {
        (void)fputs("No object lives: no allocation was sampled, because the program allocated too little in so short a session; give a "
                    "longer -d, or a smaller sample=.\n",
                    to);
    }
}

/* What a session that began in a JVM that ran cannot have seen. */
static void say_unseen(FILE *to, struct hpx_profile *p)
{
    static const struct {
        int tag;
        const char *text;
    } all[] = {{HPX_TAG_TIMES, "calls that had begun before it"},
               {HPX_TAG_CALLS, "calls that had begun before it"},
               {HPX_TAG_SITES, "objects allocated before it"},
               {HPX_TAG_MONITOR_DUMP, "waits for monitors and locks that had begun before it"}};
    int n = 0;
    for (size_t i = 0; p->said.late && i < HPX_ARRAY_LEN(all); i++) {
        bool has = all[i].tag == HPX_TAG_MONITOR_DUMP ? p->counts[all[i].tag] > 0 : has_table(p, all[i].tag);
        if (has) {
            (void)fprintf(to, "%s%s", n++ == 0 ? "Not seen, because the session began while the program ran: " : "; ", all[i].text);
        }
    }
    if (n > 0) {
        (void)fputs(".\n", to);
    }
}

void hpx_verdict_say(FILE *to, const struct hpx_verdict *v, struct hpx_profile *p)
{
    if (v->usage.at > 0) {
        say_usage(to, v, p);
    }
    if (!has_dump(p)) {
        (void)fputs(
            "The file has no dump yet. While its session runs, `hprofx dump` writes one; if the program was killed, `hprofx recover` "
            "rebuilds the profile.\n",
            to);
    }
    say_period(to, p);
    say_certainty(to, v, p);
    say_places(to, p);
    say_no_live(to, p);
    say_older_code(to, p);
    say_unseen(to, p);
}
