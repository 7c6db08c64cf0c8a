//! Turns rows into carriers, one after the other, as pages arrive.

use lib_functions::{Cell, CellKind, Row};

use crate::Refusal;
use crate::keys;
use crate::nested;
use crate::shape::Shape;
use crate::{BadValue, Carriers, Column};

/// Converts the rows of one fetch.
#[derive(Debug)]
pub struct Converter {
    columns: Vec<Prepared>,
}

#[derive(Debug)]
struct Prepared {
    column: Column,
    shape: Shape,
    /// Whether any row had its key.
    is_seen: bool,
}

impl Converter {
    /// A converter that has seen no row yet.
    pub fn new(columns: Vec<Column>) -> Self {
        let prepare = |column: Column| Prepared { shape: Shape::of(&column.declared), column, is_seen: false };
        Self { columns: columns.into_iter().map(prepare).collect() }
    }

    /// Fills `out` with the carriers of a row, in the order of the columns.
    ///
    /// # Errors
    /// The first value that is not valid for its column, unless the column is declared with `TRY_CAST`. What only the
    /// engine can judge is found by [`crate::find_bad_value`] later.
    pub fn row(&mut self, row: Row<'_>, out: &mut Carriers) -> Result<(), BadValue> {
        out.clear();
        // All entries of the row, once a key was not there as written.
        let mut entries = None;
        for prepared in &mut self.columns {
            let found = match row.get(&prepared.column.source) {
                Some(cell) => Ok(Some(cell)),
                None => keys::find(entries.get_or_insert_with(|| row.cells()).iter().copied(), &prepared.column.source),
            };
            match found {
                Ok(Some(cell)) => prepared.write(cell, out)?,
                Ok(None) => out.push_null(),
                Err(refusal) => prepared.refuse_keys(&refusal, out)?,
            }
        }
        Ok(())
    }

    /// Columns whose keys no row has had so far. Of a fetch with rows, a reason for a warning.
    pub fn columns_never_seen(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|prepared| !prepared.is_seen).map(|prepared| &prepared.column)
    }
}

impl Prepared {
    fn write(&mut self, cell: Cell<'_>, out: &mut Carriers) -> Result<(), BadValue> {
        self.is_seen = true;
        let kind = cell.kind();
        if matches!(kind, CellKind::Null) {
            out.push_null();
            return Ok(());
        }
        let is_try = self.column.is_try;
        match out.push_with(|text| nested::write(&self.shape, cell, &kind, is_try, text)) {
            Ok(()) => Ok(()),
            Err(_) if is_try => {
                out.push_null();
                Ok(())
            }
            Err(refusal) => Err(BadValue::of_cell(&self.column, cell, &refusal)),
        }
    }

    /// For a row in which it is not clear which key is meant.
    fn refuse_keys(&mut self, refusal: &Refusal, out: &mut Carriers) -> Result<(), BadValue> {
        self.is_seen = true;
        if self.column.is_try {
            out.push_null();
            return Ok(());
        }
        Err(BadValue::new(&self.column, String::new(), refusal))
    }
}
