//! FROM: tables, views, derived tables, table functions, VALUES and joins.

use serde_json::Value;

use super::expression::Site;
use super::scope::{Ctes, From, Merged, Relation, Scope};
use super::shape::{Column, Shape, add_tables};
use super::sources::{Sources, Step};
use super::{Reader, Relation as Known};
use crate::nodes::{child, class, kind, list, query, text, texts};

impl Reader<'_> {
    /// The relations of a node of FROM. `outer` is what it may refer to: relations to its left first.
    pub(super) fn from(&self, node: &Value, ctes: &Ctes, outer: Option<&Scope<'_>>) -> From {
        if !self.step() {
            return single(node, "", Shape::unknown());
        }
        match kind(node) {
            "EMPTY" | "EMPTY_FROM" => From::default(),
            "BASE_TABLE" => self.table(node, ctes),
            "SUBQUERY" => {
                let shape = query(node, "subquery").map_or_else(Shape::unknown, |inner| self.query(inner, ctes, outer));
                single(node, "unnamed_subquery", shape)
            }
            "TABLE_FUNCTION" => self.table_function(node, ctes, outer),
            "EXPRESSION_LIST" => single(node, "", self.values(node, ctes, outer)),
            "JOIN" => self.join(node, ctes, outer),
            "PIVOT" => single(node, "", self.pivot(node, ctes, outer)),
            _ => single(node, "", Shape::unknown()),
        }
    }

    fn table(&self, node: &Value, ctes: &Ctes) -> From {
        let name = text(node, "table_name").unwrap_or_default();
        let (catalog, schema) = (text(node, "catalog_name"), text(node, "schema_name"));
        // A recursive query with USING KEY reads all of its rows under this schema.
        let may_be_cte = catalog.is_none() && schema.is_none_or(|schema| schema.eq_ignore_ascii_case("recurring"));
        if let Some(shape) = ctes.find(name).filter(|_| may_be_cte) {
            return single(node, name, shape.clone());
        }
        let shape = match self.catalog.relation(catalog, schema, name) {
            Known::Table { name, columns } => known_table(name, &columns),
            Known::View { name, columns, tree } => self.view(&name, &columns, &tree),
            Known::Unknown => Shape::unknown(),
        };
        let mut from = single(node, name, shape);
        if text(node, "alias").is_none() {
            for relation in &mut from.relations {
                catalog.unwrap_or_default().clone_into(&mut relation.catalog);
                schema.unwrap_or_default().clone_into(&mut relation.schema);
            }
        }
        from
    }

    fn table_function(&self, node: &Value, ctes: &Ctes, outer: Option<&Scope<'_>>) -> From {
        let Some(call) = child(node, "function") else { return single(node, "", Shape::unknown()) };
        let name = text(call, "function_name").unwrap_or_default();
        let arguments: Vec<&Value> = list(call, "children").iter().filter_map(argument).collect();
        let nothing = From::default();
        let scope = Scope { from: &nothing, aliases: &[], ctes, outer };
        let read = arguments.iter().map(|argument| self.sources(argument, Site { scope: &scope, star: None }));
        let sources = read.collect::<Sources>().after(Step::Function(name));
        let mut columns: Vec<Column> = match function_columns(name, arguments.len()) {
            [] => vec![Column::unknown(sources)],
            names => names.iter().map(|&name| Column::one(name, sources.clone())).collect(),
        };
        if text(node, "with_ordinality") == Some("WITH_ORDINALITY") {
            columns.push(Column::one("ordinality", Sources::default()));
        }
        single(node, name, Shape { columns, tables: Vec::new() })
    }

    fn values(&self, node: &Value, ctes: &Ctes, outer: Option<&Scope<'_>>) -> Shape {
        let nothing = From::default();
        let scope = Scope { from: &nothing, aliases: &[], ctes, outer };
        let mut columns: Vec<Column> = Vec::new();
        for row in list(node, "values").iter().filter_map(Value::as_array) {
            for (at, value) in row.iter().enumerate() {
                let sources = self.sources(value, Site { scope: &scope, star: None });
                match columns.get_mut(at) {
                    Some(column) => column.sources.add(sources),
                    None => columns.push(Column::one(format!("col{at}"), sources)),
                }
            }
        }
        Shape { columns, tables: Vec::new() }.renamed(&texts(node, "expected_names"))
    }

    fn join(&self, node: &Value, ctes: &Ctes, outer: Option<&Scope<'_>>) -> From {
        let nothing = From::default();
        let side = |key: &str, outer: Option<&Scope<'_>>| {
            child(node, key).map_or_else(|| nothing.clone(), |table| self.from(table, ctes, outer))
        };
        let mut left = side("left", outer);
        // The right side sees the left one, in a lateral join.
        let right = side("right", Some(&Scope { from: &left, aliases: &[], ctes, outer }));
        if matches!(text(node, "join_type"), Some("SEMI" | "ANTI")) {
            // It only chooses among the rows of the left.
            add_tables(&mut left.tables, right.tables);
            return left;
        }
        let natural = text(node, "ref_type") == Some("NATURAL");
        let names = if natural { left.shared_names(&right) } else { texts(node, "using_columns") };
        let unclear = left.unclear || right.unclear || (natural && (left.is_open() || right.is_open()));
        let merged: Vec<Merged> =
            names.iter().map(|name| left.merge(&right, name, text(node, "join_type").unwrap_or_default())).collect();
        left.join(right, merged);
        left.unclear = unclear;
        left
    }
}

impl From {
    fn is_open(&self) -> bool {
        self.relations.iter().any(|relation| relation.columns.iter().any(Column::is_open))
    }

    /// The names that both sides have, in the order of this one.
    fn shared_names(&self, right: &Self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for column in self.relations.iter().flat_map(|relation| &relation.columns) {
            let new = !names.iter().any(|name| column.is_named(name));
            if new && !column.name.is_empty() && right.members(&column.name).next().is_some() {
                names.push(column.name.clone());
            }
        }
        names
    }

    /// The places of the relations that have a column of that name.
    fn members(&self, name: &str) -> impl Iterator<Item = usize> {
        let has = |relation: &Relation| relation.columns.iter().any(|column| column.is_named(name));
        self.relations.iter().enumerate().filter(move |(_, relation)| has(relation)).map(|(at, _)| at)
    }

    /// One column of this side and the right one. An outer join takes the side that always has a row, or the
    /// one that has.
    fn merge(&self, right: &Self, name: &str, join_type: &str) -> Merged {
        let offset = self.relations.len();
        let members: Vec<usize> = self.members(name).chain(right.members(name).map(|at| at + offset)).collect();
        let hidden = self.members(name).next().is_none();
        let (from_left, from_right) = (self.sources_of(name), right.sources_of(name));
        let sources = match join_type {
            "RIGHT" => from_right,
            "FULL" | "OUTER" => {
                let known = !from_left.is_unlisted() && !from_right.is_unlisted();
                let both = [from_left, from_right].into_iter().collect::<Sources>().after(Step::Conditional);
                if known { both } else { both.unlisted() }
            }
            // The left one's, as the engine takes it.
            _ => from_left,
        };
        Merged { name: name.to_owned(), members, sources, hidden }
    }

    fn sources_of(&self, name: &str) -> Sources {
        let nothing = Ctes::default();
        let scope = Scope { from: self, aliases: &[], ctes: &nothing, outer: None };
        scope.resolve(&[name.to_owned()])
    }

    fn join(&mut self, right: Self, merged: Vec<Merged>) {
        let offset = self.relations.len();
        self.relations.extend(right.relations);
        let shifted = right
            .merged
            .into_iter()
            .map(|merged| Merged { members: merged.members.into_iter().map(|at| at + offset).collect(), ..merged });
        // What is merged again stands for all of it.
        self.merged.extend(shifted);
        self.merged.retain(|old| !merged.iter().any(|new| new.name.eq_ignore_ascii_case(&old.name)));
        self.merged.extend(merged);
        add_tables(&mut self.tables, right.tables);
    }
}

fn known_table(name: String, columns: &[String]) -> Shape {
    let columns = match columns {
        [] => vec![Column::unknown(Sources::column(&name, "*").unlisted())],
        _ => columns.iter().map(|column| Column::one(column, Sources::column(&name, column))).collect(),
    };
    Shape { columns, tables: vec![name] }
}

/// A FROM of one relation, under its alias and with its column list.
fn single(node: &Value, name: &str, shape: Shape) -> From {
    let shape = shape.renamed(&texts(node, "column_name_alias")).with_distinct_names();
    let name = text(node, "alias").unwrap_or(name).to_owned();
    From::of(Relation { name, columns: shape.columns, ..Relation::default() }, shape.tables)
}

/// The value of an argument: `name = value` names a parameter, not a column.
fn argument(node: &Value) -> Option<&Value> {
    let is_name = |left: &Value| class(left) == "COLUMN_REF" && texts(left, "column_names").len() == 1;
    match (kind(node), child(node, "left")) {
        ("COMPARE_EQUAL", Some(left)) if is_name(left) => child(node, "right"),
        _ => Some(node),
    }
}

/// The columns of table functions that always have the same; none if they depend.
fn function_columns(name: &str, arguments: usize) -> &'static [&'static str] {
    const JSON: [&str; 8] = ["key", "value", "type", "atom", "id", "parent", "fullkey", "path"];
    match name.to_ascii_lowercase().as_str() {
        "unnest" if arguments == 1 => &["unnest"],
        "range" => &["range"],
        "generate_series" => &["generate_series"],
        "json_each" | "json_tree" => &JSON,
        _ => &[],
    }
}
