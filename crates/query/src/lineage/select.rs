//! One SELECT: its list over its FROM.

use serde_json::Value;

use super::Reader;
use super::expression::Site;
use super::naming::name_of;
use super::scope::{Ctes, From, Scope};
use super::shape::{Column, Shape};
use super::star::columns_star;
use crate::nodes::{child, class, list, text};

impl Reader<'_> {
    pub(super) fn select(&self, node: &Value, ctes: &Ctes, outer: Option<&Scope<'_>>) -> Shape {
        let from = match child(node, "from_table") {
            Some(table) => self.from(table, ctes, outer),
            None => From::default(),
        };
        let mut columns = Vec::new();
        // Later entries may name earlier ones by their aliases.
        let mut aliases = Vec::new();
        for item in list(node, "select_list") {
            let scope = Scope { from: &from, aliases: &aliases, ctes, outer };
            let item_columns = self.item(item, &scope);
            if let (Some(alias), [column]) = (text(item, "alias"), item_columns.as_slice()) {
                aliases.push(Column::one(alias, column.possible()));
            }
            columns.extend(item_columns);
        }
        Shape { columns, tables: from.tables }
    }

    /// The columns that one entry of a SELECT list gives.
    fn item(&self, item: &Value, scope: &Scope<'_>) -> Vec<Column> {
        if let Some(columns) = self.star_item(item, scope) {
            return columns;
        }
        if let Some(star) = columns_star(item) {
            return self.repeated(item, star, scope);
        }
        let sources = self.sources(item, Site { scope, star: None });
        // A struct is unnested into its fields, of which the tree tells nothing.
        let many = class(item) == "FUNCTION"
            && text(item, "function_name").is_some_and(|name| name.eq_ignore_ascii_case("unnest"));
        vec![Column { many, ..Column::one(name_of(item), sources) }]
    }

    /// An expression with `COLUMNS` in it: once for each of the columns, under that column's name.
    fn repeated(&self, item: &Value, star: &Value, scope: &Scope<'_>) -> Vec<Column> {
        let alias = text(item, "alias");
        let once = |column: &Column| Column {
            name: alias.filter(|_| !column.is_open()).unwrap_or(&column.name).to_owned(),
            sources: self.sources(item, Site { scope, star: Some(column) }),
            many: column.many,
            candidates: Vec::new(),
        };
        let each =
            |column: &Column| Column { candidates: column.candidates.iter().map(once).collect(), ..once(column) };
        self.star(star, scope).iter().map(each).collect()
    }
}
