//! Which directives go together (chapter 01 §3.4).

use std::ops::Range;

use types::{Kind, Rule};

use crate::finding::Finding;
use crate::parse::{Model, Spans};

pub(crate) fn check_compatibility(model: &Model, spans: &Spans) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |rule, span: &Option<Range<usize>>, message: String, help: &str| {
        findings.push(Finding::new(rule, model.place(span.clone().unwrap_or(0..0)), message, help));
    };
    let kind = model.kind;
    match kind {
        Kind::Tracked => {
            if spans.unique_key.is_some() {
                find(
                    Rule::MisusedUniqueKey,
                    &spans.unique_key,
                    "tracked kind uses @group_key, not @unique_key".into(),
                    "rename it to `@group_key`",
                );
            }
            if spans.group_key.is_none() {
                find(
                    Rule::Incompatible,
                    &spans.kind,
                    "`@group_key` is required for kind tracked".into(),
                    "add `-- @group_key: column`",
                );
            }
        }
        _ if spans.group_key.is_some() => {
            find(
                Rule::Incompatible,
                &spans.group_key,
                "@group_key is only valid for tracked models".into(),
                "use `@unique_key`, or `@kind: tracked`",
            );
        }
        Kind::Merge | Kind::Scd2 if spans.unique_key.is_none() => {
            find(
                Rule::MisusedUniqueKey,
                &spans.kind,
                format!("`@unique_key` is required for kind {kind}"),
                "add `-- @unique_key: column`",
            );
        }
        _ => {}
    }
    if kind == Kind::Scd2 && spans.push.is_some() {
        find(
            Rule::PushKindNotSupported,
            &spans.push,
            "@push is not supported for scd2".into(),
            "push a `table` model that selects the rows `WHERE is_current`",
        );
    }
    if model.fetch && spans.push.is_some() {
        find(
            Rule::Incompatible,
            &spans.push,
            "@fetch and @push cannot be combined".into(),
            "push from a second model that reads this one",
        );
    }
    let keys = model.group_key.iter().map(|key| (key, &spans.group_key));
    let keys = keys.chain(model.unique_key.iter().map(|key| (&key.value, &spans.unique_key)));
    for (key, span) in keys {
        if kind.own_columns().contains(&key.to_lowercase().as_str()) {
            find(
                Rule::Incompatible,
                span,
                format!("column `{key}` is reserved for the runtime in kind {kind}"),
                "choose another key column",
            );
        }
    }
    if let Some(incremental) = &model.incremental {
        let name = &incremental.column.value;
        let masked = model.columns.iter().any(|doc| doc.name.eq_ignore_ascii_case(name) && doc.mask().is_some());
        if masked {
            let message = format!(
                "the @incremental column `{name}` carries a masking tag, so its last value would be masked text"
            );
            find(
                Rule::InvalidIncremental,
                &Some(incremental.column.span.clone()),
                message,
                "remove the tag or choose another cursor",
            );
        }
    }
    findings
}
