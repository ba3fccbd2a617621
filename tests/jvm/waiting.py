# SPDX-License-Identifier: BSD-2-Clause
"""Waiting for what a running program does. The test's deadline bounds it."""
import signal
import time


def until(run, condition):
    while not condition():
        run.test.within_time(run)
        time.sleep(0.005)


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
