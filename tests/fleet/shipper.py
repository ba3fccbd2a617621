# SPDX-License-Identifier: BSD-2-Clause
"""`hprofx ship` as a process, and its own counters."""
import collections
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import material  # noqa: E402
import server  # noqa: E402

LINE = re.compile(r'(\w+)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def once(folder, spool, *words, wait='%ds' % server.LIMIT):
    """hprofx ship --once: (status, what it said)."""
    done = subprocess.run([material.HPROFX, 'ship', '--once', '--wait', wait, '--spool', spool, folder, *words], capture_output=True, text=True,
                          errors='replace', timeout=2 * server.LIMIT, check=False)
    return done.returncode, done.stderr


def read_metrics(text):
    """{(name, {label: value} as sorted pairs): number}."""
    out = {}
    for line in text.splitlines():
        if line and not line.startswith('#'):
            name, labels, value = LINE.fullmatch(line).groups()
            out[name, tuple(sorted(LABEL.findall(labels or '')))] = float(value)
    return out


class Shipper:
    """Runs until it is stopped. words: options and destinations. before: what runs it (faketime, prlimit)."""

    def __init__(self, folder, spool, *words, before=()):
        self.socket, self.log = Path(str(spool) + '.socket'), Path(str(spool) + '.log')
        self.command = [*map(str, before), str(material.HPROFX), 'ship', '--spool', str(spool), '--listen', 'unix:%s' % self.socket, str(folder), *map(str, words)]
        self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()

    def start(self):
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # pylint: disable=consider-using-with
        return self

    def said(self):
        return self.log.read_text(errors='replace') if self.log.exists() else ''

    def page(self, path='/metrics'):
        """OSError if it does not listen yet, or no longer."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(server.LIMIT)
            s.connect(str(self.socket))
            s.sendall(b'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' % path.encode())
            head, _, body = b''.join(iter(lambda: s.recv(65536), b'')).partition(b'\r\n\r\n')
        assert head.startswith(b'HTTP/1.1 200'), head
        return body.decode()

    def metrics(self):
        return read_metrics(self.page())

    def wait(self, true, timeout=server.LIMIT):
        """Until true(metrics); its counters then. AssertionError with its log if that does not come."""
        end, pause = time.monotonic() + timeout, threading.Event()
        now = {}
        while True:
            try:
                now = self.metrics()
                if true(now):
                    return now
            except OSError:
                pass
            assert self.process.poll() is None, 'the shipper ended with status %s\n%s' % (self.process.returncode, self.said()[-3000:])
            assert time.monotonic() < end, 'it did not happen: %s\n%s' % (now, self.said()[-3000:])
            pause.wait(0.05)

    def usage(self):
        """(CPU seconds, KiB of memory at most) so far."""
        fields = Path('/proc/%d/stat' % self.process.pid).read_text().rpartition(')')[2].split()
        peak = re.search(r'VmHWM:\s*(\d+)', Path('/proc/%d/status' % self.process.pid).read_text())
        return (int(fields[11]) + int(fields[12])) / 100, int(peak[1])

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        """As systemd does; its status."""
        self.process.terminate()
        status = self.process.wait(server.LIMIT)
        self.process = None
        return status


def total(metrics, name, **labels):
    """The sum over all series with these labels."""
    return sum(v for (n, of), v in metrics.items() if n == name and all(pair in of for pair in labels.items()))


def by_kind(metrics, name, destination=None):
    out = collections.Counter()
    for (n, labels), value in metrics.items():
        if n == name and (destination is None or ('destination', destination) in labels):
            out[dict(labels)['kind']] += int(value)
    return out


def settled(metrics, destinations, read):
    """Everything that was read has come to its end at each of these destinations."""
    return total(metrics, 'hprofx_ship_profiles_read_total') == read and all(
        total(metrics, 'hprofx_ship_profiles_sent_total', destination=d) + total(metrics, 'hprofx_ship_profiles_dropped_total', destination=d) == read
        for d in destinations)
