//! What the engine can answer instead of a result.

use std::path::PathBuf;

use types::{Code, Diagnose};

/// An error of the engine or of bringing it up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// A statement was refused.
    #[error("{class}{message}")]
    Sql {
        /// The engine's class prefix, like `Binder Error: `; empty where it gives none.
        class: String,
        /// The engine's text.
        message: String,
        /// Byte of the statement at which it failed, where the engine tells.
        offset: Option<usize>,
    },
    /// A running statement was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// The library is not the pinned version.
    #[error("the engine library is DuckDB {found}, this build needs {pinned}")]
    Version {
        /// Version of the library found.
        found: String,
        /// Version of `engine.pins`.
        pinned: String,
    },
    /// The folder for what the engine spills to disk cannot be made.
    #[error("make a folder in {}: {cause}", path.display())]
    SpillFolder {
        /// The folder around it.
        path: PathBuf,
        /// The system's reason.
        cause: String,
    },
    /// An extension was found nowhere and could not be installed.
    #[error(
        "extension `{name}` for DuckDB {version} ({platform}) was not found\n  looked in:\n{}\n  INSTALL from the network: {install}",
        list(looked_in)
    )]
    ExtensionMissing {
        /// Its name.
        name: String,
        /// The engine's version.
        version: String,
        /// The engine's platform.
        platform: String,
        /// Every file tried.
        looked_in: Vec<PathBuf>,
        /// Why the network did not help.
        install: String,
    },
    /// A file was found that is neither pinned nor acceptable to the engine.
    #[error("extension file {} cannot be loaded: {message}", path.display())]
    ExtensionRefused {
        /// The file.
        path: PathBuf,
        /// The engine's text.
        message: String,
    },
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("    {}", path.display())).collect::<Vec<_>>().join("\n")
}

impl EngineError {
    /// Reads the text of a failed statement; with `errors_as_json` it carries the position.
    pub(crate) fn from_text(text: &str) -> Self {
        if text.starts_with("INTERRUPT") || text.contains("\"exception_type\":\"INTERRUPT\"") {
            return Self::Interrupted;
        }
        let (class, rest) = split_class(text);
        let parsed =
            rest.trim_start().starts_with('{').then(|| serde_json::from_str::<serde_json::Value>(rest).ok()).flatten();
        match parsed {
            None => Self::Sql { class: class.to_owned(), message: rest.to_owned(), offset: None },
            Some(json) => {
                let class =
                    json["exception_type"].as_str().map_or_else(|| class.to_owned(), |kind| format!("{kind} Error: "));
                let message = json["exception_message"].as_str().unwrap_or(rest).to_owned();
                let offset = json["position"].as_str().and_then(|at| at.parse().ok());
                Self::Sql { class, message, offset }
            }
        }
    }

    /// The engine's answer to `sql`. Its parser counts characters, everything else bytes: here all are bytes.
    pub(crate) fn of_statement(text: &str, sql: &str) -> Self {
        match Self::from_text(text) {
            Self::Sql { class, message, offset: Some(offset) } if class.starts_with("Parser") => {
                Self::Sql { class, message, offset: Some(byte_offset(sql, offset)) }
            }
            other => other,
        }
    }

    /// The engine's text without its class prefix: what the output shows (chapter 05 §1.3).
    pub fn cleaned(&self) -> String {
        match self {
            Self::Sql { message, .. } => message.split("\nLINE ").next().unwrap_or(message).trim_end().to_owned(),
            other => other.to_string(),
        }
    }

    /// The same without a name that the engine thinks was meant: it knows all functions, not which of them fit.
    pub fn unsuggested(&self) -> String {
        let text = self.cleaned();
        text.split("\nDid you mean ").next().unwrap_or(&text).to_owned()
    }

    /// Whether the statement itself was refused, before it looked at any row.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Sql { class, .. } if ["Binder", "Catalog", "Parser", "Syntax"].iter().any(|word| class.starts_with(word)))
    }

    /// The same without a text that may hold a value of a row: the engine quotes what it could not convert. Its place
    /// stays. `text` is what the author wrote ([`EngineError::without_names`]).
    #[must_use]
    pub fn without_values(self, text: &str) -> Self {
        match self {
            Self::Sql { class, offset, .. } if self.is_of_values() => {
                Self::Sql { class, message: HIDDEN.into(), offset }
            }
            other => other.without_names(text),
        }
    }

    /// The same without names of columns that do not stand in `text`, which the author wrote: a file without a header gives
    /// its first row for names, and the engine tells them to the one who mistyped another.
    #[must_use]
    pub fn without_names(self, text: &str) -> Self {
        match self {
            Self::Sql { class, message, offset } if class.starts_with("Binder") => {
                Self::Sql { class, message: with_names_of(text, &message), offset }
            }
            other => other,
        }
    }

    /// Whether a statement failed while it looked at rows.
    fn is_of_values(&self) -> bool {
        !self.is_refusal() && self.is_statement_fault()
    }

    /// Whether a function is missing that comes with an extension which is not loaded.
    pub fn is_of_extension(&self) -> bool {
        let Self::Sql { class, message, .. } = self else { return false };
        class.starts_with("Catalog") && message.contains("it exists in the ")
    }

    /// Whether there is no function of a name, not even in an extension that is not loaded.
    pub fn is_unknown_function(&self) -> bool {
        let Self::Sql { class, message, .. } = self else { return false };
        class.starts_with("Catalog") && message.contains("Function with name ") && !self.is_of_extension()
    }

    /// Byte of the statement at which it failed, where known.
    pub fn offset(&self) -> Option<usize> {
        match self {
            Self::Sql { offset, .. } => *offset,
            _ => None,
        }
    }

    /// Whether the statement itself is at fault, not the disk, the memory or another writer.
    pub fn is_statement_fault(&self) -> bool {
        let outside = |class: &str| ["IO ", "Out of Memory", "FATAL"].iter().any(|prefix| class.starts_with(prefix));
        matches!(self, Self::Sql { class, .. } if !outside(class) && !self.is_conflict() && !self.is_aborted())
    }

    /// Whether an earlier statement of the transaction failed, and this one was not even tried.
    pub fn is_aborted(&self) -> bool {
        matches!(self, Self::Sql { class, message, .. }
            if class.starts_with("TransactionContext") && message.contains("transaction is aborted"))
    }

    /// Whether the engine's memory was too little for what went on.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::Sql { class, .. } if class.starts_with("Out of Memory"))
    }

    /// Whether the engine can answer nothing more in this process. Decided by class: a text may be data.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::Sql { class, .. } if class.starts_with("FATAL"))
    }

    /// Whether another writer got in the way, so that the same transaction may succeed when run again.
    pub fn is_conflict(&self) -> bool {
        let Self::Sql { class, message, .. } = self else { return false };
        class.starts_with("Transaction")
            && ["database is locked", "Transaction conflict", "Conflict on", "could not serialize access", "conflict"]
                .iter()
                .any(|sign| message.contains(sign))
    }
}

/// In the place of a message that may hold a value.
const HIDDEN: &str = "the engine failed at a value, which is not shown, as the model masks columns";

/// A message of the binder in which every name in quotes that `text` does not hold is `"…"`.
fn with_names_of(text: &str, message: &str) -> String {
    let told = message.split("\nLINE ").next().and_then(|told| told.split("Candidate bindings").next());
    let told = told.unwrap_or_default().trim_end();
    let parts: Vec<&str> = told.split('"').collect();
    if parts.len().is_multiple_of(2) {
        // A quote within a name: nobody can tell where it ends.
        return format!("{}…", parts[0]);
    }
    let text = text.to_lowercase();
    let part = |(at, part): (usize, &&str)| {
        let is_name = at % 2 == 1;
        if is_name && !text.contains(&part.to_lowercase()) { "…".to_owned() } else { (*part).to_owned() }
    };
    parts.iter().enumerate().map(part).collect::<Vec<_>>().join("\"")
}

/// The byte of the character number `characters` of a text.
pub(crate) fn byte_offset(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

/// Splits `Binder Error: text` into prefix and text.
fn split_class(text: &str) -> (&str, &str) {
    match text.find(" Error: ") {
        Some(at) if at < 40 && !text[..at].contains(['\n', '{', '"']) => text.split_at(at + " Error: ".len()),
        _ => ("", text),
    }
}

impl Diagnose for EngineError {
    fn code(&self) -> Code {
        match self {
            Self::Sql { .. } if self.is_conflict() => Code::LakeConflict,
            Self::Sql { .. } => Code::Sql,
            Self::Interrupted => Code::Interrupted,
            Self::SpillFolder { .. } => Code::ProjectFile,
            Self::Version { .. } => Code::EngineVersion,
            Self::ExtensionMissing { .. } => Code::ExtensionMissing,
            Self::ExtensionRefused { .. } => Code::ExtensionSum,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Sql { .. } if self.is_conflict() => "another process wrote to the lake; run again".into(),
            Self::Sql { class, .. } if class.starts_with("IO ") => {
                "check that the files are there, that they can be read and written, and that the disk has room".into()
            }
            Self::Sql { class, .. } if class.starts_with("Out of Memory") => {
                "give the engine more memory (SET memory_limit in config/settings.sql) or the model less to do at once"
                    .into()
            }
            Self::Sql { message, .. } if message == HIDDEN => {
                "find the value with `ondatrasql sql`, which shows the engine's message to you alone: run the model's \
                 query, or the masking function on what its table holds; TRY_CAST gives NULL for what cannot be converted"
                    .into()
            }
            Self::Sql { .. } => "change the SQL as the engine's message says".into(),
            Self::Interrupted => "run again: what was committed stays, the rest starts over".into(),
            Self::SpillFolder { .. } => {
                "check that the folder is there and writable, or name another with TMPDIR".into()
            }
            Self::Version { pinned, .. } => format!(
                "use the libduckdb.so of DuckDB {pinned} that came with this binary; in the repository, run scripts/engine"
            ),
            Self::ExtensionMissing { name, version, platform, .. } => format!(
                "put {name}.duckdb_extension into a folder <dir>/{version}/{platform}/ and set ONDATRA_EXTENSION_DIR=<dir>; or connect to the internet once and run again"
            ),
            Self::ExtensionRefused { path, .. } => format!(
                "replace {} by the file of exactly this engine version and platform, or delete it",
                path.display()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EngineError;

    #[test]
    fn errors_as_json_carry_class_message_and_position() {
        let error = EngineError::from_text(
            r#"Binder Error: {"exception_type":"Binder","exception_message":"no \"x\"","position":"11"}"#,
        );
        assert_eq!((error.to_string().as_str(), error.offset()), ("Binder Error: no \"x\"", Some(11)));
        assert_eq!(error.cleaned(), "no \"x\"");
    }

    #[test]
    fn plain_errors_keep_their_text_without_the_excerpt() {
        let error = EngineError::from_text("Binder Error: bad\n\nLINE 2: x\n  ^");
        assert_eq!(error.cleaned(), "bad");
        assert_eq!(EngineError::from_text("strange").to_string(), "strange");
    }

    #[test]
    fn names_that_nobody_wrote_are_not_told() {
        let told = |message: &str, text: &str| {
            EngineError::from_text(&format!("Binder Error: {message}")).without_values(text).cleaned()
        };
        let missing = "Referenced column \"Mial\" not found in FROM clause!\nCandidate bindings: \"bob@x\", \"id\"";
        let known = "SELECT mial FROM 'a.csv'";
        assert_eq!(told(missing, known), "Referenced column \"Mial\" not found in FROM clause!");
        let grouped = "column \"bob@x\" must appear in the GROUP BY clause, or use \"ANY_VALUE(bob@x)\"";
        assert_eq!(told(grouped, known), "column \"…\" must appear in the GROUP BY clause, or use \"…\"");
        assert_eq!(told("column \"bob\"x\" must appear", known), "column …");
        let of_function = EngineError::from_text("Catalog Error: no mask_x. Did you mean \"mask_ssn\"?");
        assert_eq!(of_function.clone().without_values(known), of_function);
    }

    #[test]
    fn conflicts_are_told_from_other_errors() {
        assert!(EngineError::from_text("TransactionContext Error: Failed to commit: database is locked").is_conflict());
        for data in [
            "Conversion Error: Could not convert string 'Conflict on schedule'",
            "Invalid Input Error: database is locked",
        ] {
            assert!(!EngineError::from_text(data).is_conflict(), "{data}");
        }
        assert!(!EngineError::from_text("Invalid Input Error: database has been invalidated").is_fatal());
        assert!(EngineError::from_text("FATAL Error: x").is_fatal());
    }
}
