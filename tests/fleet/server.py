# SPDX-License-Identifier: BSD-2-Clause
"""An engine as a process on loopback that a test starts, kills, starts again and ends. tests/fleet/engines installs them; if one is missing, NotAvailable, and a
failure if HPX_FLEET_ENGINES (names of engines, blanks between) says that it was installed."""
import os
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ENGINES = Path(os.environ.get('FLEET_ENGINES', os.environ.get('JDKS', '/opt/jdks') + '/fleet-engines'))
INSTALLED = os.environ.get('HPX_FLEET_ENGINES', '').split()
LIMIT = 60 * float(os.environ.get('HPX_SLOW') or 1)
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({})) # loopback needs no proxy


class NotAvailable(Exception):
    pass


def need(path, engine):
    if not path:
        assert engine not in INSTALLED, '%s is missing, although tests/fleet/engines %s succeeded' % (engine, engine)
        raise NotAvailable('%s is missing; tests/fleet/engines %s installs it' % (engine, engine))
    return path


def need_file(engine, name):
    path = ENGINES / engine / name
    return need(path if path.exists() else None, engine)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def http(url, data=None, timeout=LIMIT, headers=None):
    """(status, body)."""
    try:
        with DIRECT.open(urllib.request.Request(url, data=data, headers=headers or {}), timeout=timeout) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as e:
        with e:
            return e.code, e.read()


class Server:
    """command: its words; ready: an address that answers once it serves. Whatever it says goes to `log`."""

    def __init__(self, folder, command, ready, env=None):
        self.folder, self.command, self.ready = Path(folder), [str(c) for c in command], ready
        self.env, self.process = env or {}, None
        self.log = self.folder / 'log'

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        assert self.process is None
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen(self.command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,  # pylint: disable=consider-using-with
                                            env={**os.environ, **self.env})
        end, pause = time.monotonic() + LIMIT, threading.Event()
        while True:
            try:
                http(self.ready, timeout=5)
                return self
            except OSError as e:
                if self.process.poll() is not None or time.monotonic() > end:
                    said = self.log.read_text(errors='replace')[-3000:]
                    self.kill()
                    raise AssertionError('%s does not serve: %s\n%s' % (self.command[0], e, said)) from e
            pause.wait(0.02) # an engine says nowhere that it serves

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                pass
            self.kill()
