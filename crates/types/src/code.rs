//! The stable codes of errors. `docs/errors/README.md` explains each; a test compares the two.

use std::fmt;

macro_rules! codes {
    ($($name:ident = $text:literal, $doc:literal;)*) => {
        /// The stable code of an error, printed in brackets at the end of its message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $doc] $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code as users see it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

codes! {
    NotInProject = "PROJECT-001", "The command was started outside a project.";
    ProjectExists = "PROJECT-002", "`init` in a folder that already has a `config/` folder.";
    ProjectFile = "PROJECT-003", "A file of the project cannot be read or written.";
    DotEnv = "PROJECT-004", "A line of `.env` cannot be used.";
    ProjectBusy = "PROJECT-005", "Another process is running this project.";
    CatalogRequired = "CONFIG-001", "`config/catalog.sql` is missing.";
    ConfigSql = "CONFIG-002", "A statement of a configuration file failed.";
    UndefinedVariable = "CONFIG-003", "A `${NAME}` in a configuration file is not defined.";
    CatalogAttach = "CONFIG-004", "`config/catalog.sql` does not attach exactly one usable DuckLake catalog.";
    StateRequired = "CONFIG-005", "`config/state.sql` is missing.";
    StateKey = "CONFIG-006", "The key of the state file is not 32 bytes in base64.";
    StateSql = "STATE-001", "A statement of `config/state.sql` failed.";
    StateCatalog = "STATE-002", "`config/state.sql` does not attach exactly one usable catalog as `state`.";
    StateWrongKey = "STATE-003", "The key does not open the state file.";
    StateLocked = "STATE-004", "Another process has the state file.";
    StateNewer = "STATE-005", "The state was written by a newer version.";
    StateWrite = "STATE-006", "The state cannot be written.";
    StateUnreachable = "STATE-007", "The server of the state does not answer.";
    StateConflict = "STATE-008", "Other workers kept changing the same rows of the state.";
    StateLeaseLost = "STATE-009", "Another worker has taken over what this one held.";
    StateNotEmpty = "STATE-010", "The state to copy to holds something.";
    StateVerify = "STATE-011", "A copy of the state differs from the state.";
    StateInUse = "STATE-012", "Workers are using the state.";
    StateServe = "STATE-013", "The state cannot be served like this.";
    StateRekey = "STATE-014", "The key of the state file cannot be replaced like this.";
    LibFile = "LIB-001", "A lib file cannot be used as it is.";
    LibFunction = "LIB-002", "A lib function failed.";
    AuthVariables = "AUTH-001", "Variables of an OAuth provider are missing or wrong.";
    AuthNoToken = "AUTH-002", "Nobody has authorized a provider, or the authorization was taken back.";
    AuthConsent = "AUTH-003", "Consent was not given.";
    AuthBusy = "AUTH-004", "Consent cannot be asked for now.";
    AuthEndpoint = "AUTH-005", "A provider gave no tokens.";
    AuthServiceAccount = "AUTH-006", "A service account cannot be used.";
    FeedLost = "FEED-001", "Snapshots that a target's changes are read from are gone.";
    FeedTable = "FEED-002", "The changes of a table cannot be told or its rows not be found.";
    FetchSql = "FETCH-001", "The SQL of a model that fetches breaks a rule.";
    FetchValue = "FETCH-002", "A fetched value is not of its declared type.";
    FetchPages = "FETCH-003", "The pages of a fetch do not come to an end.";
    FetchTimeout = "FETCH-004", "The job of a fetch did not end in time.";
    PushModel = "PUSH-001", "A model with `@push` cannot be pushed like this.";
    PushRows = "PUSH-002", "Rows were not delivered.";
    PushChunk = "PUSH-003", "`ONDATRA_CLAIM_CHUNK` is no number of events.";
    PushTarget = "PUSH-004", "A command of the queue names a target that it cannot be about.";
    PushClear = "PUSH-005", "A table holds a column in clear that its model masks, so nothing of it is sent.";
    Header = "MODEL-001", "A header comment is not a directive, or stands in the wrong place.";
    DirectiveValue = "MODEL-002", "The value of a directive is not allowed.";
    DirectiveRemoved = "MODEL-003", "A directive or kind of an older version.";
    Incompatible = "MODEL-004", "Directives that cannot be combined, or one that is missing.";
    Statements = "MODEL-005", "A model file does not hold exactly one SQL statement.";
    Limit = "MODEL-006", "LIMIT or OFFSET in a model.";
    ModelPath = "MODEL-007", "A model's path gives no usable table name.";
    DuplicateTarget = "MODEL-008", "Two model files have the same target.";
    ModelNotFound = "MODEL-009", "No model of this name.";
    ModelExists = "MODEL-011", "`new` for a model that has a file already.";
    ColumnNotFound = "MODEL-012", "A model has no column of this name.";
    ModelSyntax = "MODEL-010", "The SQL of a model is not valid.";
    ConstraintFailed = "CHECK-001", "A constraint found rows that must not be written.";
    AuditFailed = "CHECK-002", "An audit found a table that must not be committed.";
    CheckProblem = "CHECK-003", "A check cannot be run.";
    CheckTable = "CHECK-004", "There is no table to check, or none to write failures to.";
    Cycle = "PLAN-001", "Models depend on each other in a circle.";
    ExtensionMissing = "ENGINE-001", "An extension of the engine is in none of the places searched.";
    ExtensionSum = "ENGINE-002", "An extension's file is not the pinned one.";
    EngineVersion = "ENGINE-003", "The engine library is not the pinned version.";
    Sql = "ENGINE-004", "The engine refused a statement.";
    LakeConflict = "ENGINE-005", "The lake was changed by another writer at the same time.";
    SandboxCatalog = "SANDBOX-001", "There is no production catalog to make a sandbox from.";
    SandboxFork = "SANDBOX-002", "The production catalog could not be copied for a sandbox.";
    SandboxDeclined = "SANDBOX-003", "A sandbox would end connections to the production catalog, and may not.";
    Interrupted = "RUN-002", "The run was interrupted.";
    RecordedCommit = "RUN-003", "The recorded last commit of a model cannot be read.";
    Key = "RUN-004", "A key column is missing, NULL, or repeats where it must be unique.";
    RowsWouldBeDropped = "RUN-005", "A rebuild would drop rows that no query gives again.";
    Mask = "RUN-006", "A column cannot be masked.";
    NotRunYet = "RUN-007", "A model that has never run is asked about.";
    ScriptEmpty = "SCRIPT-001", "A script of `sql/` is empty.";
    ScriptRefused = "SCRIPT-002", "A statement of a script would remove snapshots that runs need, or cannot be checked.";
    ScriptTransaction = "SCRIPT-003", "A script ends inside a transaction, or expires snapshots inside one.";
    Editor = "EDIT-001", "No editor could be started, or it ended with an error.";
    EditNotFound = "EDIT-002", "There is no such file to edit.";
    ReadOnly = "CLI-001", "`ondatrasql sql` was given a statement that is not read-only.";
    Usage = "CLI-002", "The command line is wrong.";
    Output = "CLI-003", "The result could not be written to standard output.";
    MetricsFile = "CLI-004", "The file for metrics cannot be written.";
    ManPages = "CLI-005", "Man pages cannot be written.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
