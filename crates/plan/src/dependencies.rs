//! What a model depends on, by name (chapter 02 §1.1).

use std::collections::{BTreeMap, BTreeSet};

use model::{Code, Reference, SqlParser, SyntaxTree, TokenKind, TreeError, called_functions, references};
use types::dotted;

/// The names that exist around a project, all keys in lower case.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Alias of the lake.
    pub lake: String,
    /// `schema.table` of models and lake tables → as they spell themselves.
    pub tables: BTreeMap<String, String>,
    /// `schema.view` of lake views → its schema and the SELECT behind it.
    pub views: BTreeMap<String, (String, String)>,
    /// Other attached databases.
    pub catalogs: BTreeSet<String>,
    /// Macros → what stands behind each of its overloads: a SELECT, or an expression that may hold one.
    pub macros: BTreeMap<String, Vec<String>>,
}

impl Names {
    fn is_known(&self, key: &str) -> bool {
        self.tables.contains_key(key) || self.views.contains_key(key)
    }

    /// Whether there is a table, view or model of this name.
    pub fn has(&self, schema: &str, name: &str) -> bool {
        self.is_known(&dotted(schema, name).to_lowercase())
    }

    /// Keys of one schema stand side by side, so none of the others is looked at.
    fn has_schema(&self, schema: &str) -> bool {
        let prefix = dotted(schema, "").to_lowercase();
        let is_first = |key: Option<&String>| key.is_some_and(|key| key.starts_with(&prefix));
        is_first(self.tables.range(prefix.clone()..).next().map(|(key, _)| key))
            || is_first(self.views.range(prefix.clone()..).next().map(|(key, _)| key))
    }

    /// Where a reference leads that names no CTE; `None` for the engine's own catalogs.
    pub fn resolve(&self, catalog: Option<&str>, schema: Option<&str>, name: &str) -> Option<Resolved> {
        if schema.is_some_and(|s| s.eq_ignore_ascii_case("information_schema") || s.eq_ignore_ascii_case("pg_catalog"))
        {
            return None;
        }
        let is_lake = |part: &str| part.eq_ignore_ascii_case(&self.lake);
        Some(match (catalog, schema) {
            (Some(catalog), schema) if is_lake(catalog) => Resolved::Lake(dotted(schema.unwrap_or("main"), name)),
            (Some(catalog), schema) => Resolved::External(format!("{catalog}.{}.{name}", schema.unwrap_or("main"))),
            (None, Some(schema)) if self.has(schema, name) || self.has_schema(schema) => {
                Resolved::Lake(dotted(schema, name))
            }
            (None, Some(schema)) if is_lake(schema) => Resolved::Lake(dotted("main", name)),
            (None, Some(schema)) if self.catalogs.contains(&schema.to_lowercase()) => {
                Resolved::External(format!("{schema}.main.{name}"))
            }
            (None, Some(schema)) => Resolved::Lake(dotted(schema, name)),
            (None, None) if !self.has("main", name) && looks_like_file(name) => Resolved::External(name.to_owned()),
            (None, None) => Resolved::Lake(dotted("main", name)),
        })
    }
}

/// Table functions that read nothing.
const GENERATORS: [&str; 5] = ["range", "generate_series", "unnest", "repeat", "repeat_row"];

/// Where one reference leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
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
    let mut found = Found { names, parser, depends: Vec::new(), view_schema: None, expanded: BTreeSet::new() };
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

/// The names that `tree` depends on through macros and through SQL in texts, as [`depends_on`] gives them.
pub fn read_by_macros(tree: &SyntaxTree, names: &Names, parser: &dyn SqlParser) -> Vec<String> {
    let mut found = Found { names, parser, depends: Vec::new(), view_schema: None, expanded: BTreeSet::new() };
    for reference in references(tree) {
        if let Reference::Function { name, texts, literal, .. } = reference {
            found.add_function(&name, &texts, literal);
        }
    }
    found.add_macros(tree);
    found.depends
}

struct Found<'a> {
    names: &'a Names,
    parser: &'a dyn SqlParser,
    depends: Vec<String>,
    /// The schema of the view that is being looked through.
    view_schema: Option<String>,
    /// Views and macros already expanded: they may name each other in circles.
    expanded: BTreeSet<String>,
}

impl Found<'_> {
    fn add_tree(&mut self, tree: &SyntaxTree) {
        for reference in references(tree) {
            match reference {
                Reference::Table { catalog, schema, name, .. } => {
                    let schema = schema.or_else(|| self.schema_of(catalog.as_deref(), &name));
                    if let Some(resolved) = self.names.resolve(catalog.as_deref(), schema.as_deref(), &name) {
                        self.add(&resolved);
                    }
                }
                Reference::Function { name, texts, literal, .. } => self.add_function(&name, &texts, literal),
            }
        }
        self.add_macros(tree);
    }

    /// Within a view a bare name is one of the view's schema first.
    fn schema_of(&self, catalog: Option<&str>, name: &str) -> Option<String> {
        let schema = self.view_schema.as_ref().filter(|_| catalog.is_none())?;
        self.names.has(schema, name).then(|| schema.clone())
    }

    fn add_macros(&mut self, tree: &SyntaxTree) {
        if self.names.macros.is_empty() {
            return;
        }
        for name in called_functions(tree) {
            self.expand_macro(&name);
        }
    }

    fn expand_macro(&mut self, name: &str) {
        for (at, definition) in self.names.macros.get(name).into_iter().flatten().enumerate() {
            self.expand(&format!("macro {name} {at}"), definition);
        }
    }

    fn add(&mut self, resolved: &Resolved) {
        let (Resolved::Lake(name) | Resolved::External(name)) = resolved;
        if !self.depends.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            self.depends.push(name.clone());
        }
        if let Resolved::Lake(name) = resolved {
            let key = name.to_lowercase();
            if let Some((schema, sql)) = self.names.views.get(&key) {
                let around = self.view_schema.replace(schema.clone());
                self.expand(&format!("view {key}"), sql);
                self.view_schema = around;
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

    /// The two ways without a tree: the engine's own list, else what the text names. A statement of which
    /// nothing is known for certain is unverifiable, never unchanged.
    fn add_without_tree(&mut self, sql: &str) {
        let before = self.depends.len();
        if let Some(tables) = self.parser.table_names(sql) {
            for table in &tables {
                self.add_chain(table);
            }
        }
        for mention in mentions(sql) {
            match mention {
                Mention::Function { name, place } => {
                    self.expand_macro(&name);
                    let reads = name.starts_with("read_") || name.ends_with("_scan");
                    if place == MentionPlace::From || reads {
                        self.add_function(&name, &[], false);
                    }
                }
                Mention::File(path) => self.add(&Resolved::External(path)),
                Mention::Chain { names, place } => self.add_mention(&names, place),
            }
        }
        if self.depends.len() == before {
            self.add(&Resolved::External("unparsed()".into()));
        }
    }

    /// A chain counts if it names what is known to exist; a single word only where a table may stand, for
    /// elsewhere it is a column, and would make circles that are none.
    fn add_mention(&mut self, names: &[String], place: MentionPlace) {
        let may_be_table = names.len() > 1 || place != MentionPlace::Elsewhere;
        match self.resolve_chain(names).filter(|_| may_be_table) {
            Some(Resolved::Lake(name)) if !self.names.is_known(&name.to_lowercase()) => {}
            Some(resolved) => self.add(&resolved),
            None => {}
        }
    }

    fn add_chain(&mut self, text: &str) {
        // An alias or a sample clause may follow the name.
        if let Some(Mention::Chain { names, .. }) = mentions(text).first()
            && let Some(resolved) = self.resolve_chain(names)
        {
            self.add(&resolved);
        }
    }

    fn resolve_chain(&self, chain: &[String]) -> Option<Resolved> {
        match chain {
            [name] => self.names.resolve(None, None, name),
            [schema, name] => self.names.resolve(None, Some(schema), name),
            [catalog, schema, name] => self.names.resolve(Some(catalog), Some(schema), name),
            _ => None,
        }
    }
}

fn looks_like_file(name: &str) -> bool {
    name.contains(['.', '/', '*', ':'])
}

/// Something that a text names.
#[derive(Debug, PartialEq, Eq)]
enum Mention {
    /// Names joined by points, unquoted.
    Chain { names: Vec<String>, place: MentionPlace },
    /// A name before a bracket, in lower case.
    Function { name: String, place: MentionPlace },
    /// A text where a table is expected.
    File(String),
}

/// What stands before a mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MentionPlace {
    /// FROM, JOIN, PIVOT or UNPIVOT: it is a table.
    From,
    /// A comma: it is a table or a column.
    Comma,
    /// Anything else.
    Elsewhere,
}

/// What `sql` names, in order.
fn mentions(sql: &str) -> Vec<Mention> {
    let code = Code::new(sql);
    let is_name = |at: usize| matches!(code.kind(at), Some(TokenKind::Word | TokenKind::QuotedName));
    let mut mentions = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let place = match at.checked_sub(1) {
            Some(before) if code.is(before, &["from", "join", "pivot", "unpivot"]) => MentionPlace::From,
            Some(before) if code.is(before, &[","]) => MentionPlace::Comma,
            _ => MentionPlace::Elsewhere,
        };
        if is_name(at) {
            let mut names = vec![code.value(at)];
            while code.is(at + 1, &["."]) && is_name(at + 2) {
                at += 2;
                names.push(code.value(at));
            }
            mentions.push(match &names[..] {
                [.., name] if code.is(at + 1, &["("]) => Mention::Function { name: name.to_lowercase(), place },
                _ => Mention::Chain { names, place },
            });
        } else if code.kind(at) == Some(TokenKind::Text) && place == MentionPlace::From {
            mentions.push(Mention::File(code.value(at)));
        }
        at += 1;
    }
    mentions
}

#[cfg(test)]
mod tests {
    use super::{Mention, MentionPlace, mentions};

    #[test]
    fn names_functions_and_files_are_told_apart() {
        let found: Vec<String> =
            mentions("PIVOT raw . \"My \"\"T\"\"\" /* x.y */, u ON qty USING sum(v) JOIN f(x), 'no' FROM 'd.csv'")
                .into_iter()
                .map(|mention| match mention {
                    Mention::Chain { names, place } => format!("{}{}", names.join("."), mark(place)),
                    Mention::Function { name, place } => format!("{name}(){}", mark(place)),
                    Mention::File(path) => format!("file {path}"),
                })
                .collect();
        let expected = [
            "PIVOT",
            "raw.My \"T\" from",
            "u comma",
            "ON",
            "qty",
            "USING",
            "sum()",
            "v",
            "JOIN",
            "f() from",
            "x",
            "FROM",
            "file d.csv",
        ];
        assert_eq!(found, expected);
    }

    fn mark(place: MentionPlace) -> &'static str {
        match place {
            MentionPlace::From => " from",
            MentionPlace::Comma => " comma",
            MentionPlace::Elsewhere => "",
        }
    }
}
