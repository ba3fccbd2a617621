/* SPDX-License-Identifier: BSD-2-Clause */
/* options_table.c: every option, once. Names, values, defaults and error texts are the original's where it had them. */
#include "options_internal.h"

#define YN        "y|n"
#define AT(field) offsetof(struct hpx_options, field)

/* clang-format off */
const struct hpx_opt hpx_opts[] = {
    {.name = "heap", .hprof = true, .parse = hpx_opt_heap, .values = "dump|sites|all", .missing = "dump|sites|all", .must = "dump|sites|all", .def = "all",
     .what = "heap dump, allocation sites, or both",
     .more = "dump: all objects of the heap. sites: who allocated how much, and how much of it is live. all: both. Values given one "
             "after another in one source add up. The default applies only if none of heap, cpu, monitor and wall is given."},
    {.name = "cpu", .hprof = true, .parse = hpx_opt_cpu, .values = "samples|times|old", .missing = "y|samples|times|old", .must = "y|samples|times|old",
     .def = "off", .what = "where the program spends CPU time",
     .more = "samples: takes the stack of a thread whenever the thread has used another interval= of CPU time; threads that wait do not "
             "count. y means samples. times: counts every call exactly and measures its time. old: the same calls as a table of callers "
             "and callees, the format of the profiler before HPROF. cpu=samples,cpu=times writes both tables, as does samples with old; "
             "of times and old the last one wins. off: neither, also if an earlier value named one."},
    {.name = "monitor", .hprof = true, .parse = hpx_opt_flag, .offset = AT(monitor), .values = YN, .must = YN, .def = "n",
     .what = "contended monitors, waits, deadlocks",
     .more = "Every dump has the state of all threads, the monitors with owner and waiters, deadlocks, and the time that threads were blocked by "
             "monitors of others. Waits by Object.wait are written as lines when they happen."},
    {.name = "wall", .parse = hpx_opt_wall, .values = "MS", .must = "y, n or decimal and >= 1", .def = "n",
     .what = "time of all threads, running or waiting",
     .more = "Every MS milliseconds hprofx looks at every thread: where it is, and whether it runs, waits, sleeps, is parked or blocked. y means "
             "20. A thread that has not run since the last look is not disturbed, and no thread that waits gets a signal. The time in which threads run "
             "comes from samples of CPU time, every interval=, as with cpu=samples. The table is WALL CLOCK; format=b has it, too."},
    {.name = "timeline", .parse = hpx_opt_flag, .offset = AT(timeline), .values = YN, .must = YN, .def = "n",
     .what = "when every sample was taken",
     .more = "y: a section TIMELINE has the time of every sample of cpu=samples, sampled allocation, contention and wait, with thread and trace, "
             "and the pauses of the garbage collector. hprofx view --from and --to then show a part of the run. At most 64 MiB of "
             "memory: older parts of a long run fall to a resolution of one second. cpu=times, and sites of every allocation, have no times."},
    {.name = "format", .hprof = true, .parse = hpx_opt_format, .values = "a|b", .missing = "a|b", .must = "a|b", .def = "a",
     .what = "text (a) or binary (b) output",
     .more = "b is refused together with cpu=times, cpu=old or monitor=y."},
    {.name = "idsize", .parse = hpx_opt_idsize, .values = "4|8", .must = "4|8", .def = "8",
     .what = "bytes per identifier in format=b",
     .more = "8 is what current readers expect. 4 is what HPROF wrote, for tools that read nothing else."},
    {.name = "file", .hprof = true, .parse = hpx_opt_file, .values = "NAME", .missing = "filename", .def = "java.hprof.txt",
     .what = "output file; %p %t %h %n %{ENV} expand",
     .more = "Relative to the working directory. The default is java.hprof.txt with format=a and java.hprof with format=b, with .gz "
             "behind it if gz=y; hprofx adds no suffix to a given name. %p is the process id, %t the start as YYYYMMDD-HHMMSS in local time, %h the host name, %n the number of the profile "
             "in its run, %{NAME} an environment variable, %% a percent sign; any other %x stays as it is. Of a variable the first 128 bytes are taken, "
             "and what does not belong into a file name becomes _. While the program runs the file of the profile at exit has the number 0. /dev/stdout and /dev/stderr are descriptors 1 and 2. May be given once per "
             "source, and not together with net."},
    {.name = "gz", .parse = hpx_opt_flag, .offset = AT(gz), .values = YN, .must = YN, .def = "n",
     .what = "compress the output file with gzip",
     .more = "y: in blocks of 1 MiB, as heap dumps of the JVM, so that Eclipse MAT reads the file as it is; for other readers gunzip it. "
             "Ignored with net."},
    {.name = "net", .hprof = true, .parse = hpx_opt_net, .values = "HOST:PORT", .must = "HOST:PORT, port 1..65535", .def = "off",
     .what = "send to a socket instead of a file",
     .more = "hprofx connects at start. off: the output goes to a file. An IPv6 address stands in brackets: net=[::1]:9000. May be given once per source, and not "
             "together with file."},
    {.name = "net-wait", .parse = hpx_opt_flag, .offset = AT(net_wait), .values = YN, .must = YN, .def = "n",
     .what = "y: start even if nothing is listening",
     .more = "n: without a listener the program does not start. y: hprofx retries until something listens."},
    {.name = "allow-exit", .parse = hpx_opt_flag, .offset = AT(allow_exit), .values = YN, .must = YN, .def = "n",
     .what = "let the peer of net= end the program",
     .more = "y: the command EXIT THE VM writes a last profile and ends the program with exit code 0. n: hprofx refuses the command with "
             "a line on stderr."},
    {.name = "depth", .hprof = true, .parse = hpx_opt_depth, .values = "N", .missing = "DECIMAL", .must = "decimal and >= 0", .def = "4",
     .what = "frames per stack trace, 0 to 2048",
     .more = "Frames beyond it, those farthest from the running method, are left out. 0: cpu=samples counts nothing; the traces of "
             "cpu=times are empty."},
    {.name = "interval", .hprof = true, .parse = hpx_opt_interval, .values = "MS", .missing = "DECIMAL", .must = "decimal and > 0", .def = "10",
     .what = "CPU ms between samples; 0.5 is possible",
     .more = "Milliseconds of CPU time of a thread, or of blocked time with stacks=sampled; fractions are allowed. If the system cannot signal that often, one sample stands for "
             "several intervals and the report names the effective interval. More than one day counts as one day."},
    {.name = "cutoff", .hprof = true, .parse = hpx_opt_cutoff, .values = "SHARE", .missing = "DOUBLE", .must = "floating point and >= 0", .def = "0.0001",
     .what = "smallest share listed, as a fraction",
     .more = "Rows with a smaller share of the total are left out: 0.01 is one percent. 0 and nan list everything; more than 1 lists "
             "nothing."},
    {.name = "lineno", .hprof = true, .parse = hpx_opt_flag, .offset = AT(lineno), .values = YN, .must = YN, .def = "y",
     .what = "line numbers in traces",
     .more = "n: traces that differ only in line numbers are merged."},
    {.name = "thread", .hprof = true, .parse = hpx_opt_flag, .offset = AT(thread), .values = YN, .must = YN, .def = "n",
     .what = "thread numbers in traces",
     .more = "y: traces of different threads are not merged. A thread that renames itself is shown by its newest name. Some readers of HPROF text, such "
             "as gprof2dot, accept only thread=n."},
    {.name = "doe", .hprof = true, .parse = hpx_opt_flag, .offset = AT(doe), .values = YN, .must = YN, .def = "y",
     .what = "write a profile at exit",
     .more = "n: no profile at exit; profiles requested while the program runs are still written. Without any the file has only the "
             "threads."},
    {.name = "dump", .parse = hpx_opt_period, .values = "TIME", .must = "a time from 100ms on, or off: 500ms, 60s, 5m, 1h", .def = "off",
     .what = "write a profile every TIME: 60s, 5m, 1h",
     .more = "The same as a SIGQUIT every TIME; off: none. Without a unit TIME is in seconds; the minimum is 100ms. Every profile covers the time "
             "since the previous one; heap=sites counts from the start."},
    {.name = "split", .parse = hpx_opt_flag, .offset = AT(split), .values = YN, .must = YN, .def = "n",
     .what = "one file per requested profile",
     .more = "y: profiles requested by SIGQUIT or dump= go to NAME.1, NAME.2 and so on, each a complete file; the profile at exit goes "
             "to NAME. If NAME has %n, that is the number, and nothing is appended. n: all profiles are appended to NAME, as in HPROF; many "
             "readers take only the first."},
    {.name = "keep-files", .parse = hpx_opt_keep_files, .values = "N", .must = "decimal and 1..65536, or off", .def = "off",
     .what = "most files of split=y; the oldest go",
     .more = "When a profile is complete, the oldest files of this run are removed until N are left. Files of other runs, and files that "
             "others have changed, moved or replaced, stay. If the disk is full, the oldest file is removed for the next profile. off: no limit."},
    {.name = "keep-bytes", .parse = hpx_opt_keep_bytes, .values = "SIZE", .must = "a size, or off: 64m, 1g", .def = "off",
     .what = "most bytes of those files: 64m, 1g",
     .more = "The same for the sum of their sizes: a number, or a number with k, m, g or t. The newest file stays in any case. off: no limit."},
    {.name = "maxfile", .parse = hpx_opt_maxfile, .values = "SIZE", .must = "a size, auto or off: 64m, 1g", .def = "auto",
     .what = "most bytes of a profile's tables: 64m",
     .more = "A number, or a number with k, m, g or t; before compression. Rows that would make the file larger are summed in one, hprofx.summed, from "
             "the smallest on, so that totals and shares stay. The report says how many rows were summed, and the largest share of them. Of several dumps in one file, every one "
             "but the last takes half of what is left. What is no table does not count: lines of threads and classes, heap dumps, the states of threads. auto: 1g, "
             "or no limit if the JVM was started with options of HPROF's own alone. off: no limit. Ignored with net."},
    {.name = "force", .hprof = true, .parse = hpx_opt_flag, .offset = AT(force), .values = YN, .must = YN, .def = "y",
     .what = "replace an existing file",
     .more = "n: if NAME exists, the process id goes into the name: java.hprof.1234.txt for text (NAME.1234.txt if NAME does not end in "
             ".txt), NAME.1234 for binary."},
    {.name = "verbose", .hprof = true, .parse = hpx_opt_flag, .offset = AT(verbose), .values = YN, .must = YN, .def = "y",
     .what = "messages about dumps on stderr",
     .more = "n: only warnings, errors and losses."},
    {.name = "start", .parse = hpx_opt_flag, .offset = AT(start), .values = YN, .must = YN, .def = "y",
     .what = "profile from the start of the JVM",
     .more = "n: hprofx does nothing until the command hprofx(1) begins a session, and takes no other options. The command then works even "
             "if the JVM forbids loading an agent, and all code has the debug information that inlined methods need."},
    {.name = "sampler", .parse = hpx_opt_choice, .offset = AT(sampler), .values = "HOW", .must = "async|walk|poll|asgct",
     .def = "async",
     .what = "how cpu=samples takes stacks",
     .more = "async: the signal handler of the running thread walks its stack by the VM's structures. asgct: it calls "
             "AsyncGetCallTrace, for comparison. walk: the handler notes where the thread is, and "
             "a thread of hprofx takes the stack by JVMTI. poll: a thread of hprofx looks for threads whose CPU clock moved and takes "
             "their stacks; there are no signals. hprofx switches to walk if the structures cannot be read, and to poll if the "
             "system refuses timers."},
    {.name = "vmstructs", .parse = hpx_opt_flag, .offset = AT(vmstructs), .values = YN, .must = YN, .def = "y",
     .what = "read the VM's structure tables",
     .more = "For sampler=async and heap=dump. y: hprofx finds stacks, and the addresses of objects in a heap dump, in the VM's own "
             "structures, after checks that they are as expected. n: sampler=walk takes the stacks, and a heap dump tags every "
             "object, which costs more CPU time and memory. The environment variable HPROFX_VMSTRUCTS=n has the same effect."},
    {.name = "native", .parse = hpx_opt_flag, .offset = AT(native), .values = YN, .must = YN, .def = "n",
     .what = "C functions in the traces of cpu=samples",
     .more = "y: a trace has the C functions that run below a Java method, and those between two parts of Java, as "
             "library.function(Native Method), besides the frames of depth=. Needs sampler=async. n: Java methods alone."},
    {.name = "signal", .parse = hpx_opt_signal, .values = "NAME", .must = "PROF|VTALRM|USR1|RTMIN+N", .def = "PROF",
     .what = "sampling signal, as PROF or RTMIN+3",
     .more = "For programs that use SIGPROF themselves. PROF, VTALRM, USR1, or RTMIN+N with N from 0 to 27; the prefix SIG is allowed. A "
             "signal that hprofx did not send goes to the handler that was installed before."},
    {.name = "include", .parse = hpx_opt_patterns, .offset = AT(include), .values = "PATTERN", .must = "class or package names with ':' between", .def = "all",
     .what = "classes that cpu=times counts",
     .more = "Java names separated by ':'; '*' stands for any characters. A name without '*' is a class with its nested classes, or a "
             "package with all packages below it: include=com.acme:*.OrderService. all: every class. The time of an excluded method counts for its caller."},
    {.name = "exclude", .parse = hpx_opt_patterns, .offset = AT(exclude), .values = "PATTERN", .must = "class or package names with ':' between", .def = "none",
     .what = "classes that cpu=times leaves out",
     .more = "The same syntax as include=; none: no class. exclude= wins over include=."},
    {.name = "min", .parse = hpx_opt_min, .values = "BYTES", .must = "decimal and 0..65535", .def = "0",
     .what = "shortest method that cpu=times counts",
     .more = "In bytes of bytecode. The time of shorter methods counts for their callers; the report has their number."},
    {.name = "times", .parse = hpx_opt_choice, .offset = AT(times), .values = "HOW", .must = "cpu|wall|sampled|counts", .def = "cpu",
     .what = "cpu, wall, sampled or counts",
     .more = "cpu: CPU time of the thread, read at every entry and exit. wall: real time including waits, as in HPROF. sampled: no clock "
             "is read at a call; the sampling signal charges every interval= of CPU time to the method that is running. Counts are "
             "exact, times are statistical, and a call costs less. sampled needs signals: with sampler=poll, or if the system refuses "
             "timers, times=cpu is used. counts: the calls of every method and nothing else, by counters in the program's own compiled code: "
             "the section METHOD CALLS, whose traces are the method alone. Beside it cpu=samples tells where the time goes."},
    {.name = "sites", .parse = hpx_opt_choice, .offset = AT(sites), .values = "HOW", .must = "exact|counts|sampled|none", .def = "exact",
     .what = "exact, counts, sampled or none",
     .more = "exact: every allocation, with its stack. counts: every allocation of the program's code, by method and line, at the cost of a probe; "
             "what is live is estimated from samples. sampled: one allocation every sample= bytes, chosen at random; the tables hold estimates, at a "
             "cost fit for production. none: no allocation is counted; refused together with heap=sites."},
    {.name = "sample", .parse = hpx_opt_sample, .values = "SIZE", .must = "a size from 1 to 1g: 4096, 64k, 1m", .def = "512k",
     .what = "bytes between samples of sites=sampled",
     .more = "Average number of bytes that a thread allocates between two samples: a number, or a number with k, m or g. Implies "
             "sites=sampled unless sites=counts is given before it."},
    {.name = "live", .parse = hpx_opt_flag, .offset = AT(live), .values = YN, .must = YN, .def = "y",
     .what = "live objects in allocation sites",
     .more = "n: heap=sites counts what was allocated, not what is live. Costs less time and memory."},
    {.name = "gc", .parse = hpx_opt_flag, .offset = AT(gc), .values = YN, .must = YN, .def = "n",
     .what = "collect garbage before every dump",
     .more = "n: the live objects of heap=sites are those of the last collection. y: exact sites that a command begins also collect at their "
             "beginning."},
    {.name = "heapdump", .parse = hpx_opt_heapdump, .values = "HOW", .must = "auto|fork|walk, oom, or one of them and oom: fork+oom", .def = "auto",
     .what = "auto, fork or walk; oom; or fork+oom",
     .more = "How heap=dump reads the heap. fork: a copy of the process reads it, and the program stops only while the copy is made. walk: the "
             "program stops until the heap is read. auto: fork, or walk if the collector permits no copy, and at the exit. If memory for a copy is "
             "short, the dump is left out. Exact heap=sites counts live objects in the same ways, in the program if memory is short. oom: also makes a dump at the first OutOfMemoryError."},
    {.name = "maxpause", .parse = hpx_opt_maxpause, .values = "TIME", .must = "a time from 1ms on, or off: 200ms, 2s", .def = "200ms",
     .what = "longest stop for a requested heap dump",
     .more = "Longest stop of the program for a heap dump on request. If hprofx predicts a longer stop, it refuses the dump with a line on stderr "
             "that has the predicted time; tables of exact heap=sites then do not show what is live. Without a unit TIME is in seconds; the minimum is 1ms. 0 or off: no limit. There is no limit for the dumps at "
             "exit and at an OutOfMemoryError."},
    {.name = "redact", .parse = hpx_opt_redact, .values = "WHAT", .must = "arrays, fields or strings, joined by +, or off", .def = "off",
     .what = "zeros for arrays, fields or strings",
     .more = "For heap dumps of production data. off: all values are written. arrays: all primitive arrays. fields: all primitive fields, also static ones. strings: the "
             "contents of strings, that is all byte and char arrays. Lengths and references stay. Several words are joined by +."},
    {.name = "keep", .parse = hpx_opt_patterns, .offset = AT(keep), .values = "PATTERN", .must = "class or package names with ':' between", .def = "none",
     .what = "classes that redact= leaves readable",
     .more = "The syntax of include=; none: no class. The primitive fields of these classes stay, and the strings and primitive arrays to which their fields refer, "
             "unless an object of another class that refers to them was read before."},
    {.name = "primfields", .parse = hpx_opt_flag, .offset = AT(primfields), .values = YN, .must = YN, .def = "y",
     .what = "primitive fields in heap dumps",
     .more = "n: their values are written as 0."},
    {.name = "primarrays", .parse = hpx_opt_flag, .offset = AT(primarrays), .values = YN, .must = YN, .def = "y",
     .what = "primitive arrays in heap dumps",
     .more = "n: they are written with length 0."},
    {.name = "stacks", .parse = hpx_opt_choice, .offset = AT(stacks), .values = "exact|sampled", .must = "exact|sampled", .def = "exact",
     .what = "stacks of all contentions, or a sample",
     .more = "exact: all. sampled: counts and times by class are exact, but only a sample of the contentions has a stack: on average one for "
             "every interval= of blocked time. For production."},
    {.name = "owner", .parse = hpx_opt_choice, .offset = AT(owner), .values = "n|y|sampled", .must = "n|y|sampled", .def = "n",
     .what = "stacks of owners of contended monitors",
     .more = "y: monitor=y also takes the stack of the thread that owns the monitor, at each contention. Every time the VM stops all threads "
             "for a moment. sampled: at most every 10 ms, and for a fiftieth of the time; the other contentions count without an owner. Both "
             "need stacks=exact."},
    {.name = "waitlog", .parse = hpx_opt_waitlog, .values = "N", .must = "decimal, or -1 for all", .def = "10000",
     .what = "most WAIT lines of monitor=y; -1: all",
     .more = "Every Object.wait writes two lines. After N lines the waits are only counted. 0: no lines."},
    {.name = "waits", .parse = hpx_opt_flag, .offset = AT(waits), .values = YN, .must = YN, .def = "n",
     .what = "table of the time in Object.wait",
     .more = "y: monitor=y also has a section WAIT TIME, by class and trace."},
    {.name = "locks", .parse = hpx_opt_flag, .offset = AT(locks), .values = YN, .must = YN, .def = "n",
     .what = "table of time parked in locks",
     .more = "y: monitor=y also has a section LOCK TIME: the time that threads were parked by LockSupport.park, by the class of the lock and "
             "by trace. Virtual threads are seen only where they keep their carrier."},
    {.name = "pinned", .parse = hpx_opt_flag, .offset = AT(pinned), .values = YN, .must = YN, .def = "n",
     .what = "table of pinned virtual threads",
     .more = "y: monitor=y also has a section PINNED TIME: the time that virtual threads were blocked and kept their carrier, by class and "
             "trace. From JDK 24 on monitors do not pin virtual threads."},

    {.name = "msa", .parse = hpx_opt_flag, .offset = AT(msa), .values = YN, .must = YN, .def = "n",
     .what = "Solaris only", .no_effect = true},
    {.name = "gc_okay", .parse = hpx_opt_flag, .offset = AT(gc_okay), .values = YN, .must = YN, .def = "n",
     .what = "obsolete", .no_effect = true},
    {.name = "coredump", .parse = hpx_opt_ignored_flag, .values = YN, .must = YN, .def = "n",
     .what = "a core file on errors", .no_effect = true},
    {.name = "errorexit", .parse = hpx_opt_ignored_flag, .values = YN, .must = YN, .def = "n",
     .what = "exit on errors", .no_effect = true},
    {.name = "pause", .parse = hpx_opt_ignored_flag, .values = YN, .must = YN, .def = "n",
     .what = "wait for a debugger at start", .no_effect = true},
    {.name = "debug", .parse = hpx_opt_ignored_flag, .values = YN, .must = YN, .def = "n",
     .what = "internal checks", .no_effect = true},
    {.name = "logflags", .parse = hpx_opt_ignored_number, .values = "N", .must = "numeric", .def = "0",
     .what = "internal logs", .no_effect = true},
    {.name = "debugflags", .parse = hpx_opt_ignored_number, .values = "N", .must = "numeric", .def = "0",
     .what = "internal debugging aids", .no_effect = true},
    {.name = "X", .parse = hpx_opt_ignored_number, .values = "N", .must = "numeric", .def = "0",
     .what = "experiments", .no_effect = true},

    {.name = "exitpause", .parse = hpx_opt_removed, .must = "The exitpause option was removed, use -XX:OnError='cmd %%p'"},
    {.name = "precrash", .parse = hpx_opt_removed, .must = "The precrash option was removed, use -XX:OnError='precrash -p %%p'"},
};
/* clang-format on */
const size_t hpx_opts_len = HPX_ARRAY_LEN(hpx_opts);
