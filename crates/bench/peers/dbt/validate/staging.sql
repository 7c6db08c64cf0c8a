{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
WITH newest AS (
  SELECT *, row_number() OVER (PARTITION BY id ORDER BY updated_at DESC) AS n
  FROM {{ ref('r<raw>') }}
)
SELECT id, coalesce(trim(customer_id), 'unknown') AS customer, branch + <at> AS branch,
  CASE WHEN status IN ('paid', 'sent') THEN 'done' WHEN status = 'new' THEN 'open' END AS status,
  amount::DECIMAL(18, 2) AS amount, upper(currency) AS currency, created_at::DATE AS day
FROM newest
WHERE n = 1 AND amount IS NOT NULL
