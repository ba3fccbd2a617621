# SPDX-License-Identifier: BSD-2-Clause
"""Option strings made so that every pair of values of two options stands in one of them, and what each must do: a model of the options, made of the documents alone."""
import dataclasses
import itertools
import random

# option: its values, '' for none; a value that begins with '!' is rarer than the others, because with it there is little to see
OPTIONS = {
    'cpu': ('', 'samples', 'times', 'old', 'y', 'samples,cpu=times', 'old,cpu=samples'),
    'heap': ('', 'dump', 'sites', 'all', 'sites,heap=dump'),
    'monitor': ('', 'y', 'n'),
    'wall': ('', 'y', 'n', '5'),
    'format': ('', 'a', 'b'),
    'depth': ('', '0', '1', '8', '64'),
    'interval': ('', '1', '0.5', '50'),
    'cutoff': ('', '0', '0.01', 'nan', '!2'),
    'lineno': ('', 'y', 'n'),
    'thread': ('', 'y', 'n'),
    'doe': ('', 'y', '!n'),
    'msa': ('', 'y', 'n'),
    'force': ('', 'y', 'n'),
    'verbose': ('', 'y', 'n'),
    'gc_okay': ('', 'y', 'n'),
    'primfields': ('', 'y', 'n'),
    'primarrays': ('', 'y', 'n'),
    'file': ('', 'out.txt', 'out'),
    'gz': ('', 'y', 'n'),
    'split': ('', 'y', 'n'),
    'dump': ('', '100ms', '1h'),
    'idsize': ('', '4', '8'),
    'times': ('', 'cpu', 'wall', 'sampled'),
    'sampler': ('', 'async', 'walk', 'poll'),
    'signal': ('', 'VTALRM', 'RTMIN+3'),
    'include': ('', 'Matrix', 'Matrix:java.util.*'),
    'exclude': ('', 'Matrix$1', 'java'),
    'min': ('', '0', '20'),
    'sites': ('', 'exact', 'counts', 'sampled', 'none'),
    'sample': ('', '64k'),
    'live': ('', 'y', 'n'),
    'gc': ('', 'y', 'n'),
    'heapdump': ('', 'auto', 'fork', 'walk', 'walk+oom'),
    'redact': ('', 'arrays', 'fields+strings'),
    'keep': ('', 'Matrix'),
    'stacks': ('', 'exact', 'sampled'),
    'owner': ('', 'y', 'n'),
    'waitlog': ('', '0', '5', '-1'),
    'waits': ('', 'y', 'n'),
    'locks': ('', 'y', 'n'),
    'pinned': ('', 'y', 'n'),
}
NAMES = tuple(OPTIONS)
COUNT, REFUSED = 200, 20  # option strings, and how many of them are errors
CANDIDATES = 40

HPROF = 'HPROF ERROR: hprof option error: %s (%s)'
MONITOR_TABLES = ('MONITOR TIME', 'MONITOR OWNERS', 'WAIT TIME', 'LOCK TIME', 'PINNED TIME')


@dataclasses.dataclass
class Meaning:
    """What one option string asks for."""
    text: str
    values: dict

    def on(self, option, default='n'):
        return (self.values[option] or default) == 'y'

    @property
    def cpu(self):
        words = self.values['cpu'].replace('cpu=', '').split(',')
        found = {'samples'} if 'samples' in words or 'y' in words else set()
        return found | set([w for w in words if w in ('times', 'old')][-1:])

    @property
    def heap(self):
        words = self.values['heap'].replace('heap=', '').split(',')
        if not self.values['heap']:
            words = [] if self.cpu or self.monitor or self.wall else ['all']
        return {'dump', 'sites'} if 'all' in words else set(words) - {''}

    @property
    def sites(self):
        """How heap=sites counts; '': there is no such section."""
        return self._how if 'sites' in self.heap and self._how != 'none' else ''

    @property
    def _how(self):
        how = self.values['sites'] or 'exact'
        return 'sampled' if self.values['sample'] and how != 'counts' else how  # sample= stands behind sites= here

    @property
    def samples_objects(self):
        """Also for heap=dump alone: its objects name where they were made."""
        return bool(self.heap) and self._how == 'sampled'

    @property
    def monitor(self):
        return self.values['monitor'] == 'y'

    @property
    def wall(self):
        return self.values['wall'] not in ('', 'n')

    @property
    def binary(self):
        return self.values['format'] == 'b'

    def error(self):
        """The text of the option error, in the order of the checks; '': none."""
        if self.heap == {'sites'} and not self.sites:
            return 'sites=none leaves nothing of heap=sites'
        if self.binary and self.cpu & {'times', 'old'}:
            return 'cpu=times|old is not supported with format=b'
        if self.binary and self.monitor:
            return 'monitor=y is not supported with format=b'
        if self.monitor and self.on('owner') and self.values['stacks'] == 'sampled':
            return 'owner=y needs stacks=exact'
        if self.wall and self.values['depth'] == '0':
            return 'wall= needs stacks: depth=0 has none'
        return ''

    def sections(self):
        """Titles of a dump in order, without the tables that are there only if something contended."""
        found = ['MONITOR DUMP'] * self.monitor + ['HEAP DUMP'] * ('dump' in self.heap) + ['SITES'] * bool(self.sites)
        titles = {'samples': 'CPU SAMPLES', 'wall': 'WALL CLOCK (ms)', 'times': 'CPU TIME (ms)', 'old': 'CPU OLD'}
        return found + [titles[m] for m in ('samples', 'wall', 'times', 'old') if m in self.cpu or (m == 'wall' and self.wall)]

    def tables(self):
        """Titles that may stand behind MONITOR DUMP."""
        asked = {'MONITOR TIME': True, 'MONITOR OWNERS': self.on('owner'), 'WAIT TIME': self.on('waits'), 'LOCK TIME': self.on('locks'), 'PINNED TIME': self.on('pinned')}
        return [title for title in MONITOR_TABLES if self.monitor and asked[title]]

    def messages(self):
        """Keys of the message of a dump, in order (harness.DUMPING)."""
        return [word for word, is_on in (('monitor', self.monitor), ('dump', 'dump' in self.heap), ('sites', bool(self.sites)), ('samples', 'samples' in self.cpu), ('wall', self.wall),
                                         ('times', 'times' in self.cpu), ('old', 'old' in self.cpu)) if is_on]

    def name(self):
        base = self.values['file'] or ('java.hprof' if self.binary else 'java.hprof.txt')
        return base + '.gz' if self.on('gz') and not self.values['file'] else base

    def name_beside(self, pid):
        """force=n, and a file of the name is there."""
        name = self.name()
        stem, behind = (name[:-3], '.gz') if self.on('gz') and name.endswith('.gz') else (name, '')
        if self.binary:
            return '%s.%d%s' % (stem, pid, behind)
        return '%s.%d.txt%s' % (stem.removesuffix('.txt'), pid, behind)


def _string(values):
    return ','.join('%s=%s' % (name, v) for name, v in values.items() if v)


def meaning(values):
    return Meaning(_string(values), values)


def _pairs(values):
    return set(itertools.combinations(values.items(), 2))


def _all_pairs():
    found = set()
    for a, b in itertools.combinations(NAMES, 2):
        found |= {((a, x.lstrip('!')), (b, y.lstrip('!'))) for x in OPTIONS[a] for y in OPTIONS[b]}
    return found


def _random(r, fixed=()):
    values = {name: (r.choice([v for v in of if not v.startswith('!')] if r.random() < 0.9 else of)).lstrip('!') for name, of in OPTIONS.items()}
    return {**values, **dict(fixed)}


def possible(pair):
    """A pair that is no option error by itself, whatever stands beside it."""
    a = dict(pair)
    return not (a.get('format') == 'b' and (a.get('monitor') == 'y' or set(a.get('cpu', '').replace('cpu=', '').split(',')) & {'times', 'old'})) and \
        not (a.get('owner') == 'y' and a.get('stacks') == 'sampled' and 'monitor' in a) and \
        not (a.get('depth') == '0' and a.get('wall', 'n') not in ('', 'n'))


def _next(r, missing):
    """The candidate with the most pairs that are still missing; each candidate begins with one of them."""
    best, most = None, -1
    seeds = sorted(missing)
    for _ in range(CANDIDATES):
        values = _random(r, r.choice(seeds) if seeds else ())
        if not meaning(values).error():
            n = len(_pairs(values) & missing)
            best, most = (values, n) if n > most else (best, most)
    return best


def _refused(r):
    """As many of each kind of error."""
    found, kinds = [], {}
    while len(found) < REFUSED:
        m = meaning(_random(r))
        kind = m.error()
        if kind and kinds.get(kind, 0) < REFUSED // 4:
            kinds[kind] = kinds.get(kind, 0) + 1
            found.append(m)
    return found


def strings(seed=17):
    """(COUNT - REFUSED meanings of strings that run, REFUSED of option errors, pairs that stand in none that runs): always the same."""
    r = random.Random(seed)
    missing = {p for p in _all_pairs() if possible(p)}
    run = []
    while len(run) < COUNT - REFUSED:
        values = _next(r, missing)
        missing -= _pairs(values)
        run.append(meaning(values))
    return run, _refused(r), missing
