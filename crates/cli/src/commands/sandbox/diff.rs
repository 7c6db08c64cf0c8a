//! How a table differs from production's, line by line (chapter 05 §4.3).

use runtime::Comparison;
use types::Column;

use super::super::run::one_line;
use crate::output::csv_line;
use crate::ui::{Color, Ui};

/// A line, and its color.
pub(super) type Line = (String, Option<Color>);

/// The whole difference; of a table that is new its columns.
pub(super) fn diff_lines(ui: &Ui, comparison: &Comparison) -> Vec<Line> {
    let plain = |text: String| (text, None);
    let mut lines = Vec::new();
    if comparison.is_new {
        lines.push(plain("(new table)".into()));
        lines.push(plain("Columns:".into()));
        lines.extend(comparison.columns.iter().map(|column| plain(format!("  • {}", typed(column)))));
    } else {
        lines.extend(schema_lines(comparison));
        lines.extend(rows_line(comparison).map(plain));
        lines.extend(content_lines(ui, comparison));
    }
    lines.extend(problem_lines(ui, comparison));
    lines
}

/// The difference in a list of many; of a table that is new its size.
pub(super) fn short_lines(ui: &Ui, comparison: &Comparison) -> Vec<Line> {
    if !comparison.is_new {
        return diff_lines(ui, comparison);
    }
    let size = format!("Rows: {}, Columns: {}", comparison.rows.1.unwrap_or(0), comparison.columns.len());
    let lines = [("(new table)".to_owned(), None), (size, None)];
    lines.into_iter().chain(problem_lines(ui, comparison)).collect()
}

fn problem_lines(ui: &Ui, comparison: &Comparison) -> Vec<Line> {
    let problem = |text: &String| (format!("[WARN] {}", one_line(&ui.message(text))), Some(Color::Yellow));
    comparison.problems.iter().map(problem).collect()
}

fn schema_lines(comparison: &Comparison) -> Vec<Line> {
    if !comparison.has_other_columns() {
        return Vec::new();
    }
    let mut lines = vec![("SCHEMA EVOLUTION:".to_owned(), Some(Color::Yellow))];
    let added = comparison.added_columns.iter().map(|column| format!("  + Added: {}", typed(column)));
    let removed = comparison.removed_columns.iter().map(|column| format!("  - Removed: {}", typed(column)));
    let changed = comparison
        .changed_columns
        .iter()
        .map(|column| format!("  ~ Changed: {}: {} → {}", one_line(&column.name), column.old, column.new));
    lines.extend(added.chain(removed).chain(changed).map(|text| (text, None)));
    lines
}

fn typed(column: &Column) -> String {
    format!("{} ({})", one_line(&column.name), one_line(&column.type_name))
}

/// The numbers of rows; `None` where they are not known.
fn rows_line(comparison: &Comparison) -> Option<String> {
    let (then, now) = (comparison.rows.0?, comparison.rows.1?);
    if then == now {
        return Some(format!("Rows: {now} (no change)"));
    }
    let difference = now - then;
    #[allow(clippy::cast_precision_loss)]
    let percent = if then == 0 { String::new() } else { format!(", {:+.1}%", difference as f64 * 100.0 / then as f64) };
    Some(format!("Rows: {then} → {now} ({difference:+}{percent})"))
}

fn content_lines(ui: &Ui, comparison: &Comparison) -> Vec<Line> {
    let mut lines = Vec::new();
    if comparison.added > 0 {
        lines.push((format!("+ Added: {} rows", comparison.added), Some(Color::Green)));
    }
    if comparison.removed > 0 {
        lines.push((format!("- Removed: {} rows", comparison.removed), Some(Color::Red)));
    }
    if comparison.closed > 0 {
        lines.push((format!("~ Closed: {} rows", comparison.closed), Some(Color::Yellow)));
    }
    let samples = [("added", '+', &comparison.sample_added), ("removed", '-', &comparison.sample_removed)];
    for (what, sign, rows) in samples.into_iter().filter(|(_, _, rows)| !rows.is_empty()) {
        lines.push((format!("Sample {what}:"), None));
        let row = |row: &Vec<Option<String>>| format!("  {sign} {}", ui.message(&csv_line(row)));
        lines.extend(rows.iter().map(|values| (row(values), None)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use runtime::Comparison;

    use super::rows_line;

    #[test]
    fn rows_are_told_with_what_became_of_them() {
        for (then, now, expected) in [
            (100, 142, "Rows: 100 → 142 (+42, +42.0%)"),
            (5, 3, "Rows: 5 → 3 (-2, -40.0%)"),
            (3, 3, "Rows: 3 (no change)"),
            (0, 3, "Rows: 0 → 3 (+3)"),
            (3, 0, "Rows: 3 → 0 (-3, -100.0%)"),
        ] {
            let comparison = Comparison { rows: (Some(then), Some(now)), ..Comparison::default() };
            assert_eq!(rows_line(&comparison).as_deref(), Some(expected));
        }
        assert_eq!(rows_line(&Comparison::default()), None);
    }
}
