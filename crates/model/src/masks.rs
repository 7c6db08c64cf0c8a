//! Which columns of a model are masked, and with what (chapter 01 §4.6).

use std::ops::Range;

use types::quote;

use crate::Model;

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
    /// The masked columns, in the order first named. Those of `@unique_key` and `@group_key` never are, whatever the kind:
    /// rows are known by them.
    pub fn masks(&self) -> Vec<Mask> {
        let unique = self.unique_key.iter().map(|key| &key.value);
        let keys: Vec<&String> = unique.chain(&self.group_key).collect();
        let is_key = |name: &str| keys.iter().any(|key| key.eq_ignore_ascii_case(name));
        let masked = self.columns.iter().filter(|doc| !is_key(&doc.name));
        let mask = |doc: &crate::ColumnDoc| {
            let function = doc.mask()?.to_owned();
            Some(Mask { column: doc.name.clone(), function, span: doc.span.clone(), schema: None })
        };
        masked.filter_map(mask).collect()
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
}
