-- SPDX-License-Identifier: BSD-2-Clause
-- What changed between two versions? Samples of one JVM resemble each other, so each JVM is one observation.
-- z: the difference of the shares in standard errors, estimated from how the shares vary among JVMs.
-- p: corrected for the number of methods; below 0.05 the method changed. Use 10 or more JVMs of each version; for fewer use hprofx diff.
SELECT
    method,
    round(100 * old_x / old_n, 2) AS old_percent,
    round(100 * new_x / new_n, 2) AS new_percent,
    (new_x / new_n - old_x / old_n)
        / sqrt(old_k / (old_k - 1) * (old_xx - 2 * old_x / old_n * old_xn + pow(old_x / old_n, 2) * old_nn) / pow(old_n, 2)
             + new_k / (new_k - 1) * (new_xx - 2 * new_x / new_n * new_xn + pow(new_x / new_n, 2) * new_nn) / pow(new_n, 2)) AS z,
    least(1, methods * erfc(abs(z) / sqrt(2))) AS p
FROM
(
    SELECT
        1 AS one, method,
        sumIf(x, version = '1.0') AS old_x, sumIf(x * x, version = '1.0') AS old_xx, sumIf(x * n, version = '1.0') AS old_xn,
        sumIf(x, version = '1.1') AS new_x, sumIf(x * x, version = '1.1') AS new_xx, sumIf(x * n, version = '1.1') AS new_xn
    FROM
    (
        SELECT version, host, pid, sum(v) AS n, groupArray(m) AS ms, groupArray(v) AS vs
        FROM
        (
            SELECT version, host, pid, stack[-1] AS m, toFloat64(sum(value)) AS v
            FROM hprofx.profiles FINAL
            WHERE service = 'shop' AND kind = 'samples' AND version IN ('1.0', '1.1') AND ts >= now() - 3600
            GROUP BY version, host, pid, m
        )
        GROUP BY version, host, pid
    )
    ARRAY JOIN ms AS method, vs AS x
    GROUP BY method
) AS a
ALL INNER JOIN
(
    SELECT
        1 AS one, max(length(ms)) AS methods,
        sumIf(n, version = '1.0') AS old_n, sumIf(n * n, version = '1.0') AS old_nn, countIf(version = '1.0') AS old_k,
        sumIf(n, version = '1.1') AS new_n, sumIf(n * n, version = '1.1') AS new_nn, countIf(version = '1.1') AS new_k
    FROM
    (
        SELECT version, host, pid, toFloat64(sum(value)) AS n, groupUniqArray(stack[-1]) AS ms
        FROM hprofx.profiles FINAL
        WHERE service = 'shop' AND kind = 'samples' AND version IN ('1.0', '1.1') AND ts >= now() - 3600
        GROUP BY version, host, pid
    )
) AS b USING (one)
ORDER BY abs(z) DESC
LIMIT 20
