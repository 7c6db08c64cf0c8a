-- Constraints check the rows of a run before they are written. A finding means
-- that nothing is written.
--
--   -- @constraint: not_null(customer_id)
--   -- @constraint: compare(amount, >=, 0)
--   -- @constraint: in_list(status, 'open, paid, void')
--   -- @constraint: check(dates, 'shipped_at >= ordered_at')
--
-- @constraint: name(args) calls ondatra_constraint_name(t, args). t is the table
-- as text. A column is SQL text: an expression works, and so does "My Col".
-- Quote what holds a comma, a bracket or an apostrophe: 'O''Brien'. An operator
-- is one of >= <= > < = !=. NULL passes unless a comment says otherwise.
--
-- Your own: a table macro of that name, here or in another file in this folder.
-- It takes t first and returns one text column: one row for each finding, no
-- row for a pass. Build the query as text, since the table does not exist yet:
--
--   CREATE OR REPLACE MACRO ondatra_constraint_positive(t, col) AS TABLE
--   SELECT col || ' has ' || violations || ' values below zero' AS message
--   FROM query('SELECT count(*) AS violations FROM ' || t || ' WHERE (' || col || ') < 0')
--   WHERE violations > 0;
--
-- ondatra_internal_* macros are in helpers.sql.


-- ---- Keys -----------------------------------------------------------------

-- Every value is there, and only once.
CREATE OR REPLACE MACRO ondatra_constraint_primary_key(t, col) AS TABLE
SELECT 'PRIMARY KEY failed: ' || col || ' has ' || nulls || ' NULLs and ' || duplicates || ' duplicates' AS message
FROM query(
    'SELECT coalesce(sum(times) FILTER (WHERE listed IS NULL), 0) AS nulls,'
    || ' coalesce(sum(times - 1), 0) AS duplicates'
    || ' FROM (SELECT listed, count(*) AS times'
    || ' FROM (SELECT (' || col || ') AS listed FROM ' || t || ') GROUP BY ALL)')
WHERE nulls > 0 OR duplicates > 0;

CREATE OR REPLACE MACRO ondatra_constraint_not_null(t, col) AS TABLE
SELECT 'NOT NULL failed: ' || col || ' has ' || violations || ' NULL values' AS message
FROM query(ondatra_internal_count(t, '(' || col || ') IS NULL'))
WHERE violations > 0;

-- NULL may repeat.
CREATE OR REPLACE MACRO ondatra_constraint_unique(t, col) AS TABLE
SELECT 'UNIQUE failed: ' || col || ' has duplicates (value ' || repeated || ' appears ' || times || ' times)' AS message
FROM query(ondatra_internal_duplicate(t, col));

-- composite_unique('a, b'): NULL may not repeat here, it equals NULL.
CREATE OR REPLACE MACRO ondatra_constraint_composite_unique(t, cols) AS TABLE
SELECT 'COMPOSITE UNIQUE failed: (' || cols || ') has duplicates' AS message
FROM query(
    'SELECT count(*) AS violations'
    || ' FROM (SELECT 1 FROM ' || t || ' GROUP BY ' || cols || ' HAVING count(*) > 1)')
WHERE violations > 0;

-- references(customer_id, raw.customers, id): each value is found there.
CREATE OR REPLACE MACRO ondatra_constraint_references(t, col, other_table, pk) AS TABLE
SELECT 'REFERENCES failed: ' || col || ' has orphan values not in ' || other_table || '.' || pk AS message
FROM query(
    'SELECT count(*) AS violations FROM (SELECT (' || col || ') AS listed FROM ' || t || ') AS here'
    || ' ANTI JOIN (SELECT (' || pk || ') AS listed FROM ' || other_table || ') AS there'
    || ' ON here.listed = there.listed'
    || ' WHERE here.listed IS NOT NULL')
WHERE violations > 0;


-- ---- Values ---------------------------------------------------------------

-- Fails on NULL, on an empty text and on one of spaces only.
CREATE OR REPLACE MACRO ondatra_constraint_not_empty(t, col) AS TABLE
SELECT 'NOT EMPTY failed: ' || col || ' has ' || violations || ' empty/NULL values' AS message
FROM query(ondatra_internal_count(t, '(' || col || ') IS NULL OR trim((' || col || ')::VARCHAR) = '''''))
WHERE violations > 0;

-- Compares with a number, or with a text or date in quotes. For a comparison of
-- two columns use check.
CREATE OR REPLACE MACRO ondatra_constraint_compare(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('compare(' || col || ') failed', op,
    col || ' ' || op || ' ' || val || ' failed: ' || violations || ' violations') AS message
FROM query(ondatra_internal_count(t, 'NOT (' || ondatra_internal_compare(col, op, val) || ')'))
WHERE violations > 0 OR NOT ondatra_internal_is_operator(op);

CREATE OR REPLACE MACRO ondatra_constraint_between(t, col, lo, hi) AS TABLE
SELECT 'BETWEEN failed: ' || col || ' has ' || violations || ' values outside [' || lo || ', ' || hi || ']' AS message
FROM query(ondatra_internal_count(t,
    '(' || col || ') NOT BETWEEN ' || ondatra_internal_literal(lo) || ' AND ' || ondatra_internal_literal(hi)))
WHERE violations > 0;

-- in_list(size, 'S, M, L'): text forms, trimmed, case-sensitive.
CREATE OR REPLACE MACRO ondatra_constraint_in_list(t, col, list) AS TABLE
SELECT 'IN failed: ' || col || ' has ' || violations || ' values not in (' || list || ')' AS message
FROM query(ondatra_internal_count(t,
    '(' || col || ')::VARCHAR NOT IN (SELECT trim(unnest(string_split(' || ondatra_internal_text(list) || ', '',''))))'))
WHERE violations > 0;

CREATE OR REPLACE MACRO ondatra_constraint_not_in(t, col, list) AS TABLE
SELECT 'NOT IN failed: ' || col || ' has ' || violations || ' forbidden values' AS message
FROM query(ondatra_internal_count(t,
    '(' || col || ')::VARCHAR IN (SELECT trim(unnest(string_split(' || ondatra_internal_text(list) || ', '',''))))'))
WHERE violations > 0;

-- check(label, 'a + b = c'): any condition. The label is only for the message.
CREATE OR REPLACE MACRO ondatra_constraint_check(t, label, expr) AS TABLE
SELECT 'CHECK failed: ' || label || ' has rows violating (' || expr || ')' AS message
FROM query(ondatra_internal_count(t, 'NOT (' || expr || ')'))
WHERE violations > 0;

-- required_if(shipped_at, 'status = ''shipped''')
CREATE OR REPLACE MACRO ondatra_constraint_required_if(t, col, cond) AS TABLE
SELECT 'REQUIRED_IF failed: ' || col || ' is NULL where ' || cond AS message
FROM query(ondatra_internal_count(t, '(' || cond || ') AND (' || col || ') IS NULL'))
WHERE violations > 0;


-- ---- Text -----------------------------------------------------------------

CREATE OR REPLACE MACRO ondatra_constraint_like(t, col, pat) AS TABLE
SELECT 'LIKE failed: ' || col || ' has ' || violations || ' values not matching pattern' AS message
FROM query(ondatra_internal_count(t, '(' || col || ') NOT LIKE ' || ondatra_internal_text(pat)))
WHERE violations > 0;

CREATE OR REPLACE MACRO ondatra_constraint_not_like(t, col, pat) AS TABLE
SELECT 'NOT LIKE failed: ' || col || ' has values matching forbidden pattern' AS message
FROM query(ondatra_internal_count(t, '(' || col || ') LIKE ' || ondatra_internal_text(pat)))
WHERE violations > 0;

-- The regular expression has to match the whole text.
CREATE OR REPLACE MACRO ondatra_constraint_matches(t, col, regex) AS TABLE
SELECT 'MATCHES failed: ' || col || ' has ' || violations || ' values not matching regex' AS message
FROM query(ondatra_internal_count(t,
    'NOT regexp_full_match((' || col || ')::VARCHAR, ' || ondatra_internal_text(regex) || ')'))
WHERE violations > 0;

CREATE OR REPLACE MACRO ondatra_constraint_email(t, col) AS TABLE
SELECT 'EMAIL failed: ' || col || ' has ' || violations || ' invalid email addresses' AS message
FROM query(ondatra_internal_count(t,
    'NOT regexp_full_match((' || col || ')::VARCHAR, ''[A-Za-z0-9._%+-]+@([A-Za-z0-9-]+\.)+[A-Za-z]{2,}'')'))
WHERE violations > 0;

-- With or without dashes.
CREATE OR REPLACE MACRO ondatra_constraint_uuid(t, col) AS TABLE
SELECT 'UUID failed: ' || col || ' has ' || violations || ' invalid UUIDs' AS message
FROM query(ondatra_internal_count(t, '(' || col || ') IS NOT NULL AND TRY_CAST((' || col || ') AS UUID) IS NULL'))
WHERE violations > 0;

-- In characters.
CREATE OR REPLACE MACRO ondatra_constraint_length_between(t, col, lo, hi) AS TABLE
SELECT 'LENGTH BETWEEN failed: ' || col || ' has ' || violations
    || ' values with length outside [' || lo || ', ' || hi || ']' AS message
FROM query(ondatra_internal_count(t,
    'length((' || col || ')::VARCHAR) NOT BETWEEN '
    || ondatra_internal_literal(lo) || ' AND ' || ondatra_internal_literal(hi)))
WHERE violations > 0;

CREATE OR REPLACE MACRO ondatra_constraint_length_eq(t, col, len) AS TABLE
SELECT 'LENGTH = ' || len || ' failed: ' || col || ' has ' || violations || ' violations' AS message
FROM query(ondatra_internal_count(t, 'length((' || col || ')::VARCHAR) <> ' || ondatra_internal_literal(len)))
WHERE violations > 0;


-- ---- Types ----------------------------------------------------------------

-- valid_type(code, INTEGER), valid_type(price, 'DECIMAL(10,2)')
CREATE OR REPLACE MACRO ondatra_constraint_valid_type(t, col, type_name) AS TABLE
SELECT 'valid_type failed: ' || col || ' has ' || violations || ' values that cannot cast to ' || type_name AS message
FROM query(ondatra_internal_count(t,
    '(' || col || ') IS NOT NULL AND TRY_CAST((' || col || ') AS ' || type_name || ') IS NULL'))
WHERE violations > 0;

CREATE OR REPLACE MACRO ondatra_constraint_no_nan(t, col) AS TABLE
SELECT 'no_nan failed: ' || col || ' has ' || violations || ' NaN values' AS message
FROM query(ondatra_internal_count(t, 'isnan((' || col || '))'))
WHERE violations > 0;

-- Neither NaN nor infinite. Dates and timestamps can be infinite, too.
CREATE OR REPLACE MACRO ondatra_constraint_finite(t, col) AS TABLE
SELECT 'finite failed: ' || col || ' has non-finite values' AS message
FROM query(ondatra_internal_count(t, 'NOT isfinite((' || col || '))'))
WHERE violations > 0;


-- ---- The column as a whole ------------------------------------------------

-- Fails on an empty table.
CREATE OR REPLACE MACRO ondatra_constraint_at_least_one(t, col) AS TABLE
SELECT 'AT_LEAST_ONE failed: ' || col || ' has no non-NULL values' AS message
FROM query('SELECT count((' || col || ')) AS present FROM ' || t)
WHERE present = 0;

-- Fails on an empty table.
CREATE OR REPLACE MACRO ondatra_constraint_not_constant(t, col) AS TABLE
SELECT 'NOT_CONSTANT failed: ' || col || ' has only ' || present || ' distinct value(s)' AS message
FROM query('SELECT count(DISTINCT (' || col || ')) AS present FROM ' || t)
WHERE present < 2;

-- null_percent(phone, 2.5): a share of exactly 2.5 % passes.
CREATE OR REPLACE MACRO ondatra_constraint_null_percent(t, col, max_percent) AS TABLE
SELECT 'NULL_PERCENT failed: ' || col || ' has ' || ondatra_internal_percent(percent)
    || '% NULLs (max ' || max_percent || '%)' AS message
FROM query(ondatra_internal_null_percent(t, col, max_percent))
WHERE above;

-- An empty table has 0 distinct values.
CREATE OR REPLACE MACRO ondatra_constraint_distinct_count(t, col, op, val) AS TABLE
SELECT ondatra_internal_finding('DISTINCT_COUNT(' || col || ') failed', op,
    'DISTINCT_COUNT failed: ' || col || ' has ' || actual || ' distinct values') AS message
FROM query(ondatra_internal_aggregate(t,
    'count(DISTINCT (' || col || '))', ondatra_internal_compare('actual', op, val)))
WHERE passes IS NOT TRUE;

-- The share of rows that repeat a value. NULLs count as such rows.
CREATE OR REPLACE MACRO ondatra_constraint_duplicate_percent(t, col, max_percent) AS TABLE
SELECT 'DUPLICATE_PERCENT failed: ' || col || ' has ' || ondatra_internal_percent(actual) || '% duplicates' AS message
FROM query(ondatra_internal_aggregate(t,
    '100 * (count(*) - count(DISTINCT (' || col || ')))::DOUBLE / nullif(count(*), 0)',
    'actual <= ' || ondatra_internal_literal(max_percent)))
WHERE NOT passes;


-- ---- The order of the rows ------------------------------------------------

-- Sorted, neighbors differ by 1 at most. Repeats are fine. The value named is
-- the one after the first gap.
CREATE OR REPLACE MACRO ondatra_constraint_sequential(t, col) AS TABLE
SELECT 'SEQUENTIAL failed: ' || col || ' has gap of ' || gap || ' at value ' || gap_end AS message
FROM query(ondatra_internal_gap(t, col, 1));

-- The same with any step: sequential_step(id, 10), sequential_step(ts, 1h).
CREATE OR REPLACE MACRO ondatra_constraint_sequential_step(t, col, step) AS TABLE
SELECT 'SEQUENTIAL(' || step || ') failed: ' || col || ' has gap at ' || gap_end AS message
FROM query(ondatra_internal_gap(t, col, step));

-- No two ranges [start, end) share a point or a start. Ranges that only touch
-- are fine, and a NULL on either side takes the row out of the comparison.
CREATE OR REPLACE MACRO ondatra_constraint_no_overlap(t, range_start, range_end) AS TABLE
SELECT 'NO_OVERLAP failed: (' || range_start || ', ' || range_end || ') has overlapping intervals' AS message
FROM query(
    'SELECT count(*) AS violations FROM ('
    -- The latest end of all earlier ranges, not only of the neighbor: in (1,9),
    -- (2,3), (4,5) the third range overlaps the first.
    || 'SELECT starts, lag(starts) OVER sorted AS previous_start,'
    || ' max(ends) OVER (sorted ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS latest_end'
    || ' FROM (SELECT (' || range_start || ') AS starts, (' || range_end || ') AS ends FROM ' || t || ')'
    || ' WHERE starts IS NOT NULL AND ends IS NOT NULL WINDOW sorted AS (ORDER BY starts, ends))'
    || ' WHERE starts < latest_end OR starts = previous_start')
WHERE violations > 0;
