-- @kind: merge
-- @unique_key: id
SELECT id, grp, upper(name) AS name, amount, updated_at
FROM ext.events
