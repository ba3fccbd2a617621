-- SPDX-License-Identifier: BSD-2-Clause
-- Which methods does the fleet spend its CPU time in? self_s: in the method itself; total_s: also in what it called.
SELECT
    method,
    sum(value * innermost) / 1e9 AS self_s,
    sum(value) / 1e9 AS total_s,
    uniqExact(service) AS services,
    uniqExact((host, pid)) AS jvms
FROM
(
    SELECT service, host, pid, value, arrayJoin(arrayDistinct(stack)) AS method, method = stack[-1] AS innermost
    FROM hprofx.profiles FINAL
    WHERE kind = 'cpu' AND ts >= now() - 3600
)
GROUP BY method
ORDER BY self_s DESC, total_s DESC, method
LIMIT 20
