# SPDX-License-Identifier: BSD-2-Clause
"""The registry of tests and the loop that runs them: two workers, then alone what measures shares of CPU time; the table at the end."""
import concurrent.futures
import dataclasses
import pathlib
import threading
import time
import traceback

import harness

COLLECTORS = ('Serial', 'Parallel', 'G1', 'ZGC', 'Shenandoah')
FLAGS = {'Serial': '-XX:+UseSerialGC', 'Parallel': '-XX:+UseParallelGC', 'G1': '-XX:+UseG1GC', 'ZGC': '-XX:+UseZGC', 'Shenandoah': '-XX:+UseShenandoahGC'}
REQUIRED_COLLECTORS = ('Serial', 'Parallel', 'G1', 'ZGC')
REQUIRED_JDKS = (17, 25)
LEVELS = ('quick', 'plain', 'long')


@dataclasses.dataclass(frozen=True)
class Jdk:
    version: int
    home: pathlib.Path


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    function: object
    param: object
    jdk: Jdk
    collector: str
    alone: bool
    timeout: float

    def __str__(self):
        return '%s [%d %s]' % (self.name, self.jdk.version, self.collector)


_tests = []


def test(level='plain', collectors=('G1',), since=17, until=999, params=None, quick_params=None, alone=False, timeout=60, one_jdk=False):
    """Registers a test. level: the shortest run that has it. collectors: names or 'all'. params: one case each, shown in brackets of the name;
    quick_params: the ones a --quick run takes. alone: it measures shares of CPU time, so nothing runs beside it. one_jdk: the first JDK is enough."""
    def add(f):
        _tests.append((f, level, COLLECTORS if collectors == 'all' else collectors, since, until, params, quick_params, alone, timeout, one_jdk))
        return f
    return add


def _name(f, param):
    name = '%s.%s' % (f.__module__.removeprefix('test_'), f.__name__)
    return name if param is None else '%s(%s)' % (name, param[0] if isinstance(param, tuple) else param)


def collect(jdks, level, match):
    cases = []
    for f, at, collectors, since, until, params, quick_params, alone, timeout, one_jdk in _tests:
        if LEVELS.index(at) > LEVELS.index(level):
            continue
        chosen = quick_params if level == 'quick' and quick_params is not None else params
        for param in chosen if chosen is not None else (None,):
            name = _name(f, param)
            if match and not any(m in name for m in match):
                continue
            for jdk in [j for j in jdks if since <= j.version <= until][:1 if one_jdk else None]:
                for c in collectors:
                    cases.append(Case(name, f, param, jdk, c, alone, timeout))
    return cases


class Results:
    def __init__(self):
        self.lock = threading.Lock()
        self.cells = {}
        self.totals = {'ok': 0, 'FAIL': 0, 'skip': 0}

    def add(self, case, status, text, seconds):
        with self.lock:
            self.totals[status] += 1
            cell = self.cells.setdefault((case.jdk.version, case.collector), {'ok': 0, 'FAIL': 0, 'skip': 0})
            cell[status] += 1
            print('%-4s %s (%.1f s)%s' % (status, case, seconds, ': ' + text if text and status == 'skip' else ''), flush=True)
            if text and status == 'FAIL':
                print('     ' + text.rstrip().replace('\n', '\n     '), flush=True)


def _run_one(env, case, results, keep):
    t = harness.Test(env, case, FLAGS[case.collector])
    began = time.monotonic()
    status, text = 'ok', ''
    try:
        if not env.has_collector(case.jdk, FLAGS[case.collector]):
            raise harness.Skip('this JDK has no %s' % case.collector)
        if case.param is None:
            case.function(t)
        else:
            case.function(t, case.param)
    except harness.Skip as e:
        status, text = 'skip', str(e)
    except harness.Failure as e:
        status, text = 'FAIL', '%s\n%s' % (e, t.story())
    except Exception:  # a mistake of the test, shown as its failure
        status, text = 'FAIL', '%s\n%s' % (traceback.format_exc(), t.story())
    finally:
        t.kill_all()
    if status == 'FAIL' or keep:
        env.keep_tmp = True
    else:
        t.remove()
    results.add(case, status, text, time.monotonic() - began)


def run(env, cases, workers, keep, required):
    began = time.monotonic()
    results = Results()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda c: _run_one(env, c, results, keep), [c for c in cases if not c.alone]))
    for c in cases:
        if c.alone:
            _run_one(env, c, results, keep)
    missing = _table(env, results, required)
    n = results.totals
    if env.keep_tmp:
        print('kept: %s' % env.tmp)
    print('time: %.0f s' % (time.monotonic() - began))
    print('%d passed, %d failed, %d skipped' % (n['ok'], n['FAIL'], n['skip']))
    return 1 if n['FAIL'] or missing or not n['ok'] else 0


def _table(env, results, required):
    """passed/failed/skipped a cell. True if a required cell has no test that ran: in a quick run the JDKs given count, else 17 and 25."""
    versions = sorted({j.version for j in env.jdks} | (set(REQUIRED_JDKS) if required and env.level != 'quick' else set()))
    print('\n%-5s' % 'JDK' + ''.join('%14s' % c for c in COLLECTORS) + '   (passed/failed/skipped)')
    missing = []
    for v in versions:
        row = '%-5d' % v
        for c in COLLECTORS:
            cell = results.cells.get((v, c))
            row += '%14s' % ('%d/%d/%d' % (cell['ok'], cell['FAIL'], cell['skip']) if cell else '-')
            if required and c in REQUIRED_COLLECTORS and not (cell and cell['ok'] + cell['FAIL']):
                missing.append('%d %s' % (v, c))
        print(row)
    for m in missing:
        print('required, but nothing ran: JDK %s' % m)
    return bool(missing)
