/* SPDX-License-Identifier: BSD-2-Clause */
/* asked.c: options for the agent, its file, and the profile. Contract: asked.h. */
#include "asked.h"
#include "options.h"
#include "out_name.h"
#include "picture.h"
#include "plain.h"
#include "view.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name, *options;
} kinds[] = {
    {"cpu", "cpu=samples,depth=64"},
    {"wall", "wall=20,depth=64"},
    {"times", "cpu=times,depth=16"},
    {"calls", "cpu=samples,cpu=times,times=counts,depth=64"},
    {"alloc", "heap=sites,sites=sampled,live=n,depth=16"},
    {"live", "heap=sites,sites=sampled,gc=y,depth=16"},
    {"lock", "monitor=y,owner=sampled,waits=y,locks=y,depth=16"},
    {"heap", "heap=dump,sites=none,format=b"},
    {"all", "cpu=samples,heap=sites,sites=sampled,live=n,monitor=y,locks=y,depth=64"},
};

/* Of "all", what JDK 8 has. */
static const char all_of_old[] = "cpu=samples,monitor=y,locks=y,depth=64";

/* Of "lock" with stacks=sampled, which asks for no owners. */
static const char lock_of_sampled[] = "monitor=y,waits=y,locks=y,depth=16";

static const char *mode_of(const struct hpx_asked *a)
{
    return hpx_asked_names_mode(a->more)           ? ""
           : a->old && strcmp(a->what, "all") == 0 ? all_of_old
           : strcmp(a->what, "lock") == 0 && hpx_asked_names(a->more, "stacks") && strstr(a->more, "sampled") != NULL
               ? lock_of_sampled
               : hpx_asked_kind(a->what);
}

/* People look for threads in a picture that can choose one of them, and its stacks shall begin where the threads do. */
static const char *for_picture(const struct hpx_asked *a)
{
    const struct hpx_format *f = hpx_asked_picture(a) ? hpx_format_of(a->out) : NULL;
    return f == NULL ? "" : f->roots || a->threads ? "depth=256," : "thread=y,depth=256,";
}

const char *hpx_asked_kind(const char *what)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i].name, what) == 0) {
            return kinds[i].options;
        }
    }
    return NULL;
}

/* NULL: they have no such option. */
static const char *value_of(const char *more, const char *option)
{
    size_t n = strlen(option);
    for (const char *item = more; item != NULL; item = strchr(item, ',') != NULL ? strchr(item, ',') + 1 : NULL) {
        if (strncmp(item, option, n) == 0 && (item[n] == '=' || item[n] == ':')) {
            return item + n + 1;
        }
    }
    return NULL;
}

bool hpx_asked_names(const char *more, const char *option)
{
    return value_of(more, option) != NULL;
}

bool hpx_asked_keeps(const struct hpx_asked *a)
{
    const char *force = value_of(a->more, "force");
    return force != NULL && *force == 'n';
}

bool hpx_asked_splits(const struct hpx_asked *a)
{
    const char *split = value_of(a->more, "split");
    return split != NULL && *split == 'y';
}

enum hpx_status hpx_asked_is_one(const struct hpx_asked *a, struct hpx_err *err)
{
    return hpx_asked_splits(a) ? hpx_fail(err, HPX_USAGE, "split=y has the JVM write several files; `hprofx start -o FILE` names them")
                               : HPX_OK;
}

bool hpx_asked_is_option(const char *word)
{
    size_t n = strcspn(word, "=:");
    return word[0] == '@' || (word[n] != 0 && n > 0 && strspn(word, "abcdefghijklmnopqrstuvwxyz-.") >= n);
}

bool hpx_asked_names_mode(const char *more)
{
    return hpx_asked_names(more, "cpu") || hpx_asked_names(more, "heap") || hpx_asked_names(more, "monitor") ||
           hpx_asked_names(more, "wall");
}

/* Sites that the user asks for take time to record. */
bool hpx_asked_at_once(const struct hpx_asked *a)
{
    return a->what != NULL && strcmp(a->what, "heap") == 0 && !hpx_asked_names_mode(a->more) &&
           (!hpx_asked_names(a->more, "sites") || strstr(a->more, "sites=none") != NULL || strstr(a->more, "sites:none") != NULL);
}

/* By the table of suffixes; NULL: as the agent writes it. The suffix .gz goes with gz=y. */
static const struct hpx_format *format(const struct hpx_asked *a, struct hpx_err *unknown)
{
    char name[PATH_MAX];
    size_t n = a->out != NULL ? strlen(a->out) : 0;
    if (n == 0 || n >= sizeof name || hpx_asked_is_stdout(a)) {
        return NULL;
    }
    bool packed = n > 3 && strcmp(a->out + n - 3, ".gz") == 0 && hpx_asked_names(a->more, "gz");
    memcpy(name, a->out, n);
    name[packed ? n - 3 : n] = '\0';
    const struct hpx_format *f = hpx_format_of(name);
    if (f == NULL && unknown != NULL) {
        (void)hpx_format_is_unknown(name, unknown);
    }
    return f;
}

bool hpx_asked_picture(const struct hpx_asked *a)
{
    const struct hpx_format *f = format(a, NULL);
    return f != NULL && !f->hprof;
}

bool hpx_asked_is_stdout(const struct hpx_asked *a)
{
    return a->out != NULL && hpx_out_is_stdout(a->out);
}

/* The option for the suffix, where the agent writes the file. */
static const char *format_option(const struct hpx_asked *a)
{
    const struct hpx_format *f = format(a, NULL);
    return f == NULL || !f->hprof || hpx_asked_names(a->more, "format") ? "" : f->binary ? "format=b," : "format=a,";
}

/* -e heap alone is binary without being asked. */
static bool is_binary(const struct hpx_asked *a)
{
    const char *form = value_of(a->more, "format");
    return form != NULL && *form == 'b';
}

static enum hpx_status check_name(const struct hpx_asked *a, struct hpx_err *err)
{
    struct hpx_err unknown = {""};
    const struct hpx_format *f = format(a, &unknown);
    if (unknown.msg[0] != '\0') {
        return hpx_fail(err, HPX_USAGE, "%s; `hprofx convert --help` lists them", unknown.msg);
    }
    if (f != NULL && f->hprof && hpx_asked_names(a->more, "format") && is_binary(a) != f->binary) {
        return hpx_fail(err, HPX_USAGE, "%s is %s by its suffix; leave out format=, or name it %s", a->out, f->what,
                        f->binary ? ".txt" : ".hprof");
    }
    return HPX_OK;
}

/* The options of the agent. file: not with a comma in it. false: they do not fit. */
bool hpx_asked_options(const struct hpx_asked *a, const char *file, char *to, size_t size)
{
    const char *mode = mode_of(a);
    const char *form = format_option(a), *own = form[0] != 0 ? strstr(mode, ",format=") : NULL; /* no option stands there twice */
    const char *threads = a->threads && !hpx_asked_names(a->more, "thread") ? "thread=y," : "";
    const char *times = a->times && !hpx_asked_names(a->more, "timeline") && !hpx_asked_at_once(a) ? "timeline=y," : "";
    int len = snprintf(to, size, "%.*s%s%s%s%s%sverbose=n,file=%s%s%s", (int)(own != NULL ? (size_t)(own - mode) : strlen(mode)), mode,
                       mode[0] != 0 ? "," : "", form, threads, times, for_picture(a), file, a->more[0] != 0 ? "," : "", a->more);
    return len > 0 && (size_t)len < size && strchr(file, ',') == NULL;
}

enum hpx_status hpx_asked_bad_options(struct hpx_err *err)
{
    return hpx_fail(err, HPX_USAGE, "the options are too long, or the name of the file has a comma in it");
}

/* "hprof option error: Unknown option: dpeth (cpu=samples,...)\nhprofx: did you mean depth?" of the agent: instead of all that the command
 * has made of it what the user has given, unless the message names it itself. */
static void make_one_line(char *text, size_t size, const char *all, const char *given)
{
    static const char agents[] = "hprof option error: ";
    char whole[7010];
    size_t n = strlen(agents);
    if (strncmp(text, agents, n) == 0) {
        memmove(text, text + n, strlen(text + n) + 1);
        text[0] = (char)tolower((unsigned char)text[0]);
    }
    (void)snprintf(whole, sizeof whole, " (%s)", all);
    char *inner = strstr(text, whole), *own = strstr(text, "option value must be");
    if (inner != NULL) {
        char rest[sizeof whole];
        (void)snprintf(rest, sizeof rest, "%s", inner + strlen(whole));
        const char *open = own != NULL ? " (" : "", *close = own != NULL ? ")" : "";
        (void)snprintf(inner, size - (size_t)(inner - text), "%s%s%s%s", open, own != NULL ? given : "", close, rest);
    }
    static const char second[] = "\nhprofx: ";
    char *at = strstr(text, second);
    if (at != NULL) {
        memcpy(at, "; ", 2);
        memmove(at + 2, at + sizeof second - 1, strlen(at + sizeof second - 1) + 1);
    }
}

enum hpx_status hpx_asked_check(const struct hpx_asked *a, struct hpx_err *err)
{
    char all[7000];
    struct hpx_options o;
    if (hpx_asked_names(a->more, "file") || hpx_asked_names(a->more, "net")) {
        return hpx_fail(err, HPX_USAGE, "the command sets the output; leave out file= and net=, and use -o FILE");
    }
    if (check_name(a, err) != HPX_OK) {
        return HPX_USAGE;
    }
    if (strchr(a->more, '@') != NULL) {
        return HPX_OK; /* in a file that the JVM reads */
    }
    struct hpx_asked with = *a;
    with.what = a->what != NULL ? a->what : "cpu";
    if (!hpx_asked_options(&with, "/x", all, sizeof all)) {
        return hpx_asked_bad_options(err);
    }
    int rc = hpx_options_parse(&o, NULL, NULL, all, err);
    if (rc == 0) {
        hpx_options_fini(&o);
        return HPX_OK;
    }
    make_one_line(err->msg, sizeof err->msg, all, a->more);
    if (strcmp(format_option(a), "format=b,") == 0 && strstr(err->msg, "format=b") != NULL) {
        (void)snprintf(err->msg, sizeof err->msg,
                       "%s is binary HPROF by its suffix, which holds no calls and no blocked time; name it .txt", a->out);
    }
    return rc == -HPX_E_OPT ? HPX_USAGE : HPX_FAILED;
}

const char *hpx_absolute(const char *file, char room[static 2 * PATH_MAX])
{
    char here[PATH_MAX];
    if (file[0] == '/' || getcwd(here, sizeof here) == NULL) {
        return file;
    }
    (void)snprintf(room, (size_t)2 * PATH_MAX, "%s/%s", here, file);
    return room;
}

const char *hpx_asked_pattern(const char *file, char room[static 2 * PATH_MAX])
{
    char here[PATH_MAX];
    size_t n = 0;
    if (file[0] == '/' || getcwd(here, sizeof here) == NULL) {
        return file;
    }
    for (const char *c = here; *c != '\0' && n + 2 < (size_t)2 * PATH_MAX; c++) {
        room[n++] = *c;
        if (*c == '%') {
            room[n++] = '%';
        }
    }
    (void)snprintf(room + n, (size_t)2 * PATH_MAX - n, "/%s", file);
    return room;
}

/* %p is another process than this one, whose number hpx_name_expand() would put in. */
static bool put_process(char *to, size_t size, const char *file, pid_t pid)
{
    size_t n = 0;
    for (const char *c = file; *c != '\0'; c++) {
        if (n + 16 > size) {
            return false;
        }
        if (c[0] == '%' && c[1] == 'p') {
            n += (size_t)snprintf(to + n, size - n, "%d", (int)pid);
            c++;
            continue;
        }
        to[n++] = *c;
        if (c[0] == '%' && c[1] == '%') {
            to[n++] = *++c;
        }
    }
    to[n] = '\0';
    return true;
}

const char *hpx_asked_expanded(const char *file, pid_t pid, time_t at, char room[static 2 * PATH_MAX])
{
    char named[2 * PATH_MAX], pattern[2 * PATH_MAX];
    bool fits = strchr(file, '%') != NULL && put_process(named, sizeof named, file, pid) &&
                hpx_name_expand(pattern, sizeof pattern, named, at) == 0 && hpx_name_number(room, (size_t)2 * PATH_MAX, pattern, 1) == 0;
    return fits ? room : file;
}

/* A file of this build or installation, in `room`: beside the program, or `installed`. */
static const char *own_file(const char *file, const char *installed, char room[static 2 * PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", room, PATH_MAX);
    char *slash = n > 0 && n < PATH_MAX ? (room[n] = 0, strrchr(room, '/')) : NULL;
    if (slash != NULL) {
        (void)snprintf(slash, PATH_MAX, "/%s", file);
        char *real = access(room, R_OK) == 0 ? realpath(room, NULL) : NULL;
        if (real != NULL) {
            (void)snprintf(room, (size_t)2 * PATH_MAX, "%s", real);
            free(real);
            return room;
        }
    }
    return installed;
}

const char *hpx_asked_agent(const struct hpx_asked *a)
{
    static char name[2 * PATH_MAX];
    return a->agent != NULL ? hpx_absolute(a->agent, name) : own_file("libhprofx.so", HPX_AGENT_PATH, name);
}

const char *hpx_asked_jmh(void)
{
    static char name[2 * PATH_MAX];
    return own_file("hprofx-jmh.jar", HPX_JMH_PATH, name);
}

const char *hpx_asked_ship(void)
{
    static char name[2 * PATH_MAX];
    return own_file("hprofx-ship", HPX_SHIP_PATH, name);
}

static bool made; /* the file of -o was not there before */

int hpx_asked_open(const struct hpx_asked *a, struct hpx_err *err)
{
    struct stat st;
    made = false;
    int fd = a->out != NULL ? hpx_out_open(a->out, &made, err) : -1;
    if (fd >= 0 && !made && hpx_asked_keeps(a) && !hpx_asked_is_stdout(a) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        (void)close(fd);
        (void)hpx_fail(err, HPX_FAILED, "%s exists, and force=n keeps it; name another file", a->out);
        return -1;
    }
    return fd;
}

void hpx_asked_drop(const struct hpx_asked *a)
{
    if (made) {
        (void)unlink(a->out);
    }
}

static void say_name(const struct hpx_asked *a)
{
    if (!hpx_asked_is_stdout(a)) { /* which has the profile */
        (void)printf("%s\n", a->out);
    }
}

enum hpx_status hpx_asked_put(const struct hpx_asked *a, struct hpx_tree *t, const struct hpx_format *f, enum hpx_status read, int out,
                              struct hpx_err *err)
{
    struct hpx_err why;
    if (out >= 0 && read == HPX_PARTIAL && hpx_picture_is_empty(t)) {
        return HPX_FAILED; /* it may have had something before it broke: the profile is kept */
    }
    if (out >= 0 && hpx_asked_picture(a) && !f->apart) {
        hpx_picture_join_locks(t);
    }
    enum hpx_status s = out < 0 ? hpx_look_all(stdout, t, false, &why) : hpx_picture_write(t, f, NULL, out, a->out, &why);
    if (s != HPX_OK) {
        *err = why;
    } else if (out >= 0) {
        say_name(a);
    }
    return s == HPX_OK ? read : s;
}

/* On the terminal, or as a picture. */
static enum hpx_status draw(const struct hpx_asked *a, const struct hpx_verdict *v, int fd, int out, struct hpx_err *err)
{
    struct hpx_tree t;
    enum hpx_status s = hpx_tree_init(&t) ? HPX_OK : hpx_fail(err, HPX_FAILED, "no memory");
    t.timed = out >= 0 && hpx_format_of(a->out)->times;
    s = s == HPX_OK ? hpx_picture_read_fd(&t, fd, "the profile", v, err) : s;
    if (s != HPX_FAILED) {
        hpx_tree_finish(&t);
        s = hpx_asked_put(a, &t, out >= 0 ? hpx_format_of(a->out) : NULL, s, out, err);
    }
    hpx_tree_fini(&t);
    return s;
}

enum hpx_status hpx_asked_show(const struct hpx_asked *a, const struct hpx_verdict *v, int fd, int out, struct hpx_err *err)
{
    char block[1 << 16];
    ssize_t n = 0;
    if (out < 0 || hpx_asked_picture(a)) {
        return draw(a, v, fd, out, err);
    }
    hpx_out_empty(out, a->out); /* only now: a command that fails leaves the file as it was */
    while ((n = read(fd, block, sizeof block)) > 0) {
        if (!hpx_out_all(out, block, (size_t)n)) {
            return hpx_fail(err, HPX_FAILED, "cannot write %s: %s", a->out, strerror(errno));
        }
    }
    if (n < 0) {
        return hpx_fail(err, HPX_FAILED, "cannot read the profile: %s", strerror(errno));
    }
    say_name(a);
    return HPX_OK;
}
