#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Is this a text profile as docs/formats.md says, to the byte, and do its old readers come to the same figures?

  check_ascii.py FILE [--cutoff=X] [--depth=N] [--original] [--no-readers]

Exit 0: yes; 1: no, with the line and what is wrong on stderr; 2: usage. The options are those of hprof_text.parse()."""
import argparse
import pathlib
import sys

import hprof_text
import readers


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('file', type=pathlib.Path)
    a.add_argument('--cutoff', type=float)
    a.add_argument('--depth', type=int)
    a.add_argument('--original', action='store_true')
    a.add_argument('--no-readers', action='store_true')
    o = a.parse_args()
    how = {'cutoff': o.cutoff, 'depth': o.depth, 'original': o.original}
    data = o.file.read_bytes()
    try:
        p, asked = (hprof_text.parse(data, **how), {}) if o.no_readers else readers.check(data, **how)
    except hprof_text.Malformed as e:
        print('%s: %s' % (o.file, e), file=sys.stderr)
        return 1
    tables = ', '.join('%s of %s rows' % (d.title, len(d.rows)) for d in p.dumps)
    print('%s: %d threads, %d traces, %s' % (o.file, len(p.threads), len(p.traces), tables or 'no table'))
    for name, why in asked.items():
        print('  %s: %s' % (name, 'same figures' if why is None else 'does not apply: ' + why))
    return 0


if __name__ == '__main__':
    sys.exit(main())
