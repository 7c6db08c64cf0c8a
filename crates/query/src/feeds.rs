//! Which references pass through an aggregate on their way to an output column (chapter 02 §4.4).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::Functions;
use crate::index::TableRef;
use crate::nodes::{class, kind, list, text, visit};

/// References that an expression is made from, and whether an aggregate lies between.
type Feeds = BTreeMap<usize, bool>;

/// A column of a query or of an item of FROM.
#[derive(Clone)]
struct Column {
    name: String,
    feeds: Feeds,
}

/// What FROM offers under one name.
struct Item {
    alias: String,
    /// `None` where the columns are not known.
    columns: Option<Vec<Column>>,
    /// Every reference below.
    below: Vec<usize>,
}

pub(crate) struct Feeding<'a> {
    pub tree: &'a Value,
    pub refs: &'a [TableRef],
    pub functions: &'a Functions,
    /// Columns of the tables among the references.
    pub columns: &'a dyn Fn(usize) -> Vec<String>,
    /// References below a pointer, through CTEs.
    pub below: &'a dyn Fn(&str) -> Vec<usize>,
}

impl Feeding<'_> {
    /// The references that reach the output of the query at `pointer` through an aggregate.
    pub(crate) fn aggregated(&self, pointer: &str) -> BTreeSet<usize> {
        let columns = self.query(pointer).unwrap_or_default();
        let feeds = columns.into_iter().flat_map(|column| column.feeds);
        feeds.filter(|(_, aggregated)| *aggregated).map(|(at, _)| at).collect()
    }

    /// The output columns; `None` where they are not known.
    fn query(&self, pointer: &str) -> Option<Vec<Column>> {
        let node = self.tree.pointer(pointer)?;
        match kind(node) {
            "SELECT_NODE" => Some(self.select(node, pointer)),
            "SET_OPERATION_NODE" => {
                let (left, right) = (self.query(&format!("{pointer}/left"))?, self.query(&format!("{pointer}/right"))?);
                Some(merge(left, &right, text(node, "setop_type") == Some("UNION_BY_NAME")))
            }
            _ => None,
        }
    }

    fn select(&self, node: &Value, pointer: &str) -> Vec<Column> {
        let mut items = Vec::new();
        self.from(&format!("{pointer}/from_table"), &mut items);
        let mut columns = Vec::new();
        for expression in list(node, "select_list") {
            if class(expression) == "STAR" {
                columns.extend(star(&items));
            } else {
                let mut feeds = Feeds::new();
                self.expression(expression, &items, false, &mut feeds);
                columns.push(Column { name: output_name(expression), feeds });
            }
        }
        columns
    }

    fn from(&self, pointer: &str, items: &mut Vec<Item>) {
        let Some(node) = self.tree.pointer(pointer) else { return };
        if kind(node) == "JOIN" {
            self.from(&format!("{pointer}/left"), items);
            if !matches!(text(node, "join_type"), Some("SEMI" | "ANTI")) {
                self.from(&format!("{pointer}/right"), items);
            }
            return;
        }
        let found = self.refs.iter().position(|known| known.pointer == pointer);
        let (name, columns) = match (kind(node), found) {
            ("BASE_TABLE", Some(at)) => (self.refs[at].name.clone(), self.table(at)),
            ("SUBQUERY", _) => (String::new(), self.query(&format!("{pointer}/subquery/node"))),
            _ => (String::new(), None),
        };
        let alias = text(node, "alias").map_or(name, str::to_owned).to_lowercase();
        let columns = columns.map(|columns| renamed(columns, node));
        items.push(Item { alias, columns, below: (self.below)(pointer) });
    }

    fn table(&self, at: usize) -> Option<Vec<Column>> {
        match &self.refs[at].cte {
            Some(body) if self.tree.pointer(body).is_some_and(|body| kind(body) != "RECURSIVE_CTE_NODE") => {
                let entry = body.strip_suffix("/query/node").and_then(|entry| self.tree.pointer(entry))?;
                Some(with_names(self.query(body)?, entry.get("aliases")))
            }
            Some(_) => None,
            None => {
                let columns = (self.columns)(at);
                let column = |name: String| Column { name: name.to_lowercase(), feeds: [(at, false)].into() };
                (!columns.is_empty()).then(|| columns.into_iter().map(column).collect())
            }
        }
    }

    fn expression(&self, node: &Value, items: &[Item], aggregated: bool, feeds: &mut Feeds) {
        match text(node, "class") {
            Some("COLUMN_REF") => add(feeds, resolve(node, items), aggregated),
            // What a subquery reads is looked up, it carries no rows.
            Some("SUBQUERY") => {}
            Some("STAR") => star(items).into_iter().for_each(|column| add(feeds, column.feeds, aggregated)),
            Some("FUNCTION" | "WINDOW")
                if text(node, "function_name").is_some_and(|name| self.functions.is_aggregate(name)) =>
            {
                // Without arguments it counts the rows of everything that is joined.
                if node.get("children").and_then(Value::as_array).is_none_or(Vec::is_empty) {
                    items.iter().flat_map(|item| &item.below).for_each(|&at| {
                        feeds.insert(at, true);
                    });
                }
                self.children(node, items, true, feeds);
            }
            _ => self.children(node, items, aggregated, feeds),
        }
    }

    fn children(&self, node: &Value, items: &[Item], aggregated: bool, feeds: &mut Feeds) {
        let Some(map) = node.as_object() else { return };
        for child in map.values() {
            match child {
                Value::Array(list) => list.iter().for_each(|child| self.expression(child, items, aggregated, feeds)),
                Value::Object(_) => self.expression(child, items, aggregated, feeds),
                _ => {}
            }
        }
    }
}

fn add(feeds: &mut Feeds, more: Feeds, aggregated: bool) {
    for (at, already) in more {
        *feeds.entry(at).or_default() |= already || aggregated;
    }
}

/// What a column reference is made from. One that cannot be resolved may be of any item whose columns are
/// not known.
fn resolve(node: &Value, items: &[Item]) -> Feeds {
    let names = node.get("column_names").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<String> = names.filter_map(Value::as_str).map(str::to_lowercase).collect();
    let mut feeds = Feeds::new();
    for item in items {
        for column in item.columns.iter().flatten() {
            let qualified = names.windows(2).any(|pair| pair[0] == item.alias && pair[1] == column.name);
            if qualified || names.first() == Some(&column.name) {
                add(&mut feeds, column.feeds.clone(), false);
            }
        }
    }
    if feeds.is_empty() {
        let unknown = items.iter().filter(|item| item.columns.is_none());
        unknown.flat_map(|item| &item.below).for_each(|&at| add(&mut feeds, [(at, false)].into(), false));
    }
    feeds
}

fn star(items: &[Item]) -> Vec<Column> {
    let of_item = |item: &Item| match &item.columns {
        Some(columns) => columns.clone(),
        None => vec![Column { name: String::new(), feeds: item.below.iter().map(|&at| (at, false)).collect() }],
    };
    items.iter().flat_map(of_item).collect()
}

fn output_name(expression: &Value) -> String {
    let last = expression.get("column_names").and_then(Value::as_array).and_then(|names| names.last());
    text(expression, "alias").or(last.and_then(Value::as_str)).unwrap_or_default().to_lowercase()
}

/// `AS t(a, b)` gives the first columns other names.
fn renamed(columns: Vec<Column>, node: &Value) -> Vec<Column> {
    with_names(columns, node.get("column_name_alias"))
}

fn with_names(mut columns: Vec<Column>, names: Option<&Value>) -> Vec<Column> {
    let names = names.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for (column, name) in columns.iter_mut().zip(names) {
        column.name = name.to_lowercase();
    }
    columns
}

fn merge(mut left: Vec<Column>, right: &[Column], by_name: bool) -> Vec<Column> {
    for (at, other) in right.iter().enumerate() {
        let same = if by_name { left.iter().position(|column| column.name == other.name) } else { Some(at) };
        match same.and_then(|at| left.get_mut(at)) {
            Some(column) => add(&mut column.feeds, other.feeds.clone(), false),
            None => left.push(other.clone()),
        }
    }
    left
}

/// Whether the expressions below `node`, subqueries left out, call an aggregate or look at other rows.
pub(crate) fn sees_other_rows(node: &Value, functions: &Functions) -> Option<&'static str> {
    let mut found = None;
    visit(node, &mut |node| {
        match text(node, "class") {
            Some("SUBQUERY") => return false,
            Some("WINDOW") => found = found.or(Some("window function")),
            Some("FUNCTION") if text(node, "function_name").is_some_and(|name| functions.is_aggregate(name)) => {
                found = found.or(Some("aggregate"));
            }
            _ => {}
        }
        true
    });
    found
}
