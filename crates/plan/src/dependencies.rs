//! What a model depends on, by name (chapter 02 §1.1).

use std::collections::{BTreeMap, BTreeSet};

use model::{Reference, SqlParser, SyntaxTree, Token, TokenKind, TreeError, called_functions, references, tokens};

/// The names that exist around a project, all keys in lower case.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Alias of the lake.
    pub lake: String,
    /// `schema.table` of models and lake tables → as they spell themselves.
    pub tables: BTreeMap<String, String>,
    /// `schema.view` of lake views → the SELECT behind it.
    pub views: BTreeMap<String, String>,
    /// Other attached databases.
    pub catalogs: BTreeSet<String>,
    /// Macros → what stands behind it: a SELECT, or an expression that may hold one.
    pub macros: BTreeMap<String, String>,
}

/// Table functions that read nothing.
const GENERATORS: [&str; 5] = ["range", "generate_series", "unnest", "repeat", "repeat_row"];

/// Where one reference leads.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Resolved {
    /// `schema.table` in the lake, as the model spells it, without the lake's alias.
    Lake(String),
    /// Anything that the lake does not hold.
    External(String),
}

/// The names that `sql` depends on, first occurrence first, views and macros expanded; and a warning where
/// the engine gives no syntax tree for it.
pub fn depends_on(
    sql: &str,
    tree: &Result<SyntaxTree, TreeError>,
    names: &Names,
    parser: &dyn SqlParser,
) -> (Vec<String>, Option<String>) {
    let mut found = Found { names, parser, depends: Vec::new(), expanded: BTreeSet::new() };
    let warning = match tree {
        Ok(tree) => {
            found.add_tree(tree);
            None
        }
        Err(TreeError::Syntax { message, .. } | TreeError::NotSerializable { message }) => {
            found.add_without_tree(sql);
            Some(format!("AST serialize failed (lineage/CDC degraded): {message}"))
        }
    };
    (found.depends, warning)
}

struct Found<'a> {
    names: &'a Names,
    parser: &'a dyn SqlParser,
    depends: Vec<String>,
    /// Views and macros already expanded: they may name each other in circles.
    expanded: BTreeSet<String>,
}

impl Found<'_> {
    fn add_tree(&mut self, tree: &SyntaxTree) {
        for reference in references(tree) {
            match reference {
                Reference::Table { catalog, schema, name, .. } => {
                    if let Some(resolved) = self.resolve(catalog.as_deref(), schema.as_deref(), &name) {
                        self.add(&resolved);
                    }
                }
                Reference::Function { name, texts, literal, .. } => self.add_function(&name, &texts, literal),
            }
        }
        for name in called_functions(tree) {
            if let Some(definition) = self.names.macros.get(&name) {
                self.expand(&format!("macro {name}"), definition);
            }
        }
    }

    fn add(&mut self, resolved: &Resolved) {
        let (Resolved::Lake(name) | Resolved::External(name)) = resolved;
        if !self.depends.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            self.depends.push(name.clone());
        }
        if let Resolved::Lake(name) = resolved {
            let key = name.to_lowercase();
            if let Some(sql) = self.names.views.get(&key) {
                self.expand(&format!("view {key}"), sql);
            }
        }
    }

    fn add_function(&mut self, name: &str, texts: &[String], literal: bool) {
        let key = name.to_lowercase();
        if GENERATORS.contains(&key.as_str()) || key.starts_with("duckdb_") {
            return;
        }
        match key.as_str() {
            "query_table" if literal => {
                for text in texts {
                    self.add_chain(text);
                }
            }
            "query" if literal => {
                for text in texts {
                    self.expand(&format!("query {text}"), text);
                }
            }
            // Its SELECT is expanded with the other macros that the query calls.
            _ if self.names.macros.contains_key(&key) => {}
            _ => self.add(&Resolved::External(format!("{key}()"))),
        }
    }

    fn expand(&mut self, id: &str, sql: &str) {
        if !self.expanded.insert(id.to_owned()) {
            return;
        }
        // A scalar macro is an expression: a SELECT once there is a SELECT before it.
        let expression = format!("SELECT {sql}");
        let mut trees = self.parser.trees(&[sql, &expression]).into_iter().flatten();
        match trees.next() {
            Some(tree) => self.add_tree(&tree),
            None => self.add_without_tree(sql),
        }
    }

    /// The two ways without a tree: the engine's own list, else every known name in the text.
    fn add_without_tree(&mut self, sql: &str) {
        if let Some(tables) = self.parser.table_names(sql) {
            for table in &tables {
                self.add_chain(table);
            }
            return;
        }
        for chain in identifier_chains(sql) {
            let known = match self.resolve_chain(&chain) {
                Some(Resolved::Lake(name)) if self.is_known(&name.to_lowercase()) => Some(Resolved::Lake(name)),
                _ => None,
            };
            if let Some(resolved) = known {
                self.add(&resolved);
            }
        }
    }

    fn add_chain(&mut self, text: &str) {
        if let Some(resolved) = identifier_chains(text).first().and_then(|chain| self.resolve_chain(chain)) {
            self.add(&resolved);
        }
    }

    fn resolve_chain(&self, chain: &[String]) -> Option<Resolved> {
        match chain {
            [name] => self.resolve(None, None, name),
            [schema, name] => self.resolve(None, Some(schema), name),
            [catalog, schema, name] => self.resolve(Some(catalog), Some(schema), name),
            _ => None,
        }
    }

    fn is_known(&self, key: &str) -> bool {
        self.names.tables.contains_key(key) || self.names.views.contains_key(key)
    }

    fn has_schema(&self, schema: &str) -> bool {
        let prefix = format!("{}.", schema.to_lowercase());
        self.names.tables.keys().chain(self.names.views.keys()).any(|key| key.starts_with(&prefix))
    }

    fn resolve(&self, catalog: Option<&str>, schema: Option<&str>, name: &str) -> Option<Resolved> {
        if schema.is_some_and(|s| s.eq_ignore_ascii_case("information_schema") || s.eq_ignore_ascii_case("pg_catalog"))
        {
            return None;
        }
        let is_lake = |part: &str| part.eq_ignore_ascii_case(&self.names.lake);
        Some(match (catalog, schema) {
            (Some(catalog), schema) if is_lake(catalog) => {
                Resolved::Lake(format!("{}.{name}", schema.unwrap_or("main")))
            }
            (Some(catalog), schema) => Resolved::External(format!("{catalog}.{}.{name}", schema.unwrap_or("main"))),
            (None, Some(schema))
                if self.is_known(&format!("{schema}.{name}").to_lowercase()) || self.has_schema(schema) =>
            {
                Resolved::Lake(format!("{schema}.{name}"))
            }
            (None, Some(schema)) if is_lake(schema) => Resolved::Lake(format!("main.{name}")),
            (None, Some(schema)) if self.names.catalogs.contains(&schema.to_lowercase()) => {
                Resolved::External(format!("{schema}.main.{name}"))
            }
            (None, Some(schema)) => Resolved::Lake(format!("{schema}.{name}")),
            (None, None) if !self.is_known(&format!("main.{name}").to_lowercase()) && looks_like_file(name) => {
                Resolved::External(name.to_owned())
            }
            (None, None) => Resolved::Lake(format!("main.{name}")),
        })
    }
}

fn looks_like_file(name: &str) -> bool {
    name.contains(['.', '/', '*', ':'])
}

/// The chains of names joined by points in a text, unquoted: `raw."Order" AS o` gives `[raw, Order]`, `[AS]`, `[o]`.
fn identifier_chains(text: &str) -> Vec<Vec<String>> {
    let mut chains: Vec<Vec<String>> = Vec::new();
    let mut joined = false;
    for Token { kind, span } in tokens(text) {
        let piece = &text[span];
        match kind {
            TokenKind::Word | TokenKind::QuotedName => {
                let name = match kind {
                    TokenKind::Word => piece.to_owned(),
                    _ => piece.trim_matches('"').replace("\"\"", "\""),
                };
                match chains.last_mut() {
                    Some(chain) if joined => chain.push(name),
                    _ => chains.push(vec![name]),
                }
                joined = false;
            }
            TokenKind::Symbol => joined = piece == ".",
            TokenKind::Space | TokenKind::LineComment | TokenKind::BlockComment => {}
            TokenKind::Text | TokenKind::Semicolon => joined = false,
        }
    }
    chains
}

#[cfg(test)]
mod tests {
    use super::identifier_chains;

    #[test]
    fn chains_ignore_aliases_comments_and_texts() {
        let chains = identifier_chains("raw . \"My \"\"T\" /* x.y */ AS c, 'no.no' z");
        assert_eq!(chains, [vec!["raw", "My \"T"], vec!["AS"], vec!["c"], vec!["z"]]);
    }
}
