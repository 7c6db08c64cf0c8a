//! The output that a model that fetches declares: it is known as a whole before the first request (chapter 03 §3.4).

use std::collections::BTreeMap;

use engine::{Connection, EngineError, EngineParser};
use materialize::{MaterializeError, Output, check_output, kind_write, layout, output_place};
use model::{Finding, Model, SyntaxTree};
use query::{FetchColumn, FetchQuery, types_query};
use types::{Column, Diagnose, Place, Rule};

/// Why an output cannot be written.
#[derive(Debug)]
pub enum DeclaredFault {
    /// The engine does not have a type.
    Type(Finding),
    /// No row of this output could be written; and where in the model's file that is to be mended.
    Output(MaterializeError, Option<Place>),
    /// The engine could not be asked.
    Engine(EngineError),
}

impl From<EngineError> for DeclaredFault {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl DeclaredFault {
    /// The fault as one of the model.
    pub(crate) fn finding(self, model: &Model) -> Finding {
        match self {
            Self::Type(finding) => finding,
            Self::Output(error, place) => {
                let place = place.unwrap_or_else(|| model.sql_place(0));
                Finding::new(rule(&error), place, error.to_string(), error.help())
            }
            Self::Engine(error) => Finding::new(Rule::FetchOther, model.sql_place(0), error.cleaned(), error.help()),
        }
    }
}

fn rule(error: &MaterializeError) -> Rule {
    match error {
        MaterializeError::KeyMissing { directive: "@unique_key", .. } => Rule::MisusedUniqueKey,
        MaterializeError::KeyMissing { directive: "@incremental", .. } => Rule::InvalidIncremental,
        MaterializeError::KeyMissing { directive: "@sorted_by", .. } => Rule::InvalidSortedBy,
        MaterializeError::KeyMissing { directive: "@partitioned_by", .. } | MaterializeError::PartitionType { .. } => {
            Rule::InvalidPartitionedBy
        }
        MaterializeError::KeyMissing { .. } => Rule::InvalidValue,
        _ => Rule::FetchOther,
    }
}

/// What the engine calls declared types. It is asked once for each, however many columns declare it.
pub struct DeclaredTypes<'a> {
    connection: &'a Connection,
    /// The complete tree of `SELECT NULL`, of which statements are made, once it was needed.
    null: Option<SyntaxTree>,
    /// Names by declaration.
    known: BTreeMap<String, String>,
}

impl<'a> DeclaredTypes<'a> {
    /// None is known yet.
    pub fn new(connection: &'a Connection) -> Self {
        Self { connection, null: None, known: BTreeMap::new() }
    }

    /// The complete tree of `SELECT NULL`.
    ///
    /// # Errors
    /// The engine could not be asked.
    pub fn null(&mut self) -> Result<&SyntaxTree, EngineError> {
        Ok(match &mut self.null {
            Some(null) => null,
            none => none.insert(EngineParser(self.connection).complete_tree("SELECT NULL").map_err(|_| no_tree())?),
        })
    }

    /// The types of a query's columns.
    ///
    /// # Errors
    /// A type that the engine does not have, or an output that cannot be written whatever the rows are.
    pub fn of(&mut self, model: &Model, query: &FetchQuery) -> Result<Vec<String>, DeclaredFault> {
        let is_new = |column: &&FetchColumn| !self.known.contains_key(&column.declaration());
        let new: Vec<&FetchColumn> = query.columns.iter().filter(is_new).collect();
        if !new.is_empty() {
            match self.described(&new) {
                Ok(types) => self.known.extend(new.iter().map(|column| column.declaration()).zip(types)),
                Err(error) if error.is_statement_fault() => {
                    return Err(DeclaredFault::Type(self.unknown_type(model, query, &error)));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let name = |column: &FetchColumn| self.known.get(&column.declaration()).cloned().unwrap_or_default();
        let types: Vec<String> = query.columns.iter().map(name).collect();
        check(model, query, &types)?;
        Ok(types)
    }

    fn described(&mut self, columns: &[&FetchColumn]) -> Result<Vec<String>, EngineError> {
        let tree = types_query(columns.iter().copied(), self.null()?).ok_or_else(no_tree)?;
        let statement = EngineParser(self.connection).statement(&tree)?;
        let rows = self.connection.query(&format!("DESCRIBE {statement}"))?.into_values();
        Ok(rows.filter_map(|mut row| row.swap_remove(1).into_text()).collect())
    }

    /// The error of the column whose type the engine does not have, at its place.
    fn unknown_type(&mut self, model: &Model, query: &FetchQuery, error: &EngineError) -> Finding {
        let mut fault = |column: &FetchColumn| self.described(&[column]).err();
        let found = query.columns.iter().find_map(|column| fault(column).map(|fault| (column, fault)));
        let (name, offset, cause) = match found {
            Some((column, cause)) => (format!("column \"{}\"", column.alias), column.offset, cause.cleaned()),
            None => ("a column".to_owned(), None, error.cleaned()),
        };
        let message = format!("the type of {name} cannot be used: {cause}");
        let help = "declare a type of DuckDB; one of an extension needs `-- @extension: name`";
        Finding::new(Rule::FetchOther, model.sql_place(offset.unwrap_or(0)), message, help)
    }
}

/// The engine writes trees in a way that is not known here.
pub fn no_tree() -> EngineError {
    let message = "a statement cannot be made of the model's SQL".into();
    EngineError::Sql { class: String::new(), message, offset: None }
}

/// What writing would refuse whatever the rows are.
fn check(model: &Model, query: &FetchQuery, types: &[String]) -> Result<(), DeclaredFault> {
    let column = |(column, type_name): (&FetchColumn, &String)| Column {
        name: column.alias.clone(),
        type_name: type_name.clone(),
    };
    let columns: Vec<Column> = query.columns.iter().zip(types).map(column).collect();
    let kind = kind_write(model);
    let cursor = model.incremental.as_ref().map(|incremental| incremental.column.value.as_str());
    check_output(&Output { columns: &columns, kind: &kind, layout: layout(model), cursor }).map_err(|error| {
        let place = output_place(model, &error, |name| query.column_offset(name));
        DeclaredFault::Output(error, place)
    })
}
