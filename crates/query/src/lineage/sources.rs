//! Where one value comes from: a set of columns of physical tables, each with what was done to it.

use types::{LineageSource, Transformation};

/// Sources in the order of their first mention, none twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sources(Vec<LineageSource>);

/// What a step does to the values that it reads.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    Aggregation(&'a str),
    Arithmetic,
    Conditional,
    Cast,
    Function(&'a str),
}

impl Sources {
    /// A column as it stands in its table.
    pub(super) fn column(table: &str, column: &str) -> Self {
        Self(vec![LineageSource {
            table: table.to_owned(),
            column: column.to_owned(),
            transformation: Transformation::Identity,
            function: None,
        }])
    }

    /// The rows of `tables`.
    pub(super) fn rows(tables: &[String]) -> Self {
        let mut sources = Self::default();
        for table in tables {
            sources.add(Self::column(table, "*"));
        }
        sources
    }

    /// Adds those of `other` that are not here yet.
    pub(super) fn add(&mut self, other: Self) {
        // Those of one set differ already: a union of a thousand tables must not compare each with each.
        let before = self.0.len();
        for source in other.0 {
            if !self.0[..before].contains(&source) {
                self.0.push(source);
            }
        }
    }

    /// The same columns after `step`: the outermost step names the transformation.
    pub(super) fn after(self, step: Step<'_>) -> Self {
        let (transformation, function) = step.named();
        let once =
            |source| Self(vec![LineageSource { transformation, function: function.map(str::to_owned), ..source }]);
        self.0.into_iter().map(once).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_inner(self) -> Vec<LineageSource> {
        self.0
    }
}

impl FromIterator<Sources> for Sources {
    fn from_iter<T: IntoIterator<Item = Sources>>(parts: T) -> Self {
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.add(part));
        all
    }
}

impl<'a> Step<'a> {
    fn named(self) -> (Transformation, Option<&'a str>) {
        match self {
            Self::Aggregation(function) => (Transformation::Aggregation, Some(function)),
            Self::Arithmetic => (Transformation::Arithmetic, None),
            Self::Conditional => (Transformation::Conditional, None),
            Self::Cast => (Transformation::Cast, None),
            Self::Function(function) => (Transformation::Function, Some(function)),
        }
    }
}
