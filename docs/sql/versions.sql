-- SPDX-License-Identifier: BSD-2-Clause
-- Where does each version of a service spend its CPU time, in percent of the CPU time of that version?
SELECT version, method, round(100 * ns / of_version, 2) AS percent
FROM
(
    SELECT version, stack[-1] AS method, sum(value) AS ns
    FROM hprofx.profiles FINAL
    WHERE service = 'shop' AND kind = 'cpu' AND ts >= now() - 3600
    GROUP BY version, method
) AS a
ALL INNER JOIN
(
    SELECT version, sum(value) AS of_version
    FROM hprofx.profiles FINAL
    WHERE service = 'shop' AND kind = 'cpu' AND ts >= now() - 3600
    GROUP BY version
) AS b USING (version)
ORDER BY version, percent DESC, method
LIMIT 10 BY version
