//! The code of the user docs, to be followed by tests.

use std::fs;

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
