-- SPDX-License-Identifier: BSD-2-Clause
-- The table of profiles. hprofx ship and watch insert into it; a row is one stack of one kind in one profile.
-- ClickHouse before 19.6 has no TTL: leave out that line, and drop old partitions yourself.
-- With many shippers let ClickHouse join the inserts: clickhouse:http://HOST:8123/hprofx.profiles?async_insert=1&wait_for_async_insert=1
CREATE TABLE hprofx.profiles
(
    ts DateTime, duration_ms UInt32,
    service LowCardinality(String), version LowCardinality(String), host LowCardinality(String), container String, pid UInt32,
    profile String, kind LowCardinality(String), row UInt32, stack Array(LowCardinality(String)), value UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(ts)
ORDER BY (service, kind, ts, profile, row)
TTL ts + INTERVAL 14 DAY
