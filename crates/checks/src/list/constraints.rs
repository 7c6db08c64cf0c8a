//! The 30 constraints (chapter 01 §4.3).

use super::{COL, COMPARED, HI, LO, MAX, N, NULL_SHARE, NULLS, OP, REPEATED, VAL, param};
use crate::Stage::Constraint;
use crate::check::{Check, Null, ParamKind, Query};

pub(super) const CONSTRAINTS: &[Check] = &[
    Check {
        stage: Constraint,
        name: "primary_key",
        params: &[COL],
        fails: "a value is NULL or repeats; NULLs count as repeats, too",
        message: "PRIMARY KEY failed: {col} has {nulls} NULLs and {duplicates} duplicates",
        query: Query::Select {
            sql: "SELECT coalesce(sum(times) FILTER (WHERE listed IS NULL), 0) AS nulls, \
                  coalesce(sum(times - 1), 0) AS duplicates FROM (SELECT listed, count(*) AS times \
                  FROM (SELECT __ondatra_checked AS listed FROM (SELECT *, {col} AS __ondatra_checked FROM {t})) \
                  GROUP BY ALL)",
            finds: "nulls > 0 OR duplicates > 0",
            rows: Some("{t} QUALIFY {col} IS NULL OR count(*) OVER (PARTITION BY {col}) > 1"),
        },
        example: "primary_key(order_id)",
    },
    Check {
        stage: Constraint,
        name: "not_null",
        params: &[COL],
        fails: "a value is NULL",
        message: "NOT NULL failed: {col} has {violations} NULL values",
        query: NULLS,
        example: "not_null(customer_id)",
    },
    Check {
        stage: Constraint,
        name: "unique",
        params: &[COL],
        fails: "a value repeats; NULL may",
        message: "UNIQUE failed: {col} has duplicates (value {repeated} appears {times} times)",
        query: REPEATED,
        example: "unique(lower(email))",
    },
    Check {
        stage: Constraint,
        name: "composite_unique",
        params: &[param("cols", ParamKind::Expressions)],
        fails: "a combination repeats; NULL equals NULL",
        message: "COMPOSITE UNIQUE failed: ({cols}) has duplicates",
        query: Query::Rows("{t} QUALIFY count(*) OVER (PARTITION BY row({cols})) > 1"),
        example: "composite_unique('order_id, line')",
    },
    Check {
        stage: Constraint,
        name: "not_empty",
        params: &[COL],
        fails: "a value is NULL, empty or only spaces",
        message: "NOT EMPTY failed: {col} has {violations} empty/NULL values",
        query: Query::Rows("{t} WHERE {col} IS NULL OR trim({col}::VARCHAR) = ''"),
        example: "not_empty(name)",
    },
    Check {
        stage: Constraint,
        name: "compare",
        params: &[COL, OP, VAL],
        fails: "the comparison is false",
        message: "{col} {op} {val} failed: {violations} violations",
        query: COMPARED,
        example: "compare(amount, >=, 0)",
    },
    Check {
        stage: Constraint,
        name: "between",
        params: &[COL, LO, HI],
        fails: "a value is outside of the closed range",
        message: "BETWEEN failed: {col} has {violations} values outside [{lo}, {hi}]",
        query: Query::Rows("{t} WHERE {col} NOT BETWEEN {lo} AND {hi}"),
        example: "between(share, 0, 1)",
    },
    Check {
        stage: Constraint,
        name: "in_list",
        params: &[COL, param("list", ParamKind::Text)],
        fails: "the text form of a value is not in the list; its items are trimmed, case counts",
        message: "IN failed: {col} has {violations} values not in ({list})",
        query: Query::Rows("{t} WHERE {col}::VARCHAR NOT IN (SELECT trim(unnest(string_split({list}, ','))))"),
        example: "in_list(status, 'open, paid, void')",
    },
    Check {
        stage: Constraint,
        name: "not_in",
        params: &[COL, param("list", ParamKind::Text)],
        fails: "the text form of a value is in the list",
        message: "NOT IN failed: {col} has {violations} forbidden values",
        query: Query::Rows("{t} WHERE {col}::VARCHAR IN (SELECT trim(unnest(string_split({list}, ','))))"),
        example: "not_in(status, 'test, dummy')",
    },
    Check {
        stage: Constraint,
        name: "like",
        params: &[COL, param("pat", ParamKind::Text)],
        fails: "a text does not match the LIKE pattern",
        message: "LIKE failed: {col} has {violations} values not matching pattern",
        query: Query::Rows("{t} WHERE {col} NOT LIKE {pat}"),
        example: "like(sku, 'SKU-%')",
    },
    Check {
        stage: Constraint,
        name: "not_like",
        params: &[COL, param("pat", ParamKind::Text)],
        fails: "a text matches the LIKE pattern",
        message: "NOT LIKE failed: {col} has values matching forbidden pattern",
        query: Query::Rows("{t} WHERE {col} LIKE {pat}"),
        example: "not_like(name, '%test%')",
    },
    Check {
        stage: Constraint,
        name: "matches",
        params: &[COL, param("regex", ParamKind::Text)],
        fails: "the regular expression does not match the whole text",
        message: "MATCHES failed: {col} has {violations} values not matching regex",
        query: Query::Rows("{t} WHERE NOT regexp_full_match({col}::VARCHAR, {regex})"),
        example: "matches(code, '[A-Z]{2,3}-[0-9]+')",
    },
    Check {
        stage: Constraint,
        name: "email",
        params: &[COL],
        fails: "a value is not `local@domain.tld` in ASCII; the local part may hold `._%+-`, the last part of the \
                domain has two letters or more",
        message: "EMAIL failed: {col} has {violations} invalid email addresses",
        query: Query::Rows(
            "{t} WHERE NOT regexp_full_match({col}::VARCHAR, \
             '[A-Za-z0-9._%+-]+@([A-Za-z0-9-]+\\.)+[A-Za-z][A-Za-z]+')",
        ),
        example: "email(contact)",
    },
    Check {
        stage: Constraint,
        name: "uuid",
        params: &[COL],
        fails: "a value is no UUID; without dashes is fine",
        message: "UUID failed: {col} has {violations} invalid UUIDs",
        query: Query::Rows("{t} WHERE {col} IS NOT NULL AND TRY_CAST({col} AS UUID) IS NULL"),
        example: "uuid(event_id)",
    },
    Check {
        stage: Constraint,
        name: "length_between",
        params: &[COL, LO, HI],
        fails: "the number of characters is outside of the closed range",
        message: "LENGTH BETWEEN failed: {col} has {violations} values with length outside [{lo}, {hi}]",
        query: Query::Rows("{t} WHERE length({col}::VARCHAR) NOT BETWEEN {lo} AND {hi}"),
        example: "length_between(postcode, 4, 10)",
    },
    Check {
        stage: Constraint,
        name: "length_eq",
        params: &[COL, N],
        fails: "the number of characters differs",
        message: "LENGTH = {n} failed: {col} has {violations} violations",
        query: Query::Rows("{t} WHERE length({col}::VARCHAR) <> {n}"),
        example: "length_eq(country, 2)",
    },
    Check {
        stage: Constraint,
        name: "references",
        params: &[COL, param("other", ParamKind::Table), param("pk", ParamKind::Expression)],
        fails: "a value is not among the non-NULL values `pk` of the other table",
        message: "REFERENCES failed: {col} has orphan values not in {other}.{pk}",
        query: Query::Rows(
            "(SELECT here.* EXCLUDE (__ondatra_checked) \
             FROM (SELECT *, {col} AS __ondatra_checked FROM {t}) AS here \
             ANTI JOIN (SELECT *, {pk} AS __ondatra_checked FROM {other}) AS there \
             ON here.__ondatra_checked = there.__ondatra_checked WHERE here.__ondatra_checked IS NOT NULL)",
        ),
        example: "references(customer_id, raw.customers, id)",
    },
    Check {
        stage: Constraint,
        name: "check",
        params: &[param("label", ParamKind::Label), param("expr", ParamKind::Expression)],
        fails: "the expression is false; the label is only for the message",
        message: "CHECK failed: {label} has rows violating ({expr})",
        query: Query::Rows("{t} WHERE NOT {expr}"),
        example: "check(dates, shipped_at >= ordered_at)",
    },
    Check {
        stage: Constraint,
        name: "required_if",
        params: &[COL, param("cond", ParamKind::Expression)],
        fails: "the condition is true and the value is NULL",
        message: "REQUIRED_IF failed: {col} is NULL where {cond}",
        query: Query::Rows("{t} WHERE {cond} AND {col} IS NULL"),
        example: "required_if(shipped_at, 'status = ''shipped''')",
    },
    Check {
        stage: Constraint,
        name: "at_least_one",
        params: &[COL],
        fails: "there is no non-NULL value; so without rows, too",
        message: "AT_LEAST_ONE failed: {col} has no non-NULL values",
        query: Query::Value { value: "count({col})", passes: "actual > 0", null: Null::Fails },
        example: "at_least_one(id)",
    },
    Check {
        stage: Constraint,
        name: "not_constant",
        params: &[COL],
        fails: "there are fewer than 2 distinct non-NULL values; so without rows, too",
        message: "NOT_CONSTANT failed: {col} has only {actual} distinct value(s)",
        query: Query::Value { value: "count(DISTINCT {col})", passes: "actual > 1", null: Null::Fails },
        example: "not_constant(region)",
    },
    Check {
        stage: Constraint,
        name: "null_percent",
        params: &[COL, MAX],
        fails: "the share of NULLs, in percent, is above the maximum",
        message: "NULL_PERCENT failed: {col} has {share:percent}% NULLs (max {max_value}%)",
        query: NULL_SHARE,
        example: "null_percent(phone, 2.5)",
    },
    Check {
        stage: Constraint,
        name: "distinct_count",
        params: &[COL, OP, N],
        fails: "the comparison with the number of distinct non-NULL values is false; without rows it is 0",
        message: "DISTINCT_COUNT failed: {col} has {actual} distinct values",
        query: Query::Value { value: "count(DISTINCT {col})", passes: "actual {op} {n}", null: Null::Fails },
        example: "distinct_count(country, <=, 250)",
    },
    Check {
        stage: Constraint,
        name: "duplicate_percent",
        params: &[COL, MAX],
        fails: "(rows − distinct non-NULL values) / rows, in percent, is above the maximum",
        message: "DUPLICATE_PERCENT failed: {col} has {share:percent}% duplicates",
        query: Query::Select {
            sql: "SELECT share, share > {max_value} AS above FROM (SELECT \
                  100 * (count(*) - count(DISTINCT {col}))::DOUBLE / nullif(count(*), 0) AS share FROM {t})",
            finds: "above",
            rows: Some("{t} QUALIFY {col} IS NULL OR count(*) OVER (PARTITION BY {col}) > 1"),
        },
        example: "duplicate_percent(email, 1)",
    },
    Check {
        stage: Constraint,
        name: "sequential",
        params: &[COL],
        fails: "sorted neighbors differ by more than 1; repeats are fine, and so is any start",
        message: "SEQUENTIAL failed: {col} has gap of {gap} at value {gap_end}",
        query: Query::Select {
            // The value behind the first gap. A difference that is too large for the column's type is one.
            sql: "SELECT listed::VARCHAR AS gap_end, coalesce(difference::VARCHAR, 'unknown size') AS gap \
                  FROM (SELECT listed, previous, TRY(listed - previous) AS difference \
                  FROM (SELECT listed, lag(listed) OVER (ORDER BY listed) AS previous \
                  FROM (SELECT __ondatra_checked AS listed FROM (SELECT *, {col} AS __ondatra_checked FROM {t})) \
                  WHERE listed IS NOT NULL)) \
                  WHERE previous IS NOT NULL AND coalesce(difference > 1, true) ORDER BY listed LIMIT 1",
            finds: "true",
            rows: None,
        },
        example: "sequential(line)",
    },
    Check {
        stage: Constraint,
        name: "sequential_step",
        params: &[COL, N],
        fails: "sorted neighbors differ by more than n",
        message: "SEQUENTIAL({n}) failed: {col} has gap at {gap_end}",
        query: Query::Select {
            sql: "SELECT listed::VARCHAR AS gap_end \
                  FROM (SELECT listed, lag(listed) OVER (ORDER BY listed) AS previous \
                  FROM (SELECT __ondatra_checked AS listed FROM (SELECT *, {col} AS __ondatra_checked FROM {t})) \
                  WHERE listed IS NOT NULL) \
                  WHERE previous IS NOT NULL AND coalesce(TRY({n:step}), true) ORDER BY listed LIMIT 1",
            finds: "true",
            rows: None,
        },
        example: "sequential_step(measured_at, 1h)",
    },
    Check {
        stage: Constraint,
        name: "no_overlap",
        params: &[param("range_start", ParamKind::Expression), param("range_end", ParamKind::Expression)],
        fails: "the half-open ranges of two rows meet or start together; NULL never overlaps",
        message: "NO_OVERLAP failed: ({range_start}, {range_end}) has overlapping intervals",
        // The latest end of all earlier ranges, not only of the neighbor: in (1,9), (2,3), (4,5) the third overlaps the
        // first.
        query: Query::Rows(
            "{t} WHERE {range_start} IS NOT NULL AND {range_end} IS NOT NULL \
             QUALIFY {range_start} = lag({range_start}) OVER (ORDER BY {range_start}, {range_end}) \
             OR {range_start} < max({range_end}) OVER (ORDER BY {range_start}, {range_end} \
             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)",
        ),
        example: "no_overlap(valid_from, valid_to)",
    },
    Check {
        stage: Constraint,
        name: "valid_type",
        params: &[COL, param("type_name", ParamKind::Type)],
        fails: "a value cannot be cast to the type",
        message: "valid_type failed: {col} has {violations} values that cannot cast to {type_name}",
        query: Query::Rows("{t} WHERE {col} IS NOT NULL AND TRY_CAST({col} AS {type_name}) IS NULL"),
        example: "valid_type(price, 'DECIMAL(10,2)')",
    },
    Check {
        stage: Constraint,
        name: "no_nan",
        params: &[COL],
        fails: "a value is NaN",
        message: "no_nan failed: {col} has {violations} NaN values",
        query: Query::Rows("{t} WHERE isnan({col})"),
        example: "no_nan(score)",
    },
    Check {
        stage: Constraint,
        name: "finite",
        params: &[COL],
        fails: "a value is NaN or infinite; dates and timestamps can be infinite, too",
        message: "finite failed: {col} has non-finite values",
        query: Query::Rows("{t} WHERE NOT isfinite({col})"),
        example: "finite(score)",
    },
];
