//! How the rows of a query come from its FROM: which references carry them (chapter 02 §4.4).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::index::TableRef;
use crate::nodes::{kind, text};

/// A FROM clause as far as deltas go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A table of the lake, as an index into the query's references.
    Table(usize),
    /// Rows that come from outside of the lake, or from nowhere: there is no delta of them.
    Whole,
    /// Something that a delta cannot stand in for, with the references below it.
    Opaque(Vec<usize>),
    /// Two operands.
    Join {
        /// Its node.
        pointer: String,
        /// How they are joined.
        side: Side,
        left: Box<Shape>,
        right: Box<Shape>,
    },
    /// Branches whose rows are put together, each with the pointer of its query.
    Union(Vec<(String, Shape)>),
}

/// Which operands of a join keep their rows without a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// None.
    Inner,
    /// The left one.
    Left,
    /// The right one.
    Right,
    /// Both.
    Full,
    /// The right one only filters.
    Filter,
    /// Each row of the left one gets the nearest of the right one.
    Nearest,
    /// Rows are paired by their position.
    Positional,
}

pub(crate) struct Builder<'a> {
    pub tree: &'a Value,
    pub refs: &'a [TableRef],
    /// Which references are tables of the lake.
    pub is_table: &'a dyn Fn(usize) -> bool,
    pub reads_lake: &'a dyn Fn(&str) -> bool,
    /// Whether the derived table at a pointer looks at its siblings' rows.
    pub is_correlated: &'a dyn Fn(&str) -> bool,
    /// How often each CTE is used, by the pointer of its body.
    pub uses: BTreeMap<String, usize>,
}

impl Builder<'_> {
    /// The shape of the query node at `pointer`.
    pub(crate) fn query(&self, pointer: &str) -> Shape {
        let Some(node) = self.tree.pointer(pointer) else { return Shape::Opaque(Vec::new()) };
        match kind(node) {
            "SELECT_NODE" => self.from(&format!("{pointer}/from_table")),
            "SET_OPERATION_NODE" => {
                let (left, right) = (format!("{pointer}/left"), format!("{pointer}/right"));
                match text(node, "setop_type") {
                    Some("UNION" | "UNION_BY_NAME") => {
                        Shape::Union([left, right].map(|side| (side.clone(), self.query(&side))).into())
                    }
                    Some("EXCEPT" | "INTERSECT") => self.query(&left),
                    _ => self.opaque(pointer),
                }
            }
            _ => self.opaque(pointer),
        }
    }

    fn from(&self, pointer: &str) -> Shape {
        let Some(node) = self.tree.pointer(pointer) else { return Shape::Whole };
        // A sample of a delta is not the delta of a sample.
        if node.get("sample").is_some_and(|sample| !sample.is_null()) {
            return self.opaque(pointer);
        }
        match kind(node) {
            "BASE_TABLE" => self.base_table(node, pointer),
            // One value for each row beside it: it is looked up.
            "SUBQUERY" if (self.is_correlated)(pointer) => self.opaque(pointer),
            "SUBQUERY" => self.query(&format!("{pointer}/subquery/node")),
            "JOIN" => Shape::Join {
                pointer: pointer.to_owned(),
                side: side(node),
                left: Box::new(self.from(&format!("{pointer}/left"))),
                right: Box::new(self.from(&format!("{pointer}/right"))),
            },
            "TABLE_FUNCTION" => {
                let name = node.get("function").and_then(|call| text(call, "function_name")).unwrap_or_default();
                if (self.reads_lake)(name) { self.opaque(pointer) } else { Shape::Whole }
            }
            "EMPTY" | "EMPTY_FROM" | "EXPRESSION_LIST" | "COLUMN_DATA" => Shape::Whole,
            _ => self.opaque(pointer),
        }
    }

    fn base_table(&self, node: &Value, pointer: &str) -> Shape {
        let Some(at) = self.refs.iter().position(|known| known.pointer == pointer) else {
            return self.opaque(pointer);
        };
        match &self.refs[at].cte {
            Some(body) => {
                let is_recursive = self.tree.pointer(body).is_none_or(|body| kind(body) == "RECURSIVE_CTE_NODE");
                let once = self.uses.get(body).copied() == Some(1);
                if once && !is_recursive { self.query(body) } else { self.opaque(body) }
            }
            None if node.get("at_clause").is_some_and(|at| !at.is_null()) => Shape::Whole,
            None if (self.is_table)(at) => Shape::Table(at),
            None => Shape::Whole,
        }
    }

    /// Everything below `pointer` is read as a whole.
    fn opaque(&self, pointer: &str) -> Shape {
        Shape::Opaque(self.below(pointer))
    }

    /// The references below `pointer`, through CTEs too.
    fn below(&self, pointer: &str) -> Vec<usize> {
        let mut below = Vec::new();
        let mut pending = vec![pointer.to_owned()];
        let mut seen = Vec::new();
        while let Some(pointer) = pending.pop() {
            let prefix = format!("{pointer}/");
            let inside = |known: &TableRef| known.pointer == pointer || known.pointer.starts_with(&prefix);
            for at in (0..self.refs.len()).filter(|&at| inside(&self.refs[at])) {
                match &self.refs[at].cte {
                    Some(body) if !seen.contains(body) => pending.push(body.clone()),
                    Some(_) => {}
                    None => below.push(at),
                }
            }
            seen.push(pointer);
        }
        below.sort_unstable();
        below.dedup();
        below
    }
}

pub(crate) fn side(node: &Value) -> Side {
    match (text(node, "ref_type"), text(node, "join_type")) {
        (Some("POSITIONAL"), _) => Side::Positional,
        (Some("ASOF"), Some("INNER" | "LEFT") | None) => Side::Nearest,
        (_, Some("INNER") | None) => Side::Inner,
        (_, Some("LEFT")) => Side::Left,
        (_, Some("RIGHT")) => Side::Right,
        (_, Some("SEMI" | "ANTI")) => Side::Filter,
        // What is not known may keep rows of either side.
        _ => Side::Full,
    }
}

impl Shape {
    /// The parts that carry the query's rows: the driving references, and what stands in for one.
    pub(crate) fn drivers(&self) -> Vec<&Shape> {
        match self {
            Self::Table(_) | Self::Whole | Self::Opaque(_) => vec![self],
            Self::Union(branches) => branches.iter().flat_map(|(_, branch)| branch.drivers()).collect(),
            Self::Join { side, left, right, .. } => match side {
                Side::Inner | Side::Left | Side::Filter | Side::Nearest => left.drivers(),
                Side::Right => right.drivers(),
                Side::Full | Side::Positional => vec![self],
            },
        }
    }

    /// The tables that a delta may stand in for: not what only filters.
    pub(crate) fn leaves(&self) -> Vec<usize> {
        match self {
            Self::Table(at) => vec![*at],
            Self::Whole | Self::Opaque(_) => Vec::new(),
            Self::Union(branches) => branches.iter().flat_map(|(_, branch)| branch.leaves()).collect(),
            Self::Join { side: Side::Filter, left, .. } => left.leaves(),
            Self::Join { left, right, .. } => [left, right].iter().flat_map(|side| side.leaves()).collect(),
        }
    }

    /// Every reference below.
    pub(crate) fn tables(&self) -> Vec<usize> {
        match self {
            Self::Table(at) => vec![*at],
            Self::Whole => Vec::new(),
            Self::Opaque(below) => below.clone(),
            Self::Union(branches) => branches.iter().flat_map(|(_, branch)| branch.tables()).collect(),
            Self::Join { left, right, .. } => [left, right].iter().flat_map(|side| side.tables()).collect(),
        }
    }
}
