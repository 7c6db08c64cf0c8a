//! The rules that a project is checked against, and what comes of breaking one (chapter 05 §3.11). The one list of
//! them: `docs/validate.md` explains each, and a test compares the two.

use std::fmt;

use crate::Code;

/// What a broken rule means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// `run` would fail.
    Blocker,
    /// Something could not be checked.
    Warn,
    /// To be known; nothing fails of it.
    Info,
}

impl Severity {
    /// As users see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blocker => "BLOCKER",
            Self::Warn => "WARN",
            Self::Info => "INFO",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! rules {
    ($($name:ident = $severity:ident $text:literal, $code:ident;)*) => {
        /// A rule, known by the check that found it broken. Several checks may share an id, each with the code of its
        /// own error.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = concat!("`", $text, "`")] $name,)*
        }

        impl Rule {
            /// Every check.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The id as `validate` prints it.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What breaking it means.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// Whether it says that something could not be checked.
            pub fn is_of_validation(self) -> bool {
                self.id().starts_with("validate.")
            }

            /// The code of the error of a `run` that finds it broken.
            pub fn code(self) -> Code {
                match self { $(Self::$name => Code::$code,)* }
            }
        }
    };
}

rules! {
    MultiStatement = Blocker "parser.multi_statement", Statements;
    InvalidDirective = Blocker "parser.invalid_directive", Header;
    InvalidCheck = Blocker "parser.invalid_directive", CheckProblem;
    UnusableCheck = Blocker "parser.unusable_check", CheckProblem;
    UnusableMask = Blocker "parser.unusable_check", Mask;
    ChangedText = Info "parser.changed_text", CheckProblem;
    InvalidExtension = Blocker "parser.invalid_directive", DirectiveValue;
    InvalidKind = Blocker "parser.invalid_kind", DirectiveValue;
    RemovedKind = Blocker "parser.invalid_kind", DirectiveRemoved;
    InvalidUniqueKey = Blocker "parser.invalid_unique_key", DirectiveValue;
    MisusedUniqueKey = Blocker "parser.invalid_unique_key", Incompatible;
    InvalidIncremental = Blocker "parser.invalid_incremental", DirectiveValue;
    InvalidSortedBy = Blocker "parser.invalid_sorted_by", DirectiveValue;
    InvalidPartitionedBy = Blocker "parser.invalid_partitioned_by", DirectiveValue;
    MissingDirective = Blocker "parser.missing_directive", FetchSql;
    DuplicateTarget = Blocker "parser.duplicate_target", DuplicateTarget;
    UnterminatedBlockComment = Blocker "parser.unterminated_block_comment", Header;
    DeprecatedSink = Blocker "parser.deprecated_sink", DirectiveRemoved;
    DeprecatedScript = Blocker "parser.deprecated_script", DirectiveRemoved;
    DeprecatedSinkDetectDeletes = Blocker "parser.deprecated_sink_detect_deletes", DirectiveRemoved;
    DeprecatedSinkDeleteThreshold = Blocker "parser.deprecated_sink_delete_threshold", DirectiveRemoved;
    InvalidValue = Blocker "parser.other", DirectiveValue;
    Incompatible = Blocker "parser.other", Incompatible;
    BadPath = Blocker "parser.other", ModelPath;
    NoBody = Blocker "parser.other", Statements;
    NoSelect = Blocker "parser.other", Statements;
    NoTree = Blocker "parser.other", ModelSyntax;
    Syntax = Blocker "parser.other", ModelSyntax;
    Parameter = Blocker "parser.other", ModelSyntax;
    UnreadableModel = Blocker "parser.other", ProjectFile;
    FetchCast = Blocker "strict_fetch.cast_required", FetchSql;
    FetchAlias = Blocker "strict_fetch.alias_required", FetchSql;
    FetchWhere = Blocker "strict_fetch.where_clause_disallowed", FetchSql;
    FetchGroupBy = Blocker "strict_fetch.group_by_disallowed", FetchSql;
    FetchDistinct = Blocker "strict_fetch.distinct_disallowed", FetchSql;
    FetchOrderBy = Blocker "strict_fetch.order_by_disallowed", FetchSql;
    FetchUnion = Blocker "strict_fetch.union_disallowed", FetchSql;
    MultipleLibCalls = Blocker "strict_fetch.multiple_lib_calls", FetchSql;
    NoLibCall = Blocker "strict_fetch.no_lib_call", FetchSql;
    FetchOther = Blocker "strict_fetch.other", FetchSql;
    PushCast = Blocker "strict_push.cast_required", PushModel;
    PushAlias = Blocker "strict_push.alias_required", PushModel;
    PushStar = Blocker "strict_push.select_star_disallowed", PushModel;
    PushLibCall = Blocker "strict_push.lib_call_disallowed", PushModel;
    PushSqlOther = Blocker "strict_push.other", PushModel;
    LimitDisallowed = Blocker "read_only.limit_disallowed", Limit;
    OffsetDisallowed = Blocker "read_only.offset_disallowed", Limit;
    KeyInClear = Warn "masking.key_in_clear", Mask;
    TagWithoutBar = Warn "masking.tag_without_bar", Mask;
    Cycle = Blocker "dag.cycle_detected", Cycle;
    ExternalReference = Info "dag.external_reference", Sql;
    InvalidApiDict = Blocker "blueprint.invalid_api_dict", LibFile;
    HelperWithoutApi = Info "blueprint.helper_without_api", LibFile;
    UnknownKey = Info "blueprint.unknown_key", LibFile;
    UncheckedStatus = Info "blueprint.unchecked_status", LibFile;
    UnreadableLib = Blocker "blueprint.other", LibFile;
    PushKindNotSupported = Blocker "push.kind_not_supported", Incompatible;
    PushKindRefused = Blocker "push.kind_not_supported", PushModel;
    PushUniqueKey = Blocker "push.missing_unique_key", PushModel;
    PushGroupKey = Blocker "push.missing_group_key", PushModel;
    PushPollInterval = Blocker "push.invalid_poll_interval", LibFile;
    PushPollTimeout = Blocker "push.invalid_poll_timeout", LibFile;
    PushPace = Blocker "push.other", LibFile;
    PushCall = Blocker "push.other", PushModel;
    ArgsMismatch = Blocker "cross_ast.args_mismatch", FetchSql;
    UnknownLib = Blocker "cross_ast.unknown_lib", FetchSql;
    ConfigSyntax = Blocker "config.syntax", ConfigSql;
    ExtensionsLoadFailed = Warn "validate.extensions_load_failed", ConfigSql;
    BlueprintLoadFailed = Warn "validate.blueprint_load_failed", LibFile;
    IntrospectionFailed = Warn "validate.builtin_introspection_failed", Sql;
    WalkSkipped = Warn "validate.walk_skipped", ProjectFile;
    LineageExtractFailed = Warn "validate.lineage_extract_failed", ModelSyntax;
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Rule;

    #[test]
    fn checks_of_one_id_have_one_severity() {
        let mut severities = BTreeMap::new();
        for rule in Rule::ALL {
            let first = *severities.entry(rule.id()).or_insert(rule.severity());
            assert_eq!(first, rule.severity(), "{rule}");
        }
    }
}
