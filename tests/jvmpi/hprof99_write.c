/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof99_write.c: the text file. Contract: hprof99.h. */
#include "hprof99.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_THREAD 200001
#define FIRST_TRACE  300001

static const JVMPI_Interface *jvmpi;
static int serials;

static const char *date(void)
{
    static char text[64];
    time_t now = time(NULL);
    struct tm tm;
    (void)strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", localtime_r(&now, &tm));
    return text;
}

static const struct book_method *method(jmethodID id)
{
    const struct book_method *m = book_method(id);
    if (m == NULL) {
        (void)book_ask(jvmpi, jvmpi->GetMethodClass(id));
        m = book_method(id);
    }
    return m;
}

static void print_frame(FILE *f, const JVMPI_CallFrame *frame)
{
    const struct book_method *m = method(frame->method_id);
    const char *source = m != NULL && m->of->source[0] != '\0' ? m->of->source : "Unknown Source";
    fprintf(f, "\t%s.%s(%s:", m != NULL ? m->of->name : "Unknown", m != NULL ? m->name : "unknown", source);
    if (frame->lineno > 0) {
        fprintf(f, "%d)\n", (int)frame->lineno);
    } else {
        fprintf(f, "Unknown line)\n");
    }
}

static void print_trace(FILE *f, struct trace *t)
{
    if (t->serial != 0) {
        return;
    }
    t->serial = FIRST_TRACE + serials++;
    fprintf(f, "TRACE %d:\n%s", t->serial, t->n == 0 ? "\t<empty>\n" : "");
    for (int i = 0; i < t->n; i++) {
        print_frame(f, &t->frames[i]);
    }
}

/* ---- CPU SAMPLES ---- */

static int more_samples(const void *a, const void *b)
{
    const struct trace *x = *(struct trace *const *)a, *y = *(struct trace *const *)b;
    return x->samples != y->samples ? (x->samples < y->samples) - (x->samples > y->samples) : x->serial - y->serial;
}

static void print_samples(FILE *f, const struct tables *all)
{
    long total = 0, sum = 0;
    int n = 0;
    qsort(all->traces, (size_t)all->ntraces, sizeof(void *), more_samples);
    for (; n < all->ntraces && all->traces[n]->samples > 0; n++) {
        total += all->traces[n]->samples;
        print_trace(f, all->traces[n]);
    }
    fprintf(f, "CPU SAMPLES BEGIN (total = %ld) %s\n%s", total, date(), n > 0 ? "rank   self  accum   count trace method\n" : "");
    for (int i = 0; i < n; i++) {
        const struct trace *t = all->traces[i];
        const struct book_method *m = method(t->frames[0].method_id);
        sum += t->samples;
        fprintf(f, "%4u %5.2f%% %5.2f%% %7u %5u %s.%s\n", (unsigned)i + 1, (double)t->samples * 100 / (double)total,
                (double)sum * 100 / (double)total, (unsigned)t->samples, (unsigned)t->serial, m != NULL ? m->of->name : "Unknown",
                m != NULL ? m->name : "unknown");
    }
    fprintf(f, "CPU SAMPLES END\n");
}

/* ---- SITES ---- */

static int more_live(const void *a, const void *b)
{
    const struct site *x = *(struct site *const *)a, *y = *(struct site *const *)b;
    return (x->live_bytes < y->live_bytes) - (x->live_bytes > y->live_bytes);
}

static void print_sites(FILE *f, const struct tables *all)
{
    long total = 0, sum = 0;
    qsort(all->sites, (size_t)all->nsites, sizeof(void *), more_live);
    for (int i = 0; i < all->nsites; i++) {
        total += all->sites[i]->live_bytes;
        print_trace(f, all->sites[i]->trace);
    }
    fprintf(f,
            "SITES BEGIN (ordered by live bytes) %s\n          percent          live          alloc'ed  stack class\n"
            " rank   self  accum     bytes objs     bytes  objs trace name\n",
            date());
    for (int i = 0; i < all->nsites; i++) {
        const struct site *s = all->sites[i];
        char name[256];
        book_name(jvmpi, name, sizeof(name), s->class_id, s->is_array);
        sum += s->live_bytes;
        double share = total != 0 ? (double)s->live_bytes / (double)total : 0, accum = total != 0 ? (double)sum / (double)total : 0;
        fprintf(f, "%5u %5.2f%% %5.2f%% %9ld %4ld %9ld %5ld %5u %s\n", (unsigned)i + 1, share * 100, accum * 100, s->live_bytes, s->live,
                s->bytes, s->objects, (unsigned)s->trace->serial, name);
    }
    fprintf(f, "SITES END\n");
}

void write_profile(FILE *f, const JVMPI_Interface *interface, const struct thread *threads, int nthreads, bool samples, bool sites)
{
    const struct tables *all = tables_all();
    jvmpi = interface;
    fprintf(f, "JAVA PROFILE 1.0.1, created %s\n\nWritten by a small agent of JVMPI, a test of hprofx.\n\n--------\n\n", date());
    for (int i = 0; i < nthreads; i++) {
        fprintf(f, "THREAD START (obj=%lx, id = %d, name=\"%s\", group=\"%s\")\n", (unsigned long)(uintptr_t)threads[i].id,
                FIRST_THREAD + i, threads[i].name, threads[i].group);
    }
    if (samples) {
        print_samples(f, all);
    }
    if (sites) {
        print_sites(f, all);
    }
}
