-- SPDX-License-Identifier: BSD-2-Clause
-- Several servers: each has the table of schema.sql, and this Distributed table in front. The same profile always goes to the same shard.
-- Set insert_distributed_sync (newer name: distributed_foreground_insert) to 1 for the user of the shipper; otherwise an answer comes before
-- the rows are stored.
CREATE TABLE hprofx.fleet AS hprofx.profiles
ENGINE = Distributed(fleet, hprofx, profiles, cityHash64(profile))
