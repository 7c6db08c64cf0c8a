//! Graphs for programs that draw: what they read is what was meant.

use quick_xml::events::Event;

use super::super::{dot, mermaid, svg};
use super::samples::{HOSTILE, any, graph, hostile, shop, tangled, totals};
use crate::output::measure::one_line;

/// The texts of an XML document; an error of the test if it is none.
fn texts(xml: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut depth, mut texts, mut open) = (0, Vec::new(), String::new());
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}:\n{xml}")) {
            Event::Start(element) => {
                depth += 1;
                element.attributes().for_each(|attribute| drop(attribute.unwrap()));
            }
            Event::Empty(element) => element.attributes().for_each(|attribute| drop(attribute.unwrap())),
            Event::End(_) => {
                depth -= 1;
                texts.push(std::mem::take(&mut open));
            }
            Event::Text(text) => open.push_str(&text.xml10_content()),
            Event::GeneralRef(name) => open.push_str(quick_xml::escape::resolve_predefined_entity(&name).unwrap()),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    texts.into_iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

#[test]
fn an_svg_stands_on_its_own() {
    insta::assert_snapshot!("svg", svg(&totals()));
    for graph in [shop(), totals(), tangled(), hostile(), any(3, 80, 4), graph(Vec::new(), &[])] {
        let drawn = svg(&graph);
        texts(&drawn);
        assert!(!drawn.contains("NaN") && !drawn.contains("href"), "{drawn}");
    }
}

#[test]
fn hostile_names_are_texts_of_an_svg() {
    let drawn = svg(&hostile());
    let texts = texts(&drawn);
    for name in HOSTILE {
        let expected = one_line(name).replace('\u{ffff}', "\u{fffd}");
        assert!(texts.contains(&expected), "{name:?}:\n{texts:#?}");
    }
    assert!(texts.iter().any(|text| text.contains(&format!(".{}", "x".repeat(200)))), "whole names are titles");
    assert!(!drawn.contains(|c: char| c.is_control() && c != '\n' || c == '\u{ffff}'), "{drawn:?}");
}

/// The quoted texts of DOT, unescaped.
fn quoted(text: &str) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), None::<String>);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (&mut open, c) {
            (None, '"') => open = Some(String::new()),
            (Some(_), '"') => found.extend(open.take()),
            (Some(own), '\\') => match rest.next().unwrap() {
                'l' => own.push('\n'),
                c @ ('"' | '\\') => own.push(c),
                other => panic!("\\{other} in {text}"),
            },
            (Some(own), c) => own.push(c),
            (None, _) => {}
        }
    }
    assert_eq!(open, None, "{text}");
    found.into_iter().map(|text| text.replace("&amp;", "&")).collect()
}

#[test]
fn hostile_names_are_labels_of_dot() {
    let drawn = dot(&hostile());
    let labels = quoted(&drawn);
    for name in HOSTILE {
        assert!(labels.iter().any(|label| *label == one_line(name)), "{name:?}:\n{labels:#?}");
    }
    assert!(labels.contains(&"x".repeat(200)) && labels.contains(&"<script>&amp;' ↻".to_owned()), "{labels:#?}");
    insta::assert_snapshot!("dot", dot(&totals()));
}

#[test]
fn hostile_names_are_labels_of_mermaid() {
    let drawn = mermaid(&hostile());
    let body = drawn.split_once("flowchart LR\n").unwrap().1;
    for label in body.lines().filter_map(|line| line.split('"').nth(1)) {
        let plain = label.replace("<b>", "").replace("</b>", "").replace("<br>", " ");
        let numbers: String = plain.split('#').skip(1).map(|rest| rest.split_once(';').unwrap().0).collect();
        assert!(numbers.chars().all(|c| c.is_ascii_digit()), "{label}");
        let harmless = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || " _,.#;".contains(c);
        assert!(plain.chars().all(harmless), "{label}");
        assert!(!plain.contains(". "), "{label}");
    }
    assert_eq!(body.lines().filter(|line| line.matches('"').count() == 2).count(), 2 * (HOSTILE.len() + 1));
    assert!(body.contains("(\"a#34;b\")") && body.contains("[\"#35;quot#59;#35;35#59;\"]"), "{body}");
    let title = drawn.strip_prefix("---\ntitle: ").unwrap().lines().next().unwrap();
    assert!(serde_json::from_str::<String>(title).unwrap().starts_with("a\"b <script>&amp;' line break tab"));
    insta::assert_snapshot!("mermaid", mermaid(&totals()));
}

#[test]
fn what_leads_to_itself_and_back_does_so_in_every_format() {
    let (dot, mermaid) = (dot(&tangled()), mermaid(&tangled()));
    assert!(dot.contains("n3 -> n3;") && dot.contains("n2 -> n0;"), "{dot}");
    assert!(mermaid.contains("n3 --> n3\n") && mermaid.contains("n2 --> n0\n"), "{mermaid}");
    assert_eq!(dot.matches(" -> ").count(), 8, "{dot}");
    assert_eq!(mermaid.matches(" --> ").count(), 8, "{mermaid}");
    assert!(texts(&svg(&tangled())).contains(&"d ↻".to_owned()));
}
