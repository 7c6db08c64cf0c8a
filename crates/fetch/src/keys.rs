//! Finding a key by name: exactly, else the only one that is equal but for case.

use crate::{Refusal, Written};

/// What stands under a name; `None` if there is no such key.
///
/// # Errors
/// When several keys are equal but for case and none exactly.
pub(crate) fn find<'a, T: Copy>(
    mut entries: impl Iterator<Item = (&'a str, T)> + Clone,
    name: &str,
) -> Written<Option<T>> {
    if let Some((_, value)) = entries.clone().find(|(key, _)| *key == name) {
        return Ok(Some(value));
    }
    let Some((first, value)) = entries.find(|(key, _)| is_equal(key, name)) else { return Ok(None) };
    match entries.find(|(key, _)| is_equal(key, name)) {
        None => Ok(Some(value)),
        Some((second, _)) => {
            Err(Refusal::new(format!("the keys {first:?} and {second:?} are both equal to {name:?} but for case")))
        }
    }
}

fn is_equal(key: &str, name: &str) -> bool {
    if key.is_ascii() && name.is_ascii() {
        return key.eq_ignore_ascii_case(name);
    }
    key.to_lowercase() == name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn an_exact_key_wins_else_the_only_one_in_any_case() {
        for (keys, name, expected) in [
            (&["ID", "id", "Id"][..], "id", Ok(Some(1))),
            (&["x", "ID"], "id", Ok(Some(1))),
            (&["ÉTÉ"], "été", Ok(Some(0))),
            (&["x"], "id", Ok(None)),
            (&[], "id", Ok(None)),
            (&["ID", "Id"], "id", Err("the keys \"ID\" and \"Id\" are both equal to \"id\" but for case".to_owned())),
        ] {
            let entries = keys.iter().copied().zip(0..);
            assert_eq!(find(entries, name).map_err(|refusal| refusal.to_string()), expected, "{keys:?}");
        }
    }
}
