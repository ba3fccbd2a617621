# SPDX-License-Identifier: BSD-2-Clause
"""hprofx -o FILE with a suffix that is not HPROF's: the profile of a JVM in another format, with the numbers that the program knows."""
import os
import re
import signal
import stat
import subprocess

import waiting
from attached import OK, USAGE, Program, command, does, hprofx, leaves_no_profile, leaves_nothing, refuses, wait_for_session
from runner import test


def converts(t, *words):
    done = subprocess.run([command(t)[0], 'convert'] + [str(w) for w in words], capture_output=True, text=True, cwd=t.work, timeout=60)
    t.equal((done.returncode, done.stderr), (OK, ''), 'hprofx convert')
    return done.stdout


def counts(t, file, view):
    """Of every stack, the value of the view."""
    out = {}
    for line in converts(t, '--view', view, '--to', '.folded', file, '-').splitlines():
        stack, value = line.rsplit(' ', 1)
        out[stack] = int(value)
    return out


def of_leaf(t, file):
    return sum(n for stack, n in counts(t, file, 'calls').items() if stack.endswith(';Attached.leaf'))


@test(level='plain', collectors='any')
def a_session_is_written_in_the_format_of_the_suffix(t):
    p = Program(t)
    profile = t.work / 'x.pb.gz'
    profile.write_bytes(b'what was there before' * 1000)
    with subprocess.Popen(command(t) + ['-d', '600', '-e', 'times', '-o', str(profile), str(p.run.pid), 'cutoff=0'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as asked:
        wait_for_session(t, p.run.pid)
        p.tell('calls 4321')
        asked.send_signal(signal.SIGINT)
        out, err = asked.communicate()
        err = ''.join(ln for ln in err.splitlines(keepends=True) if not re.match(r'  classes( restored)?: ', ln))  # what it says before the session has begun, and at its end
        t.equal((asked.returncode, out, err), (OK, '%s\n' % profile, ''), 'what the command says')
        leaves_no_profile(t, asked)
    t.equal(of_leaf(t, profile), 4321, 'calls in the pprof file')
    for suffix in ('folded', 'txt', 'pb.gz'):
        converts(t, profile, t.work / ('again.' + suffix))
        if suffix != 'folded':  # which has one value per stack
            t.equal(of_leaf(t, t.work / ('again.' + suffix)), 4321, 'calls in the %s file' % suffix)
        t.equal(stat.S_IMODE(os.stat(t.work / ('again.' + suffix)).st_mode), 0o600, 'mode')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def a_run_is_written_in_the_format_of_the_suffix(t):
    run = t.start_command([*command(t), 'run', '-e', 'times', '-o', 'run.pb.gz', 'cutoff=0', '--'] + t.command('Attached', opts=None), stdin=subprocess.PIPE)
    run.process.stdin.write(b'calls 777\n')
    run.process.stdin.close()
    run.finish()
    t.equal((run.code, run.out.splitlines()[-1:]), (OK, ['run.pb.gz']), 'status, last line of stdout (%s)' % run.err)
    t.equal(of_leaf(t, t.work / 'run.pb.gz'), 777, 'calls')


@test(level='plain', collectors='any')
def a_file_that_a_session_still_writes_gives_a_page_that_says_so(t):
    p = Program(t)
    does(t, 'start', '-o', t.work / 'x.txt', p.run.pid, 'interval=100')
    written = t.work / 'x.txt.part'
    waiting.until(p.run, lambda: written.exists() and written.stat().st_size > 0)
    done = subprocess.run([command(t)[0], 'convert', str(written), str(t.work / 'x.html')], capture_output=True, text=True, timeout=60)
    t.equal((done.returncode, done.stderr), (OK, 'hprofx: %s says only that the profile has no stacks\n' % (t.work / 'x.html')), 'status and stderr')
    t.check('The file has no dump yet. While its session runs, `hprofx dump` writes one' in (t.work / 'x.html').read_text(), 'the page does not say it')
    does(t, 'stop', p.run.pid)
    t.check(not written.exists(), 'the session has ended')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def what_cannot_be_a_picture_is_refused_before_the_JVM_works(t):
    p = Program(t)
    refuses(t, USAGE, 'start lets the JVM write HPROF', 'start', '-o', 'x.pb.gz', p.run.pid)
    os.symlink('elsewhere', t.work / 'link.folded')
    refuses(t, 1, 'cannot write link.folded', '-o', 'link.folded', p.run.pid)
    t.check(not (t.work / 'elsewhere').exists() and not (t.work / 'x.pb.gz').exists(), 'a file was made')
    done = hprofx(t, '-d', '300ms', '-e', 'lock', '-o', 'none.folded', p.run.pid)  # nobody was blocked
    t.equal((done.returncode, done.stdout), (OK, 'none.folded\n'), 'status and stdout of a profile without stacks')
    t.check('has no stacks' in done.stderr, 'it says %r' % done.stderr)
    leaves_nothing(t, p.run.pid)
    p.end(t)
