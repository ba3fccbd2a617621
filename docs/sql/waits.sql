-- SPDX-License-Identifier: BSD-2-Clause
-- Which methods were blocked, and which methods held a monitor of the same class? Needs monitor=y,owner=y.
SELECT service, monitor, waiter, blocked_s, owner, round(100 * held / all_held, 1) AS percent
FROM
(
    SELECT service, monitor, waiter, blocked_s, all_held, owners, helds
    FROM
    (
        SELECT service, stack[-1] AS monitor, stack[-2] AS waiter, sum(value) / 1e9 AS blocked_s
        FROM hprofx.profiles FINAL
        WHERE kind = 'delay' AND ts >= now() - 3600
        GROUP BY service, monitor, waiter
    ) AS a
    ALL INNER JOIN
    (
        SELECT service, monitor, sum(ns) AS all_held, groupArray(method) AS owners, groupArray(ns) AS helds
        FROM
        (
            SELECT service, stack[-1] AS monitor, stack[-2] AS method, sum(value) AS ns
            FROM hprofx.profiles FINAL
            WHERE kind = 'owner_delay' AND ts >= now() - 3600
            GROUP BY service, monitor, method
        )
        GROUP BY service, monitor
    ) AS b USING (service, monitor)
)
ARRAY JOIN owners AS owner, helds AS held
ORDER BY blocked_s DESC, percent DESC, waiter, owner
LIMIT 20
