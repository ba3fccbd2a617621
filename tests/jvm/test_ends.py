# SPDX-License-Identifier: BSD-2-Clause
"""Every way to end: the file is complete, the exit code and the program's output are its own."""
import signal

import hprof_text
from expect import WAYS_TO_END
from preload import preload
from runner import test
from waiting import until

SIGNALS = {'SIGTERM': 143, 'SIGINT': 130, 'SIGHUP': 129}


MODES = ('cpu=samples,interval=1', 'heap=sites,sites=counts,cpu=times')  # others: tests/truth


@test(level='plain', params=[(how, mode) for how in sorted(WAYS_TO_END) for mode in MODES],
      plain_params=[('exit', MODES[0]), ('halt', MODES[0]), ('throw', MODES[0]), ('throw', MODES[1]), ('halt', MODES[1])])
def way(t, param):
    how, mode = param
    code, out = WAYS_TO_END[how]
    _, p = t.profile('Ends', how, opts=mode, code=code, stdout=out)
    if mode.startswith('heap'):
        t.check(p.lists[0].rows, 'no row')
    elif how not in ('halt', 'exit', 'hook', 'exitinthread'):
        t.check(p.serial('main') in p.ended, 'no THREAD END of main')


@test(level='plain', params=sorted(SIGNALS), plain_params=('SIGTERM',))
def by_signal(t, name):
    run = t.start('Ends', 'hang')
    run.wait_line('ready')
    run.signal(getattr(signal, name))
    run.finish()
    t.complete(run, SIGNALS[name], 'ready\n')
    t.output()


@test(params=('version', 'missing'))
def without_a_program(t, what):
    if what == 'version':
        run = t.start_command(t.command('Hello')[:-3] + ['-version']).finish()
        t.complete(run, 0)
    else:
        run = t.java('NoSuchProgram')
        t.complete(run, 1)
    t.output()


@test(level='plain')
def while_vminit_runs(t):
    """SIGTERM while VMInit starts our threads: VMDeath comes on another thread meanwhile. The output gets its end all the same."""
    run, _ = t.profile('Ends', 'hang', opts='cpu=samples', env=preload(t, 'earlyend'), code=143)
    # Once VMInit is done, the program's main method may run beside the end.
    t.check(run.out in ('', 'ready\n'), 'stdout %r' % run.out)
    t.equal(t.files(), ['java.hprof.txt'], 'files')


@test(level='plain')
def doe_n_writes_the_header_and_the_threads_alone(t):
    run = t.java('HotSplit', 50, opts='cpu=samples,doe=n')
    t.complete(run, 0, 'done true\n', verbose=False)
    t.check('Dumping' not in run.err, 'a message about a dump')
    p = t.output(dumps=0)
    t.equal((p.traces, next(iter(p.names.values()))), ({}, 'main'), 'traces, first thread')


@test(level='plain', needs=('hotspot',))
def verbose_n_is_silent(t):
    run, _ = t.profile('HotSplit', 50, opts='cpu=samples,verbose=n', verbose=False, stdout='done true\n')
    t.equal(run.err, '', 'stderr')


def _busy(t, how, times, threads=20):
    """The agent's clock stands still from the end of the program on: what the agent waits for comes, and no bound of a wait is needed."""
    for _ in range(times):
        run = t.start('BusyExit', threads, how, opts='cpu=samples,interval=1', env=preload(t, 'standstill')).finish()
        t.complete(run, {'return': 0}.get(how, 3), 'end\n')
        t.output()


@test(timeout=150)
def no_bound_is_needed_beside_busy_daemons_and_a_collection(t):
    _busy(t, 'gcexit', 20 if t.level == 'long' else 6)


@test(params=('return', 'exit', 'halt'))
def no_bound_is_needed_beside_busy_daemons(t, how):
    _busy(t, how, 3)


@test(collectors=('Serial', 'Parallel', 'ZGC', 'Shenandoah'))
def no_bound_is_needed_beside_a_collection_of_another_collector(t):
    _busy(t, 'gcexit', 3)


COLLECTING = ('heap=sites', 'heap=sites,sites=sampled', 'heap=sites,sites=counts', 'heap=dump', 'heap=all', 'cpu=samples,interval=1', 'cpu=times', 'monitor=y', 'wall=5',
         'heap=sites,monitor=y,wall=5', 'heap=sites,cpu=times')


@test(level='plain', params=COLLECTING, plain_params=COLLECTING[:1], timeout=900)
def while_threads_collect(t, mode):
    """The VM may wait at its end for a thread of its own that waits for a safepoint: then the program would never end."""
    if 'sampled' in mode and t.jdk.version < 11:
        t.skip('this VM samples no allocations')
    for i in range(100 if t.level == 'long' else 8):
        run = t.java('ExitGc', 30 + i * 13 % 64, 'exit' if i % 2 else 'return', opts=mode + ',verbose=n', jvm=['-Xmx64m'])
        t.complete(run, 0, 'bye\n', verbose=False)
        t.output(dumps=None)


@test(params=('async', 'walk', 'poll'))
def while_threads_start_and_end(t, engine):
    for ms in (0, 1, 5, 50, 200):
        t.profile('ExitStress', ms, opts='cpu=samples,interval=1,sampler=' + engine, code=4, stdout='done\n')


@test(level='plain')
def kill_9_leaves_a_readable_part(t):
    run = t.start('Pause', 100, opts='cpu=samples,interval=1')
    run.wait_line('ready')
    part = t.work / 'java.hprof.txt.part'
    until(run, lambda: part.exists() and b'\nTHREAD START (' in part.read_bytes().partition(b'\n--------\n')[2])
    run.kill()
    t.check(all(n.endswith('.part') for n in t.files()), 'files: %s' % t.files())
    p = hprof_text.read(part, complete=False)
    t.check('main' in p.names.values(), 'no THREAD START of main')
    # The next run takes the place of what the dead one left, and puts a journal aside, if that had a table already.
    t.profile('Hello', stdout='hi\n')
    t.equal([f for f in t.files() if not f.startswith('java.hprof.txt.killed.')], ['java.hprof.txt'], 'files after the next run')
