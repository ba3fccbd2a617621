# SPDX-License-Identifier: BSD-2-Clause
"""Files as other programs read them: Go's pprof, speedscope, Firefox Profiler's engine, protoc, the parser of JDK Mission Control. tests/formats/readers
installs them. If one is missing, NotAvailable; a failure if HPX_FORMAT_READERS (go, npm, otlp, jmc, blanks between) says that it was installed."""
import collections
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
JDKS = os.environ.get('JDKS', '/opt/jdks')
MODULES = Path(os.environ.get('FORMAT_READERS', JDKS + '/format-readers')) / 'node_modules'
PROTO = next((p.parents[1] for p in (Path(JDKS) / '.tree' / 'usr').glob('*/opentelemetry/proto')), None) # as tools/jdks --otlp finds it
INSTALLED = os.environ.get('HPX_FORMAT_READERS', '').split()
LIMIT = 120 * float(os.environ.get('HPX_SLOW') or 1)


class NotAvailable(Exception):
    pass


def need(ok, reader, what):
    if not ok:
        assert reader not in INSTALLED, '%s is missing, although tests/formats/readers %s succeeded' % (what, reader)
        raise NotAvailable('%s is missing; tests/formats/readers %s installs it' % (what, reader))


def jdk17():
    """The folder; '': there is none."""
    return subprocess.run(['bash', '-c', '. "$0/tools/common.sh" && find_jdk 17', FOLDER.parents[1]], capture_output=True, text=True, check=False).stdout.strip()


def run(*command, stdin=None, env=None):
    done = subprocess.run([str(c) for c in command], stdin=stdin, env={**os.environ, 'LC_ALL': 'C.UTF-8', **(env or {})}, capture_output=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, '%s: status %d\n%s' % (command[0], done.returncode, done.stderr.decode(errors='replace')[-2000:])
    return done.stdout.decode()


# ---- go tool pprof ----

def go(file, *arguments):
    need(shutil.which('go'), 'go', 'go')
    home = str(Path(file).parent) # its settings and cache
    return run('go', 'tool', 'pprof', '-symbolize=local', *arguments, file, env={'HOME': home, 'PPROF_TMPDIR': home, 'GOCACHE': home})


def pprof_raw(file):
    """As files.pprof(): what `-raw` shows."""
    text = go(file, '-raw')
    types = [re.sub(r'\[dflt\]', '', t).rsplit('/', 1) for t in re.search(r'^Samples:\n(.*)$', text, re.M)[1].split()]
    samples, locations = text.split('\nSamples:\n')[1].split('\nLocations\n')
    where = {}
    for line in locations.split('\nMappings\n')[0].split('\n'):
        m = re.fullmatch(r'\s*(\d+): 0x0 M=1 (.*) (\S*):(\d+)(?::\d+)? s=0\(\)', line)
        where[int(m[1])] = (m[2], m[3], int(m[4]))
    out = {name: (unit, collections.Counter()) for name, unit in types}
    rows = []
    for line in samples.split('\n')[1:]:
        m = re.fullmatch(r'((?:\s*\d+)+):((?: \d+)*)\s*', line)
        if m:
            rows.append(['', tuple(where[int(i)] for i in reversed(m[2].split())), [int(v) for v in m[1].split()]])
        else:
            labels = re.fullmatch(r'\s*(?:state:\[([a-z]+)\])?\s*(?:thread:\[(.*)\])?', line)
            state, rows[-1][0] = labels[1], labels[2] or ''
            if state:  # as in files.pprof()
                rows[-1][1] = (rows[-1][1] if rows[-1][1][0][0] != '[no stack]' else ()) + ((state, '', 0),)
    for thread, stack, values in rows:
        for (name, _), value in zip(types, values):
            if value:
                out[name][1][thread, stack] += value
    return out


def pprof_top(file, measure):
    """{name: own value} of `-top`, for a measure that counts."""
    text = go(file, '-top', '-functions', '-nodecount=1000000', '-nodefraction=0', '-edgefraction=0', '-sample_index=' + measure)
    rows = text.split(' cum%\n')[1].split('\n')[:-1]
    return collections.Counter({m[2]: int(m[1]) for m in (re.fullmatch(r'\s*(\d+)\s+\S+%\s+\S+%\s+\d+\s+\S+%\s+(.*)', r) for r in rows) if m[1] != '0'})


# ---- speedscope ----

def node():
    found = [p for p in MODULES.glob('node-linux-*/bin/node')] if MODULES.is_dir() else []
    need(found, 'npm', 'node of the npm registry')
    return found[0]


def speedscope(*files):
    """For each file {name: (unit, {names: value})}."""
    program = node()
    out = []
    for line in run(program, FOLDER / 'speedscope.js', MODULES, *files).split('\n')[:-1]:
        read = json.loads(line)
        assert isinstance(read, list), read
        parts = {}
        for p in read:
            stacks = collections.Counter()
            for names, value in p['stacks']:
                stacks[tuple(names)] += value
            parts[p['name']] = p['unit'], stacks
        out.append(parts)
    return out


# ---- Firefox Profiler's engine ----

class Engine:
    """A session with a file. Its command gives the session half a second to start, so the session is started here. Some sessions are never found: a question at
    the wrong moment removes what they have just written about themselves. Then another one is started, in a folder of its own."""

    def __init__(self, file, folder):
        self.command = [node(), MODULES / '@firefox-devtools' / 'profiler-cli' / 'dist' / 'profiler-cli.js']
        self.file, self.folder = file, folder

    def __enter__(self):
        end = time.monotonic() + LIMIT
        while not self.start(min(end, time.monotonic() + LIMIT / 8)):
            assert time.monotonic() < end, 'no session of profiler-cli was found'
        return self

    def start(self, until):
        """false: it was not found until then."""
        self.env = {'PROFILER_CLI_SESSION_DIR': tempfile.mkdtemp(dir=self.folder), 'PROFILER_CLI_LOAD_TIMEOUT_MS': str(int(1000 * LIMIT))}
        self.daemon = subprocess.Popen([*self.command, '--daemon', self.file, '--session', 'hprofx'], env={**os.environ, **self.env}, stdin=subprocess.DEVNULL,  # pylint: disable=consider-using-with
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while True:
                try:
                    self.ask('profile', 'info')
                    return True
                except AssertionError:
                    if self.daemon.poll() is not None:
                        raise
                    if time.monotonic() > until:
                        self.__exit__()
                        return False
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.daemon.kill()
        self.daemon.wait()

    def ask(self, *words):
        return run(*self.command, *words, '--session', 'hprofx', env=self.env)

    def threads(self):
        """[(handle, process, thread)]."""
        info = json.loads(self.ask('profile', 'info', '--all', '--json'))
        return [(t['threadHandle'], p['name'], t['name']) for p in info['processes'] for t in p['threads']]

    def stacks(self, thread):
        """(type of weights, {names: value})."""
        tree = json.loads(self.ask('thread', 'samples-top-down', '--thread', thread, '--json', '--max-lines', '1000000', '--include-idle'))
        out = collections.Counter()

        def go_down(n, above):
            names = above + (n['name'],)
            assert 'childrenTruncated' not in n, n['name']
            if n['selfSamples']:
                out[names] += n['selfSamples']
            for child in n['children']:
                go_down(child, names)
        for child in tree['regularCallTree']['children']:
            go_down(child, ())
        return tree['weightType'], out

    def markers(self, thread):
        """[(name, category, begin, ms, {field: value})]."""
        got = json.loads(self.ask('thread', 'markers', '--thread', thread, '--list', '--limit', '0', '--json'))
        return [(m['name'], m['category'], m['start'], m['duration'], {f['key']: f['value'] for f in m['fields']}) for m in got['flatMarkers']]


# ---- protoc ----

def text_format(text):
    """protoc's text of a message as {field: [values]}, values texts, numbers or such dictionaries."""
    root = collections.defaultdict(list)
    open_ones = [root]
    for line in text.split('\n'):
        line = line.strip()
        if line.endswith(' {'):
            inner = collections.defaultdict(list)
            open_ones[-1][line[:-2]].append(inner)
            open_ones.append(inner)
        elif line == '}':
            open_ones.pop()
        elif line:
            key, value = line.split(': ', 1)
            if value.startswith('"'):
                value = value[1:-1].encode('latin-1').decode('unicode_escape').encode('latin-1').decode()
            open_ones[-1][key].append(value)
    assert len(open_ones) == 1
    return root


def otlp(file, message='opentelemetry.proto.profiles.v1development.ProfilesData'):
    """({measure: (unit, {(thread, frames): value})}, {name of an attribute of the profiles: value}). Also checks that the tables begin as they must."""
    need(shutil.which('protoc'), 'otlp', 'protoc')
    need(PROTO, 'otlp', 'the folder with the .proto files of OpenTelemetry')
    source = PROTO / 'opentelemetry' / 'proto'
    with open(file, 'rb') as f:
        data = text_format(run('protoc', '-I', PROTO, '--decode=' + message, source / 'profiles' / 'v1development' / 'profiles.proto',
                               source / 'collector' / 'profiles' / 'v1development' / 'profiles_service.proto', stdin=f))
    assert not any(key.isdigit() for key in data), 'unknown fields'
    tables = data['dictionary'][0]
    strings = tables['string_table']
    for table in ('mapping_table', 'location_table', 'function_table', 'attribute_table', 'stack_table'):
        assert not tables[table][0], '%s[0] is not zero' % table
    assert strings[0] == '' and len(set(strings)) == len(strings) and set(''.join(tables['link_table'][0]['trace_id'])) == {'\0'}

    def number(m, key):
        return int(m[key][0]) if m[key] else 0

    def function(i):
        f = tables['function_table'][i]
        return strings[number(f, 'name_strindex')], strings[number(f, 'filename_strindex')]
    where = [None] + [function(number(l['lines'][0], 'function_index')) + (number(l['lines'][0], 'line'),) for l in tables['location_table'][1:]]
    stacks = [tuple(where[int(i)] for i in reversed(s['location_indices'])) for s in tables['stack_table']]
    attributes = [None] + [(strings[number(a, 'key_strindex')], a['value'][0]['string_value'][0]) for a in tables['attribute_table'][1:]]
    out, facts = {}, {}
    scope = data['resource_profiles'][0]['scope_profiles'][0]
    for p in scope['profiles']:
        kind = p['sample_type'][0]
        values = collections.Counter()
        for s in p['samples']:
            thread = dict(attributes[int(i)] for i in s['attribute_indices']).get('thread.name', '')
            assert len(s['values']) == 1
            values[thread, stacks[number(s, 'stack_index')]] += int(s['values'][0])
        out[strings[number(kind, 'type_strindex')]] = strings[number(kind, 'unit_strindex')], values
        facts.update(attributes[int(i)] for i in p['attribute_indices'])
    return out, facts


# ---- JDK Mission Control ----

def jmc(file):
    """The events of a recording, with what its parser complains of: [(type, thread, ns, ((method, line), ...))], outermost first; text."""
    jars, java = Path(os.environ.get('FORMAT_READERS', JDKS + '/format-readers')) / 'jmc', jdk17() + '/bin/java'
    need((jars / 'version').exists() and Path(java).exists(), 'jmc', "the parser of JDK Mission Control, or JDK 17")
    done = subprocess.run([java, '-cp', str(jars / '*'), FOLDER / 'Jmc.java', file], capture_output=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr.decode()
    rows = []
    for line in done.stdout.decode().splitlines():
        kind, thread, ns, *frames = line.split('\t')
        rows.append((kind, thread, int(ns), tuple(zip(frames[0::2], map(int, frames[1::2])))[::-1]))
    return rows, done.stderr.decode()
