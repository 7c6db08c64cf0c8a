//! The one list of shipped checks.

mod audits;
mod constraints;
mod warnings;

use crate::check::{Check, Param, ParamKind, Query};
use crate::{Stage, check::Null};

/// All shipped checks, stage by stage.
pub fn shipped() -> impl Iterator<Item = &'static Check> {
    Stage::ALL.into_iter().flat_map(shipped_in)
}

/// The shipped checks of a stage, in the order of the documentation.
pub fn shipped_in(stage: Stage) -> &'static [Check] {
    match stage {
        Stage::Constraint => constraints::CONSTRAINTS,
        Stage::Audit => audits::AUDITS,
        Stage::Warning => warnings::WARNINGS,
    }
}

/// The shipped check of this name, which DuckDB matches without case.
pub fn find(stage: Stage, name: &str) -> Option<&'static Check> {
    shipped_in(stage).iter().find(|check| check.name.eq_ignore_ascii_case(name))
}

const fn param(name: &'static str, kind: ParamKind) -> Param {
    Param { name, kind }
}

const COL: Param = param("col", ParamKind::Expression);
const OP: Param = param("op", ParamKind::Operator);
const VAL: Param = param("val", ParamKind::Value);
const N: Param = param("n", ParamKind::Value);
const LO: Param = param("lo", ParamKind::Value);
const HI: Param = param("hi", ParamKind::Value);
const MAX: Param = param("max_value", ParamKind::Value);
const AGE: Param = param("age", ParamKind::Age);

// Where a row's value is listed, `*` stands before it: an aggregate in its place would leave one row, and is refused.

/// The value that repeats most, at most one row; NULL is no value.
const REPEATED: Query = Query::Select {
    sql: "SELECT repeated::VARCHAR AS repeated, count(*) AS times \
          FROM (SELECT __ondatra_checked AS repeated FROM (SELECT *, {col} AS __ondatra_checked FROM {t})) AS listed WHERE listed.repeated IS NOT NULL \
          GROUP BY listed.repeated HAVING count(*) > 1 ORDER BY count(*) DESC, listed.repeated LIMIT 1",
    finds: "true",
    rows: Some("{t} QUALIFY {col} IS NOT NULL AND count(*) OVER (PARTITION BY {col}) > 1"),
};

/// The share of NULLs; an empty table has none.
const NULL_SHARE: Query = Query::Select {
    sql: "SELECT share, share > {max_value} AS above FROM (SELECT \
          100 * count(*) FILTER (WHERE {col} IS NULL)::DOUBLE / nullif(count(*), 0) AS share FROM {t})",
    finds: "above",
    rows: Some("{t} WHERE {col} IS NULL"),
};

const NULLS: Query = Query::Rows("{t} WHERE {col} IS NULL");
const COMPARED: Query = Query::Rows("{t} WHERE NOT ({col} {op} {val})");

/// An aggregate that is compared; there has to be one.
const fn aggregate(value: &'static str) -> Query {
    Query::Value { value, passes: "actual {op} {val}", null: Null::Fails }
}

const FRESH: Query = Query::Value {
    value: "max({col})",
    passes: "actual::TIMESTAMPTZ >= now() - CAST({age} AS INTERVAL)",
    null: Null::Fails,
};
const COUNTED: Query = Query::Value { value: "count(*)", passes: "actual {op} {n}", null: Null::Fails };
const DISTINCT_ABOUT: Query =
    Query::Value { value: "approx_count_distinct({col})", passes: "actual {op} {n}", null: Null::Fails };
