# SPDX-License-Identifier: BSD-2-Clause
"""The OpenTelemetry Collector of collector/main.go: OTLP over HTTP in, a file out."""
import struct

import counts
import server

CONFIG = """receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:%d
exporters:
  tofile:
    path: %s
service:
  pipelines:
    profiles:
      receivers: [otlp]
      exporters: [tofile]
"""


class Collector(server.Server):
    def __init__(self, folder, port=0):
        program = server.need_file('collector', 'collector')
        self.port = port or server.free_port()
        folder.mkdir(exist_ok=True)
        self.file = folder / 'profiles'
        (folder / 'config.yaml').write_text(CONFIG % (self.port, self.file))
        super().__init__(folder, [program, '--config', 'config.yaml', '--feature-gates=service.profilesSupport'], 'http://127.0.0.1:%d/' % self.port)

    def url(self):
        return 'otlp:http://127.0.0.1:%d' % self.port

    def messages(self):
        data, at = self.file.read_bytes(), 0
        while at + 4 <= len(data):
            n = struct.unpack_from('>I', data, at)[0]
            if at + 4 + n <= len(data): # the rest of one in which the Collector was killed
                yield data[at + 4:at + 4 + n]
            at += 4 + n

    def arrived(self, out=None):
        out = out or counts.Arrived()
        for message in self.messages():
            out.join(counts.otlp(message))
        return out
