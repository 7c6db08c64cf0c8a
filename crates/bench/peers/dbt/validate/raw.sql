{{ config(materialized='incremental', incremental_strategy='append') }}
SELECT id, customer_id, branch, status, amount, currency, created_at, updated_at
FROM {{ source('source', 'orders') }}
WHERE branch = <at>
{% if is_incremental() %}
AND updated_at > (SELECT max(updated_at) FROM {{ this }})
{% endif %}
