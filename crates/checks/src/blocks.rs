//! Small macros of which those of the checks are made. Each may use those above it, and names them where they are: a body
//! is bound on the path of whoever calls it, on which macros of the lake may stand before.

/// What their names begin with; no macro of a project may.
const PREFIX: &str = "ondatra_checks_";

/// Whether a macro of a project, by its name in lower case, would be in the way of those that the checks are made of.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Name and statement of each.
pub(crate) const BLOCKS: [(&str, &str); 10] = [
    // A value for a message, with NULL spelled out.
    ("ondatra_checks_show", "(val) AS coalesce(val::VARCHAR, 'NULL')"),
    // A value that was found, likewise; of a long one, as many characters as of those in the rows that are shown.
    (
        "ondatra_checks_found",
        "(val) AS CASE WHEN length(val::VARCHAR) > 60 THEN left(val::VARCHAR, 60) || '…'
        ELSE coalesce(val::VARCHAR, 'NULL') END",
    ),
    // Any value as a quoted string.
    ("ondatra_checks_text", "(val) AS '''' || replace(val::VARCHAR, '''', '''''') || ''''"),
    // A value as SQL text: a number as it is, all else as a quoted string, which DuckDB reads as the type of whatever
    // it is compared with (a date, say).
    (
        "ondatra_checks_literal",
        "(val) AS CASE
        WHEN regexp_matches(typeof(val), '^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL|FLOAT|DOUBLE)')
            THEN val::VARCHAR
        ELSE memory.main.ondatra_checks_text(val) END",
    ),
    // Whether a value lies more than a step behind the one before it. A step in time is added, as the difference of two
    // dates is a number of days.
    (
        "ondatra_checks_step",
        "(step) AS CASE
        WHEN typeof(step) = 'VARCHAR' AND TRY_CAST(step AS DOUBLE) IS NULL AND TRY_CAST(step AS INTERVAL) IS NOT NULL
            THEN 'listed > previous + CAST(' || memory.main.ondatra_checks_text(step) || ' AS INTERVAL)'
        ELSE 'listed - previous > ' || memory.main.ondatra_checks_literal(step) END",
    ),
    ("ondatra_checks_is_operator", "(op) AS coalesce(op::VARCHAR IN ('>=', '<=', '>', '<', '=', '!='), false)"),
    // One of the six; nothing else ever enters SQL text.
    ("ondatra_checks_operator", "(op) AS CASE WHEN memory.main.ondatra_checks_is_operator(op) THEN op ELSE '=' END"),
    // The name inside double quotes.
    (
        "ondatra_checks_unquote",
        r#"(name) AS CASE
        WHEN regexp_full_match(trim(name), '(?s)".*"') THEN replace(trim(name)[2:-2], '""', '"')
        ELSE trim(name) END"#,
    ),
    // Query text, one row: an interpolated quantile, and whether it passes. DuckDB interpolates decimals in their own
    // scale, where the median of 1 and 2 would be 1, so decimals take the way over DOUBLE. Dates and timestamps stay
    // what they are. DuckDB itself refuses only what is above 1 or below -1.
    (
        "ondatra_checks_quantile",
        "(t, col, p, op, val) AS
        'SELECT CASE WHEN is_decimal THEN as_double::VARCHAR ELSE as_is::VARCHAR END AS actual,'
        || ' CASE WHEN is_decimal THEN as_double ' || memory.main.ondatra_checks_operator(op)
        || ' TRY_CAST(' || memory.main.ondatra_checks_literal(val) || ' AS DOUBLE)'
        || ' ELSE as_is ' || memory.main.ondatra_checks_operator(op) || ' ' || memory.main.ondatra_checks_literal(val) || ' END AS passes'
        || ' FROM (SELECT typeof(any_value((' || col || '))) LIKE ''DECIMAL%'' AS is_decimal,'
        || ' quantile_cont(TRY_CAST((' || col || ') AS DOUBLE), CAST(' || memory.main.ondatra_checks_literal(p) || ' AS DOUBLE)) AS as_double,'
        || ' quantile_cont((' || col || '), CAST(' || memory.main.ondatra_checks_literal(p) || ' AS DOUBLE)) AS as_is FROM ' || t || ')'
        || CASE WHEN p::DOUBLE < 0 THEN error('percentile: p must be between 0 and 1') ELSE '' END",
    ),
    // Query text, at most one row: an aggregate before this run and now, if it moved by more than max_percent. Before
    // is the table at the model's previous commit (config/variables/local.sql). Without one, or with nothing but NULL
    // there, there is nothing to compare with. A column added since counts as NULL: that is what UNION ALL BY NAME with
    // the present columns is for.
    (
        "ondatra_checks_delta",
        "(t, aggregate, max_percent) AS CASE
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
            || memory.main.ondatra_checks_literal(max_percent) || ' END' END",
    ),
];

/// The statement that makes a block.
pub(crate) fn create((name, rest): (&str, &str)) -> String {
    format!("CREATE MACRO memory.main.{name}{rest};")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_names_are_reserved() {
        assert!(super::BLOCKS.iter().all(|(name, _)| super::is_reserved(name)));
        assert!(!super::is_reserved("ondatra_constraint_own"));
    }
}
