//! Which references of a query are read as deltas, by kind (chapter 02 §4.4).

use std::collections::{BTreeMap, BTreeSet};

use engine::{EngineError, EngineParser};
use feed::{TempNames, Window};
use plan::read_by_macros;
use query::{Query, Term};
use types::Target;

use crate::reading::Reader;

/// Why the whole query has to run.
pub(crate) enum Whole {
    /// Its meaning asks for it.
    Meaning(String),
    /// The changes cannot be read.
    Unreadable(String),
    /// A statement failed, and with it the transaction.
    Failed(EngineError),
}

impl From<EngineError> for Whole {
    fn from(error: EngineError) -> Self {
        Self::Failed(error)
    }
}

/// What to read.
pub(crate) enum Plan {
    Nothing,
    Deltas { query: Box<Query>, terms: Vec<Term>, temp: Vec<TempNames> },
}

/// Everything that a model reads, by lower-case name.
pub(crate) struct Reads {
    pub(crate) tables: BTreeMap<String, Target>,
    /// Tables that macros read.
    pub(crate) macros: BTreeSet<String>,
    /// Views, with the snapshots that made them.
    pub(crate) views: Vec<(String, i64)>,
    /// The first thing that is no table of the lake.
    pub(crate) foreign: Option<String>,
}

impl Reads {
    pub(crate) fn of(reader: &Reader<'_>, query: &Query) -> Self {
        let facts = reader.known.facts;
        let mut reads = Self { tables: BTreeMap::new(), macros: BTreeSet::new(), views: Vec::new(), foreign: None };
        for name in &reader.planned.depends {
            let key = name.to_lowercase();
            match (facts.views.get(&key), facts.tables.get(&key)) {
                (Some(view), _) => reads.views.push((name.clone(), view.since)),
                (None, Some(table)) => {
                    reads.tables.insert(key, Target::new(&table.schema, &table.name));
                }
                (None, None) => reads.foreign = reads.foreign.or_else(|| Some(name.clone())),
            }
        }
        for (_, table) in query.references() {
            reads.tables.entry(table.target.key()).or_insert_with(|| table.target.clone());
        }
        if let Ok(tree) = &reader.planned.tree {
            let parser = EngineParser(&reader.known.session.connection);
            let by_macros = read_by_macros(tree, reader.known.names, &parser);
            reads.macros = by_macros.iter().map(|name| name.to_lowercase()).collect();
        }
        reads
    }
}

/// Lookups emit nothing; what drives, or reaches the result through an aggregate, emits its new rows.
pub(crate) fn plan_append(query: Query, reads: &Reads, window: &Window<'_>) -> Result<Plan, Whole> {
    let drivers = query.drivers();
    if !drivers.opaque.is_empty() {
        // What such a part reads, be it in a subquery or a macro, is everything but the tables that drive others.
        let parts: BTreeSet<String> =
            drivers.opaque.iter().flatten().filter_map(|&at| Some(query.table(at)?.target.key())).collect();
        let drives_another =
            |key: &String| drivers.tables.iter().any(|&at| query.table(at).is_some_and(|t| t.target.key() == *key));
        let is_read = |key: &String| parts.contains(key) || reads.macros.contains(key) || !drives_another(key);
        let changed = reads.tables.iter().any(|(key, table)| is_read(key) && window.may_have_changed(table));
        let why = || query.broken_by().unwrap_or("query without a driving table").to_owned();
        match &reads.foreign {
            _ if changed => return Err(Whole::Meaning(why())),
            Some(name) => return Err(Whole::Meaning(format!("{}, which reads {name}", why()))),
            None => {}
        }
    }
    let candidates = query.candidates();
    deltas(query, &candidates, window)
}

/// Each touched key gets the row that the whole query gives it, or the whole query runs.
pub(crate) fn plan_merge(query: Query, reads: &Reads, window: &Window<'_>) -> Result<Plan, Whole> {
    let changed: BTreeSet<&String> =
        reads.tables.iter().filter(|(_, table)| window.may_have_changed(table)).map(|(key, _)| key).collect();
    let columns_changed = reads.tables.values().any(|table| window.columns_changed(table));
    if changed.is_empty() && reads.foreign.is_none() && !columns_changed {
        return Ok(Plan::Nothing);
    }
    if let Some(table) = reads.tables.values().find(|table| window.is_lost(table)) {
        return Err(lost(table));
    }
    if let Some(table) = reads.tables.values().find(|table| window.columns_changed(table)) {
        return Err(Whole::Meaning(format!("columns of {table} changed")));
    }
    let drivers = query.drivers();
    if let Some(what) = query.broken_by() {
        return Err(Whole::Meaning(what.into()));
    }
    if let Some(name) = &reads.foreign {
        return Err(Whole::Meaning(format!("reads {name}")));
    }
    if drivers.outside || !drivers.opaque.is_empty() {
        return Err(Whole::Meaning("query without a driving table".into()));
    }
    let driving: BTreeSet<String> =
        drivers.tables.iter().filter_map(|&at| Some(query.table(at)?.target.key())).collect();
    let looked_up = query.references().filter(|(at, _)| !drivers.tables.contains(at));
    let looked_up: BTreeSet<String> =
        looked_up.map(|(_, table)| table.target.key()).chain(reads.macros.iter().cloned()).collect();
    let other = changed.iter().find(|key| looked_up.contains(**key) || !driving.contains(**key));
    if let Some(key) = other {
        let name = reads.tables.get(*key).map_or_else(|| (*key).clone(), ToString::to_string);
        return Err(Whole::Meaning(format!("{name} changed")));
    }
    deltas(query, &drivers.tables, window)
}

fn lost(table: &Target) -> Whole {
    Whole::Unreadable(format!("the snapshot at which {table} was read is gone"))
}

/// Finds the new rows of the candidates' tables, each table once.
fn deltas(query: Query, candidates: &BTreeSet<usize>, window: &Window<'_>) -> Result<Plan, Whole> {
    let targets = || candidates.iter().filter_map(|&at| Some(&query.table(at)?.target));
    if let Some(table) = targets().find(|table| window.is_lost(table)) {
        return Err(lost(table));
    }
    let mut temp = Vec::new();
    let mut has_new: BTreeMap<usize, bool> = BTreeMap::new();
    for &at in candidates {
        let (Some(table), number) = (query.table(at), number(&query, at)) else { continue };
        if has_new.contains_key(&number) {
            continue;
        }
        let names = TempNames::new(number);
        let delta = window.delta(&table.target, &names)?;
        temp.push(names);
        has_new.insert(number, delta.rows > 0);
    }
    let is_changed = |at: &usize| has_new.get(&number(&query, *at)) == Some(&true);
    let changed: BTreeSet<usize> = candidates.iter().copied().filter(is_changed).collect();
    let Some(terms) = query.terms(&changed) else {
        window.forget(&temp)?;
        return Err(Whole::Meaning("changes on both sides of a join that cannot be told apart".into()));
    };
    let befores: BTreeSet<usize> = terms.iter().flat_map(|term| &term.befores).map(|&at| number(&query, at)).collect();
    for at in befores {
        if let Some(table) = query.table(at) {
            window.before(&table.target, &TempNames::new(at))?;
        }
    }
    Ok(Plan::Deltas { query: Box::new(query), terms, temp })
}

/// The number of a table's temporary relations: its first reference's.
pub(crate) fn number(query: &Query, at: usize) -> usize {
    let Some(table) = query.table(at) else { return at };
    let key = table.target.key();
    query.references().find(|(_, other)| other.target.key() == key).map_or(at, |(first, _)| first)
}
