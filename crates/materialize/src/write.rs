//! One door for all kinds: what is to be written, how, and what it did.

use engine::{Connection, EngineError};
use model::ColumnDoc;
use types::{Column, Kind, Target, literal};

use crate::MaterializeError;
use crate::append::append;
use crate::comments::{Comments, write_comments};
use crate::evolution::Evolution;
use crate::hints::{HintScope, Layout};
use crate::keys::check_keys;
use crate::lossless::{LosslessScope, check_lossless, check_values_kept};
use crate::merge::merge;
use crate::output::{Output, check_named};
use crate::refill::{create, has_variant, refill};
use crate::result::{ModelResult, describe};
use crate::scd2::{version, with_history};
use crate::tracked::{replace_groups, with_content_hash};

/// The kind of a write with its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KindWrite {
    /// Replaced as a whole.
    Table,
    /// Rows are only added.
    Append,
    /// Upsert by a key.
    Merge {
        /// `@unique_key`.
        key: String,
    },
    /// Versions by a key.
    Scd2 {
        /// `@unique_key`.
        key: String,
    },
    /// Groups by keys.
    Tracked {
        /// `@group_key`.
        keys: Vec<String>,
    },
}

/// Whether the rows that are there are replaced by the full result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rebuild {
    /// The kind's own way: what it keeps is kept.
    No,
    /// The same, and no value of a row that is there may be lost.
    Never,
    /// As a whole, asked for or harmless for the kind.
    Yes,
    /// As a whole, but only if no row of the table is lost (chapter 02 §5.4).
    IfLossless,
}

/// A result on its way into its table.
pub struct WriteRequest<'a> {
    /// Alias of the lake.
    pub lake: &'a str,
    /// Database and schema of the lake's metadata, quoted.
    pub metadata: &'a str,
    /// The table.
    pub target: &'a Target,
    /// The kind.
    pub kind: &'a KindWrite,
    /// The kind that the last commit wrote it as.
    pub last_kind: Option<Kind>,
    /// Whether the table is rebuilt.
    pub rebuild: Rebuild,
    /// The snapshot at which the result was read.
    pub read_snapshot: i64,
    /// The result.
    pub result: &'a ModelResult,
    /// Whether the result is only what a delta gives, so that no whole table can be made from it.
    pub partial: bool,
    /// How the table's files are laid out.
    pub layout: Layout<'a>,
    /// Columns that come under another name now: old and new.
    pub renames: &'a [(String, String)],
    /// `@incremental`: a column that the result must have.
    pub cursor: Option<&'a str>,
    /// The table's comment.
    pub description: Option<&'a str>,
    /// The columns' comments.
    pub docs: &'a [ColumnDoc],
}

/// What a write did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// How the table's columns changed, the runtime's own left out.
    pub evolution: Evolution,
    /// The key whose type changed, with its old and new type: the table was rebuilt for it.
    pub retyped_key: Option<RetypedKey>,
    /// Rows of the result; where a kind writes only what changed, the rows inserted for it.
    pub rows: i64,
    /// Texts for the user.
    pub warnings: Vec<String>,
}

/// A key column of another type than the table has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetypedKey {
    /// The column.
    pub key: String,
    /// Type in the table.
    pub old: String,
    /// Type in the result, as stored.
    pub new: String,
}

impl KindWrite {
    /// Columns that the runtime adds.
    pub(crate) fn own_columns(&self) -> &'static [&'static str] {
        match self {
            Self::Table => Kind::Table,
            Self::Append => Kind::Append,
            Self::Merge { .. } => Kind::Merge,
            Self::Scd2 { .. } => Kind::Scd2,
            Self::Tracked { .. } => Kind::Tracked,
        }
        .own_columns()
    }

    /// The directive that names the key columns, and these.
    pub(crate) fn keys(&self) -> (&'static str, &[String]) {
        match self {
            Self::Table | Self::Append => ("", &[]),
            Self::Merge { key } | Self::Scd2 { key } => ("@unique_key", std::slice::from_ref(key)),
            Self::Tracked { keys } => ("@group_key", keys),
        }
    }
}

/// Writes the result in the way of its kind, and the comments that differ.
pub fn write_model(connection: &Connection, request: &WriteRequest<'_>) -> Result<Written, MaterializeError> {
    let table = request.target.qualified(request.lake);
    let result = request.result.without(request.kind.own_columns());
    let (kind, layout, cursor) = (request.kind, request.layout, request.cursor);
    check_named(&Output { columns: &result.columns, kind, layout, cursor })?;
    check_keys(connection, &result, kind)?;
    // Looked up inside the transaction: another tool may have made or dropped the table since planning.
    let present = existing_columns(connection, request).map_err(MaterializeError::Write)?;
    let written = match &present {
        None => whole(connection, request, &result, None),
        Some(columns) => {
            let retyped_key = retyped_key(request, columns, &result);
            let is_whole = has_own_columns(request.kind, columns) && retyped_key.is_none();
            let tracked = matches!(request.kind, KindWrite::Tracked { .. });
            let rebuilt = || {
                let written = whole(connection, request, &result, Some(columns));
                written.map(|written| Written { retyped_key: retyped_key.clone(), ..written })
            };
            match request.rebuild {
                Rebuild::Yes => whole(connection, request, &result, Some(columns)),
                Rebuild::No | Rebuild::Never if is_whole => in_place(connection, request, &table, &result, columns),
                // What a tracked table holds is in its query's sources.
                Rebuild::No | Rebuild::Never if tracked => rebuilt(),
                Rebuild::No | Rebuild::Never | Rebuild::IfLossless => {
                    if request.partial {
                        return Err(MaterializeError::NeedsWhole);
                    }
                    let is_history = request.last_kind == Some(Kind::Scd2);
                    check_lossless(
                        connection,
                        &table,
                        columns,
                        &result,
                        &LosslessScope {
                            renames: request.renames,
                            is_history,
                            append: *request.kind == KindWrite::Append,
                        },
                    )?;
                    rebuilt()
                }
            }
        }
    };
    let mut written = written?;
    let comments = Comments {
        lake: request.lake,
        metadata: request.metadata,
        target: request.target,
        fresh: present.is_none() || !written.evolution.is_none(),
        description: request.description,
        docs: request.docs,
    };
    let warnings = write_comments(connection, &comments, &request.result.columns);
    written.warnings.extend(warnings.map_err(MaterializeError::Write)?);
    Ok(written)
}

/// Makes or replaces the whole table.
fn whole(
    connection: &Connection,
    request: &WriteRequest<'_>,
    result: &ModelResult,
    present: Option<&[Column]>,
) -> Result<Written, MaterializeError> {
    if request.partial {
        return Err(MaterializeError::NeedsWhole);
    }
    let extended = match request.kind {
        KindWrite::Table | KindWrite::Append | KindWrite::Merge { .. } => Ok(result.clone()),
        KindWrite::Scd2 { .. } => with_history(connection, result, request.read_snapshot),
        KindWrite::Tracked { keys } => with_content_hash(connection, result, keys),
    };
    let extended = extended.map_err(MaterializeError::Write)?;
    let table = request.target.qualified(request.lake);
    let hints = hint_scope(connection, request, &table);
    let write = || match present {
        None => {
            create(connection, (request.lake, request.target), &extended, &hints.fresh()).map(|()| Evolution::default())
        }
        Some(columns) => {
            let evolution = Evolution::between(columns, &extended.stored_columns(), request.renames);
            let hints = hints.changes(&evolution, &extended)?;
            refill(connection, &table, &evolution, &extended, &hints).map(|()| evolution)
        }
    };
    let last_own = request.last_kind.map_or(&[][..], Kind::own_columns);
    let evolution = write().map_err(MaterializeError::Write)?;
    let evolution = evolution.without(request.kind.own_columns()).without(last_own);
    Ok(Written { evolution, rows: result.rows, ..Written::default() })
}

/// Writes what changed; everything else stays.
fn in_place(
    connection: &Connection,
    request: &WriteRequest<'_>,
    table: &str,
    result: &ModelResult,
    present: &[Column],
) -> Result<Written, MaterializeError> {
    if *request.kind == KindWrite::Table {
        return whole(connection, request, result, Some(present));
    }
    let own = request.kind.own_columns();
    let data: Vec<Column> = present
        .iter()
        .filter(|column| !own.iter().any(|name| column.name.eq_ignore_ascii_case(name)))
        .cloned()
        .collect();
    let evolution = Evolution::between(&data, &result.stored_columns(), request.renames);
    if matches!(request.kind, KindWrite::Tracked { .. }) && (!evolution.is_none() || has_variant(result)) {
        // Names and types are no part of the hashes, so every group may have changed.
        return whole(connection, request, result, Some(present));
    }
    if request.rebuild == Rebuild::Never {
        check_values_kept(connection, table, &evolution)?;
    }
    let write = || -> Result<i64, EngineError> {
        let hints = hint_scope(connection, request, table).changes(&evolution, result)?;
        let alterations = evolution.alterations(table);
        let statements = alterations.reshape.iter().chain(&hints.before).chain(&alterations.carry);
        statements.chain(&alterations.drop).try_for_each(|statement| connection.execute(statement))?;
        let rows = match request.kind {
            KindWrite::Table => Ok(result.rows),
            KindWrite::Append => append(connection, table, result),
            KindWrite::Merge { key } => merge(connection, table, result, key),
            KindWrite::Scd2 { key } => {
                let scope =
                    crate::scd2::Scope { table, key, read_snapshot: request.read_snapshot, added: &evolution.added };
                version(connection, &scope, result)
            }
            KindWrite::Tracked { keys } => replace_groups(connection, table, result, keys),
        };
        hints.after.iter().try_for_each(|statement| connection.execute(statement))?;
        rows
    };
    let rows = write().map_err(MaterializeError::Write)?;
    Ok(Written { evolution, rows, ..Written::default() })
}

fn hint_scope<'a>(connection: &'a Connection, request: &'a WriteRequest<'_>, table: &'a str) -> HintScope<'a> {
    HintScope { connection, metadata: request.metadata, target: request.target, table, layout: request.layout }
}

/// Whether the table has what the runtime adds to this kind; one that another tool made anew has not.
fn has_own_columns(kind: &KindWrite, present: &[Column]) -> bool {
    kind.own_columns().iter().all(|own| present.iter().any(|column| column.name == *own))
}

fn retyped_key(request: &WriteRequest<'_>, present: &[Column], result: &ModelResult) -> Option<RetypedKey> {
    let evolution = Evolution::between(present, &result.stored_columns(), request.renames);
    let retyped = |key: &String| {
        let named = |column: &Column| column.name.eq_ignore_ascii_case(key);
        // A key that the table does not have yet is compared with nothing either.
        let added = evolution.added.iter().find(|column| named(column)).map(|column| ("nothing", &column.type_name));
        let other = evolution.retyped.iter().find(|(column, _)| named(column));
        let (old, new) = added.or_else(|| other.map(|(column, new)| (column.type_name.as_str(), new)))?;
        Some(RetypedKey { key: key.clone(), old: old.to_owned(), new: new.clone() })
    };
    request.kind.keys().1.iter().find_map(retyped)
}

/// The columns of the table; `None` if there is no such table. That is asked of the lake's own tables: the
/// engine would look for a file, if the name is one like `csv`, and for similar names in every attached
/// database, of which one may not open.
fn existing_columns(connection: &Connection, request: &WriteRequest<'_>) -> Result<Option<Vec<Column>>, EngineError> {
    let (metadata, target, now) = (request.metadata, request.target, request.read_snapshot);
    let alive =
        |of: &str| format!("{of}.begin_snapshot <= {now} AND ({of}.end_snapshot IS NULL OR {of}.end_snapshot > {now})");
    let sql = format!(
        "SELECT count(*) FROM {metadata}.ducklake_table t JOIN {metadata}.ducklake_schema s USING (schema_id) \
         WHERE lower(s.schema_name) = lower({}) AND lower(t.table_name) = lower({}) AND {} AND {}",
        literal(&target.schema),
        literal(&target.name),
        alive("t"),
        alive("s")
    );
    match connection.query_value(&sql)?.as_i64() {
        Some(0) => Ok(None),
        _ => describe(connection, &target.qualified(request.lake)).map(Some),
    }
}
