//! Markdown tables, aligned by display width.

use unicode_width::UnicodeWidthStr;

use super::TextTable;

/// Shortest row of dashes.
const DASHES_MIN: usize = 3;

/// The table as markdown; NULL is `NULL`, zero rows give header and dashes.
pub(crate) fn markdown(table: &TextTable) -> String {
    let header: Vec<String> = table.columns.iter().map(|name| cell(Some(name))).collect();
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(|value| cell(value.as_deref())).collect()).collect();
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).chain(header.get(at));
        cells.map(|cell| cell.width()).max().unwrap_or(0).max(DASHES_MIN)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let dashes: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let mut text = String::new();
    for row in [&header, &dashes].into_iter().chain(&rows) {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell}{}", " ".repeat(width - cell.width())));
        text.push_str(&format!("| {} |\n", cells.collect::<Vec<_>>().join(" | ")));
    }
    text
}

fn cell(value: Option<&str>) -> String {
    let text = value.unwrap_or("NULL");
    text.replace('|', "\\|").replace("\r\n", "<br>").replace(['\n', '\r'], "<br>")
}

#[cfg(test)]
mod tests {
    use super::{TextTable, markdown};

    #[test]
    fn cells_are_padded_by_display_width_and_escaped() {
        let text = |text: &str| Some(text.to_owned());
        let table = TextTable {
            columns: vec!["n".into(), "b".into()],
            rows: vec![vec![text("日本"), None], vec![text("a|b\nc"), text("1")]],
        };
        let expected = "| n         | b    |\n| --------- | ---- |\n| 日本      | NULL |\n| a\\|b<br>c | 1    |\n";
        assert_eq!(markdown(&table), expected);
        let empty = TextTable { columns: vec!["a".into()], rows: vec![] };
        assert_eq!(markdown(&empty), "| a   |\n| --- |\n");
    }
}
