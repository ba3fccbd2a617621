# SPDX-License-Identifier: BSD-2-Clause
"""The registry of tests, which of their cells (JDK x collector) a run takes, the loop that runs them, the table at the end."""
import concurrent.futures
import ctypes
import dataclasses
import faulthandler
import os
import pathlib
import shlex
import signal
import threading
import time
import traceback
import zlib

import harness
import sanitized
from jdk import COLLECTORS, Jdk

LEVELS = ('plain', 'full', 'long')
UNSTABLE = 3  # so many tests of a run may fail the first time
UNTIL = float(os.environ.get('HPX_UNTIL') or 'inf')  # seconds since 1970: no test begins later
GRACE = 60  # seconds (of the reference) behind its deadline after which a test that waits for something else than its programs is ended
BRIEF_SHARE = 3  # one of so many short tests runs on one of the brief JDKs, too


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    function: object
    param: object
    jdk: Jdk
    collector: str
    measures: bool
    timeout: float
    level: str = 'full'  # the shortest run that has it
    one_in: int = 1  # a full run has one parameter in so many, by the seed
    longer: bool = False  # in a full run than in a plain one
    turn: int = 0  # what the test takes in turn (harness.Test.in_turn) begins here

    def __str__(self):
        return '%s [%s %s]' % (self.name, self.jdk.label, self.collector)

    def cell(self):
        return self.jdk.label, self.collector


_tests = []


def test(level='full', collectors=('G1',), since=8, until=999, needs=(), params=None, plain_params=None, measures=False, timeout=120, one_jdk=False, one_in=1,
         longer=False, emulated=False):
    """Registers a test. level: the shortest run that has it. collectors: names, 'all', or 'any' (one is enough even for a run over all collectors).
    since, until: releases. needs: what the VM must have (OFFERS in jdk.py). params: a test each, shown in brackets of the
    name. plain_params: the ones a plain run and a brief JDK take. measures: it measures time or shares of CPU time, which a sanitizer changes. one_jdk: the first JDK is enough.
    one_in: a full run has one parameter in so many, by the seed. longer: what it does in a plain run is less, so a plain run does not stand for it.
    emulated: a JDK of another processor, in an emulator, has it, too; a tuple: with these parameters."""
    def add(f):
        _tests.append((f, level, collectors, since, until, needs, params, plain_params, measures, timeout, one_jdk, one_in, longer, emulated))
        return f
    return add


def _name(f, param):
    """Of a tuple the words and numbers: what a table is made of would not fit."""
    name = '%s.%s' % (f.__module__.removeprefix('test_'), f.__name__)
    words = [x for x in param if isinstance(x, (str, int))] if isinstance(param, tuple) else [param]
    return name if param is None else '%s(%s)' % (name, ','.join(map(str, words)))


def _collectors(of_test, jdk, every):
    """Those in which a test runs on a JDK. Where only the first of a JDK is wanted a test that is written for others is left out."""
    if of_test == 'any':
        return ('G1',)
    chosen = COLLECTORS if of_test == 'all' or every else of_test
    return tuple(c for c in chosen if c in jdk.required())


def collect(jdks, match, every_collector=False):
    """In an emulator those that are marked so, unless they are named (match)."""
    found = []
    for f, at, collectors, since, until, needs, params, plain_params, measures, timeout, one_jdk, one_in, longer, emulated in _tests:
        able = [j for j in jdks if since <= j.version <= until and all(j.has(n) for n in needs) and LEVELS.index(at) <= LEVELS.index(j.level) and (emulated or match or not j.emulated)]
        for jdk in able[:1 if one_jdk else None]:
            special = jdk.emulated and isinstance(emulated, tuple)
            chosen = emulated if special else plain_params if jdk.level == 'plain' and plain_params is not None else params
            for param in chosen if chosen is not None else (None,):
                name = _name(f, param)
                if not match or any(m in name for m in match):
                    # An interpreter needs several times as long for the same work.
                    found += [Case(name, f, param, jdk, c, measures, timeout * harness.SLOW * (1 if jdk.has('jit') else 4), at, one_in, longer=longer)
                              for c in _collectors(collectors, jdk, every_collector)]
    return found


def _place(name):
    """A number of a test: it must not change when another test is added."""
    return zlib.crc32(name.encode())


def choose(cases, full, seed, made=()):
    """The cases of a run, the same in each: a full run has every test on one of its JDKs with one collector, a plain one a parameter of each short test,
    on another JDK. On a brief JDK a full run has a parameter of a part of the short tests, each on one of these JDKs. A cell that no test came to gets
    one of those that have it. made: names of cases that a plain run before has had. What a test takes in turn (harness.Test.in_turn) begins where the seed says."""
    chosen = []
    for own in _grouped(cases, lambda c: c.function).values():
        whole, brief = ([c for c in own if c.jdk.brief == b] for b in (False, True))
        names = list(_grouped(whole, lambda c: c.name).values())
        n = _place(_name(own[0].function, None))
        if full:
            chosen += [_cell(cells, 0) for i, cells in enumerate(names) if (i + seed) % cells[0].one_in == 0]
            chosen += [_cell(brief, 0)] if brief and (n % BRIEF_SHARE == 0 or not whole) else []
        elif names and own[0].level == 'plain':
            chosen.append(_cell(names[n % len(names)], 1))
    chosen = [c for c in chosen if c.jdk.brief or c.longer or c.name not in made]
    for cell in sorted({c.cell() for c in cases if full or not c.jdk.brief} - {c.cell() for c in chosen}):
        chosen.append(min((c for c in cases if c.cell() == cell), key=lambda c: (LEVELS.index(c.level), _place(c.name))))
    return [dataclasses.replace(c, turn=_place(c.name) + seed) for c in chosen]


def one_of_each_subject(cases):
    """The first short test of every file, for a run that makes each several times as long."""
    files = _grouped([c for c in cases if c.level == 'plain'], lambda c: c.function.__module__)
    return [_cell([c for c in own if c.function is own[0].function], 0) for own in files.values()]


def _grouped(cases, key):
    groups = {}
    for c in cases:
        groups.setdefault(key(c), []).append(c)
    return groups


def _cell(cases, other):
    """One of the cells of a test, by its name; `other` leads to another JDK if there is one."""
    n = _place(cases[0].name)
    jdks = list(_grouped(cases, lambda c: c.jdk).values())
    own = jdks[(n + other) % len(jdks)]
    return own[n // len(jdks) % len(own)]


class Results:
    def __init__(self, again):
        self.again = again
        self.lock = threading.Lock()
        self.cells = {}
        self.totals = {'ok': 0, 'FAIL': 0, 'skip': 0}
        self.unstable = []
        self.late = 0

    def add_check(self, name, jdk, wrong):
        """A check that is no test of a program: it passes if nothing is wrong."""
        case = Case(name, None, None, jdk, 'G1', False, 0)
        self.add(case, 'FAIL' if wrong else 'ok', wrong or '', 0)

    def add(self, case, status, text, seconds):
        with self.lock:
            self.totals[status] += 1
            cell = self.cells.setdefault((case.jdk.label, case.collector), {'ok': 0, 'FAIL': 0, 'skip': 0})
            cell[status] += 1
            print('%-4s %s (%.1f s)%s' % (status, case, seconds, ': ' + text if text and status == 'skip' else ''), flush=True)
            if text and status == 'FAIL':
                print('     again: ' + self.again(case), flush=True)
                print('     ' + text.rstrip().replace('\n', '\n     '), flush=True)


    def may_fail_once(self, case, text):
        """A test that fails and then passes is told at the end. Few of them are chance: shares of samples have a spread, and other programs run beside."""
        with self.lock:
            self.unstable.append((case, text))
            return len(self.unstable) <= UNSTABLE


class Watch:
    """Ends tests that do not heed their deadlines: a mistake in one of them costs a failure, and not the run."""

    def __init__(self):
        self.running = {}  # of a thread its test
        self.lock = threading.Lock()
        self.done = threading.Event()
        threading.Thread(target=self._watches, daemon=True).start()

    def begin(self, t):
        with self.lock:
            self.running[threading.get_ident()] = t

    def end(self):
        with self.lock:
            self.running.pop(threading.get_ident(), None)

    def _watches(self):
        while not self.done.wait(1):
            with self.lock:
                for thread, t in self.running.items():
                    late = (time.monotonic() - t.deadline) / harness.SLOW
                    if late > GRACE and not t.hangs:
                        t.hangs = True
                        t.kill_all()
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(harness.Hang))
                    elif late > 2 * GRACE:  # it is inside a call
                        print('FAIL %s: it hangs' % t.case, flush=True)
                        faulthandler.dump_traceback()
                        for children in pathlib.Path('/proc/self/task').glob('*/children'):  # they would keep our stdout open
                            for child in children.read_text().split():
                                os.kill(int(child), signal.SIGKILL)
                        os._exit(1)


def _run_one(env, case, results, keep, watch):
    if time.time() > UNTIL:
        with results.lock:
            results.late += 1
        return
    began = time.monotonic()
    status, text = _try_once(env, case, keep, watch)
    if status == 'unlike' and results.may_fail_once(case, text):
        status, text = _try_once(env, case, keep, watch)
    results.add(case, 'FAIL' if status == 'unlike' else status, text, time.monotonic() - began)


def _try_once(env, case, keep, watch):
    """Its status and what to say of it. 'unlike': something was not as expected, without harm."""
    t = harness.Test(env, case)
    watch.begin(t)
    status, text = 'ok', ''
    try:
        if case.param is None:
            case.function(t)
        else:
            case.function(t, case.param)
        sanitized.check(t)
    except harness.Skip as e:
        status, text = 'skip', str(e)
    except harness.Harm as e:
        status, text = 'FAIL', '%s\n%s' % (e, t.story())
    except harness.Failure as e:
        status, text = 'unlike', '%s\n%s' % (e, t.story())
    except Exception:  # a mistake of the test, shown as its failure
        status, text = 'FAIL', '%s\n%s' % (traceback.format_exc(), t.story())
    finally:
        watch.end()
        t.kill_all()
    if status in ('FAIL', 'unlike') or keep:
        env.keep_tmp = True
    else:
        t.remove()
    return status, text


def again(argv):
    """Makes of a case the command that repeats it: the run's own arguments, those that choose cases replaced."""
    def command(case):
        words = [argv[0], '--%s=%s=%s' % ('brief' if case.jdk.brief else 'jdks', case.jdk.label, case.jdk.home)]
        if case.jdk.level != 'full' and not case.jdk.brief:
            words.append('--' + case.jdk.level)
        return ('' if harness.SLOW == 1 else 'HPX_SLOW=%s ' % harness.SLOW) + shlex.join(words + argv[1:] + ['--turn=%d' % case.turn, '--only=%s' % case])
    return command


def run(env, cases, workers, keep, required, repeat):
    began = time.monotonic()
    results = Results(repeat)
    if env.sanitized and not env.sanitized.prove(env, results):
        cases = []  # a run that misses a planted bug proves nothing
    cases = sorted(cases, key=lambda c: -c.timeout)  # the long ones first: no worker is left with one at the end
    watch = Watch()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda c: _run_one(env, c, results, keep, watch), cases))
    watch.done.set()
    missing = _table(env, results, required and not env.sanitized and not results.late) or bool(env.sanitized and env.sanitized.closing())
    n = results.totals
    if results.late:
        print('left out: %d tests: the time of this run (HPX_UNTIL) was over' % results.late)
    for case, text in results.unstable[:UNSTABLE]:
        print('unstable: %s: %s' % (case, text.split('\n')[0]))
    if env.keep_tmp:
        print('kept: %s' % env.tmp)
    print('time: %.0f s' % (time.monotonic() - began))
    print('%d passed, %d failed, %d skipped' % (n['ok'], n['FAIL'], n['skip']))
    return 1 if n['FAIL'] or missing or not (n['ok'] or results.late) else 0


def _table(env, results, required):
    """passed/failed/skipped a cell. True if a required cell (Jdk.required) has no test that ran."""
    print('\n%-7s' % 'JDK' + ''.join('%14s' % c for c in COLLECTORS) + '   (passed/failed/skipped)')
    missing = []
    for jdk in env.jdks:
        row = '%-7s' % jdk.label
        for c in COLLECTORS:
            cell = results.cells.get((jdk.label, c))
            row += '%14s' % ('%d/%d/%d' % (cell['ok'], cell['FAIL'], cell['skip']) if cell else '-' if c in jdk.offered() else 'not offered')
            if required and c in jdk.required() and not (cell and cell['ok'] + cell['FAIL']):
                missing.append('%s %s' % (jdk.label, c))
        print(row)
    for m in missing:
        print('required, but nothing ran: JDK %s' % m)
    return bool(missing)
