//! The code of the user docs, to be followed by tests.

use std::fs;
use std::path::Path;

pub(crate) fn repository() -> String {
    format!("{}/../..", env!("CARGO_MANIFEST_DIR"))
}

/// A piece of code of a page.
#[derive(Debug)]
pub(crate) struct Block {
    pub language: String,
    pub text: String,
    /// The file that the prose before it names, if any.
    pub file: Option<String>,
}

/// The blocks below a heading (`## …`) of a page of `docs/`, up to the next one of its level; all for "".
pub(crate) fn blocks(page: &str, heading: &str) -> Vec<Block> {
    let page = fs::read_to_string(format!("{}/docs/{page}", repository())).unwrap();
    let (_, below) = page.split_once(&format!("\n{heading}")).unwrap();
    let level = heading.split(' ').next().filter(|level| !level.is_empty());
    let end = level.and_then(|level| below.find(&format!("\n{level} ")));
    let mut lines = below[..end.unwrap_or(below.len())].lines();
    let (mut found, mut file) = (Vec::new(), None);
    while let Some(line) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            let is_file = |word: &&str| [".star", ".sql", ".env"].iter().any(|ending| word.ends_with(ending));
            file = line.split('`').skip(1).step_by(2).find(is_file).map(str::to_owned).or(file);
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let code = lines.by_ref().take_while(|line| !line.trim_start().starts_with("```"));
        let text = code.map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect();
        found.push(Block { language: language.to_owned(), text, file: file.take() });
    }
    found
}

/// Pages for users.
fn pages() -> Vec<String> {
    let folder = format!("{}/docs", repository());
    let names = ["", "checks/", "errors/"].into_iter().flat_map(|sub| {
        let entries = fs::read_dir(format!("{folder}/{sub}")).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(move |name| format!("{sub}{}", name.to_str().unwrap()))
    });
    let is_page = |name: &String| Path::new(name).extension().is_some_and(|ending| ending == "md");
    names.filter(|name| is_page(name) && name != "ARCHITECTURE.md").collect()
}

/// All blocks of a language, with their pages.
fn all_blocks(language: &str) -> Vec<(String, Block)> {
    let of_page = |page: String| blocks(&page, "").into_iter().map(move |block| (page.clone(), block));
    pages().into_iter().flat_map(of_page).filter(|(_, block)| block.language == language).collect()
}

/// Tables and functions in them may not be there; what the engine cannot read is a mistake of the page.
#[test]
fn every_block_of_sql_can_be_read_by_the_engine() {
    let connection = std::sync::Arc::new(engine::Database::open(&[]).unwrap()).connect().unwrap();
    let blocks = all_blocks("sql");
    assert!(blocks.len() > 15, "only {} blocks were found", blocks.len());
    for (page, block) in blocks {
        for range in model::split_statements(&block.text) {
            let statement = &block.text[range];
            let words = model::code_words(statement).join(" ").to_lowercase();
            // An ATTACH would make files; the others are for a PostgreSQL server.
            if ["attach", "create role", "create database", "create schema ondatra authorization"]
                .iter()
                .any(|start| words.starts_with(start))
            {
                continue;
            }
            let read = connection.execute(statement);
            let fault = read.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!fault.contains("syntax error") && !fault.contains("Parser Error"), "{page}: {statement}\n{fault}");
        }
    }
}

#[test]
fn every_block_of_json_is_json() {
    for (page, block) in all_blocks("json") {
        for document in serde_json::Deserializer::from_str(&block.text).into_iter::<serde_json::Value>() {
            assert!(document.is_ok(), "{page}: {}", block.text);
        }
    }
}
