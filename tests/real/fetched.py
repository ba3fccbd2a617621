# SPDX-License-Identifier: BSD-2-Clause
"""The libraries of a program, fetched by Maven, and its classes. Both stay in one folder: $HPX_REAL, or build-logs/real."""
import hashlib
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

from build import ROOT, clean_environment

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.Path(os.environ.get('HPX_REAL') or ROOT / 'build-logs' / 'real').absolute()
PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.11.0'


class Missing(Exception):
    """It cannot be fetched here."""


def _element(coordinates, name, more=''):
    tags = zip(('groupId', 'artifactId', 'version', 'classifier'), coordinates.split(':'))
    return '<%s>%s%s</%s>' % (name, ''.join('<%s>%s</%s>' % (t, v, t) for t, v in tags), more, name)


def pom(libraries, parent=''):
    return ('<project><modelVersion>4.0.0</modelVersion>%s<groupId>real</groupId><artifactId>program</artifactId><version>1</version><dependencies>%s</dependencies></project>\n'
            % (_element(parent, 'parent', '<relativePath/>') if parent else '', ''.join(_element(c, 'dependency') for c in libraries)))


class Limit:
    """What all calls of Maven in this run may take. It tells each file that it begins to fetch or has fetched: from a registry that does not
    answer nothing is heard."""
    silent, whole = 20, 1800  # seconds


def _said(p, end):
    """All that it says until its end."""
    said = b''
    while True:
        left = min(Limit.silent, end - time.monotonic())
        if not select.select([p.stdout], [], [], max(left, 0))[0]:
            Limit.whole = 0  # nor for the other programs
            raise Missing('Maven said nothing for %d s: no registry answers' % Limit.silent if left == Limit.silent else 'the time for fetching is over')
        part = os.read(p.stdout.fileno(), 1 << 16)
        if not part:
            return said.decode(errors='replace')
        said += part


def maven(words, folder):
    """Runs it in the folder, with the local repository of these tests; what it said if it fails is in the exception."""
    if not shutil.which('mvn'):
        raise Missing('no mvn')
    if Limit.whole <= 0:
        raise Missing('no time is left for fetching')
    cmd = ['mvn', '-B', '-Dstyle.color=never', '-Dmaven.repo.local=%s' % (FOLDER / 'repository'), *words]
    began = time.monotonic()
    with subprocess.Popen(cmd, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environment()) as p:
        try:
            said = _said(p, began + Limit.whole)
        except BaseException:
            p.kill()
            raise
    Limit.whole -= time.monotonic() - began
    if p.returncode != 0:
        raise Missing(([ln for ln in said.splitlines() if 'ERROR' in ln] or ['status %d' % p.returncode])[0][:300])


def class_path(libraries, parent=''):
    """The jars of these libraries and of what they need. Fetched once: the list is kept under the hash of the coordinates."""
    text = pom(libraries, parent)
    kept = FOLDER / 'paths' / hashlib.sha256(text.encode()).hexdigest()[:16]
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as work:
            pathlib.Path(work, 'pom.xml').write_text(text)
            maven([PLUGIN + ':build-classpath', '-Dmdep.outputFile=path'], work)
            os.rename(pathlib.Path(work, 'path'), kept)
    jars = kept.read_text().strip().split(':')
    if not all(os.path.exists(j) for j in jars):
        kept.unlink()  # somebody emptied the repository
        return class_path(libraries, parent)
    return jars


def classes(source, jars, release, jdk):
    """The folder with the classes of Real.java and of the program, compiled once by each compiler."""
    files = [HERE / 'java' / 'Real.java', HERE / 'java' / source]
    key = hashlib.sha256(('%s %s %s' % (jdk.home, release, jars)).encode() + b''.join(f.read_bytes() for f in files)).hexdigest()[:16]
    kept = FOLDER / 'classes' / key
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = pathlib.Path(tempfile.mkdtemp(dir=kept.parent))
        cmd = [str(jdk.home / 'bin' / 'javac'), '--release', str(release), '-g', '-nowarn', '-proc:none', '-encoding', 'UTF-8', '-cp', ':'.join(jars), '-d', str(new), *map(str, files)]
        done = subprocess.run(cmd, capture_output=True, text=True, env=clean_environment())
        if done.returncode != 0:
            raise SystemExit('javac failed:\n%s' % done.stderr)
        os.rename(new, kept)
    return kept
