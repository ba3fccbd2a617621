# SPDX-License-Identifier: BSD-2-Clause
"""hprofx jmh, and the jar that it names: -prof hprofx in JMH itself (--jmh)."""
import collections
import json
import pathlib
import re
import shlex
import stat
import subprocess
import zipfile

from build import clean_environment
from hprof_text import SAMPLES
from monitor_text import MONITOR_TIME
from runner import test

SOURCE = pathlib.Path(__file__).resolve().parent / 'jmh' / 'Marks.java'
RUNS = ['-wi', '1', '-i', '1', '-w', '100ms', '-foe', 'true']


def printed(t):
    """The words that `hprofx jmh` prints for this build."""
    folder = next((f for f in t.env.agent.resolve().parents if (f / 'hprofx').is_file()), None)
    if folder is None or not (folder / 'hprofx-jmh.jar').is_file():
        t.skip('this build has no hprofx-jmh.jar')
    agent = folder / 'agent' / 'libhprofx.so'
    done = subprocess.run([folder / 'hprofx', 'jmh', '--agent', agent], capture_output=True, text=True, timeout=60)
    t.equal((done.returncode, done.stderr), (0, ''), 'status and stderr of hprofx jmh')
    words = shlex.split(done.stdout)
    t.equal(words, ['java', '-cp', '%s:benchmarks.jar' % (folder / 'hprofx-jmh.jar'), 'org.openjdk.jmh.Main', '-prof', 'hprofx:agent=%s' % agent], 'what it prints')
    return words


def benchmarks(env, jars):
    """The folder of the compiled Marks.java, made once a run: the code that JMH generates takes its compiler seconds."""
    to = env.tmp / 'marks'
    with env.lock:
        if not to.exists():
            to.mkdir()
            jdk = env.compiler(8)
            what = ['--release', '8'] if jdk.version >= 9 else ['-source', '8', '-target', '8']
            path = ':'.join([*jars, str(env.jmh / 'jmh-generator-annprocess.jar')])
            subprocess.run([str(jdk.home / 'bin' / 'javac'), *what, '-Xlint:-options', '-cp', path, '-processor', 'org.openjdk.jmh.generators.BenchmarkProcessor', '-d', str(to),
                            str(SOURCE)], check=True, env=clean_environment())
    return to


def jmh(t, *args, options='', agent=True, behind=()):
    """Runs JMH by the printed words, with the benchmarks of Marks.java as benchmarks.jar; agent=False: the profiler finds the agent itself. behind: of the profiler."""
    if t.env.jmh is None:
        t.skip('no JMH: give --jmh')
    java, cp, path, main, prof, profiler = printed(t)
    jars = [str(t.env.jmh / (j + '.jar')) for j in ('jmh-core', 'joptsimple', 'commons-math3')]
    marks = benchmarks(t.env, jars)
    path = path.replace('benchmarks.jar', ':'.join([str(marks), *jars]))
    profiler = profiler if agent else 'hprofx:'
    return t.start_command(t.jdk.java() + ['-Xmx256m', '-Djmh.ignoreLock=true', cp, path, main, *args, prof, profiler + options, *behind]).finish()


def measure(t, benchmark, options, length='200ms', behind=(), agent=True, forks=2):
    """JMH's secondary results: {name: (score, unit)}, what JMH printed, the parsed profiles."""
    run = jmh(t, 'marks.Marks.%s$' % benchmark, '-f', str(forks), *RUNS, '-r', length, '-rf', 'json', '-rff', 'result.json', options=';dir=profiles;' + options, agent=agent, behind=behind)
    t.equal(run.code, 0, 'exit code of JMH (%s)' % run.out[-500:])
    result = json.loads((t.work / 'result.json').read_text())[0]['secondaryMetrics']
    files = sorted((t.work / 'profiles').iterdir())
    for f in files:
        t.equal(stat.S_IMODE(f.stat().st_mode), 0o600, 'mode of %s' % f)
        t.check(str(f) in run.out, '%s is not in what JMH printed' % f)
    return {name: (of['score'], of['scoreUnit']) for name, of in result.items()}, run, files


def exactly(t, results, name, value, unit):
    t.equal(results[name][1], unit, 'unit of ' + name)
    t.near(results[name][0], value, 1e-9 * max(1, value), name)


def site_rows(file):
    """(objects, bytes, class) of every site, the most bytes first. The strict parser takes a minute for so many traces."""
    table = file.read_text(encoding='utf-8').split('\nSITES BEGIN ')[1].split('\nSITES END')[0]
    return [(int(r[1]), int(r[0]), r[2]) for r in re.findall(r'^ *\d+ +\S+% +\S+% +\d+ +\d+ +(\d+) +(\d+) +\d+ (.+)$', table, re.M)]


def all_ops(t, run, forks=2):
    ops = [int(n) for n in re.findall(r'^per operation: of (\d+) operations, those of the measurement$', run.out, re.M)]
    t.equal(len(ops), forks, 'forks')
    return ops


@test(level='plain', collectors='any', one_jdk=True)
def the_jar_is_what_the_command_names(t):
    jar = printed(t)[2].split(':')[0]
    with zipfile.ZipFile(jar) as z:
        t.equal(z.read('META-INF/services/org.openjdk.jmh.profile.Profiler'), b'hprofx\n', 'the service')
        names = z.namelist()
    folder = pathlib.Path(printed(t)[2].split(':')[0]).parent
    done = subprocess.run([folder / 'hprofx', 'jmh'], capture_output=True, text=True, timeout=60)
    t.equal(shlex.split(done.stdout)[-2:], ['-prof', 'hprofx'], 'without --agent the profiler finds it')
    t.check('hprofx.class' in names and not any(n.startswith('org/') for n in names), 'the jar has %s' % names)


@test(collectors='any')
def without_options_it_finds_the_agent_and_samples(t):
    for options in (';', ';;dir=profiles;'):
        results, _, files = measure(t, 'objects', options, length='100ms', agent=False)
        t.check(any(name.startswith('hprofx.cpu.') for name in results), 'results: %s' % list(results))
        for f in files:
            f.unlink()


@test(collectors='any', params=(1, 2, 3))
def allocations_per_operation_are_exact(t, forks):
    results, run, files = measure(t, 'objects', 'heap=sites;live=n', behind=('-prof', 'gc'), forks=forks)  # what the session's begin allocates is not in its figure
    t.equal([f.name for f in files], ['marks.Marks.objects-AverageTime-count-3.%d.hprof.txt' % n for n in range(1, forks + 1)], 'files')
    exactly(t, results, 'hprofx.alloc.objects', 3, 'objects/op')
    sums = [[sum(of) for of in zip(*((r[0], r[1]) for r in site_rows(f)))] for f in files]
    size, = {next(r[1] / r[0] for r in site_rows(f) if r[2] == 'java.lang.Object[]') for f in files}
    exactly(t, results, 'hprofx.alloc.bytes', 3 * size, 'B/op')
    if t.jdk.version >= 17:  # with what JMH and the VM allocate in that time
        of_gc, = (score for name, (score, _) in results.items() if name.endswith('gc.alloc.rate.norm'))
        t.check(0.999 * 3 * size <= of_gc <= 3 * size + (1 << 18) / min(all_ops(t, run, forks)), 'gc.alloc.rate.norm: %s, hprofx.alloc.bytes: %s' % (of_gc, 3 * size))
    for i, (name, unit) in enumerate((('objects', 'objects/op'), ('bytes', 'B/op'))):
        listed = sum(of[i] / n for of, n in zip(sums, all_ops(t, run, forks))) / forks
        score, of = results['hprofx.alloc.%s.jvm' % name]
        t.equal(of, unit, 'unit of .jvm')
        t.check(listed - 1e-6 <= score <= 1.1 * listed, '%s of the JVM: %s, %s in the rows' % (name, score, listed))  # few lie below the cutoff
    t.check('\nSITES, under the benchmark: %d B/op\n' % (3 * size) in run.out and ' java.lang.Object[] in marks.Marks$Objects.link(Marks.java' in run.out, 'the top sites')
    t.check('hprofx.blocked.count' not in results, 'monitors were not watched')


@test(collectors='any')
def only_measurement_iterations_count(t):
    results, run, files = measure(t, 'warmed', 'interval=1', length='300ms')
    for f in files:
        text = f.read_text(encoding='utf-8')
        t.check('burnMeasured' in text and 'burnInWarmup' not in text and 'burnInSetup' not in text and 'PrintProperties' not in text, 'samples of %s' % f)
    samples = [sum(r.count for r in t.parse(f, 1).table(SAMPLES).rows) for f in files]
    exactly(t, results, 'hprofx.samples.jvm', sum(samples) / 2, 'samples')
    t.check(0 < results['hprofx.samples'][0] <= results['hprofx.samples.jvm'][0], 'samples: %s' % results)
    t.check(re.search(r'^CPU SAMPLES, of the JVM: \d+ samples$', run.out, re.M) and re.search(r'^ +[\d.]+ % +\d+  marks\.Marks\$Warm\.burnMeasured$', run.out, re.M), 'the top methods')
    for f in files:
        f.unlink()
    _, run, files = measure(t, 'warmed', 'cpu=times;exclude=marks.Nothing')
    for f, ops in zip(files, all_ops(t, run)):
        text = f.read_text(encoding='utf-8')
        t.check('burnInWarmup' not in text and 'burnInSetup' not in text, 'calls of %s' % f)
        t.check('org.openjdk.jmh.infra.Blackhole' not in text, 'calls of blackholes in %s' % f)
        rows = [(float(r[0]), int(r[1]), r[2]) for r in re.findall(r'^ *\d+ +([\d.]+)% +\S+% +(\d+) +\d+ +(\S+)$', text.split('\nCPU TIME ')[1], re.M)]
        t.equal(sum(n for _, n, method in rows if method == 'marks.Marks$Warm.burnMeasured'), ops, 'calls in %s' % f)
        t.check(min(share for share, _, _ in rows) >= 0.01, 'without a cutoff a file has no bound')


@test(collectors='any')
def counted_allocations_are_those_of_the_whole_jvm(t):
    results, run, files = measure(t, 'objects', 'heap=sites;sites=counts;live=n')
    sums = [sum(r[0] for r in site_rows(f)) / ops for f, ops in zip(files, all_ops(t, run))]
    t.check(min(sums) >= 3, 'objects per operation: %s' % sums)
    score, unit = results['hprofx.alloc.objects.jvm']
    t.equal(unit, 'objects/op', 'unit')
    t.check(sum(sums) / 2 - 1e-6 <= score <= 0.55 * sum(sums), 'objects of the JVM: %s, %s in the rows' % (score, sums))  # few lie below the cutoff
    t.check('hprofx.alloc.objects' not in results, 'without stacks the benchmark has no figure')


@test(collectors='any', measures=True)
def the_top_methods_have_their_shares(t):
    results, _, files = measure(t, 'split', 'interval=1', length='1s')  # cpu=samples is the default
    forks = []
    for f in files:
        table, counts = t.parse(f, 1).table(SAMPLES), collections.Counter()
        for r in table.rows:
            counts[r.method] += r.count
        forks.append(collections.Counter({method: 100 * n / table.total for method, n in counts.items()}))  # methods with as many samples have equal shares
    names = [name.removeprefix('hprofx.cpu.') for name in results if name.startswith('hprofx.cpu.')]
    t.equal(sorted(forks[0][n] for n in names), sorted(share for _, share in collections.Counter({n: s for n, s in forks[0].items() if not n.startswith('hprofx.')}).most_common(5)), 'shares of the five methods in the first fork')
    for name in names:
        exactly(t, results, 'hprofx.cpu.' + name, (forks[0][name] + forks[1][name]) / 2, '%')
    if t.jdk.has('jit'):
        t.check('marks.Marks$Work.more' in names, 'methods: %s' % names)
        t.check(forks[0]['marks.Marks$Work.more'] > forks[0]['marks.Marks$Work.less'] > 0, 'shares: %s' % forks[0])


@test(collectors='any')
def blocks_per_operation_are_exact(t):
    results, run, files = measure(t, 'block', 'monitor=y')
    exactly(t, results, 'hprofx.blocked.count', 1, 'blocks/op')
    every = [sum(r.count for r in t.parse(f, None).table(MONITOR_TIME).rows) / ops for f, ops in zip(files, all_ops(t, run))]
    exactly(t, results, 'hprofx.blocked.count.jvm', sum(every) / 2, 'blocks/op')
    t.check(results['hprofx.blocked.time.jvm'][0] >= results['hprofx.blocked.time'][0] > 0, 'blocked time: %s' % results)


@test(collectors='any')
def parks_per_operation_are_exact(t):
    results, _, _ = measure(t, 'park', 'monitor=y;wall=5')
    exactly(t, results, 'hprofx.parked.count', 1, 'parked/op')
    t.check(results['hprofx.parked.time.jvm'][0] >= results['hprofx.parked.time'][0] > 0, 'parked time: %s' % results)
    wall = {name.removeprefix('hprofx.wall.'): of for name, of in results.items() if name.startswith('hprofx.wall.')}
    t.equal((set(wall), {unit for _, unit in wall.values()}), ({'running', 'runnable', 'blocked', 'waiting', 'parked', 'sleeping', 'io', 'native'}, {'ns/op'}), 'states')
    t.check(sum(score for score, _ in wall.values()) > 0, 'wall-clock time: %s' % wall)


@test(collectors='any')
def another_output_takes_the_place_of_the_text(t):
    if len(t.jdk.tool('java')) > 1:
        t.skip('the tree of this JDK lacks libraries of the command')
    for output, suffix, begins in (('html', '.html', b'<!'), ('folded', '.folded', b''), ('pprof', '.pb.gz', b'\x1f\x8b')):
        results, _, files = measure(t, 'split', 'output=' + output, length='100ms')
        t.equal([f.name for f in files], ['marks.Marks.split-AverageTime.%d%s' % (n, suffix) for n in (1, 2)], 'files')
        t.check('hprofx.samples' in results and all(f.read_bytes().startswith(begins) for f in files), '%s: %s' % (output, results))
        if output == 'folded':
            counts = [sum(int(line.split()[-1]) for line in f.read_text().splitlines()) for f in files]
            exactly(t, results, 'hprofx.samples.jvm', sum(counts) / 2, 'samples')
        for f in files:
            f.unlink()


@test(collectors='any', one_jdk=True)
def what_the_agent_refuses_ends_the_run(t):
    """Before the first fork, if it can be known; a fork that makes no profile all the same fails the run, also without -foe."""
    runs = ('marks.Marks.objects$', '-f', '1', '-wi', '1', '-i', '1', '-w', '100ms', '-r', '100ms')
    for options, says in ((';heep=sites', 'did you mean heap?'), (';cpu=samples;interval=x', 'interval'), (';output=pdf', 'html, folded, pprof or text')):
        run = jmh(t, *runs, options=options)
        t.check(run.code != 0 and says in run.out + run.err and '# Fork' not in run.out, '%s: %s' % (options, (run.out + run.err)[-300:]))
    java = t.jdk.tool('java')[-1]
    for change, says in (('-Dhprofx.session=*) a=${a/interval=10/interval=x} ;;', 'interval'), ('-agentpath:*=start=n) a=-Da=b ;;', 'has not loaded the agent')):
        wrapper = t.work / 'java'
        wrapper.write_text('#!/bin/bash\nn=()\nfor a; do case $a in %s esac; n+=("$a"); done\nexec %s "${n[@]}"\n' % (change, java))
        wrapper.chmod(0o755)
        run = jmh(t, *runs, '-jvm', str(wrapper), options=';interval=10;dir=profiles')
        t.check(run.code != 0 and 'hprofx: the fork made no profile: ' in run.err and says in run.err, '%s: %s' % (change, (run.out + run.err)[-300:]))
        t.equal([f.name for f in (t.work / 'profiles').iterdir()], [], 'what is left')


@test(collectors='any', one_jdk=True)
def jmh_lists_it_and_is_told_what_is_wrong(t):
    t.check(re.search(r'^ +hprofx: .*\(discovered\)$', jmh(t, '-lprof').out, re.M), 'JMH does not list it')
    for options, says in ((';file=x', 'dir=FOLDER says where'), (';net=localhost:1', 'dir=FOLDER says where'), (';help', 'dir=FOLDER is where the profiles go'),
                          (';start=n', 'measurement iterations'), (';agent=/nowhere/lib.so', 'hprofx --print-agent-path'), (';dir=/dev/null/x', 'cannot be made')):
        run = jmh(t, 'marks.Marks.objects$', '-f', '1', *RUNS, options=options)
        t.check(run.code != 0 and says in run.out + run.err, '%s: %s' % (options, (run.out + run.err)[-300:]))


@test(collectors='any', one_jdk=True)
def other_formats_have_no_figures(t):
    results, run, files = measure(t, 'objects', 'heap=sites;sites=sampled;format=b')
    t.equal((set(results), len(files)), ({'hprofx'}, 2), 'results and files')
    t.check('hprofx view shows others' in run.out, 'it does not say so')
