# SPDX-License-Identifier: BSD-2-Clause
"""The output file: made safely, under the name that was asked for, complete or not there."""
import gzip
import os
import re
import signal
import socket
import stat
import subprocess
import time

import hprof_text
from attached import of_build
from expect import samples_are_those_reported
from hprof_text import TIMES
from preload import preload
from runner import test
from waiting import until


def _refused(t, name, cwd_file=None):
    run = t.java('Hello', opts='cpu=samples,file=%s' % name)
    t.equal((run.code, run.out), (1, ''), 'exit code and stdout')
    t.check("HPROF ERROR: can't create profile file: %s" % name in run.err.splitlines(), 'stderr: %s' % run.err)


@test(collectors='any', level='plain')
def a_symlink_is_refused(t):
    target = t.work / 'target'
    target.write_text('precious')
    (t.work / 'link.txt').symlink_to(target)
    (t.work / 'dangling.txt').symlink_to(t.work / 'nothing')
    _refused(t, 'link.txt')
    _refused(t, 'dangling.txt')
    t.equal(target.read_text(), 'precious', 'target')
    t.equal(t.files(), ['dangling.txt', 'link.txt', 'target'], 'files')


@test(collectors='any')
def a_symlink_to_a_folder_on_the_way_is_followed(t):
    (t.work / 'real').mkdir()
    (t.work / 'way').symlink_to(t.work / 'real')
    t.profile('Hello', opts='cpu=samples,file=way/x.txt', name='real/x.txt')


@test(collectors='any', level='plain')
def directories_and_missing_folders_are_refused(t):
    (t.work / 'dir').mkdir()
    for name in ('dir', '.', 'missing/x.txt', '/nonexistent/x.txt'):
        _refused(t, name)
    t.equal(t.files(), ['dir'], 'files')


@test(collectors='any')
def a_socket_is_refused(t):
    s = socket.socket(socket.AF_UNIX)
    s.bind(os.path.relpath(t.work / 's'))
    _refused(t, 's')
    t.check(stat.S_ISSOCK((t.work / 's').lstat().st_mode), 'the socket is gone')
    s.close()


def _device(t, name, minor):
    path = t.work / name
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        path.open('wb').close()
    except OSError as e:
        t.skip('no device node of our own can be made: %s' % e)
    return path, path.lstat()


@test(collectors='any', level='plain')
def a_device_is_written_into_and_stays(t):
    path, before = _device(t, 'null', 3)
    run = t.java('HotSplit', 30, opts='cpu=samples,file=null')
    t.complete(run, 0, 'done true\n')
    after = path.lstat()
    t.equal((after.st_ino, after.st_rdev, after.st_mode), (before.st_ino, before.st_rdev, before.st_mode), 'the device node')
    t.equal(t.files(), ['null'], 'files')


@test(collectors='any')
def dev_null_of_the_machine_stays(t):
    before = os.lstat('/dev/null')
    if not stat.S_ISCHR(before.st_mode):
        t.skip('/dev/null is no device here')
    t.complete(t.java('Hello', opts='cpu=samples,file=/dev/null'), 0, 'hi\n')
    after = os.lstat('/dev/null')
    t.equal((after.st_ino, after.st_rdev, after.st_mode), (before.st_ino, before.st_rdev, before.st_mode), '/dev/null')


def _one_line_about_space(t, run):
    said = [ln for ln in run.err.splitlines() if 'space' in ln.lower() and '.journal.part' not in ln]  # a journal that is begun later has one of its own
    t.equal(len(said), 1, 'lines about the full disk (%s)' % run.err)
    t.equal(run.err.count('done.'), 0, '"done." though the dump is not complete')


@test(collectors='any', level='plain')
def a_full_device_gets_one_line_and_the_program_runs_on(t):
    path, before = _device(t, 'full', 7)
    run = t.java('HotSplit', 30, opts='cpu=samples,file=full')
    t.equal((run.code, run.out), (0, 'done true\n'), 'exit code and stdout')
    _one_line_about_space(t, run)
    t.equal(path.lstat().st_rdev, before.st_rdev, 'the device node')


@test(collectors='any')
def a_full_disk_gets_one_line_and_the_program_runs_on(t):
    probe = subprocess.run(['unshare', '-m', 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', str(t.work)], capture_output=True)
    if probe.returncode != 0:
        t.skip('no small file system can be mounted here')
    java = t.command('ShortThreads', 3000, 0, opts='cpu=samples')
    script = 'mount -t tmpfs -o size=64k none "$0" && cd "$0" && "$@"; code=$?; ls "$0" >&2; exit $code'
    run = t.start_command(['unshare', '-m', 'sh', '-c', script, str(t.work)] + java).finish()
    t.equal(run.code, 0, 'exit code')
    t.check(re.fullmatch(r'cpu \d+\n', run.out), 'stdout %r' % run.out)
    _one_line_about_space(t, run)


@test(collectors='any', level='plain', needs=('hotspot',))
def dev_stdout_and_dev_stderr_are_descriptors_1_and_2(t):
    run = t.java('HotSplit', 30, opts='cpu=samples,file=/dev/stdout')
    t.equal(run.code, 0, 'exit code')
    t.equal(run.out.count('done true\n'), 1, 'the line of the program')
    p = hprof_text.parse(run.out.replace('done true\n', ''))
    t.equal(p.sections, ['CPU SAMPLES'], 'sections on stdout')
    run = t.java('HotSplit', 30, opts='cpu=samples,file=/dev/stderr,verbose=n')
    t.equal((run.code, run.out), (0, 'done true\n'), 'exit code and stdout')
    t.equal(hprof_text.parse(run.err).sections, ['CPU SAMPLES'], 'sections on stderr')
    t.equal(t.files(), [], 'files')


def _reader(t):
    return t.start_command(['cat', 'fifo'])


@test(collectors='any', level='plain', params=('before', 'after'))
def a_fifo(t, reader_comes):
    os.mkfifo(t.work / 'fifo')
    cat = _reader(t) if reader_comes == 'before' else None
    run = t.start('Pause', 200, opts='cpu=samples,interval=1,file=fifo')
    run.wait_line('ready')
    cat = cat or _reader(t)
    run.signal(signal.SIGTERM)
    run.finish()
    t.complete(run, 143, 'ready\n')
    cat.finish()
    p = hprof_text.parse(cat.out)
    t.check(p.total and p.total > 100, 'total %s' % p.total)
    t.check(stat.S_ISFIFO((t.work / 'fifo').lstat().st_mode), 'the FIFO is gone')
    t.equal(t.files(), ['fifo'], 'files')


@test(collectors='any')
def a_fifo_without_a_reader_holds_nobody(t):
    os.mkfifo(t.work / 'fifo')
    run = t.java('HotSplit', 30, opts='cpu=samples,file=fifo')
    t.equal((run.code, run.out), (0, 'done true\n'), 'exit code and stdout')
    t.equal(run.err.count('done.'), 0, '"done." though nobody read it')
    t.check('hprofx: ' in run.err, 'nothing said about the profile that nobody read')
    t.equal(t.files(), ['fifo'], 'files')


@test(collectors='any')
def a_fifo_whose_reader_leaves_ends_nothing(t):
    os.mkfifo(t.work / 'fifo')
    cat = t.start_command(['head', '-c', '10', 'fifo'])
    run = t.java('ShortThreads', 3000, 0, opts='cpu=samples,file=fifo')
    cat.finish()
    t.equal(run.code, 0, 'exit code')
    t.equal(run.err.count('done.'), 0, '"done." though nobody read it')


@test(collectors='any', level='plain')
def an_existing_file_is_replaced_by_a_new_one(t):
    old = t.work / 'java.hprof.txt'
    old.write_text('old')
    old.chmod(0o644)
    os.link(old, t.work / 'other-name')
    t.profile('Hello', stdout='hi\n')
    t.equal((t.work / 'other-name').read_text(), 'old', 'the old file under its other name')
    t.check(old.stat().st_ino != (t.work / 'other-name').stat().st_ino, 'the old file was written into')


@test(collectors='any', level='plain', params=('x.txt', 'x.TXT', 'noext', 'y.hprof', 'java.hprof.txt'), plain_params=('x.TXT', 'noext'))
def force_n_keeps_the_old_file(t, name):
    (t.work / name).write_text('old')
    file = '' if name == 'java.hprof.txt' else ',file=' + name
    run = t.java('Hello', opts='cpu=samples,force=n' + file)
    t.complete(run, 0, 'hi\n')
    stem, suffix = (name[:-4], name[-4:]) if name.lower().endswith('.txt') else (name, '.txt')
    new = '%s.%d%s' % (stem, run.pid, suffix)
    t.equal(t.files(), sorted([name, new]), 'files')
    t.equal((t.work / name).read_text(), 'old', 'the old file')
    t.output(new)


@test(collectors='any')
def force_n_without_an_old_file_uses_the_name(t):
    t.profile('Hello', opts='cpu=samples,force=n', stdout='hi\n')
    t.equal(t.files(), ['java.hprof.txt'], 'files')


@test(collectors='any', level='plain')
def names_are_expanded(t):
    before = time.strftime('%Y%m%d-%H%M%S', time.gmtime())
    run = t.java('Hello', opts='cpu=samples,file=a-%p-%t-%h-100%%-%s-%q.txt')
    t.complete(run, 0, 'hi\n')
    after = time.strftime('%Y%m%d-%H%M%S', time.gmtime())
    t.equal(len(t.files()), 1, 'files %s' % t.files())
    m = re.fullmatch(r'a-(\d+)-(\d{8}-\d{6})-(.+)-100%-%s-%q\.txt', t.files()[0])
    t.check(m, 'name %s' % t.files())
    t.equal((int(m.group(1)), m.group(3)), (run.pid, socket.gethostname()), 'pid and host')
    t.check(before <= m.group(2) <= after, 'time %s, expected %s to %s' % (m.group(2), before, after))


@test(collectors='any', level='plain')
def names_have_variables_of_the_environment(t):
    run = t.java('Hello', opts='cpu=samples,file=%{SHOP}-%{HPX_NOT_SET}-%n.txt', env={'SHOP': '../a b'})
    t.complete(run, 0, 'hi\n')
    t.equal(t.files(), ['_._a_b--1.txt'], 'files')
    t.equal(run.err.count('the environment variable HPX_NOT_SET is not set'), 1, 'lines about it (%s)' % run.err)


def _numbered(t, pattern):
    """The numbers in the names of the files, all of which must be of this form."""
    names = [re.fullmatch(pattern, n) for n in t.files()]
    t.check(all(names), 'files %s' % t.files())
    return sorted(int(m[1]) for m in names)


@test(collectors='any', level='plain', params=('a', 'b'))
def the_oldest_files_go(t, form):
    """Three are left, and no file of others is touched; every sample is in a file that was written."""
    (t.work / 'p-0.x').write_text('of another')
    run = t.java('Burn', 1500, opts='cpu=samples,interval=1,dump=200ms,split=y,keep-files=3,file=p-%%n.x,format=%s' % form)
    t.equal(run.code, 0, 'exit code')
    numbers = _numbered(t, r'p-(\d+)\.x')
    last = numbers[-1]
    t.equal((len(numbers), numbers), (4, [0, last - 2, last - 1, last]), 'numbers')
    t.equal((t.work / 'p-0.x').read_text(), 'of another', 'the file of another')
    for n in numbers[1:]:
        report = (t.parse if form == 'a' else t.binary)(t.work / ('p-%d.x' % n)).report
        t.equal(report['profile'].split(',')[0], str(n), 'number in the report')
        t.equal(report['profiles removed'], '%d (keep-files=, keep-bytes=)' % max(0, n - 1 - 3), 'removed so far')


@test(collectors='any')
def a_full_disk_costs_the_oldest_profiles(t):
    """A disk for some profiles, and a program that writes more: those that are left are the newest, each whole, and the program has not noticed."""
    if subprocess.run(['unshare', '-m', 'mount', '-t', 'tmpfs', '-o', 'size=300k', 'none', str(t.work)], capture_output=True).returncode != 0:
        t.skip('no small file system can be mounted here')
    java = t.command('Burn', 4000, opts='cpu=samples,interval=1,dump=100ms,split=y,keep-files=1000,file=x')
    script = 'mount -t tmpfs -o size=300k none "$0" && cd "$0" && "$@"; code=$?; cp x* "$OLDPWD"; exit $code'
    into = t.dir / 'kept'
    into.mkdir()
    run = t.start_command(['unshare', '-m', 'sh', '-c', 'cd %s; %s' % (into, script), str(t.work)] + java).finish()
    t.equal(run.code, 0, 'exit code (%s)' % run.err)
    t.equal(run.err.count('this oldest profile was removed for the next one'), 1, 'lines about the full disk (%s)' % run.err)
    removed = int(re.search(r'^hprofx: profiles removed, disk full: (\d+) ', run.err, re.M)[1])
    numbers = sorted(int(n.name[2:]) for n in into.glob('x.*[0-9]'))
    t.check(removed > 0 and numbers, 'removed %d, kept %s' % (removed, numbers))
    t.equal(numbers, list(range(removed + 1, removed + 1 + len(numbers))), 'profiles that are left')
    for n in numbers:
        t.parse(into / ('x.%d' % n))
    t.parse(into / 'x', dumps=None)


@test(collectors='any')
def names_with_blanks_and_letters_outside_ascii(t):
    for name in ('a b.txt', 'ünï 𝒳.txt', 'noext', 'x.TMP'):
        t.profile('Hello', opts='cpu=samples,file=' + name, name=name, stdout='hi\n')
    t.equal(len(t.files()), 4, 'files')


@test(collectors='any', level='plain')
def two_processes_on_one_name(t):
    runs = [t.start('Pause', 150, opts='cpu=samples,interval=1') for _ in range(2)]
    for r in runs:
        r.wait_line('ready')
    parts = [f for f in t.files() if f.endswith('.part') and '.journal.' not in f]
    t.equal(len(parts), 2, 'parts while both run: %s' % parts)
    for r in runs:
        r.signal(signal.SIGTERM)
        r.finish()
        t.complete(r, 143, 'ready\n')
        t.check(t.parse(t.work / 'java.hprof.txt').total > 50, 'total')
    t.equal(t.files(), ['java.hprof.txt'], 'files')


@test(collectors='any')
def the_file_is_a_part_until_it_is_complete(t):
    (t.work / 'java.hprof.txt').write_text('old')
    run = t.start('Pause', 100)
    run.wait_line('ready')
    t.equal(((t.work / 'java.hprof.txt').read_text(), 'java.hprof.txt.part' in t.files()), ('old', True), 'old file, part')
    run.signal(signal.SIGTERM)
    run.finish()
    t.complete(run, 143)
    t.output()


@test(collectors='any')
def the_place_is_that_of_the_start_though_the_file_vanishes(t):
    """Somebody removes the folder under us: a line, no harm to the program."""
    (t.work / 'sub').mkdir()
    run = t.start('Pause', 100, opts='cpu=samples,file=sub/x.txt')
    run.wait_line('ready')
    for f in (t.work / 'sub').iterdir():
        f.unlink()
    (t.work / 'sub').rmdir()
    run.signal(signal.SIGTERM)
    run.finish()
    t.equal((run.code, run.out), (143, 'ready\n'), 'exit code and stdout')
    t.check(run.err.strip(), 'nothing said about the lost file')


def _gunzip(t, name):
    """A plain copy of a file of gz=y, which has the block form and passes hprofx check as it is."""
    data = (t.work / name).read_bytes()
    t.check(data[:4] == b'\x1f\x8b\x08\x10' and data[10:].startswith(b'HPROF BLOCKSIZE=1048576\0'), '%s begins with %r' % (name, data[:40]))
    t.read('check', '--strict', t.work / name)
    plain = t.dir / (name + '.plain')
    plain.write_bytes(gzip.decompress(data))
    return plain


@test(collectors='any', level='plain', params=('a', 'b'))
def gz_compresses_every_file(t, form):
    base = 'java.hprof.txt.gz' if form == 'a' else 'java.hprof.gz'
    run = t.java('Burn', 600, 600, opts='cpu=samples,interval=1,thread=y,dump=300ms,split=y,gz=y,format=' + form)
    t.equal(run.code, 0, 'exit code')
    names = t.files()
    t.check(len(names) >= 2 and names == [base] + sorted('%s.%d' % (base, i + 1) for i in range(len(names) - 1)), 'files %s' % names)
    plain = [_gunzip(t, name) for name in names]
    samples_are_those_reported(t, *(t.parse(p, dumps=None) if form == 'a' else t.binary(p) for p in plain))


@test(collectors='any', level='plain')
def gz_appends_dumps_to_one_file(t):
    run = t.java('Burn', 600, 600, opts='cpu=samples,interval=1,dump=300ms,gz=y,file=x')
    t.equal((run.code, t.files()), (0, ['x']), 'exit code, files')
    plain = t.dir / 'plain'
    plain.write_bytes(gzip.decompress((t.work / 'x').read_bytes()))
    t.read('check', t.work / 'x')
    p = t.parse(plain, dumps=None)
    t.check(len(p.sections) >= 2, 'sections %s' % p.sections)
    samples_are_those_reported(t, p)


@test(collectors='any')
def gz_goes_into_a_fifo(t):
    os.mkfifo(t.work / 'fifo')
    cat = t.start_command(['sh', '-c', 'cat fifo > x.gz'])
    t.complete(t.java('HotSplit', 30, opts='cpu=samples,gz=y,file=fifo'), 0, 'done true\n')
    cat.finish()
    t.parse(_gunzip(t, 'x.gz'))


@test(collectors='any', level='plain')
def gz_without_zlib_refuses_the_start(t):
    """Nothing is created; without gz=y the library is not needed."""
    run = t.java('Hello', opts='cpu=samples,gz=y', env=preload(t, 'nozlib'))
    t.equal((run.code, run.out, t.files()), (1, '', []), 'exit code, stdout, files')
    t.check(re.fullmatch(r'HPROF ERROR: gz=y: cannot load libz\.so\S*: .*; install zlib \(Debian: zlib1g\)', run.err.splitlines()[-1]), run.err)
    t.complete(t.java('HotSplit', 30, env=preload(t, 'nozlib')), 0, 'done true\n')
    t.output()


@test()
def gz_of_a_killed_run_is_recovered_from_the_journal(t):
    """Before the first dump, and after it: the journal stands in, uncompressed."""
    def whole(journal):
        data = journal.read_bytes() if journal.exists() else b''
        tables = data[:data.rfind(b'CPU SAMPLES END')]
        return data.count(b'CPU SAMPLES END') >= 3 and sum(map(int, re.findall(rb'CPU SAMPLES BEGIN \(total = (\d+)\)', tables))) > 500

    for name, opts in (('a.gz', ''), ('b.gz', ',dump=400ms')):
        run = t.start('Burn', 60000, opts='cpu=samples,interval=1,gz=y,file=%s%s' % (name, opts))
        journal = t.work / (name + '.journal.part')
        until(run, lambda: whole(journal))
        run.signal(signal.SIGKILL)
        run.finish()
        t.read('recover', t.work / name)
        p = hprof_text.read(t.work / name, recovered=True)
        t.check(sum(d.total for d in p.tables) > 500, 'samples of %s: %s' % (name, [d.total for d in p.tables]))
    t.equal(t.files(), ['a.gz', 'b.gz'], 'files')


# --- its size

@test(level='plain', collectors='any')
def a_profile_stays_below_maxfile(t):
    """Small rows are one, nothing is lost, and the largest rows are those of a profile without a bound."""
    opts = 'cpu=times,depth=16,cutoff=0,include=Paths,file=%s'
    whole = t.profile('Paths', opts=(opts + ',maxfile=off') % 'whole', name='whole', stdout='end\n')[1].table(TIMES)
    run, p = t.profile('Paths', opts=(opts + ',maxfile=60k') % 'small', name='small', stdout='end\n')
    small = p.table(TIMES)
    t.check(len(whole.rows) > 4000, 'without a bound there are %d rows' % len(whole.rows))
    size = (t.work / 'small').stat().st_size
    t.check(45000 < size < 72000, 'the file has %d bytes' % size)
    summed = [r for r in small.rows if r.trace == 299999]
    t.equal((len(summed), sum(r.count for r in small.rows)), (1, sum(r.count for r in whole.rows)), 'rows of sums, calls')
    t.check(abs(small.rows[-1].accum_percent - 100) < 0.02, 'the last accum is %s' % small.rows[-1].accum_percent)
    t.equal([max((r for r in table.rows if r.trace != 299999), key=lambda r: r.self_percent).method for table in (small, whole)], ['Paths.hot'] * 2, 'the largest row')
    said = re.fullmatch(r'(\d+), each at most (\d+\.\d{4}) % \(maxfile=\)', p.report['rows summed'])
    t.equal(int(said[1]) + len(small.rows) - 1, len(whole.rows), 'rows, with those that were summed')
    t.check(all(r.self_percent >= float(said[2]) - 0.006 for r in small.rows), 'a row below the cutoff of %s' % said[2])
    t.check('raise maxfile=' in run.err, 'stderr has nothing of it: %s' % run.err)


@test(level='plain', collectors='any', params=('cpu=samples,format=b', 'cpu=samples', 'wall=1', 'wall=1,format=b', 'cpu=old', 'heap=sites,live=n', 'heap=sites,live=n,format=b', 'monitor=y,locks=y,waits=y'))
def every_table_has_a_bound(t, mode):
    """And is sound, whatever was summed."""
    name, most = 'x.hprof', 9
    run = t.java('Paths', opts=mode + ',depth=16,interval=0.1,cutoff=0,maxfile=%dk,file=%s' % (most, name))
    t.equal((run.code, run.out), (0, 'end\n'), 'exit code and stdout')
    size = (t.work / name).stat().st_size
    t.check(size < most * 1024 + (60000 if 'monitor' in mode or 'format=b' in mode else 12000), 'the file has %d bytes' % size)
    done = subprocess.run([of_build(t, 'hprofx'), 'check', name], cwd=t.work, capture_output=True, text=True)
    t.equal((done.returncode, 'sound' in done.stdout), (0, True), 'check: %s%s' % (done.stdout, done.stderr))
    t.check('maxfile' in run.err or 'monitor' in mode, 'nothing was summed: %s' % run.err)
