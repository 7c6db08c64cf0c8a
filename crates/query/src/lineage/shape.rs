//! The columns that a query or a table gives, as far as they are known.
//!
//! A file read by a table function, an unknown table or a filtered star gives columns of which neither names
//! nor number are known. They stay as one column marked `many`, in their place, until the names of the
//! whole are known.

use super::sources::Sources;

/// One column, or a run of columns of unknown number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Column {
    /// Empty where only the engine knows it.
    pub name: String,
    pub sources: Sources,
    /// Whether it stands for one or more columns.
    pub many: bool,
    /// If `many` columns are a choice of known ones: those.
    pub candidates: Vec<Column>,
}

/// What a query gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub columns: Vec<Column>,
    /// The physical tables that its rows are made of.
    pub tables: Vec<String>,
}

impl Column {
    pub(super) fn one(name: impl Into<String>, sources: Sources) -> Self {
        Self { name: name.into(), sources, ..Self::default() }
    }

    /// Columns of which nothing is known but `sources`, which go for each of them.
    pub(super) fn unknown(sources: Sources) -> Self {
        Self { sources, many: true, ..Self::default() }
    }

    /// Whether columns with names that are not known hide here.
    pub(super) fn is_open(&self) -> bool {
        self.many && self.name.is_empty()
    }

    /// What it may be made of; listed if that is certain.
    pub(super) fn possible(&self) -> Sources {
        if self.candidates.is_empty() {
            return self.sources.clone();
        }
        let all = std::iter::once(self).chain(&self.candidates).map(|column| column.sources.clone());
        all.collect::<Sources>().unlisted()
    }

    pub(super) fn is_named(&self, name: &str) -> bool {
        !self.name.is_empty() && self.name.eq_ignore_ascii_case(name)
    }
}

impl Shape {
    /// A query of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self { columns: vec![Column::unknown(Sources::default())], tables: Vec::new() }
    }

    /// With the names of a column list, which may be shorter than the columns.
    pub(super) fn renamed(mut self, names: &[String]) -> Self {
        for (at, name) in names.iter().enumerate() {
            if let Some(column) = self.columns.get_mut(at).filter(|column| !column.many) {
                name.clone_into(&mut column.name);
                continue;
            }
            // Which columns get the rest of the names is clear only at the end of the columns.
            let rest = self.columns.split_off(at);
            let sources: Sources = rest.iter().map(Column::possible).collect();
            let sources = if rest.len() > 1 { sources.unlisted() } else { sources };
            self.columns.extend(names[at..].iter().map(|name| Column::one(name, sources.clone())));
            self.columns.push(Column::unknown(sources));
            break;
        }
        self
    }

    /// With the names that a derived table's columns get: a name that is taken gets a number.
    pub(super) fn with_distinct_names(mut self) -> Self {
        for at in 0..self.columns.len() {
            let (before, rest) = self.columns.split_at_mut(at);
            let taken = |name: &str| before.iter().any(|column| column.is_named(name));
            let column = &mut rest[0];
            if taken(&column.name) {
                let mut names = (1..=at + 1).map(|number| format!("{}_{number}", column.name));
                column.name = names.find(|name| !taken(name)).unwrap_or_default();
            }
        }
        self
    }
}

/// Adds those of `more` that are not among `tables` yet.
pub(super) fn add_tables(tables: &mut Vec<String>, more: Vec<String>) {
    let before = tables.len();
    for table in more {
        if !tables[..before].contains(&table) {
            tables.push(table);
        }
    }
}

/// Exactly `count` columns, if it is certain which.
pub(super) fn spread(columns: &[Column], count: usize) -> Option<Vec<Column>> {
    let runs = columns.iter().filter(|column| column.many).count();
    let extra = count.checked_sub(columns.len()).filter(|&extra| extra == 0 || runs == 1)?;
    let mut spread = Vec::with_capacity(count);
    for column in columns {
        let width = if column.many { extra + 1 } else { 1 };
        if column.many && column.candidates.len() == width {
            // All of them were chosen.
            spread.extend(column.candidates.iter().map(|one| Column { name: String::new(), ..one.clone() }));
            continue;
        }
        let one = Column { many: false, ..column.clone() };
        spread.extend(std::iter::repeat_n(one, width));
    }
    Some(spread)
}

/// The columns under the names that the engine gives them.
pub(super) fn named(columns: &[Column], names: &[String]) -> Vec<Column> {
    let spread = spread(columns, names.len());
    let one = |(at, name): (usize, &String)| {
        let sources = match spread.as_ref().and_then(|columns| columns.get(at)) {
            Some(column) if column.candidates.is_empty() => column.sources.clone(),
            Some(column) => by_name(&column.candidates, name),
            None if names.iter().filter(|other| other.eq_ignore_ascii_case(name)).count() > 1 => Sources::default(),
            None => by_name(columns, name),
        };
        Column::one(name, sources)
    };
    names.iter().enumerate().map(one).collect()
}

/// The sources of the one column of that name, looking into choices too.
pub(super) fn by_name(columns: &[Column], name: &str) -> Sources {
    let all = columns.iter().flat_map(|column| std::iter::once(column).chain(&column.candidates));
    let mut found = all.filter(|column| column.is_named(name));
    match (found.next(), found.next()) {
        (Some(column), None) => column.sources.clone(),
        _ => Sources::default(),
    }
}
