-- SPDX-License-Identifier: BSD-2-Clause
-- Which methods allocate how many bytes of which class?
SELECT service, stack[-2] AS method, stack[-1] AS class, sum(value) AS bytes
FROM hprofx.profiles FINAL
WHERE kind = 'alloc_space' AND ts >= now() - 3600
GROUP BY service, method, class
ORDER BY bytes DESC, service, method, class
LIMIT 20
