//! The hash of a model's definition: what must differ for a rebuild (chapter 02 §2.2).

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};
use types::{Column, hex};

use crate::lexer::{Code, TokenKind, code_words, reachable_words, split_statements, tokens};
use crate::parse::Model;

/// `sql` without comments, blanks collapsed and letters lowered outside of texts and quoted names.
pub fn normalize(sql: &str) -> String {
    let mut normal = String::with_capacity(sql.len());
    let mut gap = false;
    for token in tokens(sql) {
        let text = &sql[token.span.clone()];
        if !token.is_code() {
            gap = true;
            continue;
        }
        if gap && !normal.is_empty() {
            normal.push(' ');
        }
        gap = false;
        match token.kind {
            TokenKind::Text | TokenKind::QuotedName => normal.push_str(text),
            _ => normal.push_str(&text.to_lowercase()),
        }
    }
    normal
}

/// SHA-256 of everything whose change rebuilds `model`, as 64 hex digits.
pub fn definition_hash(model: &Model, config: &ConfigDefinitions) -> String {
    let masks = model.columns.iter().filter_map(|doc| Some(format!("{}={}", doc.name.to_lowercase(), doc.mask()?)));
    let masks: BTreeSet<String> = masks.collect();
    // The functions of tags are called like those of the SQL.
    let called = model.masks().into_iter().map(|mask| mask.function.to_lowercase());
    let reachable = reachable_words(model.sql()).into_iter().chain(called).collect();
    let partitions: Vec<String> = model.partitioned_by.iter().map(ToString::to_string).collect();
    let parts = [
        ("sql", normalize(model.sql())),
        ("kind", model.kind.to_string()),
        ("unique_key", model.unique_key.as_ref().map_or_else(String::new, |key| key.value.clone())),
        ("group_key", model.group_key.join(",")),
        ("partitioned_by", partitions.join(",")),
        ("incremental", model.incremental.as_ref().map_or_else(String::new, |i| i.column.value.clone())),
        ("incremental_initial", model.incremental.as_ref().map_or_else(String::new, |i| i.initial.clone())),
        ("fetch", model.fetch.to_string()),
        ("push", model.push.as_ref().map_or_else(String::new, |push| push.function.clone())),
        ("masks", masks.into_iter().collect::<Vec<_>>().join(",")),
        ("config", config.used_by(reachable).join("\n")),
    ];
    let mut hash = Sha256::new();
    for (name, value) in parts {
        // Lengths keep one part's end from passing for another's beginning.
        hash.update(format!("{name}:{}:", value.len()));
        hash.update(value);
    }
    hex(&hash.finalize())
}

/// 32 hex digits over the sorted `name:type` of the columns.
pub fn schema_hash(columns: &[Column]) -> String {
    let mut lines: Vec<String> = columns.iter().map(|c| format!("{}:{}", c.name, c.type_name)).collect();
    lines.sort();
    hex(&Sha256::digest(lines.join("\n")))[..32].to_owned()
}

/// The statements of `config/` that can change what a model's SQL means, unexpanded, so that values of
/// the environment are no part of the hash.
#[derive(Debug, Clone, Default)]
pub struct ConfigDefinitions {
    statements: Vec<Definition>,
    macros: BTreeSet<String>,
    /// Those of them that are temporary.
    temporary: BTreeSet<String>,
    has_unknown_names: bool,
}

#[derive(Debug, Clone)]
struct Definition {
    /// Names by which SQL can refer to it, in lower case; any one of them does.
    names: Vec<String>,
    /// Words by which it may refer to others.
    reaches: Vec<String>,
    normal: String,
}

impl ConfigDefinitions {
    /// Adds a file of macros: each statement is known by the macro's name.
    pub fn add_macros(&mut self, sql: &str) {
        self.add(sql, |words| macro_name(words).into_iter().collect());
    }

    /// Adds a file of variables: each statement is known by the variable's name.
    pub fn add_variables(&mut self, sql: &str) {
        self.add(sql, |words| name_after(words, &["variable"]).into_iter().collect());
    }

    /// Adds `sources.sql` or `schemas.sql`: a statement is known by the catalog, schema or table it makes.
    pub fn add_sources(&mut self, sql: &str) {
        self.add(sql, source_names);
    }

    /// Whether a variable of the environment stands in the name of a macro, which then is not known.
    pub fn has_unknown_names(&self) -> bool {
        self.has_unknown_names
    }

    /// Names of the macros, in lower case.
    pub fn macros(&self) -> &BTreeSet<String> {
        &self.macros
    }

    /// Database and schema of a macro of this lower-case name, if there is one. Called without them, the engine would take
    /// one of the same name in the lake.
    pub fn macro_schema(&self, name: &str) -> Option<&'static str> {
        let schema = if self.temporary.contains(name) { "temp.main" } else { "memory.main" };
        self.macros.contains(name).then_some(schema)
    }

    fn add(&mut self, sql: &str, names: impl Fn(&[String]) -> Vec<String>) {
        for range in split_statements(sql) {
            let statement = &sql[range.clone()];
            let words = code_words(statement);
            if let Some(name) = macro_name(&words) {
                let is_temporary =
                    words.iter().map(String::as_str).take_while(|word| !MACRO.contains(word)).any(is_temporary);
                self.temporary.extend(is_temporary.then(|| name.clone()));
                self.macros.insert(name);
                let code = Code::new(statement);
                let mut head = (0..code.len()).map(|at| code.text(at)).take_while(|&text| text != "(");
                self.has_unknown_names |= head.any(|text| text.contains('$'));
            }
            let reaches = reachable_words(statement);
            self.statements.push(Definition { names: names(&words), normal: normalize(statement), reaches });
        }
    }

    /// The normalized statements that `words` refer to, directly or through others, in file order.
    fn used_by(&self, words: Vec<String>) -> Vec<&str> {
        let mut reachable: BTreeSet<usize> = BTreeSet::new();
        let mut pending = vec![words];
        while let Some(words) = pending.pop() {
            let words: BTreeSet<&String> = words.iter().collect();
            for (at, definition) in self.statements.iter().enumerate() {
                if definition.names.iter().any(|name| words.contains(name)) && reachable.insert(at) {
                    pending.push(definition.reaches.clone());
                }
            }
        }
        reachable.into_iter().map(|at| self.statements[at].normal.as_str()).collect()
    }
}

fn macro_name(words: &[String]) -> Option<String> {
    name_after(words, &MACRO)
}

const MACRO: [&str; 2] = ["macro", "function"];

fn is_temporary(word: &str) -> bool {
    ["temp", "temporary"].contains(&word)
}

/// The defined name: the word after the keyword, past `IF NOT EXISTS` and a qualifying catalog or schema.
fn name_after(words: &[String], keywords: &[&str]) -> Option<String> {
    let at = words.iter().position(|word| keywords.contains(&word.as_str()))?;
    let rest = &words[at + 1..];
    let rest = if rest.starts_with(&["if".into(), "not".into(), "exists".into()]) { &rest[3..] } else { rest };
    rest.iter().find(|word| !matches!(word.as_str(), "memory" | "main")).cloned()
}

/// `ATTACH … AS alias`: the alias. `CREATE … VIEW|TABLE|SCHEMA a.b`: every part of the name.
fn source_names(words: &[String]) -> Vec<String> {
    let after = |keyword: &str| words.iter().position(|word| word == keyword).map(|at| &words[at + 1..]);
    if words.first().is_some_and(|word| word == "attach") {
        return after("as").and_then(<[String]>::first).cloned().into_iter().collect();
    }
    if let Some(name) = name_after(words, &["macro", "function", "variable"]) {
        return vec![name];
    }
    let name = ["view", "table", "schema"].into_iter().find_map(after).unwrap_or_default();
    let is_name = |word: &&String| !matches!(word.as_str(), "if" | "not" | "exists");
    name.iter().take_while(|word| *word != "as").filter(is_name).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use types::Target;

    use super::{ConfigDefinitions, definition_hash, normalize};
    use crate::parse_model;

    fn hash(source: &str, config: &ConfigDefinitions) -> String {
        let model = parse_model(Path::new("m.sql"), source.into(), Target::new("a", "b")).expect(source);
        definition_hash(&model, config)
    }

    #[test]
    fn comments_blanks_and_case_outside_literals_do_not_count() {
        assert_eq!(normalize("SELECT  A,\n 'X  y' -- c\n/* d */ FROM \"T\""), "select a, 'X  y' from \"T\"");
        let config = ConfigDefinitions::default();
        let base = hash("SELECT a FROM t", &config);
        for same in
            ["select A\nfrom T", "-- @description: x\n-- @constraint: y(1)\n-- @sorted_by: a\nSELECT a FROM t -- c"]
        {
            assert_eq!(hash(same, &config), base, "{same}");
        }
        for other in [
            "SELECT 'A' FROM t",
            "SELECT a FROM t WHERE b = ' '",
            "-- @kind: append\nSELECT a FROM t",
            "-- @partitioned_by: a\nSELECT a FROM t",
            "-- @column: a = x | hash_pii\nSELECT a FROM t",
            "-- @incremental: a\nSELECT a FROM t",
            "-- @push: crm\nSELECT a FROM t",
        ] {
            assert_ne!(hash(other, &config), base, "{other}");
        }
        assert_eq!(
            hash("-- @push: crm('a')\nSELECT 1", &config),
            hash("-- @push: crm('b')\nSELECT 1", &config),
            "push arguments are not hashed"
        );
    }

    #[test]
    fn the_macro_of_a_masking_tag_counts_like_those_that_the_sql_names() {
        let config = |body: &str| {
            let mut config = ConfigDefinitions::default();
            config.add_macros(&format!("CREATE MACRO Mask_Own(v) AS {body};"));
            config
        };
        let tagged = "-- @column: a = x | mask_OWN\nSELECT a FROM t";
        assert_ne!(hash(tagged, &config("1")), hash(tagged, &config("2")));
        let other = "-- @column: a = x | redact\nSELECT a FROM t";
        assert_eq!(hash(other, &config("1")), hash(other, &config("2")));
        let described = "-- @column: a = other words | mask_OWN\nSELECT a FROM t";
        assert_eq!(hash(tagged, &config("1")), hash(described, &config("1")));
    }

    #[test]
    fn only_configuration_that_the_sql_names_counts_through_other_macros_too() {
        let config = |inner: &str, other: &str| {
            let mut config = ConfigDefinitions::default();
            config.add_macros(&format!("CREATE MACRO outer_m(x) AS inner_m(x); CREATE MACRO IF NOT EXISTS inner_m(x) AS {inner}; CREATE MACRO unused(x) AS {other};"));
            config.add_variables("SET VARIABLE limit_v = 1;");
            config.add_sources("ATTACH 'a.db' AS crm; ATTACH 'b.db' AS erp;");
            config
        };
        let sql = "SELECT outer_m(1)";
        assert_eq!(hash(sql, &config("1", "1")), hash(sql, &config("1 /* c */", "2")));
        assert_ne!(hash(sql, &config("1", "1")), hash(sql, &config("2", "1")));
        let mut changed = ConfigDefinitions::default();
        changed.add_variables("SET VARIABLE limit_v = 2;");
        let mut same = ConfigDefinitions::default();
        same.add_variables("set variable LIMIT_V=1;");
        assert_ne!(hash("SELECT getvariable('limit_v')", &changed), hash("SELECT getvariable('limit_v')", &same));
        let mut crm = ConfigDefinitions::default();
        crm.add_sources("ATTACH 'a2.db' AS crm; ATTACH 'b.db' AS erp;");
        assert_ne!(hash("SELECT * FROM crm.t", &crm), hash("SELECT * FROM crm.t", &config("1", "1")));
        assert_eq!(hash("SELECT * FROM erp.t", &crm), hash("SELECT * FROM erp.t", &config("1", "1")));
    }
}
