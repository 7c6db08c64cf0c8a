//! CSV: header always, NULL empty, the empty string `""`.

use super::TextTable;

/// The table as CSV with `\n` line ends.
pub(crate) fn csv(table: &TextTable) -> String {
    let mut text = String::new();
    let header: Vec<String> = table.columns.iter().map(|name| field(Some(name))).collect();
    text.push_str(&header.join(","));
    text.push('\n');
    for row in &table.rows {
        text.push_str(&csv_line(row));
        text.push('\n');
    }
    text
}

/// A row without its line end.
pub(crate) fn csv_line(row: &[Option<String>]) -> String {
    row.iter().map(|value| field(value.as_deref())).collect::<Vec<_>>().join(",")
}

fn field(value: Option<&str>) -> String {
    match value {
        None => String::new(),
        Some("") => "\"\"".into(),
        Some(text) if text.contains([',', '"', '\r', '\n']) => format!("\"{}\"", text.replace('"', "\"\"")),
        Some(text) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{TextTable, csv};

    #[test]
    fn null_and_empty_differ_and_special_characters_are_quoted() {
        let text = |text: &str| Some(text.to_owned());
        let table = TextTable {
            columns: vec!["a,b".into(), "c".into()],
            rows: vec![vec![None, text("")], vec![text("say \"x\""), text("l1\nl2")]],
        };
        assert_eq!(csv(&table), "\"a,b\",c\n,\"\"\n\"say \"\"x\"\"\",\"l1\nl2\"\n");
    }
}
