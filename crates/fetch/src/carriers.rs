//! The values of a row on their way to the engine: for each column a text that a CAST turns into the value, or NULL.

use lib_functions::push_json_string;

/// A row of carriers. Made once and filled again and again, so that a row costs no allocation.
#[derive(Debug, Clone, Default)]
pub struct Carriers {
    text: String,
    /// Where each text begins and ends.
    columns: Vec<Option<(usize, usize)>>,
}

impl Carriers {
    /// An empty row.
    pub fn new() -> Self {
        Self::default()
    }

    /// The carriers in the order of the columns. No text holds the character NUL.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        self.columns.iter().map(|column| column.map(|(start, end)| &self.text[start..end]))
    }

    /// Appends the row as a JSON array of strings and nulls: one text to stage, which the engine reads back as
    /// `VARCHAR[]`.
    pub fn write_json(&self, out: &mut String) {
        out.push('[');
        for (at, carrier) in self.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            match carrier {
                Some(text) => push_json_string(out, text),
                None => out.push_str("null"),
            }
        }
        out.push(']');
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.columns.clear();
    }

    pub(crate) fn push_null(&mut self) {
        self.columns.push(None);
    }

    /// Adds what `write` appends; after an error, nothing.
    pub(crate) fn push_with<E>(&mut self, write: impl FnOnce(&mut String) -> Result<(), E>) -> Result<(), E> {
        let start = self.text.len();
        match write(&mut self.text) {
            Ok(()) => self.columns.push(Some((start, self.text.len()))),
            Err(error) => {
                self.text.truncate(start);
                return Err(error);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Carriers;

    #[test]
    fn a_row_is_filled_read_and_filled_again() {
        let mut carriers = Carriers::new();
        for _ in 0..2 {
            carriers.clear();
            let mut push = |text: &str, result: Result<(), ()>| {
                carriers.push_with(|out| {
                    out.push_str(text);
                    result
                })
            };
            assert_eq!(push("a\"\n", Ok(())), Ok(()));
            assert_eq!(push("half", Err(())), Err(()));
            carriers.push_null();
            carriers.push_with::<()>(|_| Ok(())).unwrap();
            assert_eq!(carriers.iter().collect::<Vec<_>>(), [Some("a\"\n"), None, Some("")]);
        }
        let mut json = String::new();
        carriers.write_json(&mut json);
        assert_eq!(json, r#"["a\"\n",null,""]"#);
    }
}
