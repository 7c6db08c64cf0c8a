-- @kind: table
SELECT s.day, s.currency, count(*) AS orders, sum(s.amount) AS amount, avg(s.amount) AS mean,
  count(*) FILTER (WHERE s.status = 'open') AS open, max(r.updated_at) AS newest
FROM staging.s<staging> AS s
LEFT JOIN raw.r<raw> AS r ON r.id = s.id AND r.branch <> s.branch
GROUP BY ALL
HAVING count(*) > (SELECT min(amount) FROM staging.s<staging>)
ORDER BY s.day
