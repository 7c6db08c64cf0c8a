//! The SQL of `config/macros/` and `config/variables/`, read by the engine's parser alone: nothing of it is executed, and
//! none of its variables needs a value.

use std::path::Path;
use std::sync::Arc;

use checks::is_reserved;
use model::{Code, ConfigDefinitions, Finding, SqlParser, TreeError, split_statements};
use project::ConfigTexts;
use types::{Place, Rule};

/// What stands for the lake's alias.
const CATALOG: &str = "{{catalog}}";

/// The statements that the engine cannot read.
pub(crate) fn config_syntax(config: &ConfigTexts, parser: &dyn SqlParser) -> Vec<Finding> {
    let mut written = Vec::new();
    for (path, text) in &config.sql {
        for range in split_statements(text) {
            // What a variable of the environment stands for is not known here, and may be any piece of SQL.
            if !text[range.clone()].contains("${") {
                // Of the same length, so that places stay what they are.
                let statement =
                    text[range.clone()].replace(CATALOG, &format!("{:width$}", config.lake, width = CATALOG.len()));
                written.push((path, text, range, statement));
            }
        }
    }
    let statements: Vec<&str> = written.iter().map(|(.., statement)| statement.as_str()).collect();
    let trees = parser.trees(&statements);
    let mut findings = Vec::new();
    for ((path, text, range, _), tree) in written.iter().zip(trees) {
        if let Err(TreeError::Syntax { message, offset }) = tree {
            let place = Place::word_at(*path, text, range.start + offset.unwrap_or(0).min(range.len()));
            findings.push(Finding::new(Rule::ConfigSyntax, place, message, "correct the SQL; it is DuckDB's dialect"));
        }
    }
    findings.extend(config.sql.iter().filter_map(|(path, text)| reserved(path, text)));
    findings
}

/// A macro in the way of those that the shipped checks are made of.
fn reserved(path: &Path, text: &Arc<str>) -> Option<Finding> {
    let mut definitions = ConfigDefinitions::default();
    definitions.add_macros(text);
    let name = definitions.macros().iter().find(|name| is_reserved(name))?;
    let code = Code::new(text);
    let at = (0..code.len()).find(|&at| code.value(at).eq_ignore_ascii_case(name)).map_or(0, |at| code.start(at));
    let message = format!("the name {name} is reserved for what the shipped checks are made of");
    Some(Finding::new(Rule::ConfigSyntax, Place::word_at(path, text, at), message, "give the macro another name"))
}
