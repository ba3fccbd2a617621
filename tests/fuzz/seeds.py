#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""seeds FOLDER: files for the fuzz targets of readers: HPROF, those of tests/read, whole and with each rule broken once, and small ones of the original agent; JFR."""
import gzip
import pathlib
import sys

READ = pathlib.Path(__file__).resolve().parent.parent / 'read'
sys.path.insert(0, str(READ))
import breaks  # noqa: E402
import hprof_files as h  # noqa: E402
import jfr_files  # noqa: E402


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    whole = [h.binary(size, minor) for size in (4, 8) for minor in (1, 2)] + [h.text(), h.times(), h.old(), h.timed_text(), h.timed_binary(4), h.timed_binary(8)]
    data = [p.data() for p in whole] + [p.data()[:len(p.data()) // 2] for p in whole]
    data += [b[1].data() for b in breaks.binary_breaks() + breaks.text_breaks()] + [n[0].data() for n in breaks.notes()]
    data += [gzip.decompress((READ / 'golden' / name / 'java.hprof.txt.gz').read_bytes()) for name in ('request-samples', 'samples-depth0', 'samples-threads', 'times-depth0')]
    data += [d for _, d in jfr_files.all_files()]
    for i, d in enumerate(data):
        (folder / str(i)).write_bytes(d)


if __name__ == '__main__':
    main(pathlib.Path(sys.argv[1]))
