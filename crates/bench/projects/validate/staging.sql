-- @kind: merge
-- @unique_key: id
-- @column: customer = who ordered | PII
WITH newest AS (
  SELECT *, row_number() OVER (PARTITION BY id ORDER BY updated_at DESC) AS n
  FROM raw.r<raw>
)
SELECT id, coalesce(trim(customer_id), 'unknown') AS customer, branch + <at> AS branch,
  CASE WHEN status IN ('paid', 'sent') THEN 'done' WHEN status = 'new' THEN 'open' END AS status,
  amount::DECIMAL(18, 2) AS amount, upper(currency) AS currency, created_at::DATE AS day
FROM newest
WHERE n = 1 AND amount IS NOT NULL
