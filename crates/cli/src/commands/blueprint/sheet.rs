//! A function of `lib/` for people: what its document holds, in a box.

use serde_json::Value;

use crate::output::{Column, Grid, Sheet};

/// Most columns of a path in a grid.
const PATH: usize = 60;

pub(super) fn sheet(document: &Value) -> Sheet {
    let mut sheet = Sheet::new(&text(&document["name"]));
    sheet.field("File", &text(&document["path"]));
    let fields = [
        ("base_url", "Base URL", ""),
        ("timeout", "Timeout", " s"),
        ("retry", "Retries", ""),
        ("backoff", "Backoff", " s"),
    ];
    for (key, name, unit) in fields {
        if let Some(value) = document.get(key) {
            sheet.field(name, &format!("{}{unit}", text(value)));
        }
    }
    if let Some(limit) = document.get("rate_limit") {
        sheet.field("Rate limit", &format!("{} requests per {}", limit["requests"], text(&limit["per"])));
    }
    for (key, title) in [("fetch", "Fetch"), ("push", "Push"), ("auth", "Auth"), ("headers", "Headers")] {
        if let Some(inner) = document[key].as_object() {
            sheet.section(title);
            inner.iter().filter(|(key, _)| *key != "functions").for_each(|(key, value)| sheet.field(key, &text(value)));
            for (name, parameters) in inner.get("functions").and_then(Value::as_object).into_iter().flatten() {
                let parameters = if parameters == &Value::Array(Vec::new()) { String::new() } else { text(parameters) };
                sheet.line(&format!("{name}({parameters})"));
            }
        }
    }
    if let Some(endpoints) = document["endpoints"].as_array() {
        sheet.section("Endpoints");
        let mut grid = Grid::new(vec![
            Column::text("Method"),
            Column::text("Path").between(12, PATH),
            Column::text("Function").spare(1),
        ]);
        for endpoint in endpoints {
            grid.push(["method", "path", "function"].map(|key| text(&endpoint[key]).into()).into());
        }
        sheet.grid(grid);
    }
    sheet
}

/// A value as people read it.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "(none)".into(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Object(keys) => {
            keys.iter().map(|(key, value)| format!("{key} {}", text(value))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
