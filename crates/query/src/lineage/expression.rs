//! The sources of an expression.

use serde_json::Value;

use super::Reader;
use super::operators::{is_arithmetic, is_ranking, operator, takes_lambda};
use super::scope::{From, Scope};
use super::shape::Column;
use super::sources::{Sources, Step};
use crate::nodes::{child, class, flag, kind, list, orders, query, text, texts};

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub scope: &'a Scope<'a>,
    /// The column that `COLUMNS()` stands for at the moment.
    pub star: Option<&'a Column>,
}

impl Reader<'_> {
    /// The columns that a value is made of, after its outermost step.
    pub(super) fn sources(&self, node: &Value, site: Site<'_>) -> Sources {
        if !self.step() {
            return Sources::default();
        }
        match class(node) {
            "COLUMN_REF" => site.scope.resolve(&texts(node, "column_names")),
            "CONSTANT" | "PARAMETER" | "DEFAULT" => Sources::default(),
            "FUNCTION" => self.function(node, site),
            "WINDOW" => self.window(node, site),
            "CASE" => self.case(node, site),
            "CAST" => self.under(node, &["child"], site).after(Step::Cast),
            "OPERATOR" => self.operator(node, site),
            "SUBQUERY" => self.subquery(node, site),
            "STAR" => self.star_value(node, site),
            "LAMBDA" => self.under(node, &["lhs", "expr"], site).after(Step::Function("->")),
            "POSITIONAL_REFERENCE" => position(node, site.scope),
            _ => self.predicate(node, site),
        }
    }

    /// Comparisons and everything else: the keys under which expressions stand.
    fn predicate(&self, node: &Value, site: Site<'_>) -> Sources {
        let keys = ["left", "right", "input", "lower", "upper", "child"];
        let children = self.all(list(node, "children"), site);
        let sources = [self.under(node, &keys, site), children].into_iter().collect::<Sources>();
        sources.after(Step::Function(&operator(node)))
    }

    fn all<'n>(&self, nodes: impl IntoIterator<Item = &'n Value>, site: Site<'_>) -> Sources {
        nodes.into_iter().map(|node| self.sources(node, site)).collect()
    }

    fn under(&self, node: &Value, keys: &[&str], site: Site<'_>) -> Sources {
        self.all(keys.iter().filter_map(|key| child(node, key)), site)
    }

    fn case(&self, node: &Value, site: Site<'_>) -> Sources {
        let checks = list(node, "case_checks").iter().map(|check| self.under(check, &["when_expr", "then_expr"], site));
        let sources: Sources = checks.chain([self.under(node, &["else_expr"], site)]).collect();
        sources.after(Step::Conditional)
    }

    fn operator(&self, node: &Value, site: Site<'_>) -> Sources {
        match kind(node) {
            // `*COLUMNS()` stands for several arguments; its columns are what the call takes.
            "OPERATOR_UNPACK" => self.all(list(node, "children"), Site { star: None, ..site }),
            "OPERATOR_COALESCE" => self.all(list(node, "children"), site).after(Step::Conditional),
            _ => self.predicate(node, site),
        }
    }

    fn function(&self, node: &Value, site: Site<'_>) -> Sources {
        let name = text(node, "function_name").unwrap_or_default();
        let mut sources = self.arguments(name, list(node, "children"), site);
        sources.add(self.under(node, &["filter"], site));
        if let Some(modifier) = child(node, "order_bys") {
            sources.add(self.all(orders(modifier, "orders"), site));
        }
        self.call(node, name, sources, site)
    }

    /// What is in the parentheses, and FILTER. Of OVER only what ranks.
    fn window(&self, node: &Value, site: Site<'_>) -> Sources {
        let name = text(node, "function_name").unwrap_or_default();
        let mut sources = self.arguments(name, list(node, "children"), site);
        sources.add(self.under(node, &["offset_expr", "default_expr", "filter_expr"], site));
        sources.add(self.all(orders(node, "arg_orders"), site));
        let over = self.all(list(node, "partitions").iter().chain(orders(node, "orders")), site);
        if is_ranking(kind(node)) {
            sources.add(over);
            return sources.after(Step::Function(name));
        }
        sources.add(over.unlisted());
        self.call(node, name, sources, site)
    }

    /// The step that a call is.
    fn call(&self, node: &Value, name: &str, mut sources: Sources, site: Site<'_>) -> Sources {
        let is_aggregate = self.functions.is_aggregate(name);
        let counts_rows = name == "count_star" || (name == "count" && list(node, "children").is_empty());
        if counts_rows || (is_aggregate && sources.is_of_nothing()) {
            // It counts them, as `count(1)` does, or is made from a column that is not known.
            let rows = Sources::rows(&site.scope.from.tables);
            let rows = if counts_rows { rows } else { rows.unlisted() };
            sources = [rows, sources].into_iter().collect();
        }
        sources.after(match name {
            // `count(*)` has a name of its own in the tree, but not under OVER.
            _ if counts_rows => Step::Aggregation("count"),
            _ if is_aggregate => Step::Aggregation(name),
            _ if is_arithmetic(name) => Step::Arithmetic,
            "nullif" => Step::Conditional,
            _ => Step::Function(name),
        })
    }

    /// Arguments of a call. `x -> …` is a lambda only for functions that take one, JSON's operator otherwise.
    fn arguments(&self, function: &str, nodes: &[Value], site: Site<'_>) -> Sources {
        let one = |node: &Value| match (class(node), child(node, "lhs"), child(node, "expr")) {
            ("LAMBDA", Some(parameters), Some(body)) => match parameter_names(parameters) {
                Some(names) if takes_lambda(function) || !names.iter().all(|name| site.scope.knows(name)) => {
                    self.lambda(&names, body, site)
                }
                _ => self.sources(node, site),
            },
            _ => self.sources(node, site),
        };
        nodes.iter().map(one).collect()
    }

    /// The columns that a lambda reads beside its parameters.
    fn lambda(&self, parameters: &[String], body: &Value, site: Site<'_>) -> Sources {
        let aliases: Vec<Column> = parameters.iter().map(|name| Column::one(name, Sources::default())).collect();
        let from = From::default();
        let scope = Scope { from: &from, aliases: &aliases, ctes: site.scope.ctes, outer: Some(site.scope) };
        self.sources(body, Site { scope: &scope, star: site.star })
    }

    /// A subquery as a value is what its column is; as a test it is a predicate. Its aggregates are its own: it is
    /// looked up for each row.
    fn subquery(&self, node: &Value, site: Site<'_>) -> Sources {
        let Some(inner) = query(node, "subquery") else { return Sources::default() };
        let shape = self.query(inner, site.scope.ctes, Some(site.scope));
        let column = shape.columns.first().map(Column::possible).unwrap_or_default().looked_up();
        match text(node, "subquery_type") {
            Some("SCALAR") => column,
            Some("EXISTS") => Sources::rows(&shape.tables).after(Step::Function("exists")),
            Some("NOT_EXISTS") => Sources::rows(&shape.tables).after(Step::Function("not exists")),
            _ => {
                let equal = text(node, "comparison_type") == Some("COMPARE_EQUAL");
                let sources: Sources = [self.under(node, &["child"], site), column].into_iter().collect();
                sources.after(Step::Function(if equal { "in" } else { "any" }))
            }
        }
    }

    /// `COLUMNS()` as one of its columns, or a star that stands for all of its columns at once.
    fn star_value(&self, node: &Value, site: Site<'_>) -> Sources {
        if let Some(column) = site.star.filter(|_| flag(node, "columns")) {
            return column.sources.clone();
        }
        self.star(node, site.scope).iter().map(Column::possible).collect()
    }
}

/// The names of a lambda's parameters, if these are such.
fn parameter_names(node: &Value) -> Option<Vec<String>> {
    let name = |node: &Value| match (class(node), texts(node, "column_names").as_slice()) {
        ("COLUMN_REF", [name]) => Some(name.clone()),
        _ => None,
    };
    if text(node, "function_name") == Some("row") {
        return list(node, "children").iter().map(name).collect();
    }
    name(node).map(|name| vec![name])
}

/// `#1`: a column of FROM by its place.
fn position(node: &Value, scope: &Scope<'_>) -> Sources {
    let columns = super::star::all_columns(scope.from);
    let index = node.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
    let before = index.and_then(|index| columns.get(..index)).unwrap_or_default();
    match before.last() {
        Some(column) if !before.iter().any(|column| column.many) => column.sources.clone(),
        _ => Sources::default(),
    }
}
