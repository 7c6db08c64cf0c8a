//! A query, read: its references with their roles, and the queries that read deltas in their place.

use std::collections::{BTreeMap, BTreeSet};

use model::SyntaxTree;
use serde_json::Value;

use crate::feeds::aggregated;
use crate::index::{TableRef, table_refs};
use crate::lateral::Laterals;
use crate::rewrite::rewrite;
use crate::rowwise::RowWise;
use crate::shape::{Builder, Shape};
use crate::terms::{Term, terms};
use crate::views::expand_views;
use crate::{Functions, LakeTable, Named, Names};

/// The pointer of a statement's own query.
const ROOT: &str = "/statements/0/node";

/// A SELECT with its views expanded.
#[derive(Debug, Clone)]
pub struct Query {
    tree: Value,
    refs: Vec<TableRef>,
    tables: Vec<Option<LakeTable>>,
    unknown: Option<String>,
    shape: Shape,
    aggregated: BTreeSet<usize>,
    broken_by: Option<&'static str>,
}

/// Where the rows of a query come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drivers {
    /// Driving references to tables of the lake.
    pub tables: BTreeSet<usize>,
    /// Whether some rows come from outside of the lake, or from nowhere.
    pub outside: bool,
    /// For each part that has no driving reference: the tables that it reads.
    pub opaque: Vec<BTreeSet<usize>>,
}

impl Query {
    /// Reads a complete tree (one that leaves out nothing).
    pub fn read(tree: &SyntaxTree, names: &dyn Names, functions: &Functions) -> Self {
        let tree = expand_views(&tree.0, names);
        let refs = table_refs(&tree);
        let stands_for = |known: &TableRef| {
            let (catalog, schema) = (known.catalog.as_deref(), known.schema.as_deref());
            known.cte.is_none().then(|| names.table(catalog, schema, &known.name))
        };
        let (mut tables, mut unknown) = (Vec::new(), None);
        for known in &refs {
            tables.push(match stands_for(known) {
                Some(Named::Table(table)) => Some(table),
                // A view is left only where views go round in circles.
                Some(Named::Unknown | Named::View { .. }) => {
                    unknown = unknown.or_else(|| Some(known.name.clone()));
                    None
                }
                Some(Named::Foreign) | None => None,
            });
        }
        let columns = |at: usize| tables[at].as_ref().map_or_else(Vec::new, |table: &LakeTable| table.columns.clone());
        let laterals = Laterals { tree: &tree, refs: &refs, columns: &columns, functions };
        let mut uses: BTreeMap<String, usize> = BTreeMap::new();
        for body in refs.iter().filter_map(|known| known.cte.clone()) {
            *uses.entry(body).or_default() += 1;
        }
        let builder = Builder {
            tree: &tree,
            refs: &refs,
            is_table: &|at| tables[at].is_some(),
            reads_lake: &|name| names.reads_lake(name),
            is_correlated: &|pointer| laterals.is_correlated(pointer),
            uses,
        };
        let shape = builder.query(ROOT);
        let aggregated = aggregated(&tree, &refs, &tables, functions);
        let broken_by = RowWise { tree: &tree, refs: &refs, functions }.broken_by(ROOT);
        Self { tree, refs, tables, unknown, shape, aggregated, broken_by }
    }

    /// A name that should be known, and is not.
    pub fn unknown(&self) -> Option<&str> {
        self.unknown.as_deref()
    }

    /// The table of the lake that a reference names.
    pub fn table(&self, reference: usize) -> Option<&LakeTable> {
        self.tables.get(reference)?.as_ref()
    }

    /// All references to tables of the lake.
    pub fn references(&self) -> impl Iterator<Item = (usize, &LakeTable)> {
        self.tables.iter().enumerate().filter_map(|(at, table)| Some((at, table.as_ref()?)))
    }

    /// Where the rows come from.
    pub fn drivers(&self) -> Drivers {
        let mut drivers = Drivers::default();
        for shape in self.shape.drivers() {
            match shape {
                Shape::Table(at) => {
                    drivers.tables.insert(*at);
                }
                Shape::Whole => drivers.outside = true,
                other => drivers.opaque.push(self.lake_tables(other)),
            }
        }
        drivers
    }

    /// References whose new rows make new rows of the result: the driving ones, and those that reach it
    /// through an aggregate.
    pub fn candidates(&self) -> BTreeSet<usize> {
        let aggregated = self.shape.leaves().into_iter().filter(|at| self.aggregated.contains(at));
        self.drivers().tables.into_iter().chain(aggregated).collect()
    }

    /// What keeps rows of the result from coming each from one row of the driving reference.
    pub fn broken_by(&self) -> Option<&'static str> {
        self.broken_by
    }

    /// The queries that together give the rows which contain a new row of the `changed` references; `None` if
    /// there are no such queries.
    pub fn terms(&self, changed: &BTreeSet<usize>) -> Option<Vec<Term>> {
        terms(&self.shape, changed)
    }

    /// The tree that reads what `relation` names in the place of a term's references; `true` is asked for a
    /// delta, `false` for what is left without it.
    pub fn rewritten(&self, term: &Term, relation: &dyn Fn(usize, bool) -> String) -> SyntaxTree {
        SyntaxTree(rewrite(&self.tree, &self.refs, term, relation))
    }

    fn lake_tables(&self, shape: &Shape) -> BTreeSet<usize> {
        shape.tables().into_iter().filter(|&at| self.tables[at].is_some()).collect()
    }
}
