//! Rows as a JSON array of objects.

use std::collections::BTreeSet;

/// All rows, columns in query order; a repeated name gets `_1`, `_2`.
pub(crate) fn json_rows(rows: engine::Rows) -> String {
    let names: Vec<String> =
        distinct_names(rows.columns()).iter().map(|name| serde_json::Value::from(name.as_str()).to_string()).collect();
    let mut out = String::from("[");
    for (at, row) in rows.into_values().enumerate() {
        out.push_str(if at == 0 { "{" } else { ",{" });
        for (at, (name, value)) in names.iter().zip(&row).enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str(name);
            out.push(':');
            value.write_json(&mut out);
        }
        out.push('}');
    }
    out.push(']');
    out
}

fn distinct_names(columns: &[String]) -> Vec<String> {
    let mut taken: BTreeSet<String> = columns.iter().cloned().collect();
    let mut seen = BTreeSet::new();
    let mut distinct = |name: &String| {
        if seen.insert(name.clone()) {
            return name.clone();
        }
        let free = (1..=columns.len())
            .map(|number| format!("{name}_{number}"))
            .find(|candidate| taken.insert(candidate.clone()));
        free.unwrap_or_else(|| name.clone())
    };
    columns.iter().map(&mut distinct).collect()
}

#[cfg(test)]
mod tests {
    use super::distinct_names;

    #[test]
    fn repeated_names_are_numbered_past_names_that_are_taken() {
        let names = ["a", "a", "a_1", "a"].map(str::to_owned);
        assert_eq!(distinct_names(&names), ["a", "a_2", "a_1", "a_3"]);
    }
}
