//! Reads what a database answered instead of doing what it was asked to.

use std::time::Duration;

use engine::EngineError;

use crate::StateError;

/// Why a script was not executed, or not for certain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A condition of the script did not hold: it did nothing.
    Fence(Fence),
    /// Another transaction was in the way: it did nothing, and may succeed when run again.
    Conflict(String),
    /// The connection broke: it may have done all or nothing.
    Lost(String),
    /// The database refuses it.
    Refused(String),
}

/// Conditions of scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fence {
    LeaseLost,
    LeaseHeld,
    PositionMoved,
    AlreadyDone,
    /// A living worker delivers events of the target.
    InFlight,
    /// The schema is of another version than expected.
    Version,
}

const FENCES: [(&str, Fence); 6] = [
    ("fence:lease_lost:", Fence::LeaseLost),
    ("fence:lease_held:", Fence::LeaseHeld),
    ("fence:position_moved:", Fence::PositionMoved),
    ("fence:already_done:", Fence::AlreadyDone),
    ("fence:in_flight:", Fence::InFlight),
    ("fence:version:", Fence::Version),
];

/// Signs of another transaction in the way.
const CONFLICTS: [&str; 9] = [
    "could not serialize access",
    "deadlock detected",
    "duplicate key value violates unique constraint",
    "tuple concurrently updated",
    "Transaction conflict",
    "Conflict on",
    "write-write conflict",
    "Duplicate key",
    "PRIMARY KEY or UNIQUE constraint violat",
];

/// Signs of a connection that is gone, or was never made.
const LOST: [&str; 22] = [
    // A session whose ROLLBACK was lost is of no use any more.
    "Current transaction is aborted",
    "server closed the connection",
    "terminating connection",
    "connection to server",
    "Unable to connect to Postgres",
    "no connection to the server",
    "could not receive data from server",
    "could not send data to server",
    "SSL SYSCALL error",
    "SSL connection has been closed",
    "SSL error",
    "the database system is",
    "Failed to send message",
    "Could not connect",
    "Could not establish connection",
    "Failed to read",
    "Invalid connection id",
    "Connection reset",
    "Broken pipe",
    "Connection refused",
    "remaining connection slots are reserved",
    "sorry, too many clients already",
];

/// Signs of a server that turns this client away, as it will every time.
const TURNED_AWAY: [&str; 8] = [
    "does not exist",
    "authentication failed",
    "no pg_hba.conf entry",
    "certificate verify failed",
    "connection info string",
    "invalid connection option",
    "invalid URI",
    "Not Implemented",
];

impl Failure {
    /// The error where nothing is tried again and there is no condition.
    pub(crate) fn into_error(self) -> StateError {
        match self {
            Self::Lost(message) => StateError::unreachable(Duration::ZERO, message),
            Self::Conflict(message) => StateError::Conflict { attempts: 1, message },
            Self::Refused(message) => StateError::Write { message },
            Self::Fence(fence) => StateError::Write { message: format!("an unexpected answer: {fence:?}") },
        }
    }

    /// Reads the answer to `script`, whose text the answer may repeat: it holds values and is taken out first.
    pub(crate) fn of(error: &EngineError, script: &str) -> Self {
        let text = answer_alone(&error.to_string(), script);
        if let Some((_, fence)) = FENCES.iter().find(|(sign, _)| is_fence(&text, sign)) {
            return Self::Fence(*fence);
        }
        if error.is_conflict() || CONFLICTS.iter().any(|sign| text.contains(sign)) || is_made_twice(&text) {
            return Self::Conflict(text);
        }
        if TURNED_AWAY.iter().any(|sign| text.contains(sign)) {
            return Self::Refused(text);
        }
        if LOST.iter().any(|sign| text.contains(sign)) {
            return Self::Lost(text);
        }
        Self::Refused(text)
    }
}

/// What PostgreSQL tells one of two `CREATE TABLE IF NOT EXISTS` at the same moment: the table, or the type of its
/// rows, is there. The second attempt sees it.
fn is_made_twice(text: &str) -> bool {
    text.contains(" already exists") && ["ERROR:  relation ", "ERROR:  type "].iter().any(|sign| text.contains(sign))
}

/// Whether a fence's text was refused as a number: that is how scripts end themselves.
fn is_fence(text: &str, sign: &str) -> bool {
    text.find(sign).is_some_and(|at| {
        let before = &text[..at];
        before.ends_with('\'') && before.contains("Could not convert string")
            || before.ends_with('"') && before.contains("invalid input syntax")
    })
}

/// The database's own words in `text`: without the script that PostgreSQL's answers begin with, and without the
/// excerpt of it that DuckDB's end with.
fn answer_alone(text: &str, script: &str) -> String {
    let server = ["\": ERROR:", "\": FATAL:"].into_iter().filter_map(|sign| text.rfind(sign)).max();
    let own = match server {
        Some(at) if text.contains("Failed to ") => &text[at + 3..],
        _ => match text.find(script).filter(|_| !script.is_empty()) {
            Some(at) => text[at + script.len()..].trim_start_matches(['"', ':', ' ']),
            None => text,
        },
    };
    let own = own.split("\nLINE ").next().unwrap_or(own);
    let own = own.split("\n\nLINE ").next().unwrap_or(own);
    own.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use engine::EngineError;

    use super::{Failure, Fence};

    fn failure(text: &str, script: &str) -> Failure {
        let error = EngineError::Sql { class: String::new(), message: text.to_owned(), offset: None };
        Failure::of(&error, script)
    }

    #[test]
    fn the_script_is_not_taken_for_the_answer() {
        let script = "INSERT INTO t VALUES ('duplicate key value violates unique constraint', 's3cret')";
        let text = format!(
            "Failed to execute query \"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ;\n{script}\": ERROR:  division by zero\n"
        );
        assert_eq!(failure(&text, script), Failure::Refused("ERROR:  division by zero".into()));
        let text = format!("Failed to execute query \"BEGIN;\n{script}\": server closed the connection unexpectedly");
        assert_eq!(failure(&text, script), Failure::Lost("server closed the connection unexpectedly".into()));
    }

    #[test]
    fn tables_that_another_is_making_are_a_conflict() {
        for what in ["type", "relation"] {
            let text = format!("ERROR:  {what} \"schema_version\" already exists");
            assert_eq!(failure(&text, ""), Failure::Conflict(text));
        }
        assert!(matches!(failure("ERROR:  role \"a\" already exists", ""), Failure::Refused(_)));
    }

    #[test]
    fn fences_are_told_from_data_that_looks_like_them() {
        let duckdb = "Could not convert string 'fence:lease_lost:0' to INT32\n\nLINE 1: SELECT";
        assert_eq!(failure(duckdb, ""), Failure::Fence(Fence::LeaseLost));
        let postgres = "ERROR:  invalid input syntax for type integer: \"fence:position_moved:0\"";
        assert_eq!(failure(postgres, ""), Failure::Fence(Fence::PositionMoved));
        assert!(matches!(failure("no table fence:lease_lost:0", ""), Failure::Refused(_)));
    }
}
