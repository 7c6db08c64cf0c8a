//! What an incremental run of `append` and `merge` reads: what is new in its sources where that gives the
//! right rows, else everything (chapter 02 §4).

use engine::{EngineError, EngineParser, LakeView};
use feed::{TempNames, Window};
use materialize::ResultRows;
use model::{SyntaxTree, TreeError};
use query::{Functions, LakeTable, Named, Query, Term, same_meaning};
use types::{Kind, Reason, Target};

use crate::deltas::{Plan, Reads, Whole, number, plan_append, plan_merge};
use crate::known::{Found, Known};
use crate::planning::PlannedModel;

/// What a run is to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// The whole query.
    Whole,
    /// What is new since a snapshot, which the last commit may not tell.
    Delta { since: Option<i64> },
    /// The same, and nothing where that is not known.
    Keep { since: Option<i64> },
}

/// Why an attempt with a delta failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fallback {
    /// A statement that reads the changes failed.
    Unreadable(String),
    /// The rewritten query was refused.
    Refused(String),
    /// The table has to be written as a whole.
    NeedsWhole,
}

/// The text that is run for a model, and what to say about it.
#[derive(Clone)]
pub(crate) struct Source {
    pub sql: String,
    pub rows: ResultRows,
    /// Whether `sql` is the model's text, so that positions in it are positions in the file.
    pub own_text: bool,
    /// Whether it gives only what is new.
    pub partial: bool,
    /// The reason of the run, where it is another than the decision's.
    pub reason: Option<Reason>,
    /// A text for the user.
    pub warning: Option<String>,
    /// What to drop afterwards.
    pub temp: Vec<TempNames>,
}

impl Source {
    /// The model's own query.
    pub(crate) fn whole(planned: &PlannedModel) -> Self {
        Self {
            sql: planned.model.sql().to_owned(),
            rows: ResultRows::All,
            own_text: true,
            partial: false,
            reason: None,
            warning: None,
            temp: Vec::new(),
        }
    }

    /// The model's own query, after a delta failed; nothing, if rows were to be kept.
    pub(crate) fn after(fallback: &Fallback, planned: &PlannedModel, read: Read) -> Self {
        let (reason, warning) = match (fallback, read) {
            (Fallback::Unreadable(cause) | Fallback::Refused(cause), Read::Keep { .. }) => {
                return Self::kept(planned, cause);
            }
            (Fallback::Unreadable(cause), _) => {
                ("changes cannot be read", Some(format!("CDC failed, using full query: {cause}")))
            }
            (Fallback::Refused(cause), _) => {
                let warning = format!("CDC query failed ({cause}), retrying with full query");
                ("the rewritten query was refused", Some(warning))
            }
            (Fallback::NeedsWhole, _) => ("the table is written anew", None),
        };
        Self { reason: Some(Reason::FullQuery(reason.into())), warning, ..Self::whole(planned) }
    }

    /// Nothing is added to rows that were to be kept.
    pub(crate) fn kept(planned: &PlannedModel, why: &str) -> Self {
        Self { warning: Some(format!("kept, and nothing added: {why}")), ..Self::nothing(planned) }
    }

    /// The columns of the model's query, and no row.
    fn nothing(planned: &PlannedModel) -> Self {
        Self { rows: ResultRows::None, partial: true, ..Self::whole(planned) }
    }
}

/// Where deltas are planned.
pub(crate) struct Reader<'a> {
    pub known: &'a Known<'a>,
    pub planned: &'a PlannedModel,
    /// The snapshot at which the transaction reads.
    pub until: i64,
}

impl Reader<'_> {
    /// The text to run. After an error the transaction is lost; whatever else keeps changes from being read
    /// makes the whole query run, and is told.
    pub(crate) fn source(&self, read: Read) -> Result<Source, EngineError> {
        let (since, keep) = match read {
            Read::Whole => return Ok(Source::whole(self.planned)),
            Read::Delta { since } => (since, false),
            Read::Keep { since } => (since, true),
        };
        let found = match since {
            Some(since) => self.plan(since).and_then(|plan| self.written(plan)),
            None => Err(Whole::Unreadable("the last commit does not tell at which snapshot it read".into())),
        };
        match found {
            Ok(source) => Ok(source),
            Err(Whole::Failed(error)) => Err(error),
            Err(Whole::Meaning(why) | Whole::Unreadable(why)) if keep => Ok(Source::kept(self.planned, &why)),
            Err(Whole::Meaning(why)) => {
                Ok(Source { reason: Some(Reason::FullQuery(why)), ..Source::whole(self.planned) })
            }
            Err(Whole::Unreadable(why)) => Ok(Source {
                reason: Some(Reason::FullQuery("changes cannot be read".into())),
                warning: Some(format!("CDC failed, using full query: {why}")),
                ..Source::whole(self.planned)
            }),
        }
    }

    fn plan(&self, since: i64) -> Result<Plan, Whole> {
        let tree = EngineParser(&self.known.session.connection).complete_tree(self.planned.model.sql());
        let tree = tree.map_err(|error| match error {
            TreeError::Syntax { message, .. } | TreeError::NotSerializable { message } => Whole::Unreadable(message),
        })?;
        let functions = self.known.functions;
        let known = KnownNames {
            known: self.known,
            columns: needs_columns(&tree, functions) || !self.known.facts.views.is_empty(),
        };
        let query = Query::read(&tree, &known, functions);
        if let Some(name) = query.unknown() {
            return Err(Whole::Unreadable(format!("{name} is not known in the lake")));
        }
        let reads = Reads::of(self, &query);
        let tables: Vec<&Target> = reads.tables.values().collect();
        let session = self.known.session;
        let places = (session.lake.as_str(), session.metadata.as_str());
        let window = Window::open(&session.connection, places, (since, self.until), &tables)?;
        if let Some(view) = reads.views.iter().find(|(_, view_since)| *view_since > since) {
            return Err(Whole::Meaning(format!("view {} changed", view.0)));
        }
        if !reads.views.is_empty() && self.views_changed()? {
            return Err(Whole::Meaning("a view changed".into()));
        }
        match self.planned.model.kind {
            Kind::Append => plan_append(query, &reads, &window),
            _ => plan_merge(query, &reads, &window),
        }
    }

    /// Whether another tool changed a view since the facts were read: what is known of views is too old then.
    fn views_changed(&self) -> Result<bool, EngineError> {
        let (metadata, newest) = (&self.known.session.metadata, self.known.facts.newest());
        let sql = format!(
            "SELECT count(*) FROM {metadata}.ducklake_view WHERE begin_snapshot > {newest} OR end_snapshot > {newest}"
        );
        Ok(self.known.session.connection.query_value(&sql)?.as_i64() != Some(0))
    }

    fn written(&self, plan: Plan) -> Result<Source, Whole> {
        let (query, terms, temp) = match plan {
            Plan::Nothing => return Ok(Source::nothing(self.planned)),
            Plan::Deltas { terms, temp, .. } if terms.is_empty() => {
                return Ok(Source { temp, ..Source::nothing(self.planned) });
            }
            Plan::Deltas { query, terms, temp } => (query, terms, temp),
        };
        let per_batch = query.broken_by().filter(|_| self.planned.model.kind == Kind::Append);
        let reason = per_batch.map(Reason::PerBatch);
        if terms == [Term::default()] {
            return Ok(Source { partial: true, reason, temp, ..Source::whole(self.planned) });
        }
        let texts: Result<Vec<String>, Whole> = terms.iter().map(|term| self.text(&query, term)).collect();
        let texts = texts?;
        let sql = match &texts[..] {
            [only] => only.clone(),
            several => {
                let parts: Vec<String> = several.iter().map(|text| format!("SELECT * FROM ({text})")).collect();
                parts.join(" UNION ALL ")
            }
        };
        Ok(Source { sql, own_text: false, partial: true, reason, temp, ..Source::whole(self.planned) })
    }

    /// The SQL of a term, once it is certain that it says what its tree says.
    fn text(&self, query: &Query, term: &Term) -> Result<String, Whole> {
        let name = |at: usize, is_delta: bool| {
            let names = TempNames::new(number(query, at));
            if is_delta { names.delta } else { names.before }
        };
        let tree = query.rewritten(term, &name);
        let parser = EngineParser(&self.known.session.connection);
        let sql = parser.statement(&tree)?;
        match parser.complete_tree(&sql) {
            Ok(back) if same_meaning(&tree, &back) => Ok(sql),
            _ => Err(Whole::Unreadable("the engine cannot write this query back as text".into())),
        }
    }
}

/// Only an aggregate asks where a column without a table's name comes from.
fn needs_columns(tree: &SyntaxTree, functions: &Functions) -> bool {
    model::called_functions(tree).iter().any(|name| functions.is_aggregate(name))
}

/// What is known of names at the run's snapshot.
struct KnownNames<'a> {
    known: &'a Known<'a>,
    /// Whether columns are asked for.
    columns: bool,
}

impl KnownNames<'_> {
    fn view(&self, view: &LakeView) -> Named {
        let known = self.known;
        let Ok(tree) = EngineParser(&known.session.connection).complete_tree(&view.sql) else {
            return Named::Unknown;
        };
        let tree = known.in_schema(&tree, view);
        Named::View { tree, columns: self.columns(&Target::new(&view.schema, &view.name), view.renames) }
    }

    fn columns(&self, target: &Target, are_asked_for: bool) -> Vec<String> {
        if are_asked_for { self.known.columns(target).unwrap_or_default() } else { Vec::new() }
    }
}

impl query::Names for KnownNames<'_> {
    fn table(&self, catalog: Option<&str>, schema: Option<&str>, name: &str) -> Named {
        match self.known.find(catalog, schema, name) {
            Found::View(_, view) => self.view(view),
            Found::Table(_, target) => {
                let columns = self.columns(&target, self.columns);
                Named::Table(LakeTable { target, columns })
            }
            Found::Unknown(_) => Named::Unknown,
            Found::Foreign => Named::Foreign,
        }
    }

    fn reads_lake(&self, function: &str) -> bool {
        let function = function.to_lowercase();
        matches!(function.as_str(), "query" | "query_table") || self.known.names.macros.contains_key(&function)
    }
}
