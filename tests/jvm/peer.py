# SPDX-License-Identifier: BSD-2-Clause
"""A peer of net=: listens, keeps what each connection brings, sends commands, and behaves badly on request."""
import socket
import struct
import threading
import time

GC, HEAP, SITES, SUMMARY, EXIT, TRACES, SAMPLES, CONTROL, EOF = 1, 2, 3, 4, 5, 6, 7, 8, 0xFF


def command(tag, body=b'', serial=7, length=None):
    return struct.pack('>BII', tag, serial, len(body) if length is None else length) + body


def samples(cutoff=0.0, serial=7):
    return command(SAMPLES, struct.pack('>Hf', 0, cutoff), serial)


def control(sub, data=b'', serial=7):
    return command(CONTROL, struct.pack('>H', sub) + data, serial)


class Peer:
    """port; streams: bytes of each connection, in their order. `reader(peer, connection, stream)`: reads in the place of read_all()."""

    def __init__(self, test, reader=None, family=socket.AF_INET, buffer=None, port=0):
        self.test, self.reader = test, reader or Peer.read_all
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if buffer:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.listener.bind(('::1' if family == socket.AF_INET6 else '127.0.0.1', port))
        self.listener.listen(16)
        self.port = self.listener.getsockname()[1]
        self.streams, self.connections, self.closed = [], [], []
        self.changed = threading.Condition()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                c, _ = self.listener.accept()
            except OSError:
                return
            with self.changed:
                self.streams.append(bytearray())
                self.connections.append(c)
                self.closed.append(False)
                n = len(self.streams) - 1
                self.changed.notify_all()
            threading.Thread(target=self._serve, args=(c, n), daemon=True).start()

    def _serve(self, c, n):
        try:
            self.reader(self, c, n)
        except OSError:
            pass
        with self.changed:
            self.closed[n] = True
            self.changed.notify_all()

    def add(self, n, data):
        with self.changed:
            self.streams[n] += data
            self.changed.notify_all()

    def read_all(self, c, n):
        while True:
            data = c.recv(65536)
            if not data:
                c.close()
                return
            self.add(n, data)

    def wait(self, condition, what):
        """Until condition() holds, which is asked whenever something came; the test's deadline bounds it."""
        with self.changed:
            while not condition():
                run = self.test.runs[-1]
                ended = run.process.poll() is not None
                if time.monotonic() > self.test.deadline or (ended and not self.changed.wait(2) and not condition()):
                    self.test.within_time(run)
                    self.test.check(False, 'the program ended, and there is no %s' % what)
                self.changed.wait(0.2)

    def wait_streams(self, n):
        self.wait(lambda: len(self.streams) >= n, 'connection %d' % n)

    def wait_for(self, what, count=1, stream=-1):
        """Until the stream holds the bytes so often."""
        self.wait_streams(1)
        self.wait(lambda: self.streams[stream].count(what) >= count, '%r' % what)

    def wait_end(self):
        self.wait(lambda: self.closed and all(self.closed), 'end of the streams')

    def send(self, data):
        self.wait_streams(1)
        self.connections[-1].sendall(data)

    def close(self):
        self.listener.close()
