/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_table.c: the table of verbs.h. A help has at most 25 lines. */
#include "compiler.h"
#include "verbs.h"

#define KINDS  "cpu wall times calls alloc live lock heap all"
#define STATES "running runnable blocked waiting parked sleeping io native"
#define VIEWS  "cpu wall times alloc heap lock owner park wait pinned"

/* clang-format off */
const struct hpx_option hpx_options_all[HPX_O_COUNT] = {
    [HPX_O_ABSOLUTE] = {.name = "absolute", .help = "compare amounts of a run, not shares of its total"},
    [HPX_O_AGENT] = {.name = "agent", .arg = "FILE", .value = HPX_VALUE_FILE, .help = "another file of the library"},
    [HPX_O_AROUND] = {.name = "around", .arg = "TIME", .help = "only 5 s before and behind TIME: 14:03:20, or 90s since the start"},
    [HPX_O_BATCH] = {.name = "batch", .arg = "TIME", .help = "collect profiles for TIME, then send them together (10s)"},
    [HPX_O_BUDGET] = {.name = "budget", .arg = "PERCENT", .help = "of the CPU time of this host; above it JVMs are left alone (1)"},
    [HPX_O_BY] = {.name = "by", .arg = "PATTERN",
        .help = "a row for each method that matches, such as '*Servlet.do*', with what is below it, of every view"},
    [HPX_O_CA] = {.name = "ca", .arg = "FILE", .value = HPX_VALUE_FILE, .help = "trust these certificates instead of the system's"},
    [HPX_O_CERT] = {.name = "cert", .arg = "FILE", .value = HPX_VALUE_FILE, .help = "client certificate"},
    [HPX_O_DUMP] = {.name = "dump", .arg = "NUMBER", .help = "of several heap dumps in FILE tell of this one (the last that is complete)"},
    [HPX_O_DURATION] = {.name = "duration", .letter = 'd', .arg = "TIME", .help = "how long: 30s, 2m, 500ms (10s)"},
    [HPX_O_EVENT] = {.name = "event", .letter = 'e', .arg = "WHAT", .value = HPX_VALUE_CHOICE, .choices = KINDS,
        .help = "cpu, wall, times, calls, alloc, live, lock, heap or all (cpu)"},
    [HPX_O_EVERY] = {.name = "every", .arg = "TIME", .help = "write a profile of each JVM every TIME (60s)"},
    [HPX_O_EXCLUDE] = {.name = "exclude", .arg = "PATTERN", .help = "only stacks without such a method, class or package, and not of such a thread"},
    [HPX_O_FAIL_IF] = {.name = "fail-if", .arg = "COND",
        .help = "'METHOD +5%': the method with what it calls grew by more than 5 %; 'METHOD self +5%': itself;\n"
                "+2pt: percentage points; - for +: it shrank; several METHODs by * and ?; '* +2pt': any method;\n"
                "'total +5%': the sum, with --absolute. May be given several times"},
    [HPX_O_FOR] = {.name = "for", .arg = "TIME", .help = "profile only TIME of every --every (all of it)"},
    [HPX_O_FROM] = {.name = "from", .arg = "TIME", .help = "only what was from TIME on: 90s, 1m30s since the start, or 14:03:20 (timeline=y)"},
    [HPX_O_HEADERS] = {.name = "headers", .arg = "FILE", .value = HPX_VALUE_FILE,
        .help = "for a URL: lines of HTTP headers, such as X-ClickHouse-Key: PASSWORD. FILE needs mode 600"},
    [HPX_O_HELP] = {.name = "help", .letter = 'h', .help = "this text"},
    [HPX_O_IDLE] = {.name = "idle", .help = "wall clock: the stacks of idle threads, too, not one row [idle]"},
    [HPX_O_INCLUDE] = {.name = "include", .arg = "PATTERN", .help = "only stacks with such a method, class or package, or of such a thread"},
    [HPX_O_JSON] = {.name = "json", .help = "one JSON object"},
    [HPX_O_KEY] = {.name = "key", .arg = "FILE", .value = HPX_VALUE_FILE, .help = "private key of the client certificate"},
    [HPX_O_LEAF] = {.name = "leaf", .arg = "PATTERN", .help = "only stacks with such a method, without what it calls"},
    [HPX_O_LISTEN] = {.name = "listen", .arg = "WHERE",
        .help = "answer /metrics, /debug/pprof/profile and /debug/pprof/heap at unix:PATH or 127.0.0.1:PORT"},
    [HPX_O_LISTEN_ANYWHERE] = {.name = "listen-anywhere", .help = "WHERE may be another address than this machine's own"},
    [HPX_O_MATCH] = {.name = "match", .arg = "PATTERN",
        .help = "JVMs with this word in their command line, or of which the main class fits a pattern like '*Server'"},
    [HPX_O_METHOD] = {.name = "method", .arg = "NAME",
        .help = "callers and callees of a method, or of a class; the end of its name, or a part, suffices"},
    [HPX_O_MIN] = {.name = "min", .arg = "PERCENT", .help = "smaller parts of a tree are left out (1), and rows of --by (0)"},
    [HPX_O_MINE] = {.name = "mine", .arg = "PREFIX", .help = "whose methods \"Look at\" names: com.acme,org.shop (neither JDK nor library)"},
    [HPX_O_ONCE] = {.name = "once", .help = "send what is there, and end"},
    [HPX_O_OUTPUT] = {.name = "output", .letter = 'o', .arg = "FILE", .value = HPX_VALUE_FILE,
        .help = "keep the profile in FILE and print no table, in the format of its suffix, as hprofx convert:\n"
                ".txt, .hprof, .html, .pb.gz ...; without one HPROF as the agent writes it; -: standard output"},
    [HPX_O_PART] = {.name = "part", .help = "an unfinished file: its end inside a record is a note (so if FILE ends in .part)"},
    [HPX_O_PRINT_AGENT_PATH] = {.name = "print-agent-path", .help = "the file of the library"},
    [HPX_O_REMOVE] = {.name = "remove", .help = "remove files that were sent"},
    [HPX_O_RETAINED] = {.name = "retained", .help = "of two heap dumps: what the objects of a class retain, not their bytes"},
    [HPX_O_ROOT] = {.name = "root", .arg = "PATTERN", .help = "only stacks with such a method, without what calls it"},
    [HPX_O_ROWS] = {.name = "rows", .letter = 'n', .arg = "ROWS", .help = "rows of a table (20; 10 without --view)"},
    [HPX_O_SERVICE] = {.name = "service", .arg = "NAME", .help = "name of the service, in place of the name in the profile"},
    [HPX_O_SHARE] = {.name = "share", .arg = "PERCENT", .help = "profile on PERCENT of the hosts, always the same ones (100)"},
    [HPX_O_SPOOL] = {.name = "spool", .arg = "FOLDER", .value = HPX_VALUE_FILE,
        .help = "where profiles wait for a destination ($STATE_DIRECTORY, ~/.local/state/hprofx)"},
    [HPX_O_SPOOL_BYTES] = {.name = "spool-bytes", .arg = "SIZE",
        .help = "limit for each destination; beyond it the oldest profiles are dropped (256m)"},
    [HPX_O_STATE] = {.name = "state", .arg = "STATE", .value = HPX_VALUE_CHOICE, .choices = STATES,
        .help = "only wall-clock time in that state: running, runnable, blocked, waiting, parked, sleeping, io, native"},
    [HPX_O_STRICT] = {.name = "strict", .help = "treat notes as errors"},
    [HPX_O_TABLE] = {.name = "table", .help = "self and total by method; by class, too, if it is about objects (the default)"},
    [HPX_O_THREAD] = {.name = "thread", .arg = "NAME", .help = "only threads with that name, or, if there is none, with NAME in their name"},
    [HPX_O_THREADS] = {.name = "threads", .letter = 't',
        .help = "each thread by itself (thread=y), also in tables; in collapsed stacks it is the root of its stacks"},
    [HPX_O_TO] = {.name = "to", .arg = "SUFFIX", .value = HPX_VALUE_SUFFIX, .help = "the format, if OUT is - or has another suffix"},
    [HPX_O_TO_TIME] = {.name = "to", .arg = "TIME", .help = "only what was before TIME, as --from has it"},
    [HPX_O_TREE] = {.name = "tree", .help = "the call tree"},
    [HPX_O_VERBOSE] = {.name = "verbose", .letter = 'v', .help = "notes, too: what is odd, and disturbs no reader"},
    [HPX_O_VERSION] = {.name = "version", .help = "the version"},
    [HPX_O_VIEW] = {.name = "view", .arg = "VIEW", .value = HPX_VALUE_CHOICE, .choices = VIEWS,
        .help = "cpu, wall, times, alloc, heap, lock, owner, park, wait, pinned, or a measure such as inuse_space"},
    [HPX_O_WAIT] = {.name = "wait", .arg = "TIME", .help = "with --once: for the destinations, at most TIME (30s)"},
};

#define HELP        {HPX_O_HELP, NULL}
#define TIMES       {HPX_O_FROM, ""}, {HPX_O_TO_TIME, ""}, {HPX_O_AROUND, "only that part of the run: 90s, 1m30s from its start, or 14:03:20 (timeline=y)"}
#define OF_IN       {HPX_O_FROM, ""}, {HPX_O_AROUND, "only that part of the run, up to --to TIME: 90s, 1m30s from its start, or 14:03:20"}, \
                    {HPX_O_HEADERS, ""}, {HPX_O_CA, ""}, {HPX_O_CERT, ""}, {HPX_O_KEY, "for a URL, as hprofx fetch --help says"}
#define OF_URL      TIMES, {HPX_O_HEADERS, ""}, {HPX_O_CA, ""}, {HPX_O_CERT, ""}, {HPX_O_KEY, "for a URL, as hprofx fetch --help says"}
#define FILTERS     {HPX_O_INCLUDE, ""}, {HPX_O_EXCLUDE, "only stacks with (without) such a method p.C.m, class p.C, package p, or thread; * fits all"}, \
                    {HPX_O_THREAD, ""}, {HPX_O_STATE, "only of threads with (else: with a part of) that name; in that state of the wall clock"},       \
                    {HPX_O_ROOT, ""}, {HPX_O_LEAF, "only stacks with such a method, without what calls it (what it calls)"}
#define OF_DEST     {HPX_O_HEADERS, "for the next DESTINATION: lines of HTTP headers, as \"Authorization: Bearer ...\""},                \
                    {HPX_O_CA, "likewise: trust these certificates instead of the system's"},                                            \
                    {HPX_O_CERT, "likewise: our certificate"}, {HPX_O_KEY, "likewise: its private key"}, {HPX_O_SPOOL, NULL},              \
                    {HPX_O_SPOOL_BYTES, NULL}, {HPX_O_BATCH, NULL}, {HPX_O_LISTEN, NULL}, {HPX_O_LISTEN_ANYWHERE, NULL},                    \
                    {HPX_O_SERVICE, NULL}
#define OWN(...)    .own = (const struct hpx_verb_option[]){__VA_ARGS__, HELP}
#define WORDS_AGENT "AGENT-OPTIONS are those of hprofx(7), with commas between: interval=1,depth=64\n"
#define WORDS_JVM   "NAME is a part of the main class, the jar or the command line; hprofx list shows all.\n"
#define STATUS_JVM  "Status: 0 ok, 1 failed, 2 usage, 3 no such JVM, 4 not permitted, 5 refused, 6 the profile is not whole.\n"
#define STATUS_FILE "Status: 0 ok, 1 the file cannot be read or written, 2 usage, 6 the file is broken.\n"
#define COSTS       "cpu; in brackets what it costs the program: cpu (low), wall (low), times (slow: every call),\n"                      \
                    "alloc (low; slow with sites=exact), live (low; collects garbage), lock (low), all (low),\n"                         \
                    "heap (pause: a heap dump at once, without -d)"

const struct hpx_verb hpx_verbs[] = {
    {.name = "", .session = true, .words = HPX_WORDS_SESSION,
     .summary = "profile a JVM for 10 s, and show what it did",
     .synopsis = "[OPTIONS] PID|NAME [AGENT-OPTIONS]    profile a JVM for 10 s, and show what it did\n"
                 "COMMAND ...                           hprofx COMMAND --help tells more",
     .about = "Commands:\n"
              "  run                           profile a program from its start to its end: hprofx run java -jar app.jar\n"
              "  start, stop, dump, status     a session that goes on when the command ends\n"
              "  top, threads, heap, list, doctor  what a JVM does now; its threads; its heap; JVMs that run; what will work here\n"
              "  view, convert, merge, diff    profiles: as tables; in other formats; their sum; what changed\n"
              "  info, check, recover          HPROF files: what they hold; whether they are sound; after a kill\n"
              "  watch, ship, fetch, jmh       profiles of a fleet; of benchmarks\n",
     OWN({HPX_O_DURATION, NULL}, {HPX_O_EVENT, COSTS}, {HPX_O_OUTPUT, NULL}, {HPX_O_THREADS, NULL}, {HPX_O_MINE, NULL},
         {HPX_O_IDLE, NULL}, {HPX_O_AGENT, NULL}, {HPX_O_PRINT_AGENT_PATH, NULL}, {HPX_O_VERSION, NULL}),
     .more = WORDS_JVM "AGENT-OPTIONS are those of hprofx(7): interval=1,depth=64. Example: hprofx -d 30s -e alloc MyServer\n" STATUS_JVM},
    {.name = "start", .session = true, .words = HPX_WORDS_SESSION,
     .summary = "begin a session in a JVM, which goes on when the command ends",
     .synopsis = "[OPTIONS] PID|NAME [AGENT-OPTIONS]",
     .about = "Begins a session that goes on when the command ends; hprofx stop ends it and shows its profile.\n",
     OWN({HPX_O_DURATION, "the session ends by itself after TIME: 30s, 2m"}, {HPX_O_EVENT, COSTS},
         {HPX_O_OUTPUT, "the JVM writes the profile to FILE, as HPROF: .txt, .hprof"}, {HPX_O_THREADS, NULL}, {HPX_O_AGENT, NULL}),
     .more = WORDS_JVM WORDS_AGENT "Example: hprofx start -o a.txt MyServer; hprofx stop MyServer\n" STATUS_JVM},
    {.name = "stop", .session = true, .words = HPX_WORDS_JVM,
     .summary = "end the session of a JVM, and show its profile",
     .synopsis = "[OPTIONS] PID|NAME",
     .about = "Ends the session, also one from the start of the JVM. One that was begun without -o is shown; of others it says where the\n"
              "profile is.\n",
     OWN({HPX_O_OUTPUT, NULL}, {HPX_O_THREADS, "each thread by itself, of a session that was begun with -t"}, {HPX_O_MINE, NULL}, {HPX_O_IDLE, NULL},
         {HPX_O_AGENT, NULL}),
     .more = WORDS_JVM "Example: hprofx stop -o a.html MyServer\n" STATUS_JVM},
    {.name = "dump", .session = true, .words = HPX_WORDS_JVM,
     .summary = "have the session of a JVM write a profile now",
     .synopsis = "[OPTIONS] PID|NAME",
     .about = "The session writes a profile now, as on SIGQUIT, and goes on.\n",
     OWN({HPX_O_AGENT, NULL}),
     .more = WORDS_JVM "Example: hprofx dump MyServer\n" STATUS_JVM},
    {.name = "status", .session = true, .words = HPX_WORDS_JVM,
     .summary = "whether a session runs in a JVM, and what it records",
     .synopsis = "[OPTIONS] PID|NAME",
     .about = "Says whether a session runs, what it records, and who began it.\n",
     OWN({HPX_O_AGENT, NULL}),
     .more = WORDS_JVM "Example: hprofx status 4711\n" STATUS_JVM},
    {.name = "heap", .session = true, .words = HPX_WORDS_SESSION,
     .summary = "what is in the heap of a JVM: classes, what retains most, strings that are there twice",
     .synopsis = "[OPTIONS] PID|NAME [AGENT-OPTIONS]",
     .about = "Takes a heap dump, for which the JVM stops a moment, tells what is in it, and removes it, as hprofx view does of a file:\n"
              "classes, retained sizes, paths from roots to what retains most, duplicate strings, empty collections.\n",
     OWN({HPX_O_ROWS, "classes of the table (30)"}, {HPX_O_JSON, "one JSON object, with all classes unless -n is given"}, {HPX_O_AGENT, NULL}),
     .more = WORDS_JVM WORDS_AGENT "Example: hprofx heap -n 100 MyServer\n" STATUS_JVM},
    {.name = "threads", .session = true, .words = HPX_WORDS_SESSION,
     .summary = "what the threads of a JVM do at one moment, also a million virtual ones",
     .synopsis = "[OPTIONS] PID|NAME [AGENT-OPTIONS]",
     .about = "All threads, by stack and state: virtual ones with the executor or scope that they were started in, their carrier,\n"
              "and the locks that they wait for, with the owner. A copy of the process reads virtual threads, for which the JVM\n"
              "stops a moment; maxpause= limits that. Where a copy is refused they are asked one by one, and a note says so.\n",
     OWN({HPX_O_ROWS, "groups of threads (20)"},
         {HPX_O_THREAD, "only groups of which a thread that is shown, or their executor or scope, has that name; if there is none, with NAME in it"},
         {HPX_O_JSON, "one JSON object, with all groups unless -n is given"}, {HPX_O_AGENT, NULL}),
     .more = WORDS_JVM WORDS_AGENT "Example: hprofx threads -n 100 MyServer\n" STATUS_JVM},
    {.name = "run", .session = true, .words = HPX_WORDS_PROGRAM,
     .summary = "profile a program from its start to its end",
     .synopsis = "[OPTIONS] [AGENT-OPTIONS] [--] PROGRAM ...",
     .about = "Runs java ..., mvn ..., ./run.sh, and shows the profile when it has ended. Every JVM that it starts has a profile; of several\n"
              "each is a line, and their sum is shown. -o FILE.txt is FILE.PID.txt for each of several; %p is PID also in other names.\n",
     OWN({HPX_O_EVENT, COSTS}, {HPX_O_OUTPUT, NULL}, {HPX_O_THREADS, NULL}, {HPX_O_MINE, NULL}, {HPX_O_IDLE, NULL}, {HPX_O_AGENT, NULL}),
     .more = WORDS_AGENT "Examples:\n"
             "  hprofx run java -jar app.jar\n"
             "  hprofx run -e alloc -o tests.html mvn test\n"
             "Status: that of the program; if it is 0, 1 failed, 2 usage, 6 a profile is not whole. No JVM: a message, and its status.\n"},
    {.name = "top", .session = true, .words = HPX_WORDS_SESSION,
     .summary = "what a JVM does now, every second",
     .synopsis = "[OPTIONS] PID|NAME [AGENT-OPTIONS]",
     .about = "Shows every second what the JVM did: CPU time, methods, states of threads, contended monitors. q and Ctrl-C end it.\n",
     OWN({HPX_O_DURATION, "end after TIME: 30s, 2m"}, {HPX_O_EVENT, "only cpu, wall, times or lock"}, {HPX_O_THREADS, "each thread by itself (thread=y)"},
         {HPX_O_BY, NULL}, {HPX_O_MINE, NULL}, {HPX_O_IDLE, NULL}, FILTERS, {HPX_O_AGENT, NULL}),
     .more = WORDS_JVM WORDS_AGENT "Example: hprofx top -e wall MyServer\n" STATUS_JVM},
    {.name = "list", .session = true, .words = HPX_WORDS_NONE,
     .summary = "JVMs that run here",
     .synopsis = "",
     .about = "Prints process, user and name of the JVMs that may be seen.\n",
     .own = (const struct hpx_verb_option[]){HELP},
     .more = "Status: 0 ok, 2 usage.\n"},
    {.name = "doctor", .session = true, .words = HPX_WORDS_JVM,
     .summary = "what will work here, and the remedy for what will not",
     .synopsis = "[OPTIONS] [PID|NAME]",
     .about = "Says what will work here, or with a JVM, and what will not, with the remedy. It only looks.\n",
     OWN({HPX_O_AGENT, NULL}),
     .more = "Example: hprofx doctor MyServer\n" "Status: 0: a profile is possible; else that with which an attempt would end.\n"},
    {.name = "jmh", .session = true, .words = HPX_WORDS_NONE,
     .summary = "what to give JMH for its option -prof hprofx",
     .synopsis = "[OPTIONS]",
     .about = "Prints the command that profiles benchmarks of JMH.\n",
     OWN({HPX_O_AGENT, NULL}),
     .more = "Status: 0 ok, 1 there is no hprofx-jmh.jar, 2 usage.\n"},
    {.name = "info", .words = HPX_WORDS_FILE,
     .summary = "what an HPROF file holds",
     .synopsis = "[OPTIONS] FILE",
     .about = "Shows what a binary or text HPROF file holds. FILE may be -, standard input.\n",
     OWN({HPX_O_JSON, NULL}, {HPX_O_PART, NULL}),
     .more = "Example: hprofx info java.hprof\n" STATUS_FILE},
    {.name = "check", .words = HPX_WORDS_FILE,
     .summary = "whether an HPROF file is sound",
     .synopsis = "[OPTIONS] FILE",
     .about = "Validates an HPROF file: sound, or what a reader trips over. FILE may be -, standard input.\n",
     OWN({HPX_O_VERBOSE, NULL}, {HPX_O_STRICT, NULL}, {HPX_O_JSON, NULL}, {HPX_O_PART, NULL}),
     .more = "Example: hprofx check --strict java.hprof\n" STATUS_FILE},
    {.name = "recover", .words = HPX_WORDS_FILE,
     .summary = "rebuild the profile of a program that was killed",
     .synopsis = "NAME",
     .about = "Completes NAME or NAME.part, left by a run that was killed: cuts it after its last complete record.\n",
     .own = (const struct hpx_verb_option[]){HELP},
     .more = "Example: hprofx recover java.hprof.txt\n" STATUS_FILE},
    {.name = "view", .words = HPX_WORDS_FILES,
     .summary = "profiles as tables, call tree, callers and callees",
     .synopsis = "[OPTIONS] FILE...",
     .about = "Shows a profile, HPROF (text or binary), pprof or collapsed stacks, or the sum of several. FILE may be -, standard input;\n"
              "a folder; a pattern in quotes; or a URL (hprofx fetch --help). Without --view it shows the tables of all views; --tree,\n"
              "--method and --threads show the first. Of a heap dump in binary it also tells what is in it.\n",
     OWN({HPX_O_VIEW, NULL}, {HPX_O_TABLE, NULL}, {HPX_O_TREE, NULL}, {HPX_O_METHOD, NULL}, {HPX_O_THREADS, "the total of every thread"},
         {HPX_O_BY, NULL}, {HPX_O_ROWS, NULL}, {HPX_O_MIN, NULL}, {HPX_O_MINE, NULL}, {HPX_O_IDLE, NULL}, {HPX_O_DUMP, NULL}, {HPX_O_JSON, "the tables as one JSON object, with all rows unless -n is given"},
         {HPX_O_OUTPUT, "write FILE instead, as hprofx convert does: .html, .pb.gz and others"}, FILTERS, OF_URL),
     .more = "Example: hprofx view --tree java.hprof.txt\n"
             "Status: 0 ok, 1 FILE cannot be read, or has nothing like that, 2 usage, 6 FILE is broken: what could be read is shown.\n"},
    {.name = "convert", .words = HPX_WORDS_FILES,
     .summary = "a profile in another format, by the suffix of OUT",
     .synopsis = "[OPTIONS] IN OUT",
     .about = "Writes a profile, HPROF (text or binary), pprof or collapsed stacks, in the format of OUT's suffix. IN and OUT may be -; IN also\n"
              "a folder, a pattern in quotes, or a URL (hprofx fetch --help).\n",
     OWN({HPX_O_VIEW, "for formats with one value a stack: cpu, wall, times, alloc, heap, lock, owner, park, wait, pinned,\n"
                      "or a measure such as inuse_space; without it the first that the profile has"}, {HPX_O_TO, NULL}, {HPX_O_MINE, NULL}, FILTERS, OF_IN),
     .more = "Status: 0 ok, 1 a file cannot be read or written, 2 usage, 6 a profile was broken: what could be read is in OUT.\n"},
    {.name = "merge", .words = HPX_WORDS_FILES,
     .summary = "the sum of several profiles, as hprofx convert writes it",
     .synopsis = "[OPTIONS] IN IN... OUT",
     .about = "Adds the values of equal stacks and threads, and writes the sum in the format of OUT's suffix. IN and OUT are as for hprofx convert.\n",
     OWN({HPX_O_VIEW, "for formats with one value a stack: cpu, wall, times, alloc, heap, lock, owner, park, wait, pinned,\n"
                      "or a measure such as inuse_space; without it the first that the profile has"}, {HPX_O_TO, NULL}, FILTERS, OF_IN),
     .more = "Status: 0 ok, 1 a file cannot be read or written, 2 usage, 6 a profile was broken: what could be read is in OUT.\n"},
    {.name = "diff", .words = HPX_WORDS_FILES, .separates = true,
     .summary = "what changed between two profiles, beyond chance",
     .synopsis = "[OPTIONS] A B                 what changed between two profiles\n"
                 "[OPTIONS] A... -- B...        the same of several runs on each side",
     .about = "Tells changes of methods from chance, at 95 %. Several runs on each side also show how much runs differ. A folder, a pattern\n"
              "in quotes and a URL (hprofx fetch --help) are one run each, the sum of their profiles.\n",
     OWN({HPX_O_VIEW, "cpu, wall, times, alloc, heap, lock, owner, park, wait, pinned, or a measure such as inuse_space or\n"
                      "calls; without it the first that all profiles have"}, {HPX_O_ABSOLUTE, NULL}, {HPX_O_RETAINED, NULL}, {HPX_O_FAIL_IF, NULL},
         {HPX_O_JSON, NULL}, {HPX_O_OUTPUT, "also write FILE: .html, .json or .txt. May be given several times"}, FILTERS, OF_URL),
     .more = "Status: 0 no condition holds, 1 one holds, 2 usage, or a file cannot be read or written, 6 too few samples to tell, or a\n"
             "profile was broken.\n"},
    {.name = "fetch", .words = HPX_WORDS_NONE, .fleet = true,
     .summary = "profiles of a fleet that an engine keeps, as a file",
     .synopsis = "[OPTIONS] 'clickhouse:http://HOST:8123/DATABASE.TABLE?service=NAME&from=-1h'",
     .about = "Writes the sum of profiles that hprofx ship has sent to ClickHouse. A profile that was sent twice counts once.\n"
              "  service= version= host= container= pid= kind=   select profiles; a key given several times means any of its values\n"
              "  from= to=       -30m, -1h, -7d: before now; 2026-11-25T10:00 (local time, with Z UTC); seconds since 1970\n",
     OWN({HPX_O_OUTPUT, "pprof, or another format by suffix (hprofx convert --help); -: pprof to standard output"},
         {HPX_O_HEADERS, "lines of HTTP headers, such as X-ClickHouse-User: NAME and X-ClickHouse-Key: PASSWORD; FILE needs mode 600"},
         {HPX_O_CA, NULL}, {HPX_O_CERT, NULL}, {HPX_O_KEY, NULL}, FILTERS),
     .more = "Status: 0 ok, 1 no answer, or no such profile, 2 usage, 6 FILE lacks a part of the answer.\n"},
    {.name = "ship", .words = HPX_WORDS_FILES, .fleet = true,
     .summary = "send profiles of agents to engines such as ClickHouse",
     .synopsis = "[OPTIONS] SOURCE... DESTINATION...",
     .about = "A SOURCE is a folder into which agents write, or net:HOST:PORT, to which they send by net=. A DESTINATION is\n"
              "otlp:http://HOST:4318 (OpenTelemetry), clickhouse:http://HOST:8123/DB.TABLE (docs/sql/schema.sql makes the table),\n"
              "pyroscope:http://HOST:4040, or pprof:FOLDER, for a file of each profile.\n",
     OWN(OF_DEST, {HPX_O_REMOVE, NULL}, {HPX_O_ONCE, NULL}, {HPX_O_WAIT, NULL}),
     .more = "Example: hprofx ship --service shop /var/log/profiles otlp:http://localhost:4318\n"
             "A profile is sent at least once: after a crash perhaps twice, with the same id.\n"
             "Status: 0 ok, 1 failed, 2 usage, 6 something was not sent in time (--once).\n"},
    {.name = "watch", .words = HPX_WORDS_NONE, .fleet = true,
     .summary = "profile the JVMs of this host as they come, and send that",
     .synopsis = "[OPTIONS] DESTINATION...",
     .about = "A DESTINATION is as for hprofx ship: otlp:http://localhost:4318\n",
     OWN(OF_DEST, {HPX_O_MATCH, NULL}, {HPX_O_EVERY, NULL}, {HPX_O_FOR, NULL}, {HPX_O_SHARE, NULL}, {HPX_O_BUDGET, NULL},
         {HPX_O_EVENT, "cpu, wall, times, calls, alloc, live, lock or all (CPU and sampled allocations)"}, {HPX_O_AGENT, NULL}),
     .more = "Status: 0 ok, 1 failed, 2 usage.\n"},
};
/* clang-format on */
const size_t hpx_verbs_len = HPX_ARRAY_LEN(hpx_verbs);
