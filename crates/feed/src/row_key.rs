//! What "the same row" means for delivery: a number made of the key, the same in every version of the engine.

use types::quote;

use crate::layout::{Field, Layout, named, value_by_id};
use crate::{EventSource, FeedError};

impl EventSource {
    /// The key columns as they are in a version that must have them.
    pub(crate) fn key_fields<'a>(&self, layout: &'a Layout) -> Result<Vec<&'a Field>, FeedError> {
        let field = |column: &String| {
            let missing = || FeedError::KeyMissing { target: self.target.clone(), column: column.clone() };
            named(layout, column).ok_or_else(missing)
        };
        self.keys.iter().map(field).collect()
    }
}

/// The row key over the version that the key columns are of.
pub(crate) fn row_key(keys: &[&Field]) -> String {
    hash(&keys.iter().map(|field| text(field, &quote(&field.column.name))).collect::<Vec<_>>())
}

/// The row key over another version of the same table.
pub(crate) fn row_key_by_id(keys: &[&Field], layout: &Layout) -> String {
    hash(&keys.iter().map(|field| text(field, &value_by_id(layout, field))).collect::<Vec<_>>())
}

/// Texts that two keys share only cost a little time: their rows wait for each other.
fn hash(texts: &[String]) -> String {
    if texts.is_empty() {
        return "rowid::BIGINT".into();
    }
    let text = format!("concat_ws(chr(31), {})", texts.join(", "));
    format!("(md5_number_lower({text}) & 9223372036854775807::UBIGINT)::BIGINT")
}

/// A moment as text depends on the session's time zone.
fn text(field: &Field, value: &str) -> String {
    let value = match field.column.type_name.as_str() {
        "TIMESTAMP WITH TIME ZONE" => format!("timezone('UTC', {value})"),
        _ => value.to_owned(),
    };
    format!("coalesce(({value})::VARCHAR, chr(30))")
}
