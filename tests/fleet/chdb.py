# SPDX-License-Identifier: BSD-2-Clause
"""ClickHouse's newest engine behind a server of ours that speaks as much of its HTTP interface as shippers and tests need (chdb.js)."""
import shutil

import clickhouse
import server


class Chdb(clickhouse.Sql):
    old = False

    def __init__(self, folder, port=0):
        modules = server.need_file('chdb', 'node_modules')
        node = server.need(shutil.which('node'), 'chdb')
        self.port = port or server.free_port()
        folder.mkdir(exist_ok=True)
        super().__init__(folder, [node, server.FOLDER / 'chdb.js', modules, folder / 'data', self.port], 'http://127.0.0.1:%d/' % self.port)
