-- SPDX-License-Identifier: BSD-2-Clause
-- One Distributed table in front of the table on every server. The same profile always goes to the same shard.
CREATE TABLE hprofx.fleet AS hprofx.profiles
ENGINE = Distributed(fleet, hprofx, profiles, cityHash64(profile))
