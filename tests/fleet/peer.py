# SPDX-License-Identifier: BSD-2-Clause
"""A server on loopback that takes profiles as OTLP, Pyroscope's push or ClickHouse rows, and answers as it is told to: a good peer, a slow one, one that
answers nonsense. It counts what it accepted, which is what it answered with 200 in full.

python3 tests/fleet/peer.py PORT: such a server by hand; it prints what arrives."""
import collections
import gzip
import http.server
import sys
import threading
import urllib.parse
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import counts  # noqa: E402

# What a peer may do with a request. The first two accept it.
OK, OK_SLOWLY = 'ok', 'ok, slowly'
BUSY, DOWN, BROKEN, REFUSED = '429', '503', '500', '400'
NONSENSE, HALF, CLOSES, LATE_CLOSE, REDIRECT, FLOOD = 'nonsense', 'half an answer', 'closes', 'reads all, then closes', 'elsewhere', 'an endless answer'


def decoded(path, query, body):
    if path.endswith('/profiles'):
        return counts.otlp(body)
    if path.endswith('/push.v1.PusherService/Push'):
        return counts.push(body)
    assert 'RowBinary' in query, (path, query)
    return counts.of_rows(counts.rowbinary(body))


class Peer:
    """say: what to do with the next requests, one each; then `always`. later: bodies are kept, and read by read(). Locked: everything may be looked at while it
    runs."""

    def __init__(self, say=(), always=OK, port=0, later=False):
        self.say, self.always = collections.deque(say), always
        self.later, self.bodies = later, []
        self.lock = threading.Condition()
        self.arrived = counts.Arrived()
        self.requests = []      # (what was done, path, query, headers, bytes of the body)
        self.errors = []        # bodies that nobody can read
        self.retry_after = None # of 429 and 503: a text
        self.release = threading.Event() # OK_SLOWLY answers once this is set
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', port), self.handler())
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def url(self, kind, rest=''):
        return '%s:http://127.0.0.1:%d%s' % (kind, self.port, rest)

    def wait(self, true, timeout):
        """Until true(peer), looked at after each request; false: it did not become true."""
        with self.lock:
            return self.lock.wait_for(lambda: true(self), timeout)

    def take(self, handler, body):
        """What is done with it, and whether it is accepted."""
        url = urllib.parse.urlsplit(handler.path)
        with self.lock:
            what = self.say.popleft() if self.say else self.always
            self.requests.append((what, url.path, urllib.parse.unquote_plus(url.query), dict(handler.headers), len(body)))
            if what in (OK, OK_SLOWLY):
                try:
                    plain = gzip.decompress(body) if handler.headers.get('Content-Encoding') == 'gzip' else body
                    if self.later:
                        self.bodies.append((url.path, urllib.parse.unquote_plus(url.query), plain))
                    else:
                        self.arrived.join(decoded(url.path, urllib.parse.unquote_plus(url.query), plain))
                except (AssertionError, ValueError, KeyError, IndexError, OSError, zlib.error) as e:
                    self.errors.append('%s: %r' % (handler.path, e))
            self.lock.notify_all()
        return what

    def read(self, into):
        """The bodies that were kept, into a counts.Arrived."""
        for path, query, plain in self.bodies:
            into.join(decoded(path, query, plain))
        return into

    def handler(self):
        peer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def body(self):
                if self.headers.get('Transfer-Encoding') != 'chunked':
                    return self.rfile.read(int(self.headers.get('Content-Length', 0)))
                out = b''
                while n := int(self.rfile.readline(), 16):
                    out += self.rfile.read(n)
                    self.rfile.readline()
                self.rfile.readline()
                return out

            def answer(self, status, text=b'', **headers):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace('_', '-'), value)
                self.send_header('Content-Length', str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def raw(self, data):
                self.wfile.write(data)
                self.wfile.flush()
                self.close_connection = True

            def do_POST(self): # pylint: disable=invalid-name
                what = peer.take(self, self.body())
                try:
                    self.do(what)
                except OSError:
                    pass # the other end went away

            def do(self, what):
                if what == OK_SLOWLY:
                    peer.release.wait()
                if what in (OK, OK_SLOWLY):
                    self.answer(200)
                elif what in (BUSY, DOWN, BROKEN, REFUSED):
                    more = {'Retry_After': peer.retry_after} if peer.retry_after and what in (BUSY, DOWN) else {}
                    self.answer(int(what), b'no\x1b[31m </script>\r\n' * 3, **more)
                elif what == REDIRECT:
                    self.answer(307, Location='http://127.0.0.1:%d/elsewhere' % peer.port)
                elif what == NONSENSE:
                    self.raw(b'\x00\xff\xfe' * 300 + b'\r\n\r\n')
                elif what == HALF:
                    self.raw(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
                elif what == FLOOD:
                    self.raw(b'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n')
                    while not peer.release.is_set():
                        self.wfile.write(b'x' * 65536)
                else:
                    self.close_connection = True # CLOSES, LATE_CLOSE

            def parse_request(self):
                with peer.lock: # before the body is read
                    early = peer.say and peer.say[0] == CLOSES
                    if early:
                        peer.say.popleft()
                        peer.requests.append((CLOSES, '', '', {}, 0))
                        peer.lock.notify_all()
                if early:
                    self.close_connection = True
                    return False
                return super().parse_request()

            def log_message(self, *_): # pylint: disable=arguments-differ
                pass
        return Handler


if __name__ == '__main__':
    with Peer(port=int(sys.argv[1])) as by_hand:
        seen = 0
        while True:
            by_hand.wait(lambda p: len(p.requests) > seen, 3600) # pylint: disable=cell-var-from-loop
            for one in by_hand.requests[seen:]:
                print(one[0], one[1], one[2], one[4], 'bytes')
            seen = len(by_hand.requests)
            print(dict(counts.totals(by_hand.arrived.sums())), by_hand.errors)
