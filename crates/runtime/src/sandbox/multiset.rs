//! The difference of two tables as multisets of rows, over the columns that both have, as SQL.

use engine::identity;
use types::{Column, literal, quote};

/// In the place of a value that the model masks and production's table holds in clear.
const MASKED: &str = "(masked)";

/// A column that both have.
pub(super) struct Common {
    /// Its name now.
    pub name: String,
    pub then: Column,
    pub now: Column,
    /// Whether its values of then are not shown.
    pub is_hidden: bool,
}

/// Rows of both sides as multisets: those of now count up, those of then count down.
pub(super) struct Multisets<'a> {
    pub common: &'a [Common],
    /// A table, as it stands in FROM.
    pub then: &'a str,
    /// The same.
    pub now: &'a str,
}

impl Multisets<'_> {
    /// How many rows were added, and how many removed.
    pub fn counts(&self) -> String {
        format!(
            "SELECT coalesce(sum(n) FILTER (WHERE n > 0), 0)::BIGINT, coalesce(-sum(n) FILTER (WHERE n < 0), 0)::BIGINT \
             FROM (SELECT sum(side) AS n FROM ({}) GROUP BY {})",
            self.rows(false),
            self.keys()
        )
    }

    /// Some of the rows whose count is above or below 0, by their texts.
    pub fn sample(&self, above: &str, most: usize) -> String {
        let texts: Vec<String> = (0..self.common.len()).map(|at| format!("first(t{at}) AS t{at}")).collect();
        let order: Vec<String> = (0..self.common.len()).map(|at| format!("t{at}")).collect();
        format!(
            "SELECT abs(sum(side))::BIGINT AS n, {} FROM ({}) GROUP BY {} HAVING sum(side) {above} 0 \
             ORDER BY {} LIMIT {most}",
            texts.join(", "),
            self.rows(true),
            self.keys(),
            order.join(", ")
        )
    }

    fn rows(&self, with_texts: bool) -> String {
        let side = |number: &str, table: &str, is_now: bool| {
            let columns = self.common.iter().enumerate().flat_map(|(at, common)| {
                let name = quote(if is_now { &common.now.name } else { &common.then.name });
                let mut all = vec![format!("{} AS k{at}", key(common, &name, is_now))];
                if common.then.type_name != common.now.type_name {
                    all.push(format!("{name} IS NULL AS e{at}"));
                }
                if with_texts {
                    let is_shown = is_now || !common.is_hidden;
                    let text = if is_shown { format!("CAST({name} AS VARCHAR)") } else { literal(MASKED) };
                    all.push(format!("{text} AS t{at}"));
                }
                all
            });
            format!("SELECT {number} AS side, {} FROM {table}", columns.collect::<Vec<_>>().join(", "))
        };
        format!("{} UNION ALL {}", side("1", self.now, true), side("-1", self.then, false))
    }

    fn keys(&self) -> String {
        let keys = self.common.iter().enumerate().flat_map(|(at, common)| {
            let is_retyped = common.then.type_name != common.now.type_name;
            std::iter::once(format!("k{at}")).chain(is_retyped.then(|| format!("e{at}")))
        });
        keys.collect::<Vec<_>>().join(", ")
    }
}

/// What tells a value from others. One of another type counts as what it is in the new one; what it cannot be is like
/// nothing but NULL, from which `e` tells it.
fn key(common: &Common, name: &str, is_now: bool) -> String {
    if is_now || common.then.type_name == common.now.type_name {
        return identity(&common.now, name);
    }
    identity(&common.now, &format!("TRY_CAST({name} AS {})", common.now.type_name))
}
