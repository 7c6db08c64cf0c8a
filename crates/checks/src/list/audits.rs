//! The 18 audits (chapter 01 §4.4).

use super::{AGE, COL, COUNTED, DISTINCT_ABOUT, FRESH, HI, LO, MAX, N, OP, VAL, aggregate, param};
use crate::Stage::Audit;
use crate::check::{Check, Null, ParamKind, Query};

const OTHER: crate::Param = param("other", ParamKind::Table);
const NAME: crate::Param = param("col", ParamKind::Name);

/// A column's type as `actual`, NULL without such a column.
macro_rules! column_type {
    () => {
        "(SELECT max(column_type) AS actual FROM (DESCRIBE SELECT * FROM {t}) WHERE lower(column_name) = lower({col}))"
    };
}

/// A CSV file, its types detected from all of its rows.
macro_rules! golden_rows {
    () => {
        "read_csv({path}, sample_size = -1, allow_quoted_nulls = false)"
    };
}

pub(super) const AUDITS: &[Check] = &[
    Check {
        stage: Audit,
        name: "row_count",
        params: &[OP, N],
        fails: "the comparison with the number of rows is false",
        message: "row_count {op} {n} failed: actual count is {actual}",
        query: COUNTED,
        example: "row_count(>=, 1)",
    },
    Check {
        stage: Audit,
        name: "freshness",
        params: &[COL, AGE],
        fails: "the newest value is older than the age (`24h`, `7d`, `'30m'`), or there is none",
        message: "freshness({col}) failed: max is {actual} (threshold: {age})",
        query: FRESH,
        example: "freshness(updated_at, 24h)",
    },
    Check {
        stage: Audit,
        name: "mean",
        params: &[COL, OP, VAL],
        fails: "the comparison with the mean is false, or there is none",
        message: "mean({col}) {op} {val} failed: actual mean is {actual}",
        query: aggregate("avg({col})"),
        example: "mean(amount, <, 1000)",
    },
    Check {
        stage: Audit,
        name: "median",
        params: &[COL, OP, VAL],
        fails: "the comparison with the median is false, or there is none",
        message: "median({col}) {op} {val} failed: actual median is {actual}",
        query: Query::Built {
            expression: "memory.main.ondatra_checks_quantile(t, col, 0.5, op, val)",
            finds: "passes IS NOT TRUE",
        },
        example: "median(amount, <, 100)",
    },
    Check {
        stage: Audit,
        name: "min",
        params: &[COL, OP, VAL],
        fails: "the comparison with the smallest value is false, or there is none",
        message: "min({col}) {op} {val} failed: actual min is {actual}",
        query: aggregate("min({col})"),
        example: "min(ordered_at, >=, '2020-01-01')",
    },
    Check {
        stage: Audit,
        name: "max",
        params: &[COL, OP, VAL],
        fails: "the comparison with the largest value is false, or there is none",
        message: "max({col}) {op} {val} failed: actual max is {actual}",
        query: aggregate("max({col})"),
        example: "max(amount, <, 1000000)",
    },
    Check {
        stage: Audit,
        name: "sum",
        params: &[COL, OP, VAL],
        fails: "the comparison with the sum is false, or there is none",
        message: "sum({col}) {op} {val} failed: actual sum is {actual}",
        query: aggregate("sum({col})"),
        example: "sum(amount, >, 0)",
    },
    Check {
        stage: Audit,
        name: "mean_between",
        params: &[COL, LO, HI],
        fails: "the mean is outside of the closed range, or there is none",
        message: "mean({col}) BETWEEN failed: actual mean is {actual} (expected [{lo}, {hi}])",
        query: Query::Value { value: "avg({col})", passes: "actual BETWEEN {lo} AND {hi}", null: Null::Fails },
        example: "mean_between(rating, 1, 5)",
    },
    Check {
        stage: Audit,
        name: "stddev",
        params: &[COL, MAX],
        fails: "the sample standard deviation reaches the maximum, or there is none, as with one row",
        message: "stddev({col}) < {max_value} failed: actual stddev is {actual}",
        query: Query::Value { value: "stddev_samp({col})", passes: "actual < {max_value}", null: Null::Fails },
        example: "stddev(amount, 500)",
    },
    Check {
        stage: Audit,
        name: "zscore",
        params: &[COL, MAX],
        fails: "a value lies that many sample deviations or more off the mean, or there is none; a constant passes",
        message: "zscore({col}) < {max_value} failed: {found}",
        query: Query::Select {
            sql: "SELECT CASE WHEN present = 0 THEN 'actual is NULL' ELSE 'outlier detected' END AS found, \
                  lowest = highest OR greatest(highest - center, center - lowest) / deviation < {max_value} AS passes \
                  FROM (SELECT count(listed) AS present, min(listed) AS lowest, max(listed) AS highest, \
                  avg(listed) AS center, stddev_samp(listed) AS deviation \
                  FROM (SELECT __ondatra_checked::DOUBLE AS listed FROM (SELECT *, {col} AS __ondatra_checked FROM {t})))",
            finds: "passes IS NOT TRUE",
            rows: Some(
                "{t} QUALIFY abs({col}::DOUBLE - avg({col}::DOUBLE) OVER ()) \
                 / nullif(stddev_samp({col}::DOUBLE) OVER (), 0) >= {max_value}",
            ),
        },
        example: "zscore(amount, 6)",
    },
    Check {
        stage: Audit,
        name: "percentile",
        params: &[COL, param("p", ParamKind::Value), OP, VAL],
        fails: "the comparison with the interpolated quantile (p from 0 to 1) is false, or there is none",
        message: "percentile({col}, {p}) {op} {val} failed: actual is {actual}",
        query: Query::Built {
            expression: "memory.main.ondatra_checks_quantile(t, col, p, op, val)",
            finds: "passes IS NOT TRUE",
        },
        example: "percentile(latency, 0.95, <=, 200)",
    },
    Check {
        stage: Audit,
        name: "entropy",
        params: &[COL, OP, VAL],
        fails: "the comparison with the entropy in bits is false; NULL is ignored, without values it is 0",
        message: "entropy({col}) {op} {val} failed: actual entropy is {actual}",
        query: aggregate("coalesce(entropy({col}), 0)"),
        example: "entropy(country, >, 1)",
    },
    Check {
        stage: Audit,
        name: "approx_distinct",
        params: &[COL, OP, N],
        fails: "the comparison with the approximate number of distinct values is false; without values it is 0",
        message: "approx_distinct({col}) {op} {n} failed: approx count is {actual}",
        query: DISTINCT_ABOUT,
        example: "approx_distinct(customer_id, >, 1000)",
    },
    Check {
        stage: Audit,
        name: "reconcile_count",
        params: &[OTHER],
        fails: "the tables have different numbers of rows",
        message: "reconcile_count failed: {t} has {here} rows, {other} has {there} rows",
        query: Query::Select {
            sql: "SELECT (SELECT count(*) FROM {t}) AS here, (SELECT count(*) FROM {other}) AS there",
            finds: "here <> there",
            rows: None,
        },
        example: "reconcile_count(raw.orders)",
    },
    Check {
        stage: Audit,
        name: "reconcile_sum",
        params: &[COL, OTHER, param("other_col", ParamKind::Expression)],
        fails: "the sums differ; NULL equals NULL",
        message: "reconcile_sum failed: {t}.{col} = {here}, {other}.{other_col} = {there}",
        query: Query::Select {
            sql: "SELECT (SELECT sum({col}) FROM {t}) AS here, (SELECT sum({other_col}) FROM {other}) AS there",
            finds: "here IS DISTINCT FROM there",
            rows: None,
        },
        example: "reconcile_sum(amount, raw.payments, paid)",
    },
    Check {
        stage: Audit,
        name: "column_exists",
        params: &[NAME],
        fails: "there is no such column; case does not count",
        message: "column_exists failed: column {col} not found in {t}",
        query: Query::Select {
            sql: concat!("SELECT actual FROM ", column_type!()),
            finds: "actual IS NULL",
            rows: None,
        },
        example: "column_exists(customer_id)",
    },
    Check {
        stage: Audit,
        name: "column_type",
        params: &[NAME, param("type_name", ParamKind::Type)],
        fails: "the column has another type, or is not there; aliases are the same type, and `DECIMAL` alone is any",
        message: "column_type failed: {t}.{col} is {found} (expected {type_name})",
        query: Query::Select {
            sql: concat!(
                "SELECT coalesce(actual, 'NOT FOUND') AS found, \
                 CASE WHEN lower(trim({type_name:text})) IN ('decimal', 'numeric', 'dec') \
                 THEN actual LIKE 'DECIMAL(%' ELSE actual = typeof(CAST(NULL AS {type_name})) END AS passes FROM ",
                column_type!()
            ),
            finds: "passes IS NOT TRUE",
            rows: None,
        },
        example: "column_type(price, 'DECIMAL(10,2)')",
    },
    Check {
        stage: Audit,
        name: "golden",
        params: &[param("path", ParamKind::Text)],
        fails: "the table's set of rows differs from the CSV file's (types detected, columns by position, repeats \
                ignored); N counts both directions",
        message: "golden failed: {differing} rows differ from {path}",
        query: Query::Select {
            sql: concat!(
                "SELECT count(*) AS differing FROM ((FROM {t} EXCEPT FROM ",
                golden_rows!(),
                ") UNION ALL (FROM ",
                golden_rows!(),
                " EXCEPT FROM {t}))"
            ),
            finds: "differing > 0",
            rows: Some(concat!("(FROM {t} EXCEPT FROM ", golden_rows!(), ")")),
        },
        example: "golden('tests/expected_orders.csv')",
    },
];
