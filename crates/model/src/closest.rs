//! Which name was meant.

/// The one of `known` that is closest to `name`, if it is close enough to be what was meant: by at most three letters, and
/// by less than half of them.
pub fn closest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let rated = known.into_iter().map(|other| (strsim::damerau_levenshtein(&name, &other.to_lowercase()), other));
    let (distance, other) = rated.min()?;
    (distance <= 3 && 2 * distance < name.chars().count().max(3)).then_some(other)
}

#[cfg(test)]
mod tests {
    use super::closest_name;

    #[test]
    fn a_name_that_is_written_in_another_way_is_found_and_another_name_is_not() {
        let known = ["not_null", "unique", "composite_unique"];
        assert_eq!(closest_name("composit_unique", known), Some("composite_unique"));
        assert_eq!(closest_name("NOT_NUL", known), Some("not_null"));
        assert_eq!(closest_name("nope", known), None);
        assert_eq!(closest_name("x", known), None);
        assert_eq!(closest_name("unique", []), None);
    }
}
