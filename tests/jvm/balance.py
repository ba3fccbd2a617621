# SPDX-License-Identifier: BSD-2-Clause
"""Reads what the counting agent (tests/balance) wrote at its end: the blocks that lived before and after its tables were given back."""
import collections
import re
import subprocess

# Kept to the end of the process by design: (kind, end of FUNCTION@FILE of the innermost call) -> most blocks.
KEPT = {
    ('mapping', 'hpx_shared_stacks_begin@shared_stacks.c'): 1,  # handlers may still run at the end of the process
    ('heap', '@inlines.c'): 1 << 16,     # records of compiled code (sampler=walk); the VM tells of code that goes, not of what lives at the end
    ('heap', 'hpx_looker_run@looker.c'): 2, # the stacks that are being taken; their threads end with the process
    ('jvmti', 'hand_over@classes.c'): 1 << 20,  # class files that the VM was given, which frees them
    ('heap', 'make@out_socket.c'): 2,    # the connection, its queue and its peer's name: its thread may be in the resolver, which nobody can interrupt
    ('mapping', 'make@out_socket.c'): 1,
    ('mapping', 'map_types@counting.c'): 1,  # element types of arrays by place: probes may still look at them
    ('mapping', 'reserve@tally.c'): 1 << 16, # counters of threads, and the table that leads there: probes may still count
    ('heap', 'make@tally.c'): 1 << 16,       # one for each of those
}

Group = collections.namedtuple('Group', 'kind blocks bytes calls')


class Balance:
    def __init__(self, path, library):
        self.groups, self.notes, self.complete = {'before': [], 'after': []}, {}, False
        raw = []
        text = path.read_text()
        for line in text.splitlines() if text.endswith('end\n') else ():  # else a limit on the size of files cut it
            word = line.split()
            if line == 'end':
                self.complete = True
            elif word[0] in self.groups:
                raw.append((word[0], word[1], int(word[2]), int(word[3]), word[4:]))
            else:
                self.notes[word[0]] = int(word[1])
        names = _names(library, {pc for r in raw for pc in r[4]})
        for stage, kind, blocks, size, pcs in raw:
            self.groups[stage].append(Group(kind, blocks, size, tuple(names[pc] for pc in pcs)))

    def faults(self):
        """What is wrong at the end, a line each."""
        out = ['%s: %d' % n for n in self.notes.items() if n[1] != 0]
        kept = collections.Counter()
        for g in self.groups['after']:
            owner = next((k for k in KEPT if k[0] == g.kind and g.calls and g.calls[0].endswith(k[1])), None)
            kept[owner] += g.blocks
            if owner is None or kept[owner] > KEPT[owner]:
                out.append('%d blocks, %d bytes of %s are still held: %s' % (g.blocks, g.bytes, g.kind, ' < '.join(g.calls)))
        return out

    def live(self):
        """Blocks and bytes before the tables were given back, by kind and calls."""
        out = collections.defaultdict(lambda: [0, 0])
        for g in self.groups['before']:
            out[g.kind, g.calls][0] += g.blocks
            out[g.kind, g.calls][1] += g.bytes
        return out


def _names(library, pcs):
    pcs = sorted(pcs)
    if not pcs:
        return {}
    # A return address may be the first of the next line or function.
    r = subprocess.run(['addr2line', '-f', '-e', str(library)] + [hex(int(pc, 16) - 1) for pc in pcs], capture_output=True, text=True, check=True)
    lines = r.stdout.splitlines()
    functions = [re.sub(r'\..*', '', f) for f in lines[::2]]  # without what the compiler adds to a split function's name
    files = [re.sub(r'.*/|:.*', '', f) for f in lines[1::2]]
    return dict(zip(pcs, map('@'.join, zip(functions, files))))
