/* SPDX-License-Identifier: BSD-2-Clause */
/* program.c: hprofx-bci, the rewriter by hand: one class file, a stream of requests, or a jar. */
#include "program.h"
#include "compiler.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LENGTH_MAX = 64 << 20 };

static const char usage_text[] =
    "usage: hprofx-bci [OPTION...] IN.class OUT.class\n"
    "       hprofx-bci [OPTION...] --jar IN.jar OUT.jar\n"
    "       hprofx-bci [OPTION...] --batch\n"
    "\n"
    "Puts calls of a tracker class into the methods of Java classes.\n"
    "\n"
    "  --calls         at the entry and at every exit; default if no other kind is given\n"
    "  --sites         behind every instruction that allocates, with the number of the site\n"
    "  --objects       behind every instruction that makes an array, and in the constructor of java.lang.Object\n"
    "  --stores FIELD  behind every instruction that stores to a field of this name\n"
    "  --tracker NAME  internal name of the class that is called (" HPROFX_BCI_TRACKER ")\n"
    "  --first N       number of the first method and of the first site (0)\n"
    "  --min N         leave methods of fewer bytes of code without --calls (0)\n"
    "  --no-handler    no calls where a method is left by an exception\n"
    "  --no-exit       calls where a method is entered alone\n"
    "  --verbose       print what was done, and why what was not\n"
    "  --jar           rewrite the classes of a jar, copy what else is in it\n"
    "  --batch         serve requests on stdin until one of length 0; all big endian:\n"
    "                    u4 length, u4 class number, u1 flags (1: of the boot loader), the class\n"
    "                  with answers on stdout:\n"
    "                    u1 status (0 rewritten, 1 left alone, 2 refused), u4 length, the class or the reason\n"
    "                  The class number is the number of the class's first method and of its first site.\n"
    "  --help          print this\n"
    "\n"
    "Exit status: 0 rewritten; 1 valid, but left alone; 2 refused; 64 wrong usage; 65 a bad request; 66 a file that cannot be read or "
    "written.\n"
    "With --jar: 0; 1 if a class was refused and copied.\n";

static uint64_t now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int hpx_summary_rewrite(struct hpx_summary *s, const struct hprofx_bci_opts *opts, const uint8_t *in, size_t n, uint8_t **out, size_t *m,
                        const char **why)
{
    struct hprofx_bci_result r;
    struct hprofx_bci_opts counted = *opts;
    counted.result = &r;
    uint64_t start = now();
    int how = hprofx_bci_rewrite(&counted, in, n, out, m, why);
    s->nanoseconds += now() - start;
    s->classes[how]++;
    s->bytes_in += n;
    s->bytes_out += *m;
    s->methods += r.with_code;
    s->rewritten += r.rewritten;
    s->sites += r.sites;
    s->objects += r.objects;
    s->widened += r.widened;
    s->huge += r.huge;
    s->whole += r.whole;
    s->steps += r.steps;
    for (int i = 0; i < HPROFX_BCI_LEFT_COUNT; i++) {
        s->left[i] += r.left[i];
    }
    for (int i = 0; i < HPROFX_BCI_BARE_COUNT; i++) {
        s->bare[i] += r.bare[i];
    }
    return how;
}

void hpx_summary_print(const struct hpx_summary *s)
{
    double seconds = (double)s->nanoseconds * 1e-9;
    uint64_t classes = s->classes[0] + s->classes[1] + s->classes[2];
    fprintf(stderr, "%" PRIu64 " classes: %" PRIu64 " rewritten, %" PRIu64 " left alone, %" PRIu64 " refused\n", classes, s->classes[0],
            s->classes[1], s->classes[2]);
    fprintf(stderr,
            "%" PRIu64 " methods with code: %" PRIu64 " rewritten, %" PRIu64 " branches widened, %" PRIu64 " now above 8000 bytes\n",
            s->methods, s->rewritten, s->widened, s->huge);
    if (s->sites > 0 || s->objects > 0) {
        fprintf(stderr, "%" PRIu64 " probes of sites, %" PRIu64 " of objects\n", s->sites, s->objects);
    }
    for (int i = 0; i < HPROFX_BCI_LEFT_COUNT; i++) {
        if (s->left[i] > 0) {
            fprintf(stderr, "  %" PRIu64 " left alone: %s\n", s->left[i], hprofx_bci_left_text((enum hprofx_bci_left)i));
        }
    }
    for (int i = 0; i < HPROFX_BCI_BARE_COUNT; i++) {
        if (s->bare[i] > 0) {
            fprintf(stderr, "  %" PRIu64 " without a handler: %s\n", s->bare[i], hprofx_bci_bare_text((enum hprofx_bci_bare)i));
        }
    }
    if (s->whole > 0) {
        fprintf(stderr, "  %" PRIu64 " with exit calls inside the handler: the exception table would be too long\n", s->whole);
    }
    if (seconds > 0 && s->bytes_in > 0) {
        fprintf(stderr, "%" PRIu64 " bytes to %" PRIu64 " in %.3f s: %.1f MB/s, %.0f classes/s, %.2f steps a byte\n", s->bytes_in,
                s->bytes_out, seconds, (double)s->bytes_in * 1e-6 / seconds, (double)classes / seconds,
                (double)s->steps / (double)s->bytes_in);
    }
}

/* The whole file, malloc'ed; NULL with errno set. */
static uint8_t *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rbe");
    uint8_t *p = NULL;
    size_t cap = 0;
    *n = 0;
    while (f != NULL && !ferror(f) && !feof(f)) {
        if (*n == cap) {
            cap = cap == 0 ? (size_t)1 << 16 : cap * 2;
            uint8_t *more = cap > LENGTH_MAX ? NULL : realloc(p, cap);
            if (more == NULL) {
                errno = cap > LENGTH_MAX ? EFBIG : ENOMEM;
                break;
            }
            p = more;
        }
        *n += fread(p + *n, 1, cap - *n, f);
    }
    bool good = f != NULL && feof(f) && !ferror(f);
    int error = errno;
    if (f != NULL) {
        (void)fclose(f);
    }
    if (!good) {
        free(p);
        p = NULL;
    }
    errno = error;
    return p;
}

static bool write_file(const char *path, const uint8_t *p, size_t n)
{
    FILE *f = fopen(path, "wbe");
    if (f == NULL) {
        return false;
    }
    bool good = fwrite(p, 1, n, f) == n;
    return fclose(f) == 0 && good;
}

static int one_class(const struct hprofx_bci_opts *opts, const char *in, const char *out, bool verbose)
{
    size_t n, m;
    uint8_t *bytes = read_file(in, &n), *rewritten;
    const char *why;
    struct hpx_summary s = {0};
    if (bytes == NULL) {
        fprintf(stderr, "hprofx-bci: %s: %s\n", in, strerror(errno));
        return HPX_EXIT_FILE;
    }
    int how = hpx_summary_rewrite(&s, opts, bytes, n, &rewritten, &m, &why);
    if (how != 0) {
        fprintf(stderr, "hprofx-bci: %s: %s: %s\n", in, how == 1 ? "left alone" : "refused", why);
    } else if (!write_file(out, rewritten, m)) {
        fprintf(stderr, "hprofx-bci: %s: %s\n", out, strerror(errno));
        how = HPX_EXIT_FILE;
    }
    if (verbose) {
        hpx_summary_print(&s);
    }
    free(bytes);
    free(rewritten);
    return how;
}

static uint32_t u4(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool answer(int status, const void *p, size_t n)
{
    uint8_t head[5] = {(uint8_t)status, (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    return fwrite(head, 1, sizeof(head), stdout) == sizeof(head) && fwrite(p, 1, n, stdout) == n && fflush(stdout) == 0;
}

/* One request of n bytes, whose head has been read. */
static int serve(struct hprofx_bci_opts *opts, struct hpx_summary *s, uint8_t *bytes, size_t n)
{
    uint8_t head[5], *out;
    size_t m;
    const char *why;
    if (fread(head, 1, sizeof(head), stdin) != sizeof(head) || fread(bytes, 1, n, stdin) != n) {
        fprintf(stderr, "hprofx-bci: the request is cut off\n");
        return HPX_EXIT_DATA;
    }
    opts->first = opts->first_site = u4(head);
    int how = hpx_summary_rewrite(s, opts, bytes, n, &out, &m, &why);
    bool written = how == 0 ? answer(0, out, m) : answer(how, why, strlen(why));
    free(out);
    if (!written) {
        fprintf(stderr, "hprofx-bci: stdout: %s\n", strerror(errno));
        return HPX_EXIT_FILE;
    }
    return 0;
}

static int batch(struct hprofx_bci_opts *opts, bool verbose)
{
    struct hpx_summary s = {0};
    int status = 0;
    while (status == 0) {
        uint8_t head[4];
        if (fread(head, 1, sizeof(head), stdin) != sizeof(head)) {
            fprintf(stderr, "hprofx-bci: the request is cut off\n");
            return HPX_EXIT_DATA;
        }
        uint32_t n = u4(head);
        if (n == 0) {
            break;
        }
        if (n > LENGTH_MAX) {
            fprintf(stderr, "hprofx-bci: a request of %" PRIu32 " bytes, above %d\n", n, LENGTH_MAX);
            return HPX_EXIT_DATA;
        }
        uint8_t *bytes = malloc(n); /* exactly n bytes, so that a sanitizer sees a read past the end */
        if (bytes == NULL) {
            fprintf(stderr, "hprofx-bci: no memory\n");
            return HPX_EXIT_FILE;
        }
        status = serve(opts, &s, bytes, n);
        free(bytes);
    }
    if (verbose) {
        hpx_summary_print(&s);
    }
    return status;
}

/* A decimal number up to INT32_MAX. */
static bool number(const char *s, uint32_t *v)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(s, &end, 10);
    *v = (uint32_t)n;
    return *s >= '0' && *s <= '9' && *end == '\0' && errno == 0 && n <= INT32_MAX;
}

static int usage(void)
{
    fputs(usage_text, stderr);
    return HPX_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"calls", no_argument, NULL, 'c'},        {"sites", no_argument, NULL, 's'},
                                            {"objects", no_argument, NULL, 'o'},      {"tracker", required_argument, NULL, 't'},
                                            {"first", required_argument, NULL, 'f'},  {"min", required_argument, NULL, 'm'},
                                            {"no-handler", no_argument, NULL, 'n'},   {"no-exit", no_argument, NULL, 'e'},
                                            {"verbose", no_argument, NULL, 'v'},      {"jar", no_argument, NULL, 'j'},
                                            {"batch", no_argument, NULL, 'b'},        {"help", no_argument, NULL, 'h'},
                                            {"stores", required_argument, NULL, 'w'}, {NULL, 0, NULL, 0}};
    struct hprofx_bci_opts opts = {.tracker = NULL};
    bool verbose = false;
    int mode = 0, option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        bool good = true;
        switch (option) {
        case 'c':
            opts.probes |= HPROFX_BCI_CALLS;
            break;
        case 's':
            opts.probes |= HPROFX_BCI_SITES;
            break;
        case 'o':
            opts.probes |= HPROFX_BCI_OBJECTS;
            break;
        case 'w':
            opts.probes |= HPROFX_BCI_STORES;
            opts.stores = optarg;
            break;
        case 't':
            opts.tracker = optarg;
            good = *optarg != '\0' && strlen(optarg) <= 65535;
            break;
        case 'f':
            good = number(optarg, &opts.first);
            opts.first_site = opts.first;
            break;
        case 'm':
            good = number(optarg, &opts.min);
            break;
        case 'n':
            opts.no_handler = true;
            break;
        case 'e':
            opts.no_exit = true;
            break;
        case 'v':
            verbose = true;
            break;
        case 'h':
            return fputs(usage_text, stdout) < 0 || fflush(stdout) != 0 ? HPX_EXIT_FILE : 0;
        case 'j':
        case 'b':
            good = mode == 0;
            mode = option;
            break;
        default:
            good = false;
            break;
        }
        if (!good) {
            return usage();
        }
    }
    if (argc - optind != (mode == 'b' ? 0 : 2)) {
        return usage();
    }
    if (mode == 'b') {
        return batch(&opts, verbose);
    }
    return mode == 'j' ? hpx_jar_rewrite(&opts, argv[optind], argv[optind + 1], verbose)
                       : one_class(&opts, argv[optind], argv[optind + 1], verbose);
}
