# SPDX-License-Identifier: BSD-2-Clause
"""What all tests of one run share: the agent, the compiled programs and JNI helpers, one temporary folder."""
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NOTHING_READ = "this build reads nothing of the VM's internals"  # of agent/hotspot/without.c
GOLDEN = ROOT / 'tests' / 'golden'
CLASSES_KEPT = 12  # folders: for each of three releases some compilers, and some changes ago


def lacks(agent):
    """What this build of the agent has none of, as of OFFERS in jdk.py."""
    return ('hotspot',) if NOTHING_READ.encode() in agent.read_bytes() else ()


def compiler():
    """The words of CC: a cross compiler needs the root of its headers."""
    return shlex.split(os.environ.get('CC', 'cc'))


def clean_environment():
    """Nothing of the caller's Java settings reaches a test; the locale is UTF-8."""
    drop = ('JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS', '_JAVA_HPROF_OPTIONS', 'HPROFX_OPTIONS', 'LD_LIBRARY_PATH', 'CLASSPATH', 'LD_PRELOAD')
    env = {k: v for k, v in os.environ.items() if k not in drop}
    env.update(LC_ALL='C.UTF-8', LANG='C.UTF-8', TZ='UTC')
    return env


class Env:
    def __init__(self, agent, jdks, sanitized=None, jmh=None):
        self.agent = agent
        self.jmh = jmh
        self.sanitized = sanitized
        self.jdks = jdks
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix='hprofx-jvm-'))
        self.keep_tmp = False
        self.lock = threading.Lock()
        self._natives = {}
        self.sources = hashlib.sha256()
        self._compile()

    def close(self):
        if not self.keep_tmp:
            shutil.rmtree(self.tmp, ignore_errors=True)

    # --- programs

    def _compile(self):
        common = [self._written_out(p) for p in sorted((HERE / 'programs').glob('*.java')) + sorted((GOLDEN / 'programs').glob('*.java')) + sorted((ROOT / 'examples').glob('*.java'))]
        self.classes = {8: self.tmp / 'classes'}
        self.javac(self.compiler(8), 8, common, self.classes[8])
        for release in (17, 21, 28):
            files = sorted((HERE / ('programs%d' % release)).glob('*.java'))
            with_jdk = self.compiler(release)
            if files and with_jdk:
                self.classes[release] = self.tmp / ('classes%d' % release)
                self.javac(with_jdk, release, files, self.classes[release])

    def _written_out(self, source):
        """A line `//@N TEXT` stands for N lines TEXT with the number of each for its %d: a method that is too large to be written down."""
        text = source.read_text('utf-8')
        new = re.sub(r'//@(\d+) (.*)', lambda m: '\n'.join(m[2].replace('%d', str(i)) for i in range(int(m[1]))), text)
        if new == text:
            return source
        to = self.tmp / source.name
        to.write_text(new, 'utf-8')
        return to

    def compiler(self, release):
        """The lowest that knows the release and --release (9): a later one may have dropped the release."""
        able = sorted((j for j in self.jdks if j.version >= release), key=lambda j: (j.version < 9, j.version))
        return able[0] if able else None

    def javac(self, jdk, release, files, to):
        """Compiles the files once: whoever has the same sources and compiler, later or in another run, takes the classes of before."""
        self.sources.update(('%s %s' % (jdk.home, release)).encode())
        for f in files:  # those of a later release use those of an earlier one
            self.sources.update(f.name.encode() + b'\0' + f.read_bytes())
        kept = ROOT / 'build-logs' / 'classes' / self.sources.hexdigest()[:32]
        if kept.is_dir():
            os.utime(kept)
            shutil.copytree(kept, to)
        else:
            self._javac(jdk, release, files, to)
            self._keep(to, kept)

    def _keep(self, made, kept):
        """All or nothing, whoever else does the same now; those that were not used for longest go."""
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = pathlib.Path(tempfile.mkdtemp(prefix='.new-', dir=kept.parent))
        try:
            shutil.copytree(made, new, dirs_exist_ok=True)
            os.rename(new, kept)
        except OSError:
            shutil.rmtree(new, ignore_errors=True)
        for _, old in sorted((os.stat(d).st_mtime, d) for d in kept.parent.iterdir() if d.is_dir())[:-CLASSES_KEPT]:
            shutil.rmtree(old, ignore_errors=True)

    def _javac(self, jdk, release, files, to):
        to.mkdir()
        what = ['--release', str(release)] if jdk.version >= 9 else ['-source', str(release), '-target', str(release)]
        what += ['--enable-preview'] if release == 28 else []
        cmd = [str(jdk.home / 'bin' / 'javac')] + what + ['-Xlint:-options', '-g', '-nowarn', '-encoding', 'UTF-8', '-cp', str(self.classes[8]), '-d', str(to)]
        r = subprocess.run(cmd + [str(f) for f in files], capture_output=True, text=True, env=clean_environment())
        if r.returncode != 0:
            raise SystemExit('javac failed:\n%s' % r.stderr)

    def classpath(self, jdk):
        return ':'.join(str(d) for release, d in self.classes.items() if jdk.version >= release)

    def native_dir(self, jdk):
        """The folder with lib*.so of native/*.c, built against the JDK's own headers once a run."""
        with self.lock:
            if jdk.label not in self._natives:
                to = self.tmp / ('native%s' % jdk.label)
                to.mkdir()
                for source in sorted((HERE / 'native').glob('*.c')):
                    cmd = compiler() + ['-O2', '-g', '-shared', '-fPIC', '-Wall', '-Wextra', '-Werror', '-D_GNU_SOURCE', '-I%s' % (jdk.home / 'include'),
                           '-I%s' % (jdk.home / 'include' / 'linux'), '-o', str(to / ('lib%s.so' % source.stem)), str(source), '-lpthread']
                    r = subprocess.run(cmd, capture_output=True, text=True)
                    if r.returncode != 0:
                        raise SystemExit('cc failed:\n%s' % r.stderr)
                self._natives[jdk.label] = to
            return self._natives[jdk.label]
