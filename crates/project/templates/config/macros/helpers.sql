-- Helper macros, for use in models and in your own macros.
--
--   SELECT safe_divide(revenue, orders) AS revenue_per_order FROM mart.daily
--
-- Add your own with CREATE OR REPLACE MACRO in this file, or in any other file
-- in config/macros/. Files may use each other's macros, in any order. Macros
-- live in DuckDB's memory database: they are never stored in the lake.

-- a / b as a fraction: 7, 2 gives 3.5. NULL where b is 0 or either is NULL.
CREATE OR REPLACE MACRO safe_divide(a, b) AS
    a::DOUBLE / nullif(b::DOUBLE, 0);

-- An amount in cents as an amount in dollars: 1999 gives 19.99.
CREATE OR REPLACE MACRO cents_to_dollars(c) AS
    c::DOUBLE / 100;


-- ---------------------------------------------------------------------------
-- Building blocks of constraints.sql, audits.sql and warnings.sql.
--
-- Those macros take the table and its columns as SQL text and run a query built
-- from that text, because a macro can name a table directly only if the table
-- is there when the macro is created. The macros below build the text. The
-- shipped macros need them, so keep them when you edit this file.
-- ---------------------------------------------------------------------------

-- A value for a message, with NULL spelled out.
CREATE OR REPLACE MACRO ondatra_internal_show(val) AS
    coalesce(val::VARCHAR, 'NULL');

-- A percentage for a message: 50, 33.33, 0.00012.
CREATE OR REPLACE MACRO ondatra_internal_percent(val) AS
    printf('%.4g', val::DOUBLE);

-- Any value as a quoted string, safe to put into SQL text.
CREATE OR REPLACE MACRO ondatra_internal_text(val) AS
    '''' || replace(val::VARCHAR, '''', '''''') || '''';

-- A value as SQL text: a number as it is, all else as a quoted string, which
-- DuckDB reads as the type of whatever it is compared with (a date, say).
CREATE OR REPLACE MACRO ondatra_internal_literal(val) AS
    CASE
        WHEN regexp_matches(typeof(val), '^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL|FLOAT|DOUBLE)')
            THEN val::VARCHAR
        ELSE ondatra_internal_text(val)
    END;

-- Whether op is one of the six operators. Nothing else ever enters SQL text.
CREATE OR REPLACE MACRO ondatra_internal_is_operator(op) AS
    coalesce(op::VARCHAR IN ('>=', '<=', '>', '<', '=', '!='), false);

-- The SQL text of a comparison. An unknown operator compares as false, so that
-- the check fails, and ondatra_internal_finding says why.
CREATE OR REPLACE MACRO ondatra_internal_compare(expression, op, val) AS
    CASE
        WHEN ondatra_internal_is_operator(op)
            THEN '(' || expression || ') ' || op || ' ' || ondatra_internal_literal(val)
        ELSE 'false'
    END;

-- The message of a check with an operator, or one that names the operators.
CREATE OR REPLACE MACRO ondatra_internal_finding(check_name, op, message) AS
    CASE
        WHEN ondatra_internal_is_operator(op) THEN message
        ELSE check_name || ': unknown operator ' || ondatra_internal_show(op)
            || ', use one of >=, <=, >, <, =, !='
    END;

-- The name inside double quotes: "My Col" is the column My Col.
CREATE OR REPLACE MACRO ondatra_internal_unquote(name) AS
    CASE
        WHEN regexp_full_match(trim(name), '(?s)".*"') THEN replace(trim(name)[2:-2], '""', '"')
        ELSE trim(name)
    END;

-- Query text, one row: the number of rows for which a condition holds.
CREATE OR REPLACE MACRO ondatra_internal_count(t, condition) AS
    'SELECT count(*) AS violations FROM ' || t || ' WHERE ' || condition;

-- Query text, one row: an aggregate, and whether it passes a test on "actual".
CREATE OR REPLACE MACRO ondatra_internal_aggregate(t, aggregate, test) AS
    'SELECT actual, ' || test || ' AS passes'
    || ' FROM (SELECT ' || aggregate || ' AS actual FROM ' || t || ')';

-- Query text, at most one row: the value that repeats most. NULL is no value.
CREATE OR REPLACE MACRO ondatra_internal_duplicate(t, col) AS
    'SELECT repeated::VARCHAR AS repeated, count(*) AS times'
    || ' FROM (SELECT (' || col || ') AS repeated FROM ' || t || ') AS listed'
    || ' WHERE listed.repeated IS NOT NULL'
    || ' GROUP BY listed.repeated HAVING count(*) > 1'
    || ' ORDER BY count(*) DESC, listed.repeated LIMIT 1';

-- Query text, one row: the percentage of NULLs, and whether it is above a limit.
-- An empty table has none.
CREATE OR REPLACE MACRO ondatra_internal_null_percent(t, col, max_percent) AS
    'SELECT nulls AS percent, nulls > ' || ondatra_internal_literal(max_percent) || ' AS above'
    || ' FROM (SELECT 100 * count(*) FILTER (WHERE (' || col || ') IS NULL)::DOUBLE'
    || ' / nullif(count(*), 0) AS nulls FROM ' || t || ')';

-- Query text, one row: the newest value, and whether it is older than an age.
CREATE OR REPLACE MACRO ondatra_internal_freshness(t, col, age) AS
    'SELECT newest, newest::TIMESTAMPTZ < now() - CAST(' || ondatra_internal_text(age) || ' AS INTERVAL) AS stale'
    || ' FROM (SELECT max((' || col || ')) AS newest FROM ' || t || ')';

-- Query text, at most one row: the first gap wider than step between sorted
-- neighbors, as the value after it and the difference. A difference too large
-- for the column's type counts as a gap.
CREATE OR REPLACE MACRO ondatra_internal_gap(t, col, step) AS
    'SELECT listed::VARCHAR AS gap_end, coalesce(difference::VARCHAR, ''unknown size'') AS gap'
    || ' FROM (SELECT listed, previous, TRY(listed - previous) AS difference'
    || ' FROM (SELECT listed, lag(listed) OVER (ORDER BY listed) AS previous'
    || ' FROM (SELECT (' || col || ') AS listed FROM ' || t || ') WHERE listed IS NOT NULL))'
    || ' WHERE previous IS NOT NULL AND coalesce(difference > ' || ondatra_internal_literal(step) || ', true)'
    || ' ORDER BY listed LIMIT 1';

-- Query text, one row: an interpolated quantile (median: p = 0.5), and whether
-- it passes. DuckDB interpolates decimals in their own scale, where the median
-- of 1 and 2 would be 1, so decimals take the way over DOUBLE. Dates and
-- timestamps stay what they are.
CREATE OR REPLACE MACRO ondatra_internal_quantile(t, col, p, op, val) AS
    'SELECT CASE WHEN is_decimal THEN as_double::VARCHAR ELSE as_is::VARCHAR END AS actual,'
    || ' CASE WHEN is_decimal THEN '
    || CASE
           WHEN ondatra_internal_is_operator(op)
               THEN 'as_double ' || op || ' TRY_CAST(' || ondatra_internal_literal(val) || ' AS DOUBLE)'
           ELSE 'false'
       END
    || ' ELSE ' || ondatra_internal_compare('as_is', op, val) || ' END AS passes'
    || ' FROM (SELECT typeof(any_value((' || col || '))) LIKE ''DECIMAL%'' AS is_decimal,'
    || ' quantile_cont(TRY_CAST((' || col || ') AS DOUBLE), ' || p || ') AS as_double,'
    || ' quantile_cont((' || col || '), ' || p || ') AS as_is FROM ' || t || ')'
    -- DuckDB itself refuses only what is above 1 or below -1.
    || CASE WHEN p::DOUBLE < 0 THEN error('percentile: p must be between 0 and 1') ELSE '' END;

-- Query text, at most one row: an aggregate before this run and now, if it moved
-- by more than max_percent. Before is the table at the model's previous commit
-- (see variables/local.sql). Without one, or with nothing but NULL there, there
-- is nothing to compare with. A column added since counts as NULL: that is what
-- UNION ALL BY NAME with the present columns is for.
CREATE OR REPLACE MACRO ondatra_internal_delta(t, aggregate, max_percent) AS
    CASE
        WHEN coalesce(getvariable('prev_model_snapshot')::BIGINT, 0) <= 0
            THEN 'SELECT NULL AS before, NULL AS after WHERE false'
        ELSE 'SELECT before, after FROM (SELECT'
            || ' (SELECT ' || aggregate || ' FROM ('
            || 'FROM ' || t || ' AT (VERSION => ' || getvariable('prev_model_snapshot')::BIGINT || ')'
            || ' UNION ALL BY NAME (FROM ' || t || ' WHERE false))) AS before,'
            || ' (SELECT ' || aggregate || ' FROM ' || t || ') AS after)'
            || ' WHERE before IS NOT NULL AND CASE'
            || ' WHEN after IS NULL THEN true'
            || ' WHEN before = 0 THEN after <> 0'
            || ' ELSE abs(after - before)::DOUBLE * 100 / abs(before)::DOUBLE > '
            || ondatra_internal_literal(max_percent) || ' END'
    END;

-- Query text, one row: a column's type as "actual", NULL without such a column,
-- and whether it passes a test.
CREATE OR REPLACE MACRO ondatra_internal_column(t, col, test) AS
    'SELECT actual, ' || test || ' AS passes FROM (SELECT max(column_type) AS actual'
    || ' FROM (DESCRIBE SELECT * FROM ' || t || ')'
    || ' WHERE lower(column_name) = lower(' || ondatra_internal_text(ondatra_internal_unquote(col)) || '))';

-- Query text: a CSV file, with types detected from all of its rows.
CREATE OR REPLACE MACRO ondatra_internal_csv(path) AS
    'FROM read_csv(' || ondatra_internal_text(path) || ', sample_size = -1, allow_quoted_nulls = false)';
