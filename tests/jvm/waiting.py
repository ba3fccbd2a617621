# SPDX-License-Identifier: BSD-2-Clause
"""Waiting for what a running program does. The test's deadline bounds it."""
import contextlib
import pathlib
import signal
import time


def until(run, condition):
    while not condition():
        run.test.within_time(run)
        time.sleep(0.005)


def stopped(run):
    """The process is stopped. SIGSTOP alone does not wait for that: on a busy machine threads still answer."""
    def states():
        for f in pathlib.Path('/proc/%d/task' % run.pid).glob('*/stat'):
            with contextlib.suppress(OSError):  # the thread has ended
                yield f.read_text().rpartition(') ')[2][0]
    run.signal(signal.SIGSTOP)
    until(run, lambda: set(states()) == {'T'})


def step(run, n):
    """The program Steps, or one like it, works until it acknowledges step n."""
    work = run.test.work
    (work / ('step%d' % n)).touch()
    until(run, lambda: (work / ('ack%d' % n)).exists() or run.process.poll() is not None)
    run.test.check((work / ('ack%d' % n)).exists(), 'the program ended in a step')


def stop_steps(run):
    (run.test.work / 'stop').touch()
    return run.finish()


def ask(run, done):
    """One request by SIGQUIT, and its dump, which ends with the line `done`; False: the program has ended."""
    before = run.err.splitlines().count(done)
    try:
        run.signal(signal.SIGQUIT)
    except ProcessLookupError:
        return False
    until(run, lambda: run.err.splitlines().count(done) > before or run.process.poll() is not None)
    return run.process.poll() is None


def recorded_requests(t, recorded, requests=2):
    """The program Steps as the original ran it for a recorded case: a request behind each step but the last. Returns the run that has ended."""
    run = t.start('Steps', opts=recorded.options)
    run.wait_line('ready')
    for n in range(1, requests + 2):
        step(run, n)
        if n <= requests:
            t.check(ask(run, recorded.stderr[0]), 'the program has ended')
    stop_steps(run)
    lines = run.out.splitlines()
    t.equal((run.code, lines[0], lines[-1]), (0, 'ready', 'done %d' % (100 * (requests + 1))), 'exit code, first and last line')
    t.equal([ln for ln in run.err.splitlines() if ln.startswith('Dumping')], recorded.stderr, 'stderr')
    return run
