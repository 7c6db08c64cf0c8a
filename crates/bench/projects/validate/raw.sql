-- @kind: append
-- @description: orders of branch <at>
-- @incremental: updated_at
SELECT id, customer_id, branch, status, amount, currency, created_at, updated_at
FROM source.orders
WHERE branch = <at> AND updated_at > getvariable('incr_last_value')
