/* SPDX-License-Identifier: BSD-2-Clause */
/* options_table.c: every option, once. Names, values, defaults and error texts are the original's where it had them. */
#include "options_table.h"

#define YN        "y|n"
#define AT(field) offsetof(struct hpx_options, field)

/* clang-format off */
const struct hpx_opt hpx_opts[] = {
    {.name = "heap", .kind = HPX_OPT_HEAP, .values = "dump|sites|all", .missing = "dump|sites|all", .must = "dump|sites|all", .def = "all",
     .what = "heap dump, allocation sites, or both",
     .more = "dump: all objects of the heap. sites: who allocated, how much, and how much of it lives. all: both. Values given one after the "
             "other in one source add up. The default is taken only where none of heap, cpu and monitor is asked for."},
    {.name = "cpu", .kind = HPX_OPT_CPU, .values = "samples|times|old", .missing = "y|samples|times|old", .must = "y|samples|times|old",
     .def = "off", .what = "where CPU time goes",
     .more = "samples: the stacks that run when a thread has used another interval of CPU time; waiting threads do not count. y means samples. "
             "times: exact counts and times of every method. old: the output of the profiler before HPROF. samples may be given beside times or old: cpu=samples,cpu=times writes both tables; of times and old the last one counts."},
    {.name = "monitor", .kind = HPX_OPT_FLAG, .offset = AT(monitor), .values = YN, .must = YN, .def = "n",
     .what = "contended monitors", .more = "Which monitors threads waited for, how long, and where."},
    {.name = "format", .kind = HPX_OPT_FORMAT, .values = "a|b", .missing = "a|b", .must = "a|b", .def = "a",
     .what = "a: text, b: binary", .more = "b cannot be had together with cpu=times, cpu=old or monitor=y."},
    {.name = "idsize", .kind = HPX_OPT_IDSIZE, .values = "4|8", .must = "4|8", .def = "8",
     .what = "bytes of an identifier in format=b",
     .more = "8 is what readers of today expect. 4 is what the original wrote: for tools that know nothing else."},
    {.name = "file", .kind = HPX_OPT_FILE, .values = "NAME", .missing = "filename", .def = "java.hprof.txt",
     .what = "where to write; %p %t %h %% expand",
     .more = "Relative to the working directory. The default is java.hprof.txt for format=a and java.hprof for format=b; no suffix is added to a name "
             "that was given. %p is the process id, %t the start as YYYYMMDD-HHMMSS in local time, %h the host, %% a percent sign; any other %x is left "
             "alone. /dev/stdout and /dev/stderr are the descriptors 1 and 2. May stand once in a source, and not together with net."},
    {.name = "net", .kind = HPX_OPT_NET, .values = "HOST:PORT", .must = "HOST:PORT, port 1..65535", .def = "off",
     .what = "send to a socket instead of a file",
     .more = "The profiler connects at start. An IPv6 address stands in brackets: net=[::1]:9000. May stand once in a source, and not together with file."},
    {.name = "net-wait", .kind = HPX_OPT_FLAG, .offset = AT(net_wait), .values = YN, .must = YN, .def = "n",
     .what = "start also when nobody listens there",
     .more = "n: net= with nobody there is an error, and the program does not start. y: the connection is tried until somebody listens."},
    {.name = "allow-exit", .kind = HPX_OPT_FLAG, .offset = AT(allow_exit), .values = YN, .must = YN, .def = "n",
     .what = "the peer of net= may end the program",
     .more = "y: the command EXIT THE VM writes a last profile and ends the program with exit code 0. n: it is answered by a line on stderr."},
    {.name = "depth", .kind = HPX_OPT_DEPTH, .values = "N", .missing = "DECIMAL", .must = "decimal and >= 0", .def = "4",
     .what = "frames of a stack trace, 0 to 2048", .more = "Frames beyond it, those farthest from the running method, are left out. 0: every trace is empty."},
    {.name = "interval", .kind = HPX_OPT_INTERVAL, .values = "MS", .missing = "DECIMAL", .must = "decimal and > 0", .def = "10",
     .what = "CPU ms between samples; 0.5 is possible",
     .more = "Milliseconds of CPU time of a thread, fractions allowed. Where the system's clock tick is longer than that, a sample weighs as many intervals "
             "as it stands for, and the report names the interval in effect. Anything above one day counts as one day."},
    {.name = "cutoff", .kind = HPX_OPT_CUTOFF, .values = "SHARE", .missing = "DOUBLE", .must = "floating point and >= 0", .def = "0.0001",
     .what = "smallest share listed, as a fraction",
     .more = "Rows of a table whose share of the total is less are left out: 0.01 is one percent. 0 lists everything; so does nan; more than 1 lists nothing."},
    {.name = "lineno", .kind = HPX_OPT_FLAG, .offset = AT(lineno), .values = YN, .must = YN, .def = "y",
     .what = "line numbers in traces", .more = "n: traces that differ only in their lines become one."},
    {.name = "thread", .kind = HPX_OPT_FLAG, .offset = AT(thread), .values = YN, .must = YN, .def = "n",
     .what = "the thread in traces", .more = "y: each thread has traces of its own. Some readers of HPROF text, gprof2dot among them, take only files made with thread=n."},
    {.name = "doe", .kind = HPX_OPT_FLAG, .offset = AT(doe), .values = YN, .must = YN, .def = "y",
     .what = "write a profile at exit", .more = "n: the file has the threads alone. Profiles that are asked for while the program runs are written all the same."},
    {.name = "dump", .kind = HPX_OPT_PERIOD, .values = "TIME", .must = "a time from 100ms on: 500ms, 60s, 5m, 1h", .def = "off",
     .what = "a profile each so often: 60s, 5m, 1h",
     .more = "As if it were asked for by SIGQUIT, each time; without a unit the number is seconds, and 100ms is the least. Each profile holds what happened since the one before."},
    {.name = "split", .kind = HPX_OPT_FLAG, .offset = AT(split), .values = YN, .must = YN, .def = "n",
     .what = "a file for each requested profile",
     .more = "y: the profiles asked for by SIGQUIT or dump= go to NAME.1, NAME.2 and so on, each a whole file; the one at exit is NAME. n: all of them stand one "
             "behind the other in NAME, as in the original; many readers take only the first."},
    {.name = "force", .kind = HPX_OPT_FLAG, .offset = AT(force), .values = YN, .must = YN, .def = "y",
     .what = "replace an existing file",
     .more = "n: where NAME exists, the process id is put into the name: java.hprof.1234.txt for text (NAME.1234.txt where NAME has no .txt), "
             "NAME.1234 for binary."},
    {.name = "verbose", .kind = HPX_OPT_FLAG, .offset = AT(verbose), .values = YN, .must = YN, .def = "y",
     .what = "messages about dumps on stderr", .more = "n: nothing but warnings, errors and losses."},
    {.name = "sampler", .kind = HPX_OPT_SAMPLER, .values = "async|walk|poll", .must = "async|walk|poll", .def = "async",
     .what = "who takes the stacks of cpu=samples",
     .more = "async: the signal handler of the running thread, by AsyncGetCallTrace. walk: a thread of hprofx, by JVMTI, after the signal told it where the "
             "thread was. poll: the same without signals, for threads whose CPU clock moved. walk is taken where AsyncGetCallTrace is missing or fails, poll "
             "where the system refuses timers."},
    {.name = "signal", .kind = HPX_OPT_SIGNAL, .values = "NAME", .must = "PROF|VTALRM|USR1|RTMIN+N", .def = "PROF",
     .what = "signal of the samples: PROF, RTMIN+3...",
     .more = "For programs that use SIGPROF themselves. PROF, VTALRM, USR1, or RTMIN+N with N from 0 to 27; the prefix SIG is allowed. Signals that hprofx did "
             "not send go to the handler that was there before."},
    {.name = "include", .kind = HPX_OPT_PATTERNS, .offset = AT(include), .values = "PATTERN", .must = "class or package names with ':' between", .def = "all",
     .what = "classes that cpu=times counts",
     .more = "Java names, more than one with ':' between; '*' stands for any characters. A name without '*' is a class with its nested ones, or a package with "
             "all below it: include=com.acme:*.OrderService. Time of methods left out belongs to their callers."},
    {.name = "exclude", .kind = HPX_OPT_PATTERNS, .offset = AT(exclude), .values = "PATTERN", .must = "class or package names with ':' between", .def = "none",
     .what = "classes that cpu=times leaves out", .more = "As include=, and stronger."},
    {.name = "min", .kind = HPX_OPT_MIN, .values = "BYTES", .must = "decimal and 0..65535", .def = "0",
     .what = "cpu=times leaves shorter methods out", .more = "In bytes of byte code. Their time belongs to their callers; the report says how many they were."},
    {.name = "times", .kind = HPX_OPT_TIMES, .values = "cpu|wall|sampled", .must = "cpu|wall|sampled", .def = "cpu",
     .what = "the clock of cpu=times",
     .more = "cpu: CPU time of the thread, read at each entry and exit. wall: real time, waiting included, as the original measured it. sampled: no clock is read "
             "at a call; the signal of cpu=samples, each interval= of CPU time, gives the time to the method that runs. Counts are exact, times are those of a "
             "sample, and a call costs less. Needs signals: with sampler=poll, and where the system refuses timers, times=cpu is taken."},
    {.name = "primfields", .kind = HPX_OPT_FLAG, .offset = AT(primfields), .values = YN, .must = YN, .def = "y",
     .what = "primitive fields in heap dumps", .more = "n: they are written as 0."},
    {.name = "primarrays", .kind = HPX_OPT_FLAG, .offset = AT(primarrays), .values = YN, .must = YN, .def = "y",
     .what = "primitive arrays in heap dumps", .more = "n: they are written with length 0."},

    {.name = "msa", .kind = HPX_OPT_FLAG, .offset = AT(msa), .values = YN, .must = YN, .def = "n",
     .what = "was for Solaris only", .no_effect = true},
    {.name = "gc_okay", .kind = HPX_OPT_FLAG, .offset = AT(gc_okay), .values = YN, .must = YN, .def = "n",
     .what = "obsolete in the original too", .no_effect = true},
    {.name = "coredump", .kind = HPX_OPT_IGNORED_FLAG, .values = YN, .must = YN, .def = "n",
     .what = "asked for a core file; hprofx never aborts", .no_effect = true},
    {.name = "errorexit", .kind = HPX_OPT_IGNORED_FLAG, .values = YN, .must = YN, .def = "n",
     .what = "ended the program on errors; hprofx never does", .no_effect = true},
    {.name = "pause", .kind = HPX_OPT_IGNORED_FLAG, .values = YN, .must = YN, .def = "n",
     .what = "waited for a debugger at start", .no_effect = true},
    {.name = "debug", .kind = HPX_OPT_IGNORED_FLAG, .values = YN, .must = YN, .def = "n",
     .what = "checks inside the original", .no_effect = true},
    {.name = "logflags", .kind = HPX_OPT_IGNORED_NUMBER, .values = "N", .must = "numeric", .def = "0",
     .what = "logs of the original", .no_effect = true},
    {.name = "debugflags", .kind = HPX_OPT_IGNORED_NUMBER, .values = "N", .must = "numeric", .def = "0",
     .what = "debug aids of the original", .no_effect = true},
    {.name = "X", .kind = HPX_OPT_IGNORED_NUMBER, .values = "N", .must = "numeric", .def = "0",
     .what = "experiments of the original", .no_effect = true},

    {.name = "exitpause", .kind = HPX_OPT_REMOVED, .must = "The exitpause option was removed, use -XX:OnError='cmd %%p'"},
    {.name = "precrash", .kind = HPX_OPT_REMOVED, .must = "The precrash option was removed, use -XX:OnError='precrash -p %%p'"},
};
/* clang-format on */
const size_t hpx_opts_len = HPX_ARRAY_LEN(hpx_opts);

const struct hpx_mode_info hpx_modes[HPX_MODE_COUNT] = {
    [HPX_MODE_CPU_SAMPLES] = {"cpu=samples", true},
    [HPX_MODE_CPU_TIMES] = {"cpu=times", true},
    [HPX_MODE_CPU_OLD] = {"cpu=old", true},
    [HPX_MODE_HEAP_ALL] = {"heap=all", false},
    [HPX_MODE_HEAP_DUMP] = {"heap=dump", false},
    [HPX_MODE_HEAP_SITES] = {"heap=sites", false},
    [HPX_MODE_MONITOR] = {"monitor=y", false},
    [HPX_MODE_FORMAT_B] = {"format=b", true},
    [HPX_MODE_NET] = {"net=", true},
};
