//! Why a lake that is attached rightly does not open: what DuckLake's backends say of their files, and what to do.

use engine::EngineError;

/// What helps when attaching a lake failed for the sake of its catalog; `None` if the statement itself is to blame.
pub(crate) fn catalog_help(error: &EngineError) -> Option<&'static str> {
    let text = error.cleaned();
    let said = |(signs, help): &(&[&str], &'static str)| signs.iter().any(|sign| text.contains(sign)).then_some(*help);
    FAULTS.iter().find_map(said)
}

const FAULTS: [(&[&str], &str); 4] = [
    (
        &["Could not set lock on file", "database is locked"],
        "another process has the catalog's file: wait until it has ended, or end it; a catalog in DuckDB is one \
         process's at a time",
    ),
    (
        &["file is not a database", "not a valid DuckDB database file", "database disk image is malformed"],
        "the catalog's file is damaged, or is something else: put it back from a backup, or correct its path in \
         config/catalog.sql",
    ),
    (
        &["disk I/O error", "database or disk is full", "No space left on device"],
        "make room on the catalog's disk, and check that the disk is sound (`ondatrasql doctor` tells what is free)",
    ),
    (
        &[
            "attempt to write a readonly database",
            "unable to open database file",
            "Permission denied",
            "Read-only file system",
        ],
        "check that this user can read and write the catalog's file and its folder, which has to be there",
    ),
];

#[cfg(test)]
mod tests {
    use engine::EngineError;

    use super::catalog_help;

    #[test]
    fn a_mistake_in_the_statement_is_no_fault_of_the_catalog() {
        let help = |message: &str| {
            catalog_help(&EngineError::Sql { class: "Binder Error: ".into(), message: message.into(), offset: None })
        };
        assert_eq!(help("Unrecognized option for attach \"journal_mode\""), None);
        assert!(help("Failed to execute query \"BEGIN\": disk I/O error").unwrap().starts_with("make room"));
    }
}
