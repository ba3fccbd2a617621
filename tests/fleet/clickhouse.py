# SPDX-License-Identifier: BSD-2-Clause
"""Debian's clickhouse-server with a configuration of its own, alone or as shards of one cluster; and what is asked of any engine that speaks its HTTP."""
import json
import urllib.parse

import counts
import server

CONFIG = """<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>127.0.0.1</listen_host><http_port>%(http)d</http_port><tcp_port>%(tcp)d</tcp_port>
  <path>%(folder)s/data/</path><tmp_path>%(folder)s/tmp/</tmp_path><users_config>users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database><mark_cache_size>16777216</mark_cache_size>
  <remote_servers><fleet>%(shards)s</fleet></remote_servers>
</yandex>
"""
SHARD = '<shard><replica><host>127.0.0.1</host><port>%d</port></replica></shard>'
# Rows for a Distributed table are at their shards when the INSERT is answered.
USERS = """<yandex>
  <profiles><default><insert_distributed_sync>1</insert_distributed_sync><allow_experimental_low_cardinality_type>1</allow_experimental_low_cardinality_type></default></profiles>
  <quotas><default></default></quotas>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
</yandex>
"""


class Sql(server.Server):
    """An engine with ClickHouse's HTTP interface at self.port."""
    port = 0

    def ask(self, sql, timeout=server.LIMIT):
        """The answer's text; AssertionError with the engine's words if it refuses."""
        status, text = server.http('http://127.0.0.1:%d/' % self.port, sql.encode(), timeout)
        assert status == 200, '%s\n%s' % (sql, text.decode(errors='replace')[:3000])
        return text.decode()

    def rows(self, sql):
        return [json.loads(line) for line in self.ask(sql + ' FORMAT JSONEachRow').splitlines()]

    def insert(self, table, columns, body):
        """RowBinary."""
        sql = 'INSERT INTO %s (%s) FORMAT RowBinary' % (table, ', '.join(columns))
        status, text = server.http('http://127.0.0.1:%d/?query=%s' % (self.port, urllib.parse.quote(sql)), body)
        assert status == 200, text

    def url(self, table):
        return 'clickhouse:http://127.0.0.1:%d/%s' % (self.port, table)

    def arrived(self, table):
        """counts.Arrived of all rows, also of those that are there twice."""
        return counts.of_rows(self.rows('SELECT %s FROM %s' % (', '.join(counts.COLUMNS), table)))


class ClickHouse(Sql):
    old = True # before TTL, parameters, WITH of subqueries

    def __init__(self, folder, http=0, tcp=0, shards=()):
        program = server.need_file('clickhouse', 'clickhouse-server')
        self.port, self.tcp = http or server.free_port(), tcp or server.free_port()
        folder.mkdir(exist_ok=True)
        for name in ('data', 'tmp'):
            (folder / name).mkdir(exist_ok=True)
        of = {'http': self.port, 'tcp': self.tcp, 'folder': folder, 'shards': ''.join(SHARD % p for p in shards or (self.tcp,))}
        (folder / 'config.xml').write_text(CONFIG % of)
        (folder / 'users.xml').write_text(USERS)
        super().__init__(folder, [program, '--config-file=config.xml'], 'http://127.0.0.1:%d/' % self.port)


def cluster(folder, n=2):
    """n servers, not started, that know each other as the cluster `fleet`."""
    ports = [server.free_port() for _ in range(n)]
    return [ClickHouse(folder / ('shard%d' % i), tcp=port, shards=ports) for i, port in enumerate(ports)]
