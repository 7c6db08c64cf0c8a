//! Where one value comes from: a set of columns of physical tables, each with what was done to it.

use std::collections::BTreeMap;

use types::{LineageSource, Transformation};

/// The sources of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sources {
    /// In the order of their first mention, none twice.
    listed: Vec<LineageSource>,
    /// Every table that has a part in it, and whether an aggregate lies between. Those that only may have, and those
    /// that lineage leaves out, are here too.
    tables: BTreeMap<String, bool>,
}

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
        let source = LineageSource {
            table: table.to_owned(),
            column: column.to_owned(),
            transformation: Transformation::Identity,
            function: None,
        };
        Self { listed: vec![source], tables: [(table.to_owned(), false)].into() }
    }

    /// The rows of `tables`.
    pub(super) fn rows(tables: &[String]) -> Self {
        tables.iter().map(|table| Self::column(table, "*")).collect()
    }

    /// Adds those of `other` that are not here yet.
    pub(super) fn add(&mut self, other: Self) {
        // Those of one set differ already: a union of a thousand tables must not compare each with each.
        let before = self.listed.len();
        for source in other.listed {
            if !self.listed[..before].contains(&source) {
                self.listed.push(source);
            }
        }
        for (table, aggregated) in other.tables {
            *self.tables.entry(table).or_default() |= aggregated;
        }
    }

    /// The same columns after `step`: the outermost step names the transformation.
    pub(super) fn after(self, step: Step<'_>) -> Self {
        let (transformation, function) = step.named();
        let once = |source| {
            let source = LineageSource { transformation, function: function.map(str::to_owned), ..source };
            Self { listed: vec![source], ..Self::default() }
        };
        let after = Self { tables: self.tables, ..self.listed.into_iter().map(once).collect() };
        if transformation == Transformation::Aggregation { after.aggregated() } else { after }
    }

    /// With an aggregate between.
    pub(super) fn aggregated(mut self) -> Self {
        self.tables.values_mut().for_each(|aggregated| *aggregated = true);
        self
    }

    /// Without the aggregates between.
    pub(super) fn looked_up(mut self) -> Self {
        self.tables.values_mut().for_each(|aggregated| *aggregated = false);
        self
    }

    /// What has or may have a part in the value, but is no source in its lineage.
    pub(super) fn unlisted(self) -> Self {
        Self { listed: Vec::new(), ..self }
    }

    /// Whether no table is known to have a part in it.
    pub(super) fn is_of_nothing(&self) -> bool {
        self.tables.is_empty()
    }

    pub(super) fn is_unlisted(&self) -> bool {
        self.listed.is_empty()
    }

    pub(super) fn into_listed(self) -> Vec<LineageSource> {
        self.listed
    }

    /// The tables that an aggregate lies before.
    pub(super) fn into_aggregated(self) -> impl Iterator<Item = String> {
        self.tables.into_iter().filter(|(_, aggregated)| *aggregated).map(|(table, _)| table)
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
