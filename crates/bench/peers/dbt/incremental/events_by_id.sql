{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
SELECT id, grp, upper(name) AS name, amount, updated_at
FROM {{ source('ext', 'events') }}
{% if is_incremental() %}
WHERE updated_at > (SELECT max(updated_at) FROM {{ this }})
{% endif %}
