//! Column lineage: from which columns of physical tables each output column of a query is made (chapter
//! 02 §7.1).
//!
//! What the tree and the catalog do not tell gives no sources rather than wrong ones. So do literals and
//! table functions: a file is no physical table. Arguments of a table function that are columns (`unnest(t.l)`)
//! are sources of its columns.

mod expression;
mod from;
mod naming;
mod operators;
mod pivot;
mod query;
mod scope;
mod select;
mod shape;
mod sources;
mod star;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use model::SyntaxTree;
use types::ColumnLineage;

use crate::Functions;
use crate::nodes::{child, list};
use scope::Ctes;
use shape::{Column, Shape, named};

/// The tables that a query's names refer to.
pub trait Catalog {
    /// What `name` is, with the catalog and the schema as far as the query writes them.
    fn relation(&self, catalog: Option<&str>, schema: Option<&str>, name: &str) -> Relation;
}

/// What a name in FROM refers to.
#[derive(Debug, Clone, PartialEq)]
pub enum Relation {
    /// A physical table.
    Table {
        /// Its name, as lineage writes it.
        name: String,
        /// All of its columns, in order; none if they are not known.
        columns: Vec<String>,
    },
    /// A view; its own query is followed.
    View {
        /// Its name; views of the same name are the same view.
        name: String,
        /// All of its columns, in order.
        columns: Vec<String>,
        /// Its query.
        tree: SyntaxTree,
    },
    /// Nothing is known: a file, or a table whose columns cannot be read.
    Unknown,
}

/// One entry per output column of the query, in order.
///
/// `output` are the names of the query's columns as the engine gives them: it alone knows what an expression
/// without an alias is called and which columns a file has. If it is empty, names are those of the tree, and
/// columns that are not known are left out.
pub fn column_lineage(
    tree: &SyntaxTree,
    output: &[String],
    catalog: &dyn Catalog,
    functions: &Functions,
) -> Vec<ColumnLineage> {
    let shape = shape_of(tree, catalog, functions).unwrap_or_else(Shape::unknown);
    let columns = if output.is_empty() {
        shape.columns.into_iter().filter(|column| !column.is_open()).collect()
    } else {
        named(&shape.columns, output)
    };
    let entry = |column: Column| ColumnLineage { column: column.name, sources: column.sources.into_listed() };
    columns.into_iter().map(entry).collect()
}

/// The tables that reach some output column through an aggregate. Where it is not known which column is meant, all
/// that may be are; `None` if the query is too large to tell.
pub(crate) fn aggregated_tables(
    tree: &SyntaxTree,
    catalog: &dyn Catalog,
    functions: &Functions,
) -> Option<BTreeSet<String>> {
    let shape = shape_of(tree, catalog, functions)?;
    Some(shape.columns.iter().flat_map(|column| column.possible().into_aggregated()).collect())
}

/// `None` where the steps did not suffice: half an answer might be a wrong one.
fn shape_of(tree: &SyntaxTree, catalog: &dyn Catalog, functions: &Functions) -> Option<Shape> {
    let reader = Reader { catalog, functions, views: RefCell::default(), steps: Cell::new(STEPS_MAX) };
    let shape = reader.statement(tree);
    (reader.steps.get() > 0).then_some(shape)
}

/// Nodes that are read at most. Recursive queries within recursive queries could take forever.
const STEPS_MAX: u32 = 20_000_000;

/// Reads one statement, with the views that it uses.
struct Reader<'a> {
    catalog: &'a dyn Catalog,
    functions: &'a Functions,
    /// Views by name; nothing for those that are being read.
    views: RefCell<HashMap<String, Option<Rc<Shape>>>>,
    /// Nodes that may still be read.
    steps: Cell<u32>,
}

impl Reader<'_> {
    /// Whether another node may be read.
    fn step(&self) -> bool {
        let left = self.steps.get().saturating_sub(1);
        self.steps.set(left);
        left > 0
    }

    fn statement(&self, tree: &SyntaxTree) -> Shape {
        let statement = list(&tree.0, "statements").first().and_then(|statement| child(statement, "node"));
        statement.map_or_else(Shape::unknown, |node| self.query(node, &Ctes::default(), None))
    }

    /// A view's columns. A view that reads itself has columns of no known source.
    fn view(&self, name: &str, columns: &[String], tree: &SyntaxTree) -> Shape {
        let known = self.views.borrow().get(name).cloned();
        match known {
            Some(Some(shape)) => return shape.as_ref().clone(),
            Some(None) => return Shape { columns: named(&[], columns), tables: Vec::new() },
            None => {}
        }
        self.views.borrow_mut().insert(name.to_owned(), None);
        let mut shape = self.statement(tree);
        if !columns.is_empty() {
            shape.columns = named(&shape.columns, columns);
        }
        self.views.borrow_mut().insert(name.to_owned(), Some(Rc::new(shape.clone())));
        shape
    }
}
