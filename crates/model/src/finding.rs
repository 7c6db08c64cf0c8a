//! What is wrong with a model file: the rule, the place, the message, the way out.

use std::fmt;

use types::{Code, Diagnose, Place};

macro_rules! rules {
    ($($name:ident = $text:literal, $code:ident;)*) => {
        /// The rule that a model file breaks; its id is part of the contract of `validate` (chapter 05 §3.11).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Rule {
            $(#[doc = concat!("`", $text, "`")] $name,)*
        }

        impl Rule {
            /// The id as `validate` prints it.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            fn code(self) -> Code {
                match self { $(Self::$name => Code::$code,)* }
            }
        }
    };
}

rules! {
    MultiStatement = "parser.multi_statement", Statements;
    InvalidDirective = "parser.invalid_directive", Header;
    InvalidKind = "parser.invalid_kind", DirectiveValue;
    RemovedKind = "parser.invalid_kind", DirectiveRemoved;
    InvalidUniqueKey = "parser.invalid_unique_key", DirectiveValue;
    MisusedUniqueKey = "parser.invalid_unique_key", Incompatible;
    InvalidIncremental = "parser.invalid_incremental", DirectiveValue;
    InvalidSortedBy = "parser.invalid_sorted_by", DirectiveValue;
    InvalidPartitionedBy = "parser.invalid_partitioned_by", DirectiveValue;
    DuplicateTarget = "parser.duplicate_target", DuplicateTarget;
    UnterminatedBlockComment = "parser.unterminated_block_comment", Header;
    DeprecatedSink = "parser.deprecated_sink", DirectiveRemoved;
    DeprecatedScript = "parser.deprecated_script", DirectiveRemoved;
    DeprecatedSinkDetectDeletes = "parser.deprecated_sink_detect_deletes", DirectiveRemoved;
    DeprecatedSinkDeleteThreshold = "parser.deprecated_sink_delete_threshold", DirectiveRemoved;
    InvalidValue = "parser.other", DirectiveValue;
    Incompatible = "parser.other", Incompatible;
    BadPath = "parser.other", ModelPath;
    NoBody = "parser.other", Statements;
    NoSelect = "parser.other", Statements;
    Syntax = "parser.other", ModelSyntax;
    LimitDisallowed = "read_only.limit_disallowed", Limit;
    OffsetDisallowed = "read_only.offset_disallowed", Limit;
    PushKindNotSupported = "push.kind_not_supported", Incompatible;
}

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Where; the file alone when the whole file is meant.
    pub place: Place,
    message: String,
    help: String,
}

impl Finding {
    /// A finding with its message and the next action.
    pub fn new(rule: Rule, place: Place, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { rule, place, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parse {}: {}", self.place.file().display(), self.message)
    }
}

impl std::error::Error for Finding {}

impl Diagnose for Finding {
    fn code(&self) -> Code {
        self.rule.code()
    }

    fn help(&self) -> String {
        self.help.clone()
    }

    fn place(&self) -> Option<&Place> {
        Some(&self.place)
    }
}
