//! A model file's text → [`Model`]: header, values, compatibility, body.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use types::{Kind, Place, Rule, Target};

use crate::body::find_statement;
use crate::column_tags::{ColumnDoc, parse_column};
use crate::compatibility::check_compatibility;
use crate::directive_values::{PartitionTerm, PushCall, check_column, column_list, partition_terms, push_call};
use crate::finding::Finding;
use crate::header::{Directive, Header, HeaderProblem, read_header};

/// A value with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written<T> {
    /// The value.
    pub value: T,
    /// Bytes of the value in the file.
    pub span: Range<usize>,
}

/// The cursor of `@incremental`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incremental {
    /// The cursor column.
    pub column: Written<String>,
    /// Value before the first run, `@incremental_initial`.
    pub initial: String,
}

/// A model file that obeys every rule which its text alone can break.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The table it writes.
    pub target: Target,
    /// The file, relative to the project.
    pub path: PathBuf,
    /// The file's text.
    pub source: Arc<str>,
    /// Bytes of the SQL statement in the file.
    pub body: Range<usize>,
    /// How the table is written.
    pub kind: Kind,
    /// `@unique_key`.
    pub unique_key: Option<Written<String>>,
    /// `@group_key`.
    pub group_key: Vec<String>,
    /// `@incremental` and `@incremental_initial`.
    pub incremental: Option<Incremental>,
    /// `@partitioned_by`.
    pub partitioned_by: Vec<PartitionTerm>,
    /// `@sorted_by`.
    pub sorted_by: Vec<String>,
    /// `@fetch`.
    pub fetch: bool,
    /// `@push`.
    pub push: Option<PushCall>,
    /// `@constraint`, as written.
    pub constraints: Vec<Written<String>>,
    /// `@audit`, as written.
    pub audits: Vec<Written<String>>,
    /// `@warning`, as written.
    pub warnings: Vec<Written<String>>,
    /// `@description`.
    pub description: Option<String>,
    /// `@column`, the last one per column, in the order first named.
    pub columns: Vec<ColumnDoc>,
    /// `@extension`, as written: checked when the model runs.
    pub extensions: Vec<Written<String>>,
}

impl Model {
    /// The SQL statement.
    pub fn sql(&self) -> &str {
        &self.source[self.body.clone()]
    }

    /// The place of bytes `span` of the file.
    pub fn place(&self, span: Range<usize>) -> Place {
        Place::new(self.path.clone(), Arc::clone(&self.source), span)
    }

    /// The place of byte `offset` of the SQL statement.
    pub fn sql_place(&self, offset: usize) -> Place {
        let start = self.body.start + offset.min(self.body.len());
        Place::word_at(self.path.clone(), &self.source, start)
    }
}

/// Parses the file `path` (relative to the project), or says everything that is wrong with it.
pub fn parse_model(path: &Path, source: Arc<str>, target: Target) -> Result<Model, Vec<Finding>> {
    let header = read_header(&source);
    let mut reader = Reader::new(path, source, target);
    reader.header_problems(&header);
    for directive in &header.directives {
        reader.directive(directive);
    }
    reader.finish(&header)
}

/// Collects values and findings while the directives are read in file order.
struct Reader {
    model: Model,
    findings: Vec<Finding>,
    initial: Option<String>,
    spans: Spans,
}

/// Where the directives that compatibility looks at were written.
#[derive(Default)]
pub(crate) struct Spans {
    pub kind: Option<Range<usize>>,
    pub unique_key: Option<Range<usize>>,
    pub group_key: Option<Range<usize>>,
    pub push: Option<Range<usize>>,
}

impl Reader {
    fn new(path: &Path, source: Arc<str>, target: Target) -> Self {
        let model = Model {
            target,
            path: path.to_owned(),
            source,
            body: 0..0,
            kind: Kind::default(),
            unique_key: None,
            group_key: Vec::new(),
            incremental: None,
            partitioned_by: Vec::new(),
            sorted_by: Vec::new(),
            fetch: false,
            push: None,
            constraints: Vec::new(),
            audits: Vec::new(),
            warnings: Vec::new(),
            description: None,
            columns: Vec::new(),
            extensions: Vec::new(),
        };
        Self { model, findings: Vec::new(), initial: None, spans: Spans::default() }
    }

    fn find(&mut self, rule: Rule, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        let place = self.model.place(span);
        self.findings.push(Finding::new(rule, place, message, help));
    }

    fn header_problems(&mut self, header: &Header) {
        for problem in &header.problems {
            match problem {
                HeaderProblem::Unknown { word, span, suggestion } => {
                    let line = self.model.place(span.clone()).line();
                    let help = match suggestion {
                        Some(known) if known == word => {
                            format!("@{known} is known, and lacks its value: write `-- @{known}: value`")
                        }
                        Some(known) => format!("did you mean `@{known}`?"),
                        None => "a directive is `-- @name: value`; to keep a comment, do not begin it with `@`".into(),
                    };
                    self.find(
                        Rule::InvalidDirective,
                        span.clone(),
                        format!("unknown directive @{word} on line {line}"),
                        help,
                    );
                }
                HeaderProblem::AfterBody { word, span } => self.find(
                    Rule::InvalidDirective,
                    span.clone(),
                    format!("@{word} appears after SQL body"),
                    "move it above the SQL statement",
                ),
                HeaderProblem::Unterminated { span } => self.find(
                    Rule::UnterminatedBlockComment,
                    span.clone(),
                    "unterminated `/*`",
                    "close the comment with `*/`",
                ),
            }
        }
    }

    fn directive(&mut self, directive: &Directive) {
        let written = || Written { value: directive.value.clone(), span: directive.value_span.clone() };
        match directive.name.as_str() {
            "kind" => self.kind(directive),
            "unique_key" => self.unique_key(directive),
            "group_key" => {
                self.spans.group_key = Some(directive.name_span.clone());
                if let Some(columns) = self.columns(directive, Rule::InvalidValue, "invalid group_key") {
                    self.model.group_key = columns;
                }
            }
            "incremental" => self.incremental(directive),
            "incremental_initial" => self.initial = Some(unquoted(&directive.value).to_owned()),
            "partitioned_by" => match partition_terms(&directive.value) {
                Ok(terms) => self.model.partitioned_by.extend(terms),
                Err(message) => self.value_problem(Rule::InvalidPartitionedBy, directive, message),
            },
            "sorted_by" => {
                if let Some(columns) = self.columns(directive, Rule::InvalidSortedBy, "invalid sorted_by column") {
                    self.model.sorted_by.extend(columns);
                }
            }
            "fetch" if directive.value.is_empty() => self.model.fetch = true,
            "fetch" => {
                self.value_problem(Rule::InvalidValue, directive, "@fetch is a bare marker, nothing may follow it");
            }
            "push" => {
                self.spans.push = Some(directive.name_span.clone());
                match push_call(&directive.value) {
                    Ok(call) => self.model.push = Some(call),
                    Err(message) => self.value_problem(Rule::InvalidValue, directive, message),
                }
            }
            "constraint" => self.model.constraints.push(written()),
            "audit" => self.model.audits.push(written()),
            "warning" => self.model.warnings.push(written()),
            "description" => self.model.description = Some(directive.value.clone()),
            "column" => self.column(directive),
            "extension" => self.model.extensions.push(written()),
            removed => self.removed(removed, directive),
        }
    }

    fn kind(&mut self, directive: &Directive) {
        let replacement = match directive.value.as_str() {
            "partition" => Some("use `tracked` with `@group_key`"),
            "view" => Some("use `table`"),
            "events" => Some("use `append`"),
            _ => None,
        };
        if let Some(kind) = Kind::parse(&directive.value) {
            self.model.kind = kind;
            self.spans.kind = Some(directive.value_span.clone());
        } else if let Some(replacement) = replacement {
            let message = format!("kind `{}` was removed: {replacement}", directive.value);
            self.find(Rule::RemovedKind, directive.value_span.clone(), message, replacement);
        } else {
            let message = format!("invalid kind \"{}\"", directive.value);
            let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
            self.find(
                Rule::InvalidKind,
                directive.value_span.clone(),
                message,
                format!("the kinds are {}", kinds.join(", ")),
            );
        }
    }

    fn unique_key(&mut self, directive: &Directive) {
        self.spans.unique_key = Some(directive.name_span.clone());
        if directive.value.contains(',') {
            let message = format!("only a single unique_key column is allowed, not `{}`", directive.value);
            let help =
                "for a key of several columns use `@kind: tracked` with `@group_key`, or build one column from them";
            return self.find(Rule::InvalidUniqueKey, directive.value_span.clone(), message, help);
        }
        match check_column(&directive.value) {
            Ok(()) => {
                self.model.unique_key =
                    Some(Written { value: directive.value.clone(), span: directive.value_span.clone() });
            }
            Err(why) => {
                self.value_problem(
                    Rule::InvalidUniqueKey,
                    directive,
                    format!("invalid unique_key `{}`: {why}", directive.value),
                );
            }
        }
    }

    fn incremental(&mut self, directive: &Directive) {
        match check_column(&directive.value) {
            Ok(()) => {
                let column = Written { value: directive.value.clone(), span: directive.value_span.clone() };
                self.model.incremental = Some(Incremental { column, initial: String::new() });
            }
            Err(why) => {
                let message = format!("invalid incremental column `{}`: {why}", directive.value);
                self.value_problem(Rule::InvalidIncremental, directive, message);
            }
        }
    }

    fn columns(&mut self, directive: &Directive, rule: Rule, prefix: &str) -> Option<Vec<String>> {
        column_list(&directive.value)
            .map_err(|why| self.value_problem(rule, directive, format!("{prefix}: {why}")))
            .ok()
    }

    fn column(&mut self, directive: &Directive) {
        match parse_column(&directive.value, directive.value_span.clone()) {
            Err(message) => self.value_problem(Rule::InvalidValue, directive, message),
            Ok(doc) => match self.model.columns.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&doc.name)) {
                None => self.model.columns.push(doc),
                Some(known) => {
                    // Description and tags are replaced independently: each only by what is given.
                    if !doc.description.is_empty() {
                        known.description = doc.description;
                    }
                    if !doc.tags.is_empty() {
                        known.tags = doc.tags;
                    }
                    known.span = doc.span;
                }
            },
        }
    }

    fn removed(&mut self, name: &str, directive: &Directive) {
        let (rule, message, help) = match name {
            "sink" => (Rule::DeprecatedSink, "@sink was renamed to @push".to_owned(), "write `-- @push: name`"),
            "script" => {
                (Rule::DeprecatedScript, "@script was removed".into(), "write a lib function and a model with `@fetch`")
            }
            "sink_detect_deletes" => (
                Rule::DeprecatedSinkDetectDeletes,
                "@sink_detect_deletes was removed".into(),
                "deletes are part of the table's changes: `@push` sends them",
            ),
            _ => (
                Rule::DeprecatedSinkDeleteThreshold,
                format!("@{name} was removed"),
                "use an `@audit` on the row count",
            ),
        };
        self.find(rule, directive.name_span.clone(), message, help);
    }

    fn value_problem(&mut self, rule: Rule, directive: &Directive, message: impl Into<String>) {
        self.find(rule, directive.value_span.clone(), message, format!("write `-- @{}`", form(&directive.name)));
    }

    fn finish(mut self, header: &Header) -> Result<Model, Vec<Finding>> {
        if let Some(incremental) = &mut self.model.incremental {
            incremental.initial = self.initial.take().unwrap_or_else(|| "1970-01-01T00:00:00Z".into());
        }
        // An open comment has swallowed the SQL: that it is not there is no second mistake.
        let is_open = header.problems.iter().any(|problem| matches!(problem, HeaderProblem::Unterminated { .. }));
        match find_statement(&self.model.source, header.body_start) {
            Ok(body) => self.model.body = body,
            Err(_) if is_open => {}
            Err((rule, message, span)) => {
                let help = if rule == Rule::Syntax { "close it" } else { "keep exactly one SELECT in the file" };
                self.find(rule, span, message, help);
            }
        }
        let findings = check_compatibility(&self.model, &self.spans);
        self.findings.extend(findings);
        if self.findings.is_empty() { Ok(self.model) } else { Err(self.findings) }
    }
}

/// How a directive is written.
fn form(name: &str) -> &str {
    match name {
        "unique_key" => "unique_key: column",
        "group_key" => "group_key: column, column",
        "incremental" => "incremental: column",
        "sorted_by" => "sorted_by: column, column",
        "partitioned_by" => "partitioned_by: column, year(column), bucket(8, column)",
        "fetch" => "fetch",
        "push" => "push: name('argument')",
        "column" => "column: name = description | tag",
        other => other,
    }
}

fn unquoted(value: &str) -> &str {
    ['\'', '"'].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use types::{Kind, Target};

    use super::{Model, parse_model};

    fn parse(source: &str) -> Result<Model, Vec<String>> {
        parse_model(Path::new("models/a/b.sql"), source.into(), Target::new("a", "b"))
            .map_err(|findings| findings.iter().map(|f| format!("{} {f}", f.rule.id())).collect())
    }

    fn only_error(source: &str) -> String {
        let errors = parse(source).expect_err(source);
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].clone()
    }

    #[test]
    fn a_model_without_directives_is_a_table() {
        let model = parse("SELECT 1;; -- done").unwrap();
        assert_eq!((model.kind, model.sql()), (Kind::Table, "SELECT 1"));
    }

    #[test]
    fn scalars_are_replaced_lists_grow_and_column_parts_are_replaced_alone() {
        let model = parse(
            "-- @kind: merge\n-- @kind: tracked\n-- @group_key: a, b\n-- @constraint: x\n-- @constraint: x\n\
             -- @sorted_by: a\n-- @sorted_by: b\n-- @column: c = text | mask_x\n-- @column: C = new\n\
             -- @incremental: ts\n-- @incremental_initial: '0'\nSELECT 1",
        )
        .unwrap();
        assert_eq!(model.kind, Kind::Tracked);
        assert_eq!(model.constraints.len(), 2);
        assert_eq!(model.sorted_by, ["a", "b"]);
        assert_eq!((model.columns[0].description.as_str(), model.columns[0].mask()), ("new", Some("mask_x")));
        assert_eq!(model.incremental.map(|i| i.initial).as_deref(), Some("0"));
    }

    #[test]
    fn each_rule_has_its_message_and_id() {
        for (source, expected) in [
            (
                "-- @kind: table -- note\nSELECT 1",
                "parser.invalid_kind parse models/a/b.sql: invalid kind \"table -- note\"",
            ),
            (
                "-- @kind: view\nSELECT 1",
                "parser.invalid_kind parse models/a/b.sql: kind `view` was removed: use `table`",
            ),
            ("-- @unique_key: a,b\n-- @kind: merge\nSELECT 1", "only a single unique_key column"),
            ("-- @unique_key: a.b\nSELECT 1", "invalid unique_key"),
            ("-- @kind: tracked\n-- @group_key: a,\nSELECT 1", "empty column name"),
            ("-- @incremental: a b\nSELECT 1", "invalid incremental column"),
            ("-- @sorted_by: a DESC\nSELECT 1", "parser.invalid_sorted_by"),
            ("-- @partitioned_by: week(a)\nSELECT 1", "unsupported partition transform"),
            ("-- @fetch x\nSELECT 1", "bare marker"),
            ("-- @push:\nSELECT 1", "@push requires"),
            ("-- @column: ssn\nSELECT 1", "there is no `=`"),
            ("-- @sink: x\nSELECT 1", "parser.deprecated_sink parse models/a/b.sql: @sink was renamed to @push"),
            ("-- @script: x\nSELECT 1", "@script was removed"),
            ("-- @sink_detect_deletes: x\nSELECT 1", "was removed"),
            ("-- only a comment", "no SQL body"),
            ("-- @kind: append\n/* open\nSELECT 1", "parser.unterminated_block_comment"),
            ("SELECT 1; SELECT 2", "parser.multi_statement parse models/a/b.sql: 2 SQL statements"),
        ] {
            let error = only_error(source);
            assert!(error.contains(expected), "{source:?} gave {error:?}");
        }
    }

    #[test]
    fn the_compatibility_matrix_of_chapter_01_3_4() {
        for (source, expected) in [
            ("-- @kind: merge\nSELECT 1", "parser.invalid_unique_key"),
            ("-- @kind: scd2\nSELECT 1", "`@unique_key` is required"),
            ("-- @kind: tracked\nSELECT 1", "`@group_key` is required"),
            ("-- @kind: tracked\n-- @group_key: a\n-- @unique_key: a\nSELECT 1", "tracked kind uses @group_key"),
            ("-- @group_key: a\nSELECT 1", "only valid for tracked"),
            ("-- @kind: append\n-- @group_key: a\nSELECT 1", "only valid for tracked"),
            ("-- @kind: scd2\n-- @unique_key: a\n-- @push: x\nSELECT 1", "push.kind_not_supported"),
            ("-- @fetch\n-- @push: x\nSELECT 1", "@fetch and @push cannot be combined"),
            ("-- @kind: tracked\n-- @group_key: _content_hash\nSELECT 1", "reserved"),
            ("-- @kind: scd2\n-- @unique_key: IS_CURRENT\nSELECT 1", "reserved"),
            ("-- @incremental: a\n-- @column: A = x | redact\nSELECT 1", "masking tag"),
        ] {
            let error = only_error(source);
            assert!(error.contains(expected), "{source:?} gave {error:?}");
        }
        assert!(parse("-- @unique_key: a\nSELECT 1").is_ok(), "@unique_key is ignored for table");
        assert!(parse("-- @kind: append\n-- @unique_key: a\n-- @push: x\nSELECT 1").is_ok());
    }

    #[test]
    fn places_point_at_the_value() {
        let findings =
            parse_model(Path::new("m.sql"), "\n-- @kind: tabel\nSELECT 1".into(), Target::new("a", "b")).unwrap_err();
        assert_eq!((findings[0].place.line(), findings[0].place.column()), (2, 11));
    }
}
