# SPDX-License-Identifier: BSD-2-Clause
"""What one seed chooses: a program of activities, the JVM around it, how the agent comes and what it records. A scenario has a text that repeats it, and smaller scenarios."""
import dataclasses
import random

# Per activity: what its account has, and the amounts: ms, rounds, or how often.
CPU, CALLS, MADE, BLOCKS = 'cpu', 'calls', 'made', 'blocks'
LONG, OFTEN = (120, 400), (500, 20000)
ACTIVITIES = {
    **{name: ((CPU, CALLS), LONG) for name in ('Burn', 'Inlined', 'Recursive', 'Lambdas', 'Reflective', 'Handles', 'Interfaces', 'Throwing', 'Stubs')},
    'Calls': ((CALLS,), OFTEN), 'Intrinsics': ((CALLS,), (20000, 400000)), 'Plugs': ((CALLS, MADE), (20, 200)), 'Yields': ((CALLS,), (4000, 40000)),
    **{name: ((MADE, CALLS), OFTEN) for name in ('New', 'Clones', 'Boxed', 'Reflected', 'Values')},
    **{name: ((BLOCKS, CALLS), (200, 600)) for name in ('Sleeps', 'Waits', 'Parks', 'Reads')}, 'Contended': ((BLOCKS, CALLS), (3, 12)), 'Locks': ((BLOCKS, CALLS), (3, 12)),
    'Pauses': ((BLOCKS, CALLS), (1, 3)),
}
RARE = {'Pauses': 0.15}  # takes seconds
SINCE = {'Yields': 21, 'Values': 28}
PREMAIN = tuple(a for a in ACTIVITIES if a not in ('Contended', 'Locks', 'Reads', 'Yields', 'Values'))
ONLY_APP = ('Values',)  # of a later release than the rest, whose classes may need a flag
CARRIERS = ('platform', 'pool', 'later', 'scheduled', 'common', 'virtual', 'short', 'renamed', 'idle', 'daemon', 'main')
# mode: options, what of an account it sees, weight
MODES = {
    'samples': (('cpu=samples,interval=1',), (CPU,), 4), 'times': (('cpu=times', 'cpu=times,times=wall', 'cpu=times,times=sampled,interval=1'), (CALLS,), 4),
    'sites': (('heap=sites,sites=exact',), (MADE,), 4), 'counts': (('heap=sites,sites=counts',), (MADE,), 3), 'sampled': (('heap=sites,sites=sampled,sample=4k',), (MADE,), 2),
    'monitor': (('monitor=y,waits=y', 'monitor=y,waits=y,locks=y'), (BLOCKS,), 4), 'wall': (('wall=5', 'wall=20'), (BLOCKS, CPU), 4), 'dump': (('heap=dump',), (MADE,), 3),
}
MOVABLE = tuple(c for c in CARRIERS if c not in ('common', 'virtual'))
ENDS = ('return', 'return', 'return', 'exit', 'halt', 'throw', 'term')
NOISES = ('contend', 'collect', 'wait', 'load')
FLAGS = {'-Xint': 2, '-Xcomp': 1, '-Xcheck:jni': 2, '-XX:TieredStopAtLevel=1': 4, '-XX:-TieredCompilation': 2, '-XX:-Inline': 2, '-XX:-UseCompressedOops': 2, '-XX:-UseTLAB': 4,
         '-XX:+UseCompactObjectHeaders': 4, '-Xmx64m': 4}  # and their weights
FLAGS_SINCE = {'-XX:+UseCompactObjectHeaders': 25}


NOTHING = 'nothing.At.all'  # of include=: what the mode costs that records nothing


@dataclasses.dataclass(frozen=True)
class Task:
    activity: str
    carrier: str
    threads: int
    amount: int
    loader: str = 'app'

    def __str__(self):
        return '%s:%s:%d:%d:%s' % dataclasses.astuple(self)

    @staticmethod
    def of(text):
        a, c, n, amount, loader = text.split(':')
        return Task(a, c, int(n), int(amount), loader)


@dataclasses.dataclass(frozen=True)
class Scenario:
    jdk: str
    gc: str
    jvm: tuple  # flags
    begin: str  # start: with the JVM; late: loaded with start=n, the command begins; attached: the command loads it
    sessions: int  # of late and attached
    phases: int
    dumps: str  # none, timer, command: between the phases
    first: str  # a session before those that are told of: its options, none, or heap: hprofx -e heap while the program does a phase that no session records
    beside: str  # the program as an agent of java.lang.instrument: none, before or behind hprofx; its tasks of the carrier premain run before main
    noises: tuple
    end: str
    modes: tuple
    agent: str  # options
    paired: str  # y: it runs without the agent, too, and its fixed work is not to be slower than the modes allow
    tasks: tuple

    def __str__(self):
        lists = {'jvm': ','.join(self.jvm) or '-', 'noises': ','.join(self.noises) or '-', 'modes': ','.join(self.modes), 'tasks': ';'.join(map(str, self.tasks))}
        return ' '.join('%s=%s' % (f.name, lists.get(f.name, getattr(self, f.name))) for f in dataclasses.fields(self))

    @staticmethod
    def of(text):
        words = dict(w.split('=', 1) for w in text.split())
        for key in ('jvm', 'noises', 'modes'):
            words[key] = tuple(words[key].split(',')) if words[key] != '-' else ()
        words['tasks'] = tuple(Task.of(t) for t in words['tasks'].split(';') if t)
        words.update(sessions=int(words['sessions']), phases=int(words['phases']))
        return Scenario(**words)

    @property
    def told(self):
        """Whether the program is told when to begin a phase."""
        return self.begin != 'start' or self.dumps == 'command'

    @property
    def unseen(self):
        """How many phases before those that sessions record."""
        return int(self.first == 'heap')

    def with_(self, **changes):
        return dataclasses.replace(self, **changes)

    @property
    def flags(self):
        return self.jvm + (('--enable-preview',) if any(t.activity == 'Values' for t in self.tasks) else ())

    def smaller(self):
        """Scenarios with one thing less, the largest steps first."""
        for i in range(len(self.tasks) if len(self.tasks) > 1 else 0):
            yield self.with_(tasks=self.tasks[:i] + self.tasks[i + 1:])
        for i in range(len(self.modes) if len(self.modes) > 1 else 0):
            kept = self.modes[:i] + self.modes[i + 1:]
            options = self.agent.split(',')
            own = [o for m in kept for o in next(x for x in MODES[m][0][::-1] if set(x.split(',')) <= set(options) or x == MODES[m][0][0]).split(',')]
            every = {o for m in MODES.values() for x in m[0] for o in x.split(',')}
            yield self.with_(modes=kept, agent=','.join(own + [o for o in options if o not in every]))
        if self.noises:
            yield self.with_(noises=())
            yield from (self.with_(noises=tuple(n for n in self.noises if n != gone)) for gone in self.noises if len(self.noises) > 1)
        simple = {'jvm': (), 'sessions': 1, 'phases': 1, 'dumps': 'none', 'first': 'none', 'beside': 'none', 'end': 'return', 'begin': 'start', 'gc': 'G1', 'paired': 'n'}
        for key, value in simple.items():
            if getattr(self, key) != value:
                less = self.with_(**{key: value})
                less = less.with_(sessions=1) if key in ('phases', 'begin') else less
                less = less.with_(first='none') if key == 'begin' else less
                bare = tuple(t for t in less.tasks if t.carrier != 'premain')
                if key != 'beside' or bare:
                    yield less if key != 'beside' else less.with_(tasks=bare, noises=tuple(n for n in less.noises if n != 'retransform'))
        fewer = [o for o in self.agent.split(',') if o.split('=')[0] not in ('thread', 'lineno', 'include')]
        if len(fewer) < len(self.agent.split(',')):
            yield self.with_(agent=','.join(fewer))
        for i, t in enumerate(self.tasks):
            for less in (dataclasses.replace(t, carrier='platform'), dataclasses.replace(t, loader='app'), dataclasses.replace(t, threads=1)):
                if less != t and t.carrier not in ('main', 'premain'):
                    yield self.with_(tasks=self.tasks[:i] + (less,) + self.tasks[i + 1:])


def _weighted(r, table):
    names = sorted(table)
    return r.choices(names, [table[n][2] for n in names])[0]


def _tasks(r, modes, version, flags):
    """Some that the modes see, and some that they do not."""
    seen = sorted(a for a, (kinds, _) in ACTIVITIES.items() if SINCE.get(a, 8) <= version and any(set(kinds) & set(MODES[m][1]) for m in modes))
    chosen = r.sample(seen, min(len(seen), r.randint(1, 3)))
    rest = sorted(a for a in ACTIVITIES if a not in chosen and SINCE.get(a, 8) <= version)
    chosen += r.sample(rest, r.choice((0, 1, 1, 2)))
    if 'times' in modes and version >= SINCE['Yields'] and r.random() < 0.15:
        chosen = chosen[:2] + ['Yields'] * ('Yields' not in chosen[:2])
    chosen = [a for a in chosen if r.random() < RARE.get(a, 1)] or [r.choice([a for a in seen if a not in RARE])]
    if 'dump' in modes and 'New' not in chosen:
        chosen.append('New')  # whose account knows what lives
    slow = '-Xint' in flags or '-Xcomp' in flags or '-Xcheck:jni' in flags
    tasks = []
    for a in chosen:
        low, high = ACTIVITIES[a][1]
        carrier = r.choice([c for c in CARRIERS if c != 'virtual' or version >= 21])
        carrier = 'platform' if a == 'Yields' and carrier == 'virtual' else carrier
        carrier, many = ('platform', 40) if a == 'Pauses' else (carrier, r.choice((1, 1, 2, 3)))
        tasks.append(Task(a, carrier, 1 if carrier == 'main' else many, r.randint(low, (low + high) // 2 if slow else high), r.choice(('app', 'app', 'app', 'isolated'))))
    return tuple(tasks)


def _modes(r):
    modes = {_weighted(r, MODES)}
    if r.random() < 0.3:
        modes.add(_weighted(r, MODES))
    heaps = [m for m in ('sites', 'counts', 'sampled', 'dump') if m in modes]
    return tuple(sorted(m for m in modes if m not in heaps[1:]))


def _agent(r, modes, tasks):
    words = [r.choice(MODES[m][0]) for m in modes]
    words += ['cutoff=0', 'depth=%d' % (r.choice((1, 2, 4)) if modes == ('times',) else r.choice((8, 16, 32)))]
    words += ['thread=y'] * (r.random() < 0.3) + ['lineno=n'] * (r.random() < 0.1) + ['gc=y'] * (r.random() < 0.2 and bool({'sites', 'sampled', 'dump'} & set(modes)))
    if 'times' in modes and r.random() < 0.3:
        words.append('include=' + r.choice((r.choice(tasks).activity, NOTHING)))
    return ','.join(dict.fromkeys(','.join(words).split(',')))


def choose(seed, jdks):
    """jdks: {label: (version, collectors)}. Always the same of the same seed and JDKs."""
    r = random.Random('truth %d' % seed)
    label = r.choice(sorted(jdks))
    version, collectors = jdks[label]
    modes = _modes(r)
    flags = tuple(f for f in (r.choices(list(FLAGS), list(FLAGS.values())) if r.random() < 0.35 else ()) if FLAGS_SINCE.get(f, 8) <= version)
    tasks = _tasks(r, modes, version, flags)
    begin = r.choice(('start', 'start', 'start', 'late', 'attached'))
    phases = r.choice((1, 1, 2, 3)) if begin != 'start' else r.choice((1, 1, 2))
    sessions = phases if begin != 'start' and r.random() < 0.6 else 1
    dumps = r.choice(('none', 'none', 'timer', 'command')) if sessions < 2 else 'none'
    first = ','.join([r.choice(MODES[r.choice(('samples', 'times', 'times', 'sites', 'counts', 'monitor', 'wall'))][0]), 'cutoff=0,depth=4'])
    first = first if begin != 'start' and r.random() < 0.3 else 'none'
    first = 'heap' if begin != 'start' and first == 'none' and not {'sites', 'counts', 'sampled', 'dump'} & set(modes) and r.random() < 0.25 else first
    beside = r.choice(('before', 'before', 'behind')) if r.random() < 0.2 and '-Xcomp' not in flags else 'none'
    noises = r.sample(NOISES, r.choice((1, 2, 3))) if r.random() < 0.3 else []
    if beside != 'none':
        noises += ['retransform'] * (r.random() < 0.5)
        tasks = tuple(dataclasses.replace(t, carrier='premain', threads=1) if begin == 'start' and r.random() < 0.5 and t.activity in PREMAIN else t for t in tasks)
    tasks = tuple(dataclasses.replace(t, loader='app') if t.activity in ONLY_APP else t for t in tasks)
    if first != 'none' and r.random() < 0.4:
        tasks = tuple(dataclasses.replace(t, amount=2 * t.amount) if ACTIVITIES[t.activity][1] == LONG else t for t in tasks)
    if first == 'heap':  # a program that allocates much
        tasks = tuple(t for t in tasks if t.activity != 'New') + (Task('New', 'platform', 1, r.randint(600000, 1000000)),)
        phases = sessions = 1
    elif 'cpu=times' in first and 'main' not in (t.carrier for t in tasks) and tasks[0].carrier in MOVABLE and r.random() < 0.5:
        tasks = (dataclasses.replace(tasks[0], carrier='main', threads=1),) + tasks[1:]  # methods of the first session still run in the next
    if {'sites', 'sampled'} & set(modes) and r.random() < 0.2:
        noises, flags = sorted({*noises, 'contend', 'collect', 'wait'}), tuple(dict.fromkeys(flags + ('-Xmx64m',)))  # objects die and monitors are fought for when the program ends
    agent = _agent(r, modes, tasks)
    paired = 'y' if first == 'heap' or NOTHING in agent or r.random() < 0.25 else 'n'
    gc, end = r.choice(collectors), r.choice(ENDS)
    if 'samples' in modes and version >= 21 and r.random() < 0.2:  # the JDK's own pool of virtual threads is at work before the program makes one
        tasks = tuple(dataclasses.replace(t, carrier='later') if t.carrier in MOVABLE and CPU in ACTIVITIES[t.activity][0] else t for t in tasks if t.activity != 'Sleeps')
        tasks += (Task('Sleeps', 'virtual', 1, 200),)
    return Scenario(label, gc, flags, begin, sessions, phases, dumps, first, beside, tuple(noises), end, modes, agent, paired, tasks)
