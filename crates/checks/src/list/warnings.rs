//! The 14 warnings (chapter 01 §4.5).

use super::{
    AGE, COL, COMPARED, COUNTED, DISTINCT_ABOUT, FRESH, MAX, N, NULL_SHARE, NULLS, OP, REPEATED, VAL, aggregate, param,
};
use crate::Stage::Warning;
use crate::check::{Check, Null, ParamKind, Query};

pub(super) const WARNINGS: &[Check] = &[
    Check {
        stage: Warning,
        name: "freshness",
        params: &[COL, AGE],
        fails: "the newest value is older than the age (`24h`, `7d`, `'30m'`), or there is none",
        message: "freshness warning: {col} max is {actual} (threshold: {age})",
        query: FRESH,
        example: "freshness(updated_at, 7d)",
    },
    Check {
        stage: Warning,
        name: "row_count",
        params: &[OP, N],
        fails: "the comparison with the number of rows is false",
        message: "row_count warning: {op} {n} -- actual is {actual}",
        query: COUNTED,
        example: "row_count(>=, 1000)",
    },
    Check {
        stage: Warning,
        name: "row_count_delta",
        params: &[MAX],
        fails: "the number of rows moved by more than so many percent since the model's previous commit; silent \
                without one",
        message: "row_count_delta warning: from {before} to {after} rows (max {max_value}%)",
        query: Query::Built { expression: "memory.main.ondatra_checks_delta(t, 'count(*)', max_value)", finds: "true" },
        example: "row_count_delta(20)",
    },
    Check {
        stage: Warning,
        name: "sum_delta",
        params: &[COL, MAX],
        fails: "the sum moved by more than so many percent since the model's previous commit; silent without one",
        message: "sum_delta({col}) warning: from {before} to {after} (max {max_value}%)",
        query: Query::Built {
            expression: "memory.main.ondatra_checks_delta(t, 'sum((' || col || '))', max_value)",
            finds: "true",
        },
        example: "sum_delta(amount, 50)",
    },
    Check {
        stage: Warning,
        name: "mean_delta",
        params: &[COL, MAX],
        fails: "the mean moved by more than so many percent since the model's previous commit; silent without one",
        message: "mean_delta({col}) warning: from {before} to {after} (max {max_value}%)",
        query: Query::Built {
            expression: "memory.main.ondatra_checks_delta(t, 'avg((' || col || '))', max_value)",
            finds: "true",
        },
        example: "mean_delta(amount, 10)",
    },
    Check {
        stage: Warning,
        name: "approaching_limit",
        params: &[COL],
        fails: "the largest value is above 90 % of the variable `alert_amount_threshold`; silent without either",
        message: "approaching limit: {col} max is {actual} (threshold: {threshold}, 90% = {near})",
        query: Query::Select {
            sql: "SELECT actual, threshold, printf('%.15g', threshold::DOUBLE * 90 / 100) AS near \
                  FROM (SELECT max({col}) AS actual, getvariable('alert_amount_threshold')::VARCHAR AS threshold \
                  FROM {t})",
            finds: "actual::DOUBLE > threshold::DOUBLE * 90 / 100",
            rows: None,
        },
        example: "approaching_limit(amount)",
    },
    Check {
        stage: Warning,
        name: "null_percent",
        params: &[COL, MAX],
        fails: "the share of NULLs, in percent, is above the maximum",
        message: "null_percent warning: {col} has {share:percent}% NULLs (threshold: {max_value}%)",
        query: NULL_SHARE,
        example: "null_percent(phone, 2.5)",
    },
    Check {
        stage: Warning,
        name: "not_null",
        params: &[COL],
        fails: "a value is NULL",
        message: "not_null warning: {col} has {violations} NULL values",
        query: NULLS,
        example: "not_null(email)",
    },
    Check {
        stage: Warning,
        name: "unique",
        params: &[COL],
        fails: "a value repeats; NULL may",
        message: "unique warning: {col} has duplicates (value {repeated} appears {times} times)",
        query: REPEATED,
        example: "unique(email)",
    },
    Check {
        stage: Warning,
        name: "min",
        params: &[COL, OP, VAL],
        fails: "the comparison with the smallest value is false, or there is none",
        message: "min({col}) {op} {val} warning: actual min is {actual}",
        query: aggregate("min({col})"),
        example: "min(amount, >=, 0)",
    },
    Check {
        stage: Warning,
        name: "compare",
        params: &[COL, OP, VAL],
        fails: "the comparison is false",
        message: "{col} {op} {val} warning: {violations} violations",
        query: COMPARED,
        example: "compare(amount, <, 1000000)",
    },
    Check {
        stage: Warning,
        name: "mean",
        params: &[COL, OP, VAL],
        fails: "the comparison with the mean is false; silent without values",
        message: "mean({col}) {op} {val} warning: actual mean is {actual}",
        query: Query::Value { value: "avg({col})", passes: "actual {op} {val}", null: Null::Passes },
        example: "mean(amount, <, 1000)",
    },
    Check {
        stage: Warning,
        name: "low_entropy",
        params: &[COL, param("min_value", ParamKind::Value)],
        fails: "the entropy in bits is below the minimum; without values it is 0",
        message: "low_entropy warning: {col} has entropy {actual:two digits} (threshold: {min_value})",
        query: Query::Value {
            value: "coalesce(entropy({col}), 0)",
            passes: "actual >= {min_value}",
            null: Null::Fails,
        },
        example: "low_entropy(country, 1)",
    },
    Check {
        stage: Warning,
        name: "cardinality",
        params: &[COL, OP, N],
        fails: "the comparison with the approximate number of distinct values is false",
        message: "cardinality warning: {col} has {actual} distinct values",
        query: DISTINCT_ABOUT,
        example: "cardinality(country, <=, 250)",
    },
];
