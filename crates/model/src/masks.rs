//! Which columns of a model are masked, and with what (chapter 01 §4.6).

use std::ops::Range;

use types::{Kind, quote};

use crate::{ColumnDoc, Model};

/// A column whose values are masked before anything is stored of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// The column, as the directive spells it.
    pub column: String,
    /// The function that is called with its values.
    pub function: String,
    /// Bytes of the directive's value in the file.
    pub span: Range<usize>,
    /// Database and schema of the function; as long as nobody looked, the search path tells.
    pub schema: Option<&'static str>,
}

impl Mask {
    /// The function as SQL calls it.
    pub fn sql(&self) -> String {
        let function = quote(&self.function);
        self.schema.map_or_else(|| function.clone(), |schema| format!("{schema}.{function}"))
    }
}

impl Model {
    /// The masked columns, in the order first named. The key columns of a kind never are: rows are known by them. A
    /// `@unique_key` that the kind ignores keeps nothing in clear.
    pub fn masks(&self) -> Vec<Mask> {
        self.tagged(false)
    }

    /// The key columns with a masking tag, which stay in clear.
    pub fn tagged_keys(&self) -> Vec<Mask> {
        self.tagged(true)
    }

    fn tagged(&self, keys: bool) -> Vec<Mask> {
        let tagged = self.columns.iter().filter(|doc| self.is_key(&doc.name) == keys);
        let mask = |doc: &ColumnDoc| {
            let function = doc.mask()?.to_owned();
            Some(Mask { column: doc.name.clone(), function, span: doc.span.clone(), schema: None })
        };
        tagged.filter_map(mask).collect()
    }

    fn is_key(&self, column: &str) -> bool {
        match self.kind {
            Kind::Table | Kind::Append => false,
            Kind::Merge | Kind::Scd2 => self.unique_key.iter().any(|key| key.value.eq_ignore_ascii_case(column)),
            Kind::Tracked => self.group_key.iter().any(|key| key.eq_ignore_ascii_case(column)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use types::Target;

    use crate::parse_model;

    fn masks(header: &str) -> Vec<String> {
        let source = format!("{header}\nSELECT 1");
        let model = parse_model(Path::new("m.sql"), source.into(), Target::new("a", "b")).expect(header);
        model.masks().iter().map(|mask| format!("{}={}", mask.column, mask.function)).collect()
    }

    #[test]
    fn the_first_masking_tag_of_each_column_counts() {
        let header = "-- @column: a = x | PII | MASK_Own | redact\n-- @column: b = y | PII\n-- @column: c = mask_ssn";
        assert_eq!(masks(header), ["a=MASK_Own"]);
    }

    #[test]
    fn keys_are_never_masked_whatever_the_case() {
        let merge = "-- @kind: merge\n-- @unique_key: ID\n-- @column: id = x | hash_pii\n-- @column: v = y | redact";
        assert_eq!(masks(merge), ["v=redact"]);
        let tracked = "-- @kind: tracked\n-- @group_key: A, b\n-- @column: a = x | redact\n-- @column: B = y | redact";
        assert_eq!(masks(tracked), Vec::<String>::new());
    }

    #[test]
    fn a_key_that_the_kind_ignores_keeps_nothing_in_clear() {
        for kind in ["table", "append"] {
            let header = format!("-- @kind: {kind}\n-- @unique_key: email\n-- @column: Email = x | mask_email");
            assert_eq!(masks(&header), ["Email=mask_email"], "{kind}");
        }
    }
}
