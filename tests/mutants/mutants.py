# SPDX-License-Identifier: BSD-2-Clause
"""Defects to plant: mistakes that a refactoring could make. Written from reading the code, not from what the tests look at."""
import typing


class Mutant(typing.NamedTuple):
    name: str
    file: str
    kind: str
    harm: str  # who is hurt
    old: str  # stands in the file exactly once
    new: str


MUTANTS = [
    # ---- agent ----
    Mutant('a-stall-is-a-sample', 'agent/ticks/stall.c', 'wrong limit',
           'a machine that a hypervisor stops for seconds: the stack that ran next gets them and leads the table',
           'uint64_t beyond = weight > limit ? weight - limit : 0;',
           'uint64_t beyond = weight > limit * limit ? weight - limit : 0;'),
    Mutant('system-calls-stall', 'agent/ticks/stall.c', 'inverted condition',
           'a program that writes large files: its system calls are rows of hprofx.stalled',
           'return beyond / 2 < kernel ? 0 : beyond;',
           'return beyond / 2 > kernel ? 0 : beyond;'),
    Mutant('field-that-stands-twice-is-believed', 'agent/hotspot/structures.c', 'missing check',
           'a VM whose tables name a field twice: which of two offsets is read is chance',
           '''        if (found != 0) {
            return false;
        }
''',
           ''),
    Mutant('flag-chosen-by-the-user-is-overridden', 'agent/hotspot/vm_flags.c', 'wrong mask',
           'a command line that says -XX:-DebugNonSafepoints: the agent sets the flag all the same',
           '#define ORIGIN_MASK  15', '#define ORIGIN_MASK  14'),
    Mutant('end-of-the-hops-is-a-free-segment', 'agent/hotspot/code_cache.c', 'wrong limit',
           'large compiled methods: a pc that lies 254 segments behind the start has no owner',
           '#define FREE        0xffu', '#define FREE        0xfeu'),
    Mutant('zombie-of-jdk-8-lives', 'agent/hotspot/code_cache.c', 'wrong choice of one JDK (8)',
           'JDK 8: a method whose code was given up is taken for a living one, and its Method may be freed',
           'cache.most_alive = 1;', 'cache.most_alive = 2;'),
    Mutant('id-behind-the-array-is-read', 'agent/hotspot/code_cache.c', 'off by one',
           'classes that were redefined: the word behind the array of ids is taken for a jmethodID',
           'return number < hpx_vm_word(ids) ?', 'return number <= hpx_vm_word(ids) ?'),
    Mutant('any-distance-of-the-env-will-do', 'agent/hotspot/frame_anchor.c', 'dropped condition',
           'a VM with JavaThreads of two layouts: the anchor of the second is read and written at the wrong address',
           ' || (anchors.env_offset != 0 && offset != anchors.env_offset)', ''),
    Mutant('ended-thread-keeps-its-reference', 'agent/samples/stack_thread.c', 'leaked reference',
           'a server that starts threads all day: every ended Thread object stays on the heap',
           '''    jthread ref = list.slots[i].held ? NULL : free_locked(i);
    pthread_mutex_unlock(&list.lock);
    if (ref != NULL) {
        (*env)->DeleteGlobalRef(env, ref);
    }
''',
           '''    if (!list.slots[i].held) {
        (void)free_locked(i);
    }
    (void)env;
    pthread_mutex_unlock(&list.lock);
'''),
    Mutant('line-table-is-not-given-back', 'agent/vm/names.c', 'memory leak',
           'a program of many methods: the line table of every sampled method stays allocated in the VM',
           '''        class_text_fini(jvmti, &t);
    }
    drop(jvmti, lines);
    return m;
''',
           '''        class_text_fini(jvmti, &t);
    }
    return m;
'''),
    Mutant('ended-thread-keeps-its-state', 'agent/calls/calls_vm.c', 'missing reset',
           'a native thread that detaches and attaches again: its probes use freed memory',
           '''        hpx_ticks_disarm(ticker(s));
    }
    hpx_calls_thread_self = NULL;
''',
           '''        hpx_ticks_disarm(ticker(s));
    }
'''),
    Mutant('long-name-cut-one-too-far-left', 'agent/vm/thread_by_name.c', 'wrong choice of one JDK (22 on)',
           'JDK 22 on: threads with long names that began before the agent are not found and go unsampled',
           'snprintf(cut, sizeof cut, "%.7s..%s", name, name + n - 6);',
           'snprintf(cut, sizeof cut, "%.7s..%s", name, name + n - 7);'),
    Mutant('frames-of-the-null-thread', 'agent/calls/tracker.c', 'wrong choice of one JDK (21 on)',
           'JDK 21 on: a virtual thread whose carrier is deep in its stack while it mounts waits for ever',
           '''    jthread self = NULL;
    jint n;
    if ((*hpx_vm.jvmti)->GetCurrentThread(hpx_vm.jvmti, &self) != JVMTI_ERROR_NONE) {
        return -1;
    }
    bool counted = (*hpx_vm.jvmti)->GetFrameCount(hpx_vm.jvmti, self, &n) == JVMTI_ERROR_NONE;
    (*t->s.env)->DeleteLocalRef(t->s.env, self);
    return counted ? n : -1;
}

/* Inside the session's gate: the end of a session waits for probes a short time only, and then disposes of the environment. */
static int32_t count_frames(void *ctx)
{
    const struct hpx_calls_thread *t = ctx;
    if ((t->carries && t->calls.key == 0) || !hpx_gate_enter(&hpx_session.gate)) {
''',
           '''    jint n;
    (void)t;
    return (*hpx_vm.jvmti)->GetFrameCount(hpx_vm.jvmti, NULL, &n) == JVMTI_ERROR_NONE ? n : -1;
}

/* Inside the session's gate: the end of a session waits for probes a short time only, and then disposes of the environment. */
static int32_t count_frames(void *ctx)
{
    const struct hpx_calls_thread *t = ctx;
    if (!hpx_gate_enter(&hpx_session.gate)) {
'''),
    Mutant('service-is-not-woken-to-leave', 'agent/vm/service.c', 'missing wake-up',
           'everybody: each program ends 0.3 s later, with a thread of the agent still inside the VM',
           'hpx_lane_post(&service.lane, service.quit, true);',
           'hpx_lane_post(&service.lane, service.quit, false);'),
    Mutant('overrun-of-one-is-lost', 'agent/ticks/clocks.c', 'wrong weight of a sample',
           'interval= of half a tick: every signal stands for two intervals and counts as one',
           'uint64_t weight = 1 + (si->si_overrun > 0 ? (uint64_t)si->si_overrun : 0);',
           'uint64_t weight = 1 + (si->si_overrun > 1 ? (uint64_t)si->si_overrun : 0);'),
    Mutant('forked-child-keeps-the-journal', 'agent/session/output.c', 'leaked descriptor',
           'a program that forks: the child holds the lock of the journal, the next run cannot have one',
           '''    hpx_out_file_forget(&hpx_output.split.out);
    hpx_journal_forget();
''',
           '''    hpx_out_file_forget(&hpx_output.split.out);
'''),
    Mutant('wait-line-has-the-carrier', 'tables/block_table.c', 'wrong owner',
           'virtual threads: the WAITED line of a queue names the thread that carried it at the end',
           '''    uint32_t serial = other ? other->serial : hpx_serial_of(t);
''',
           '''    uint32_t serial = hpx_serial_of(t);
    (void)other;
'''),
    Mutant('dump-resets-times-without-counts', 'tables/block_table.c', 'wrong reset',
           'dump=60s: from the second table on, counts of MONITOR TIME are those since the start',
           '''            p->sum.dumped = p->sum.all;
''',
           '''            p->sum.dumped.ns = p->sum.all.ns;
'''),
    # ---- pipeline ----
    Mutant('space-is-given-back-relaxed', 'pipeline/ring.h', 'missing memory order',
           'a processor with weak order: a record is overwritten while it is read',
           'atomic_store_explicit(&r->head, to, memory_order_release);',
           'atomic_store_explicit(&r->head, to, memory_order_relaxed);'),
    Mutant('tail-is-read-before-the-state', 'pipeline/aggregator.c', 'wrong order of two steps, lost event',
           'short threads: what one wrote between the two looks goes with its ring',
           '''        t->retired = atomic_load_explicit(&t->state, memory_order_acquire) == HPX_THREAD_RETIRED;
        uint64_t at = hpx_ring_position(&t->ring);
        t->drain_to = a->sink.tail && !t->retired ? a->sink.tail(a->sink.ctx, t) : hpx_ring_peek(&t->ring);
''',
           '''        uint64_t at = hpx_ring_position(&t->ring);
        t->drain_to = a->sink.tail && !t->retired ? a->sink.tail(a->sink.ctx, t) : hpx_ring_peek(&t->ring);
        t->retired = atomic_load_explicit(&t->state, memory_order_acquire) == HPX_THREAD_RETIRED;
'''),
    Mutant('folded-calls-are-half-lost', 'pipeline/calls.c', 'lost counter',
           'whoever reads the losses: a folded call is an entry and an exit, and only one is counted as lost',
           'lose(c, 2 * calls + open);',
           'lose(c, calls + open);'),
    Mutant('gap-keeps-the-stack-before', 'pipeline/calls.c', 'missing reset',
           'virtual threads under a full ring: calls of one are taken off another\'s stack',
           '''    c->gap.switched = true;
    c->gap.last = (struct hpx_calls_lost){0};
''',
           '''    c->gap.switched = true;
'''),
    # ---- tables ----
    Mutant('lost-calls-stay-ahead', 'tables/call_table.c', 'missing reset',
           'dumps on request of a busy program: calls that follow a gap are left out of the counts',
           '''lost_calls += g->calls - g->entered - th->ahead_calls; /* a dump has counted those, pending then and lost since */
    th->ahead_calls = th->ahead_ns = 0;
''',
           '''lost_calls += g->calls - g->entered - th->ahead_calls; /* a dump has counted those, pending then and lost since */
'''),
    Mutant('trace-without-names-is-settled', 'tables/symbols_print.c', 'stale cache',
           'dumps on request: a method whose name came late stays hprofx.unknown for ever',
           'if (p->state != HPX_SAMPLED_SETTLED && p->state != HPX_SAMPLED_GONE) {',
           'if (p->state == HPX_SAMPLED_ASKED) {'),
    Mutant('number-of-a-sampled-class-is-used-anew', 'tables/method_table.c', 'dropped condition',
           'programs that unload classes: samples of an old class are shown under the name of a new one',
           '''    if (c->nsampled == 0) {
        c->next_free = t->free;
        t->free = klass.v;
    }
''',
           '''    c->next_free = t->free;
    t->free = klass.v;
'''),
    Mutant('merge-swaps-two-figures', 'tables/call_table.c', 'swapped field',
           'cpu=times of many threads: the report says lost calls where it means lost events',
           '&from->lost_calls, &from->lost_events,',
           '&from->lost_events, &from->lost_calls,'),
    Mutant('one-id-too-many-is-forgotten', 'tables/method_table.c', 'read past the end',
           'programs that unload classes: 8 bytes behind a message are read, which may be on no page',
           'for (uint32_t i = 0; i < c->said->nmethods; i++) {',
           'for (uint32_t i = 0; i <= c->said->nmethods; i++) {'),
    # ---- writers ----
    Mutant('failed-rename-is-not-seen', 'writers/out_file.c', 'unhandled failure',
           'a folder that lost its permissions: the profile stays under NAME.part, and nobody says so',
           '''    if (rename(f->part, f->final) != 0) {
        return -1;
    }
''',
           '''    (void)rename(f->part, f->final);
'''),
    Mutant('full-quota-is-no-full-disk', 'writers/out.c', 'dropped condition',
           'users with a quota: the journal\'s room is not given to the output, which is cut',
           '(error == ENOSPC || error == EDQUOT) && o->make_room',
           'error == ENOSPC && o->make_room'),
    Mutant('row-at-the-cutoff-is-left-out', 'writers/hprof_table.c', 'off by one',
           'cutoff= of a round share: the row that has just this share is missing',
           '(double)total < cutoff)',
           '(double)total <= cutoff)'),
    Mutant('new-stream-trusts-old-strings', 'writers/hprof_binary.c', 'stale cache, missing reset',
           'net= with format=b: after a new connection names of threads and classes are not in the stream',
           '''    memset(w->recent, 0, sizeof(w->recent));
''',
           ''),
    Mutant('output-is-inherited-by-exec', 'writers/out_file.c', 'leaked descriptor',
           'programs that start others: those hold the profile open and locked, the next run takes another name',
           'fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);',
           'fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY, 0600);'),
    # ---- heap dumps ----
    Mutant('array-length-is-not-compared', 'agent/heap/walk_internal.h', 'missing check',
           'a heap dump on a VM that keeps lengths elsewhere: arrays have a wrong length',
           '} else if (hpx_unlikely(hpx_oops_length(&w->oops, key) != (uint32_t)length)) {', '} else if (false) {'),
    Mutant('root-without-record-is-not-missed', 'agent/heap/walk_roots.c', 'missing check',
           'a heap dump whose roots name objects that are not in it', 'whole = whole && (w->rooted.at[i].key == 0', 'whole = whole && (true || w->rooted.at[i].key == 0'),
    Mutant('crashed-copy-is-walked-here', 'agent/heap/take.c', 'missing case',
           'a heap on which the walk crashes: the program does, too', 'case HPX_CHILD_CRASHED: /*', 'case HPX_CHILD_RUNS: /*'),
    # ---- bci ----
    Mutant('return-is-inside-the-handler', 'bci/emit.c', 'off by one',
           'a return that throws (an unbalanced monitor): the exit of one call is said twice',
           '''                start = e->pc + 1u;
            }
        }
''',
           '''                start = e->pc;
            }
        }
'''),
    Mutant('method-shows-its-last-line', 'bci/tables.c', 'inverted condition',
           'cpu=times: every method of more than one line is shown at its end',
           'if (m->m.first_line == 0 || line < m->m.first_line) {',
           'if (m->m.first_line == 0 || line > m->m.first_line) {'),
    Mutant('method-32767-has-no-push', 'bci/emit.c', 'off by one',
           'large programs: the class that holds method 32767 does not verify',
           '} else if (number <= 32767) {',
           '} else if (number < 32767) {'),
    # ---- command/read ----
    Mutant('recovered-file-is-not-synced', 'command/read/recover.c', 'missing fsync',
           'a machine that loses power after a recovery: the file has its name and no bytes',
           '''fchmod(fd, 0600) == 0 &&
                fsync(fd) == 0 && rename(part->path, name->path) == 0;''',
           '''fchmod(fd, 0600) == 0 &&
                rename(part->path, name->path) == 0;'''),
    Mutant('first-surrogates-are-plain', 'command/read/utf8.c', 'off by one',
           'names with U+D800 to U+D83F in modified UTF-8 (most emoji): a file is held to be plain UTF-8',
           '} else if (u->first == 0xed && c >= 0xa0) {',
           '} else if (u->first == 0xed && c > 0xa0) {'),
    Mutant('date-may-lack-its-last-digit', 'command/read/scan.c', 'read past the end',
           'a file that ends inside a date: the byte behind the buffer is read',
           's->ok = left(s) >= 24;',
           's->ok = left(s) >= 23;'),
    Mutant('recovery-takes-the-poorer-file', 'command/read/recover.c', 'inverted condition',
           'whoever recovers a killed run: of two files the one with fewer samples is kept, the other is removed',
           'return name->counted > part->counted ? name : part;',
           'return name->counted < part->counted ? name : part;'),
    Mutant('places-of-roots-are-not-freed', 'command/read/check.c', 'memory leak',
           'recovery of runs with heap dumps, which reads up to four files: the places of roots of each stay in memory',
           '&c->awaited_places,  &c->root_places,',
           '&c->awaited_places, '),
]
