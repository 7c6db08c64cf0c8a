-- Audits check the whole table inside the transaction that wrote it. A finding
-- rolls the write back: data, schema change and all.
--
--   -- @audit: row_count(>=, 1)
--   -- @audit: freshness(updated_at, 24h)
--   -- @audit: mean(amount, <, 1000)
--   -- @audit: reconcile_count(raw.orders)
--
-- @audit: name(args) calls ondatra_audit_name(t, args). t is the table as text.
-- A column is SQL text: an expression works, and so does "My Col". An operator
-- is one of >= <= > < = !=. Aggregates ignore single NULLs and fail where there
-- is nothing to aggregate: an empty table, a column of only NULLs.
--
-- Your own: a table macro of that name, here or in another file in this folder.
-- It takes t first and returns one text column: one row for each finding, no
-- row for a pass. Build the query as text, since the table does not exist yet:
--
--   CREATE OR REPLACE MACRO ondatra_audit_balanced(t, debit, credit) AS TABLE
--   SELECT 'the books differ by ' || difference AS message
--   FROM query('SELECT sum(' || debit || ') - sum(' || credit || ') AS difference FROM ' || t)
--   WHERE difference <> 0;
--
-- ondatra_internal_* macros are in helpers.sql.


-- ---- The table ------------------------------------------------------------

CREATE OR REPLACE MACRO ondatra_audit_row_count(t, op, val) AS TABLE
SELECT ondatra_internal_finding('row_count failed', op,
    'row_count ' || op || ' ' || val || ' failed: actual count is ' || actual) AS message
FROM query(ondatra_internal_aggregate(t, 'count(*)', ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;

-- As many rows as another table.
CREATE OR REPLACE MACRO ondatra_audit_reconcile_count(t, other_table) AS TABLE
SELECT 'reconcile_count failed: ' || replace(t, '"', '') || ' has ' || here || ' rows, '
    || other_table || ' has ' || there || ' rows' AS message
FROM query(
    'SELECT (SELECT count(*) FROM ' || t || ') AS here, (SELECT count(*) FROM ' || other_table || ') AS there')
WHERE here <> there;

-- reconcile_sum(amount, raw.payments, paid). Two sums of nothing are equal.
CREATE OR REPLACE MACRO ondatra_audit_reconcile_sum(t, col, other_table, other_col) AS TABLE
SELECT 'reconcile_sum failed: ' || replace(t, '"', '') || '.' || col || ' = ' || ondatra_internal_show(here) || ', '
    || other_table || '.' || other_col || ' = ' || ondatra_internal_show(there) AS message
FROM query(
    'SELECT (SELECT sum((' || col || ')) FROM ' || t || ') AS here,'
    || ' (SELECT sum((' || other_col || ')) FROM ' || other_table || ') AS there')
WHERE here IS DISTINCT FROM there;

CREATE OR REPLACE MACRO ondatra_audit_column_exists(t, col) AS TABLE
SELECT 'column_exists failed: column ' || col || ' not found in ' || replace(t, '"', '') AS message
FROM query(ondatra_internal_column(t, col, 'true'))
WHERE actual IS NULL;

-- column_type(price, 'DECIMAL(10,2)'). INT and INTEGER are the same type, as
-- are all of DuckDB's other names for one. DECIMAL alone is any decimal.
CREATE OR REPLACE MACRO ondatra_audit_column_type(t, col, type_name) AS TABLE
SELECT 'column_type failed: ' || replace(t, '"', '') || '.' || col || ' is ' || coalesce(actual, 'NOT FOUND')
    || ' (expected ' || type_name || ')' AS message
FROM query(ondatra_internal_column(t, col,
    CASE
        WHEN lower(trim(type_name)) IN ('decimal', 'numeric', 'dec') THEN 'actual LIKE ''DECIMAL(%'''
        ELSE 'actual = typeof(NULL::' || type_name || ')'
    END))
WHERE passes IS NOT TRUE;

-- golden('tests/expected_orders.csv'): the same rows as in the file, in any
-- order. Columns are matched by position, repeated rows are ignored.
CREATE OR REPLACE MACRO ondatra_audit_golden(t, path) AS TABLE
SELECT 'golden failed: ' || differing || ' rows differ from ' || path AS message
FROM query(
    'SELECT count(*) AS differing FROM ('
    || '(FROM ' || t || ' EXCEPT ' || ondatra_internal_csv(path) || ')'
    || ' UNION ALL '
    || '(' || ondatra_internal_csv(path) || ' EXCEPT FROM ' || t || '))')
WHERE differing > 0;


-- ---- Aggregates of a column -----------------------------------------------

-- freshness(updated_at, 24h): the newest value is not older than that. A column
-- without a time zone is read as in the session's TimeZone.
CREATE OR REPLACE MACRO ondatra_audit_freshness(t, col, age) AS TABLE
SELECT 'freshness(' || col || ') failed: max is ' || ondatra_internal_show(newest)
    || ' (threshold: ' || age || ')' AS message
FROM query(ondatra_internal_freshness(t, col, age))
WHERE stale IS NOT FALSE;

CREATE OR REPLACE MACRO ondatra_audit_mean(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('mean(' || col || ') failed', op,
    'mean(' || col || ') ' || op || ' ' || val || ' failed: actual mean is ' || ondatra_internal_show(actual)) AS message
FROM query(ondatra_internal_aggregate(t, 'avg((' || col || '))', ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;

CREATE OR REPLACE MACRO ondatra_audit_median(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('median(' || col || ') failed', op,
    'median(' || col || ') ' || op || ' ' || val || ' failed: actual median is ' || ondatra_internal_show(actual)) AS message
FROM query(ondatra_internal_quantile(t, col, 0.5, op, val))
WHERE passes IS NOT TRUE;

CREATE OR REPLACE MACRO ondatra_audit_min(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('min(' || col || ') failed', op,
    'min(' || col || ') ' || op || ' ' || val || ' failed: actual min is ' || ondatra_internal_show(actual)) AS message
FROM query(ondatra_internal_aggregate(t, 'min((' || col || '))', ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;

CREATE OR REPLACE MACRO ondatra_audit_max(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('max(' || col || ') failed', op,
    'max(' || col || ') ' || op || ' ' || val || ' failed: actual max is ' || ondatra_internal_show(actual)) AS message
FROM query(ondatra_internal_aggregate(t, 'max((' || col || '))', ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;

CREATE OR REPLACE MACRO ondatra_audit_sum(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('sum(' || col || ') failed', op,
    'sum(' || col || ') ' || op || ' ' || val || ' failed: actual sum is ' || ondatra_internal_show(actual)) AS message
FROM query(ondatra_internal_aggregate(t, 'sum((' || col || '))', ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;

CREATE OR REPLACE MACRO ondatra_audit_mean_between(t, col, lo, hi) AS TABLE
SELECT 'mean(' || col || ') BETWEEN failed: actual mean is ' || ondatra_internal_show(actual)
    || ' (expected [' || lo || ', ' || hi || '])' AS message
FROM query(ondatra_internal_aggregate(t, 'avg((' || col || '))',
    'actual BETWEEN ' || ondatra_internal_literal(lo) || ' AND ' || ondatra_internal_literal(hi)))
WHERE passes IS NOT TRUE;

-- The sample deviation. A single row has none, and fails.
CREATE OR REPLACE MACRO ondatra_audit_stddev(t, col, max_stddev) AS TABLE
SELECT 'stddev(' || col || ') < ' || max_stddev || ' failed: actual stddev is ' || ondatra_internal_show(actual) AS message
FROM query(ondatra_internal_aggregate(t, 'stddev_samp((' || col || '))',
    'actual < ' || ondatra_internal_literal(max_stddev)))
WHERE passes IS NOT TRUE;

-- No value lies max_zscore or more sample deviations off the mean. A constant
-- column, or a single value, has no outliers.
CREATE OR REPLACE MACRO ondatra_audit_zscore(t, col, max_zscore) AS TABLE
SELECT 'zscore(' || col || ') < ' || max_zscore || ' failed: '
    || CASE WHEN present = 0 THEN 'actual is NULL' ELSE 'outlier detected' END AS message
FROM query(
    'SELECT present, lowest = highest OR greatest(highest - center, center - lowest) / deviation < '
    || ondatra_internal_literal(max_zscore) || ' AS passes'
    || ' FROM (SELECT count(listed) AS present, min(listed) AS lowest, max(listed) AS highest,'
    || ' avg(listed) AS center, stddev_samp(listed) AS deviation'
    || ' FROM (SELECT (' || col || ')::DOUBLE AS listed FROM ' || t || '))')
WHERE passes IS NOT TRUE;

-- percentile(latency, 0.95, <=, 200), interpolated.
CREATE OR REPLACE MACRO ondatra_audit_percentile(t, col, p, op, val) AS TABLE
SELECT ondatra_internal_finding('percentile(' || col || ', ' || p || ') failed', op,
    'percentile(' || col || ', ' || p || ') ' || op || ' ' || val
    || ' failed: actual is ' || ondatra_internal_show(actual)) AS message
FROM query(ondatra_internal_quantile(t, col, p, op, val))
WHERE passes IS NOT TRUE;

-- In bits: 0 for a constant or empty column, 1 for two values in equal shares.
CREATE OR REPLACE MACRO ondatra_audit_entropy(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('entropy(' || col || ') failed', op,
    'entropy(' || col || ') ' || op || ' ' || val || ' failed: actual entropy is ' || actual) AS message
FROM query(ondatra_internal_aggregate(t, 'coalesce(entropy((' || col || ')), 0)',
    ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;

-- The number of distinct values, give or take a few percent.
CREATE OR REPLACE MACRO ondatra_audit_approx_distinct(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('approx_distinct(' || col || ') failed', op,
    'approx_distinct(' || col || ') ' || op || ' ' || val || ' failed: approx count is ' || actual) AS message
FROM query(ondatra_internal_aggregate(t, 'approx_count_distinct((' || col || '))',
    ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;
