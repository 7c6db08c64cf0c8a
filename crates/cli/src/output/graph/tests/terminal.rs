//! Graphs on terminals.

use unicode_width::UnicodeWidthStr;

use super::super::text;
use super::samples::{any, graph, hostile, node, shop, tangled, totals};

fn drawn(graph: &super::super::Graph, columns: Option<usize>) -> String {
    text(graph, columns, &|text, _| text.to_owned())
}

#[test]
fn boxes_stand_by_schema_and_arrows_lead_to_the_right() {
    insta::assert_snapshot!("overview", drawn(&shop(), None));
    insta::assert_snapshot!("model", drawn(&totals(), None));
}

#[test]
fn what_leads_back_goes_along_the_bottom() {
    insta::assert_snapshot!("tangled", drawn(&tangled(), None));
}

#[test]
fn names_are_shortened_before_there_is_a_list() {
    insta::assert_snapshot!("narrow", drawn(&totals(), Some(78)));
    insta::assert_snapshot!("list", drawn(&totals(), Some(44)));
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    for graph in [shop(), totals(), tangled(), hostile(), any(1, 60, 5)] {
        for columns in [20, 33, 60, 80, 100, 140, 200] {
            let text = drawn(&graph, Some(columns));
            assert!(text.lines().all(|line| line.width() <= columns), "{columns}:\n{text}");
        }
    }
}

#[test]
fn hostile_names_break_no_box() {
    let text = drawn(&hostile(), None);
    let controls = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!text.contains(controls), "{text:?}");
    for name in ["日本語のテーブル", "line break tab", "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}", "<script>&amp;'"]
    {
        assert!(text.contains(&format!("│ {name} ")), "{name}:\n{text}");
    }
    // The boxes of a column are of one width, whatever is in them.
    let boxes = graph(super::samples::HOSTILE.map(|name| node("s", name)).into(), &[]);
    let text = drawn(&boxes, None);
    let widths: Vec<usize> =
        text.lines().filter(|line| line.starts_with(['╭', '│', '╰'])).map(UnicodeWidthStr::width).collect();
    assert_eq!(widths.len(), 3 * super::samples::HOSTILE.len());
    assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
}

#[test]
fn only_borders_and_titles_are_colored() {
    let text = text(&totals(), None, &|text, color| format!("<{color:?}:{text}>"));
    assert!(text.contains(" ◆ total ······ [SUM]   ● revenue, rate "), "{text}");
    assert!(text.contains("<Green:╭─ mart.totals ─") && text.contains("<Green:│> ◆ customer ·"), "{text}");
    assert!(!text.contains("<Green:│ orders"), "{text}");
}

#[test]
fn no_nodes_are_no_lines() {
    assert_eq!(drawn(&graph(Vec::new(), &[]), None), "\n◆ target  ● source\n");
}
