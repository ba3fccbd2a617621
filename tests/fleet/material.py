# SPDX-License-Identifier: BSD-2-Clause
"""Profiles to ship: real ones of Shop.java, the same as if other JVMs had written them, and hostile ones; and what of them must arrive."""
import collections
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import counts  # noqa: E402
import files  # noqa: E402  # pylint: disable=wrong-import-order
import server  # noqa: E402

BUILD = Path(os.environ.get('HPX_BUILD', counts.ROOT / 'build')).resolve()
HPROFX = BUILD / 'hprofx'
OPTIONS = 'cpu=samples,interval=1,heap=sites,sites=sampled,monitor=y,cutoff=0,depth=24,dump=%s,split=y,verbose=n,force=y,file=%s'
TOTALS = ('alloc_objects', 'alloc_space') # since the start of the run


class NoJava(Exception):
    pass


def find_jdk():
    found = subprocess.run(['bash', '-c', '. "$0/tools/common.sh" && find_jdk 17', counts.ROOT], capture_output=True, text=True, check=False).stdout.strip()
    if not found or not (BUILD / 'agent' / 'libhprofx.so').exists():
        raise NoJava('no JDK 17, or no agent in the build')
    return found


def compiled(jdk, folder):
    subprocess.run([jdk + '/bin/javac', '-J-XX:TieredStopAtLevel=1', '-d', folder, server.FOLDER / 'Shop.java'], check=True, timeout=server.LIMIT)


def run(jdk, classes, folder, ms, dump='1s', service='shop', version='1.0'):
    """Starts a JVM of the shop that writes profiles into the folder."""
    return subprocess.Popen([jdk + '/bin/java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx128m', '-cp', str(classes),  # pylint: disable=consider-using-with
                             '-agentpath:%s=%s' % (BUILD / 'agent' / 'libhprofx.so', OPTIONS % (dump, Path(folder) / '%h-%p.hprof')), 'Shop', str(ms)],
                            env={**os.environ, 'OTEL_SERVICE_NAME': service, 'OTEL_RESOURCE_ATTRIBUTES': 'service.version=' + version}, cwd=folder)


def said(data, key):
    """What the report of a profile says of it, b'' if nothing."""
    found = re.findall(b'^hprofx: %s: (.*)$' % key.encode(), data, re.M)
    return found[-1] if found else b''


def number(data):
    return int(said(data, 'profile').split(b',')[0])


def profiles(folder):
    """The contents of the profiles of one run, in their order."""
    return sorted((p.read_bytes() for p in Path(folder).glob('*.hprof*')), key=number)


def by_another(data, host, pid, service, version, began, at):
    """The same profile as if that JVM had written it. began, at: ms since 1970, of the run and of this profile's begin; 60 s are covered."""
    for key, value in (('host', host), ('pid', pid), ('service', service), ('service version', version), ('run began', '%d ms since 1970' % began),
                       ('profile', '%d, from %d to %d ms since 1970' % (number(data), at, at + 60000))):
        data, n = re.subn(b'^hprofx: %s: .*$' % key.encode(), lambda _, k=key, v=value: ('hprofx: %s: %s' % (k, v)).encode(), data, flags=re.M)
        assert n == 1, key
    return data


def values(data, folder, name='one'):
    """{kind: {(frames with lines): value}} of a profile, by `hprofx convert`, which tests/formats tests."""
    source, out = Path(folder) / (name + '.hprof'), Path(folder) / (name + '.pb.gz')
    source.write_bytes(data)
    out.unlink(missing_ok=True)
    done = subprocess.run([HPROFX, 'convert', source, out], capture_output=True, text=True, timeout=server.LIMIT, check=False)
    source.unlink()
    assert (done.returncode, done.stderr) == (0, ''), done
    found = {}
    for kind, (_, stacks) in files.pprof(out.read_bytes()).items():
        found[kind] = collections.Counter()
        for (_, frames), value in stacks.items():
            found[kind][frames] += value
    return found


def expected(run_of, folder):
    """{(kind, stack): value} that must arrive of the profiles of a run, from its first on, in their order."""
    sums, highest = collections.Counter(), collections.Counter()
    for data in run_of:
        for kind, stacks in values(data, folder).items():
            for frames, value in stacks.items():
                names = tuple(n for n, _, _ in frames)
                if kind in TOTALS: # what was handed on is as much as the highest total so far
                    value, highest[kind, frames] = max(0, value - highest[kind, frames]), max(value, highest[kind, frames])
                sums[kind, names] += value
    return collections.Counter({k: v for k, v in sums.items() if v})


# ---- hostile ----

NASTY = ['</script><script>alert(1)</script>', 'a\nb', 'tab\there', "'; DROP TABLE hprofx.profiles; --", '"quoted"', 'back\\slash', '\x00nul', '\x1b[31mred', 'semi;colon',
         '\u202eright to left', '\U0001f600', 'x' * 65536, '%s%n', '{"json": [1]}', '../../etc/passwd', 'a=b c', "it''s", '', ' ']


def varint(n):
    out = b''
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(i, value):
    return varint(i << 3) + varint(value) if isinstance(value, int) else varint(i << 3 | 2) + varint(len(value)) + value


def nasty_pprof():
    """A pprof, as any profiler may leave one, whose names are all of NASTY."""
    strings = ['', 'samples', 'count'] + NASTY
    data = field(1, field(1, 1) + field(2, 2))
    data += b''.join(field(2, field(1, varint(i + 1) + varint(1)) + field(2, varint(i + 1))) for i in range(len(NASTY)))
    data += b''.join(field(4, field(1, i + 1) + field(4, field(1, i + 1))) for i in range(len(NASTY)))
    data += b''.join(field(5, field(1, i + 1) + field(2, i + 3)) for i in range(len(NASTY)))
    return data + b''.join(field(6, s.encode()) for s in strings)
