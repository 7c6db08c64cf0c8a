-- Warnings check the whole table after it has been committed. A finding is shown
-- with the run and changes nothing.
--
--   -- @warning: row_count_delta(20)
--   -- @warning: freshness(updated_at, 7d)
--   -- @warning: null_percent(phone, 2.5)
--
-- @warning: name(args) calls ondatra_warning_name(t, args). t is the table as
-- text. A column is SQL text: an expression works, and so does "My Col". An
-- operator is one of >= <= > < = !=.
--
-- Your own: a table macro of that name, here or in another file in this folder.
-- It takes t first and returns one text column: one row for each finding, no
-- row for a pass. Build the query as text, since the table does not exist yet:
--
--   CREATE OR REPLACE MACRO ondatra_warning_weekend(t, col) AS TABLE
--   SELECT late || ' rows of ' || col || ' fall on a weekend' AS message
--   FROM query('SELECT count(*) AS late FROM ' || t || ' WHERE isodow(' || col || ') > 5')
--   WHERE late > 0;
--
-- For these variables see config/variables/local.sql and constants.sql:
--   prev_model_snapshot      what row_count_delta, sum_delta and mean_delta compare with
--   alert_amount_threshold   the limit of approaching_limit
--
-- ondatra_internal_* macros are in helpers.sql.


-- ---- The table ------------------------------------------------------------

CREATE OR REPLACE MACRO ondatra_warning_freshness(t, col, age) AS TABLE
SELECT 'freshness warning: ' || col || ' max is ' || ondatra_internal_show(newest)
    || ' (threshold: ' || age || ')' AS message
FROM query(ondatra_internal_freshness(t, col, age))
WHERE stale IS NOT FALSE;

CREATE OR REPLACE MACRO ondatra_warning_row_count(t, op, val) AS TABLE
SELECT ondatra_internal_finding('row_count warning', op,
    'row_count warning: ' || op || ' ' || val || ' -- actual is ' || actual) AS message
FROM query(ondatra_internal_aggregate(t, 'count(*)', ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;


-- ---- Changes since the model's previous commit ----------------------------
-- In percent of the value before. Silent on the model's first run.

CREATE OR REPLACE MACRO ondatra_warning_row_count_delta(t, max_percent) AS TABLE
SELECT 'row_count_delta warning: from ' || before || ' to ' || after || ' rows (max ' || max_percent || '%)' AS message
FROM query(ondatra_internal_delta(t, 'count(*)', max_percent));

CREATE OR REPLACE MACRO ondatra_warning_sum_delta(t, col, max_percent) AS TABLE
SELECT 'sum_delta(' || col || ') warning: from ' || before || ' to ' || ondatra_internal_show(after)
    || ' (max ' || max_percent || '%)' AS message
FROM query(ondatra_internal_delta(t, 'sum((' || col || '))', max_percent));

CREATE OR REPLACE MACRO ondatra_warning_mean_delta(t, col, max_percent) AS TABLE
SELECT 'mean_delta(' || col || ') warning: from ' || before || ' to ' || ondatra_internal_show(after)
    || ' (max ' || max_percent || '%)' AS message
FROM query(ondatra_internal_delta(t, 'avg((' || col || '))', max_percent));


-- ---- Values of a column ---------------------------------------------------

CREATE OR REPLACE MACRO ondatra_warning_not_null(t, col) AS TABLE
SELECT 'not_null warning: ' || col || ' has ' || violations || ' NULL values' AS message
FROM query(ondatra_internal_count(t, '(' || col || ') IS NULL'))
WHERE violations > 0;

-- NULL may repeat.
CREATE OR REPLACE MACRO ondatra_warning_unique(t, col) AS TABLE
SELECT 'unique warning: ' || col || ' has duplicates (value ' || repeated || ' appears ' || times || ' times)' AS message
FROM query(ondatra_internal_duplicate(t, col));

CREATE OR REPLACE MACRO ondatra_warning_compare(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('compare(' || col || ') warning', op,
    col || ' ' || op || ' ' || val || ' warning: ' || violations || ' violations') AS message
FROM query(ondatra_internal_count(t, 'NOT (' || ondatra_internal_compare(col, op, val) || ')'))
WHERE violations > 0 OR NOT ondatra_internal_is_operator(op);

CREATE OR REPLACE MACRO ondatra_warning_null_percent(t, col, max_percent) AS TABLE
SELECT 'null_percent warning: ' || col || ' has ' || ondatra_internal_percent(percent)
    || '% NULLs (threshold: ' || max_percent || '%)' AS message
FROM query(ondatra_internal_null_percent(t, col, max_percent))
WHERE above;


-- ---- Aggregates of a column -----------------------------------------------

-- The largest value is above 90 % of the variable alert_amount_threshold.
-- Without that variable there is no limit.
CREATE OR REPLACE MACRO ondatra_warning_approaching_limit(t, col) AS TABLE
SELECT 'approaching limit: ' || col || ' max is ' || actual
    || ' (threshold: ' || getvariable('alert_amount_threshold')
    || ', 90% = ' || printf('%.15g', getvariable('alert_amount_threshold')::DOUBLE * 90 / 100) || ')' AS message
FROM query(ondatra_internal_aggregate(t, 'max((' || col || '))',
    'actual::DOUBLE <= getvariable(''alert_amount_threshold'')::DOUBLE * 90 / 100'))
WHERE NOT passes;

-- Warns where there is no value at all.
CREATE OR REPLACE MACRO ondatra_warning_min(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('min(' || col || ') warning', op,
    'min(' || col || ') ' || op || ' ' || val || ' warning: actual min is ' || ondatra_internal_show(actual)) AS message
FROM query(ondatra_internal_aggregate(t, 'min((' || col || '))', ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;

-- Silent where there is no value at all.
CREATE OR REPLACE MACRO ondatra_warning_mean(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('mean(' || col || ') warning', op,
    'mean(' || col || ') ' || op || ' ' || val || ' warning: actual mean is ' || actual) AS message
FROM query(ondatra_internal_aggregate(t, 'avg((' || col || '))', ondatra_internal_compare('actual', op, val)))
WHERE NOT passes;

-- In bits: 0 for a constant or empty column, 1 for two values in equal shares.
CREATE OR REPLACE MACRO ondatra_warning_low_entropy(t, col, min_entropy) AS TABLE
SELECT 'low_entropy warning: ' || col || ' has entropy ' || printf('%.2f', actual)
    || ' (threshold: ' || min_entropy || ')' AS message
FROM query(ondatra_internal_aggregate(t, 'coalesce(entropy((' || col || ')), 0)',
    'actual >= ' || ondatra_internal_literal(min_entropy)))
WHERE passes IS NOT TRUE;

-- The number of distinct values, give or take a few percent.
CREATE OR REPLACE MACRO ondatra_warning_cardinality(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('cardinality(' || col || ') warning', op,
    'cardinality warning: ' || col || ' has ' || actual || ' distinct values') AS message
FROM query(ondatra_internal_aggregate(t, 'approx_count_distinct((' || col || '))',
    ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;
