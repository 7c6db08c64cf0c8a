//! The engine's syntax tree of a SELECT, as JSON, and how it is obtained.

use serde::Deserialize;
use serde_json::Value;

/// Why there is no syntax tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeError {
    /// The text is not SQL.
    Syntax {
        /// The engine's message.
        message: String,
        /// Byte of the text at which it failed.
        offset: Option<usize>,
    },
    /// A statement that the engine parses but does not give a tree for.
    NotSerializable {
        /// The engine's message.
        message: String,
    },
}

/// The tree of one SELECT statement.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntaxTree(pub Value);

/// What this room asks of the engine.
pub trait SqlParser {
    /// The trees of `statements`, in order, in few requests.
    fn trees(&self, statements: &[&str]) -> Vec<Result<SyntaxTree, TreeError>>;

    /// The tables named by a statement that has no tree, as far as the engine can tell; aliases may follow.
    fn table_names(&self, statement: &str) -> Option<Vec<String>>;
}

impl SyntaxTree {
    /// Whether the text has parameters (`$1`, `?`), for which nothing here has values.
    pub fn has_parameters(&self) -> bool {
        let statements = self.0["statements"].as_array();
        statements
            .into_iter()
            .flatten()
            .any(|statement| !statement["named_param_map"].as_array().is_none_or(Vec::is_empty))
    }

    /// How many statements the engine read in the text, whatever it looks like.
    pub fn statement_count(&self) -> usize {
        self.0["statements"].as_array().map_or(1, Vec::len)
    }

    /// Reads one document of `json_serialize_sql`.
    pub fn from_document(document: &str) -> Result<Self, TreeError> {
        // The engine bounds the depth of expressions; the command line runs on a stack that holds them.
        let mut reader = serde_json::Deserializer::from_str(document);
        reader.disable_recursion_limit();
        let value = Value::deserialize(&mut reader)
            .map_err(|error| TreeError::NotSerializable { message: format!("unreadable syntax tree: {error}") })?;
        if value["error"].as_bool() != Some(true) {
            return Ok(Self(value));
        }
        let message = value["error_message"].as_str().unwrap_or("unknown error").to_owned();
        if value["error_type"].as_str() == Some("parser") {
            let offset = value["position"].as_str().and_then(|position| position.parse().ok());
            return Err(TreeError::Syntax { message, offset });
        }
        Err(TreeError::NotSerializable { message })
    }
}

/// The text under `key`, if it is one and not empty.
pub(crate) fn text<'a>(node: &'a Value, key: &str) -> Option<&'a str> {
    node.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The byte offset of a node, where the engine gives one.
pub fn location(node: &Value) -> Option<usize> {
    // The engine writes the largest u64 where it has no location.
    node.get("query_location")
        .and_then(Value::as_u64)
        .filter(|&at| at != u64::MAX)
        .and_then(|at| usize::try_from(at).ok())
}
