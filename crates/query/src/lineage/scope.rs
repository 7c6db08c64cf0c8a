//! What a name in a query may mean: the relations of its FROM, aliases of its SELECT list, and what
//! surrounds it.

use std::rc::Rc;

use super::shape::{Column, Shape};
use super::sources::{Sources, Step};

/// One entry of a FROM.
#[derive(Debug, Clone, Default)]
pub(super) struct Relation {
    /// As written; empty where it is not, or where an alias hides it.
    pub catalog: String,
    /// As written; empty where it is not, or where an alias hides it.
    pub schema: String,
    /// The name that its columns are qualified with.
    pub name: String,
    pub columns: Vec<Column>,
}

/// A column that USING or NATURAL made of several.
#[derive(Debug, Clone)]
pub(super) struct Merged {
    pub name: String,
    /// The relations that it stands for, by their place in FROM.
    pub members: Vec<usize>,
    pub sources: Sources,
    /// Whether it hides among the unknown columns of a relation to the left.
    pub hidden: bool,
}

/// A whole FROM.
#[derive(Debug, Clone, Default)]
pub(super) struct From {
    pub relations: Vec<Relation>,
    pub merged: Vec<Merged>,
    /// The physical tables that its rows are made of.
    pub tables: Vec<String>,
    /// Whether a join merges columns that are not known.
    pub unclear: bool,
}

/// The queries of WITH that are visible, later ones before earlier ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Ctes(Vec<(String, Rc<Shape>)>);

/// Everything that a name in an expression may refer to.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub from: &'a From,
    /// Earlier aliases of the SELECT list, or the parameters of a lambda.
    pub aliases: &'a [Column],
    pub ctes: &'a Ctes,
    /// What a correlated subquery or a lateral join sees.
    pub outer: Option<&'a Scope<'a>>,
}

/// The answer of one scope.
enum Found {
    Yes(Sources),
    /// It is meant here, but from where is not known.
    Unclear,
    No,
}

impl Ctes {
    pub(super) fn with(&self, name: &str, shape: Rc<Shape>) -> Self {
        let mut ctes = self.0.clone();
        ctes.push((name.to_owned(), shape));
        Self(ctes)
    }

    pub(super) fn find(&self, name: &str) -> Option<&Shape> {
        let found = self.0.iter().rev().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, shape)| shape.as_ref())
    }
}

impl Relation {
    fn is_open(&self) -> bool {
        self.columns.iter().any(Column::is_open)
    }

    /// Whether the parts in front of a column, as far as they are written on both sides, name this relation.
    fn is_meant(&self, qualifiers: &[String], strict: bool) -> bool {
        let same = |written: &str, part: &str| written.eq_ignore_ascii_case(part) || (!strict && written.is_empty());
        match qualifiers {
            [name] => self.name.eq_ignore_ascii_case(name),
            // The first of two may name a schema or a catalog.
            [first, name] => {
                self.name.eq_ignore_ascii_case(name) && (same(&self.schema, first) || same(&self.catalog, first))
            }
            [catalog, schema, name] => {
                self.name.eq_ignore_ascii_case(name) && same(&self.schema, schema) && same(&self.catalog, catalog)
            }
            _ => false,
        }
    }

    fn column(&self, name: &str) -> Found {
        let mut named = self.columns.iter().filter(|column| column.is_named(name));
        match (named.next(), named.next()) {
            (Some(column), None) => Found::Yes(column.sources.clone()),
            (Some(_), Some(_)) => Found::Unclear,
            (None, _) => self.choice(name),
        }
    }

    /// Looks where columns of unknown names are.
    fn choice(&self, name: &str) -> Found {
        let mut open = self.columns.iter().filter(|column| column.is_open());
        match (open.next(), open.next()) {
            (None, _) => Found::No,
            (Some(only), None) if only.candidates.is_empty() => Found::Yes(only.sources.clone()),
            (Some(only), None) => match only.candidates.iter().find(|column| column.is_named(name)) {
                Some(column) => Found::Yes(column.sources.clone()),
                None => Found::Unclear,
            },
            _ => Found::Unclear,
        }
    }
}

impl From {
    pub(super) fn of(relation: Relation, tables: Vec<String>) -> Self {
        Self { relations: vec![relation], tables, ..Self::default() }
    }

    /// A column by its own name alone.
    fn unqualified(&self, name: &str) -> Found {
        if let Some(merged) = self.merged.iter().find(|merged| merged.name.eq_ignore_ascii_case(name)) {
            return Found::Yes(merged.sources.clone());
        }
        let has = |relation: &&Relation| relation.columns.iter().any(|column| column.is_named(name));
        let mut relations = self.relations.iter().filter(has);
        match (relations.next(), relations.next()) {
            (Some(relation), None) => return relation.column(name),
            (Some(_), Some(_)) => return Found::Unclear,
            (None, _) => {}
        }
        let mut open = self.relations.iter().filter(|relation| relation.is_open());
        match (open.next(), open.next()) {
            (None, _) => Found::No,
            // An alias or a surrounding query may be meant as well, unless it is among what can be chosen from.
            (Some(relation), None) => match relation.columns.iter().find(|column| column.is_open()) {
                Some(column) if column.candidates.iter().any(|one| one.is_named(name)) => relation.choice(name),
                _ => Found::Unclear,
            },
            _ => Found::Unclear,
        }
    }

    /// The reading as a column of a relation that is named in front of it. Longer qualifiers are tried first.
    fn qualified(&self, parts: &[String], strict: bool) -> Found {
        for qualifiers in (1..=3.min(parts.len().saturating_sub(1))).rev() {
            let (before, rest) = parts.split_at(qualifiers);
            let mut meant = self.relations.iter().filter(|relation| relation.is_meant(before, strict));
            let found = match (meant.next(), meant.next()) {
                (None, _) => continue,
                (Some(relation), None) => relation.column(&rest[0]),
                (Some(_), Some(_)) => Found::Unclear,
            };
            match found {
                Found::Yes(sources) => return Found::Yes(field(sources, rest.len() > 1)),
                Found::Unclear => return Found::Unclear,
                Found::No => {}
            }
        }
        Found::No
    }

    /// What those of the columns may be made of.
    pub(super) fn possible(&self, which: impl Fn(&Column) -> bool) -> Sources {
        let columns = self.relations.iter().flat_map(|relation| &relation.columns).filter(|column| which(column));
        columns.map(Column::possible).collect::<Sources>().unlisted()
    }

    /// The reading as a relation's whole row.
    fn row(&self, parts: &[String]) -> Found {
        let mut meant = self.relations.iter().filter(|relation| relation.is_meant(parts, false));
        match (meant.next(), meant.next()) {
            (Some(relation), None) if !relation.is_open() => {
                let sources = relation.columns.iter().map(|column| column.sources.clone());
                Found::Yes(sources.collect::<Sources>().after(Step::Function("struct_pack")))
            }
            (None, _) => Found::No,
            _ => Found::Unclear,
        }
    }
}

impl Scope<'_> {
    /// The sources of a reference; none if it cannot be told what it means.
    pub(super) fn resolve(&self, parts: &[String]) -> Sources {
        match self.find(parts) {
            Found::Yes(sources) => sources,
            Found::Unclear => self.from.possible(Column::is_open),
            Found::No => self.outer.map(|outer| outer.resolve(parts)).unwrap_or_default(),
        }
    }

    /// Whether a name on its own is known here or around.
    pub(super) fn knows(&self, name: &str) -> bool {
        let parts = [name.to_owned()];
        !matches!(self.find(&parts), Found::No) || self.outer.is_some_and(|outer| outer.knows(name))
    }

    /// In the engine's order: a table's column, a field of a column, a name as the catalog has it, an alias, a row.
    fn find(&self, parts: &[String]) -> Found {
        let Some(first) = parts.first() else { return Found::No };
        let has_field = parts.len() > 1;
        let found = self.from.qualified(parts, true);
        if !matches!(found, Found::No) {
            return found;
        }
        match self.from.unqualified(first) {
            Found::Yes(sources) => return Found::Yes(field(sources, has_field)),
            Found::Unclear if !has_field => return Found::Unclear,
            Found::Unclear | Found::No => {}
        }
        let found = self.from.qualified(parts, false);
        if !matches!(found, Found::No) {
            return found;
        }
        match self.aliases.iter().rev().find(|alias| alias.is_named(first)) {
            Some(alias) => Found::Yes(field(alias.sources.clone(), has_field)),
            None => self.from.row(parts),
        }
    }
}

/// Part of a column is not the column: two fields of one struct must not pass for the same source.
fn field(sources: Sources, has_field: bool) -> Sources {
    if has_field { sources.after(Step::Function("struct_extract")) } else { sources }
}
