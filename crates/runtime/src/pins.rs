//! Which snapshots the next runs need (chapter 04 §9). A model's position is the snapshot at which it read
//! its sources, kept in its row of the registry: what changed since is read off that snapshot and all
//! behind it.

use std::collections::BTreeSet;
use std::path::Path;

use engine::{EngineError, LakeFacts, TARGET_REGISTRY, Value};
use plan::{DependencyState, LastCommit};
use project::find_model_files;
use state::{Need, NeededSnapshot};
use types::{Kind, literal, quote};

use crate::conflict::Attempts;
use crate::planning::dependency_state;
use crate::{Cancellation, RunError, Session};

/// Names in a message.
const NAMED_MAX: usize = 3;

/// A model's position in the history of the lake.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    target: String,
    since: i64,
    /// Whether the next run needs that snapshot and all behind it.
    pins: bool,
    /// Whether nothing it reads has changed since, so that the newest snapshot would do as well.
    movable: bool,
    /// What a delivery needs it for; `None` for the position of a model as a reader.
    delivery: Option<Need>,
}

/// The positions of the project's models, and of deliveries.
pub(crate) struct Positions {
    newest: i64,
    list: Vec<Position>,
}

/// What a model needs of its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReadNeed {
    pins: bool,
    movable: bool,
}

impl Positions {
    /// Reads them, and adds those of deliveries. A model without a file has none, and neither has one whose table is
    /// gone: if it comes back, its first run reads everything.
    pub fn read(session: &Session, root: &Path, deliveries: &[NeededSnapshot]) -> Result<Self, RunError> {
        let facts = LakeFacts::read(&session.connection, &session.lake, &session.metadata)?;
        let files = find_model_files(root)?.into_iter().filter_map(|source| Some(source.target.ok()?.key()));
        let files: BTreeSet<String> = files.collect();
        let history = History { session, facts: &facts, gone: gone_relations(session)? };
        let mut list = Vec::new();
        for (key, row) in &facts.commits {
            if !files.contains(key) || !facts.tables.contains_key(key) {
                continue;
            }
            // A record that cannot be read may pin anything: better no maintenance than a wrong one.
            let commit = LastCommit::read(&row.target, &row.commit_info)?;
            let Some(since) = commit.read_snapshot else { continue };
            let ReadNeed { pins, movable } = history.need(&commit, since)?;
            list.push(Position { target: row.target.clone(), since, pins, movable, delivery: None });
        }
        list.extend(deliveries.iter().map(|needed| Position {
            target: needed.target.clone(),
            since: needed.snapshot,
            pins: true,
            movable: false,
            delivery: Some(needed.why),
        }));
        Ok(Self { newest: facts.newest(), list })
    }

    /// The oldest snapshot that must stay, and all behind it.
    pub fn floor(&self) -> i64 {
        self.pinning().map(|position| position.since).min().unwrap_or(i64::MAX)
    }

    /// What [`Self::floor`] would be, were all positions moved that can be.
    pub fn floor_if_moved(&self) -> i64 {
        let since = |position: &Position| if position.movable { self.newest } else { position.since };
        self.pinning().map(since).min().unwrap_or(i64::MAX)
    }

    fn pinning(&self) -> impl Iterator<Item = &Position> {
        self.list.iter().filter(|position| position.pins)
    }

    /// The positions as they will be when [`move_positions`] has moved them.
    pub fn moved(&self) -> Self {
        let moved = |position: &Position| Position {
            since: if position.movable { self.newest } else { position.since },
            ..position.clone()
        };
        Self { newest: self.newest, list: self.list.iter().map(moved).collect() }
    }

    /// Says for whom snapshots stay; `kept` are those that would have gone otherwise.
    pub fn explain(&self, kept: &[i64]) -> Option<String> {
        let last = *kept.iter().max()?;
        let mut holders: Vec<&Position> = self.pinning().filter(|position| position.since <= last).collect();
        holders.sort_by_key(|position| (position.since, &position.target));
        let named = holders.iter().take(NAMED_MAX).map(|position| position.reason());
        let mut reasons = named.collect::<Vec<_>>().join(", ");
        match holders.len().saturating_sub(NAMED_MAX) {
            0 => {}
            1 => reasons.push_str(", and 1 more model"),
            more => reasons.push_str(&format!(", and {more} more models")),
        }
        let unread = holders.iter().filter(|position| !position.movable && position.delivery.is_none()).count();
        let is_delivery = holders.iter().any(|position| position.delivery.is_some());
        let advice = match unread {
            0 if is_delivery => " (deliver or drop what is queued, then expire again)",
            0 => "",
            1 => " (run it, then expire again)",
            _ => " (run them, then expire again)",
        };
        let snapshots = if kept.len() == 1 { "snapshot" } else { "snapshots" };
        Some(format!("kept {} {snapshots}: {reasons}{advice}", kept.len()))
    }
}

impl Position {
    fn reason(&self) -> String {
        let Self { target, since, .. } = self;
        match self.delivery {
            None if self.movable => format!("{target} last read the lake at snapshot {since}"),
            None => format!("{target} has not read the changes since snapshot {since}"),
            Some(Need::Position) => format!("{target} is queued up to snapshot {since}"),
            Some(Need::Queued | Need::InFlight) => format!("{target} has changes to deliver from snapshot {since} on"),
            Some(Need::Dead) => format!("{target} has dead letters from snapshot {since} on"),
        }
    }
}

/// What judges a model's position.
struct History<'a> {
    session: &'a Session,
    facts: &'a LakeFacts,
    /// Tables and views that are gone: lower-case name, first snapshot with it, first without it.
    gone: Vec<(String, i64, i64)>,
}

impl History<'_> {
    fn need(&self, commit: &LastCommit, since: i64) -> Result<ReadNeed, RunError> {
        let any = |names: &[&str], state: DependencyState| {
            names.iter().any(|name| dependency_state(name, Some(since), self.facts) == state)
        };
        let unchanged =
            |names: &[&str]| !any(names, DependencyState::Unverifiable) && !any(names, DependencyState::Changed);
        match (commit.kind, commit.depends()) {
            // A table whose dependencies cannot be verified, or are not known, runs in full whatever is there.
            // Without dependencies it is skipped, whatever its position.
            (Some(Kind::Table), Some(names)) if !any(&names, DependencyState::Unverifiable) => {
                Ok(ReadNeed { pins: !names.is_empty(), movable: unchanged(&names) })
            }
            (Some(Kind::Table), _) => Ok(ReadNeed { pins: false, movable: false }),
            // These run every time and read their sources in full: they need no position. It is moved along
            // with the others, so that it stays true.
            (Some(Kind::Tracked | Kind::Scd2), depends) => {
                Ok(ReadNeed { pins: false, movable: depends.is_some_and(|names| unchanged(&names)) })
            }
            // What changed since the position is all that these read of the lake. A kind that is none may be
            // one of them.
            (Some(Kind::Append | Kind::Merge) | None, depends) => self.need_of_deltas(depends, since),
        }
    }

    /// Files, functions and other databases have no deltas and are read as they are: only the lake's tables
    /// and views count, those that are gone included, for they may come back.
    fn need_of_deltas(&self, depends: Option<Vec<&str>>, since: i64) -> Result<ReadNeed, RunError> {
        let existed =
            |key: &str| self.gone.iter().any(|(name, begin, end)| name == key && (*begin..*end).contains(&since));
        let Some(names) = depends else {
            return Ok(ReadNeed { pins: self.exists(since)?, movable: false });
        };
        let (mut of_lake, mut changed) = (false, false);
        for name in names {
            let key = name.to_lowercase();
            let is_there = self.facts.tables.contains_key(&key) || self.facts.views.contains_key(&key);
            let was_there = !is_there && existed(&key);
            of_lake |= is_there || was_there;
            changed |= was_there
                || (is_there && dependency_state(name, Some(since), self.facts) != DependencyState::Unchanged);
        }
        // Behind a gap the two versions of a table are compared, which needs the old one alone.
        Ok(ReadNeed { pins: of_lake && self.exists(since)?, movable: !changed })
    }

    fn exists(&self, snapshot: i64) -> Result<bool, EngineError> {
        if self.facts.is_retained_since(snapshot) {
            return Ok(true);
        }
        let metadata = &self.session.metadata;
        let sql = format!("SELECT count(*) FROM {metadata}.ducklake_snapshot WHERE snapshot_id = {snapshot}");
        Ok(self.session.connection.query_value(&sql)?.as_i64() != Some(0))
    }
}

/// Tables and views that the lake once had.
fn gone_relations(session: &Session) -> Result<Vec<(String, i64, i64)>, EngineError> {
    let relations = |kind: &str| {
        format!(
            "SELECT s.schema_name || '.' || r.{kind}_name, r.begin_snapshot, r.end_snapshot \
             FROM {metadata}.ducklake_{kind} r JOIN {metadata}.ducklake_schema s ON s.schema_id = r.schema_id \
             WHERE r.end_snapshot IS NOT NULL",
            metadata = session.metadata
        )
    };
    let sql = format!("{} UNION ALL {}", relations("table"), relations("view"));
    let rows = session.connection.query(&sql)?.into_values();
    Ok(rows
        .filter_map(|row| match &row[..] {
            [Value::Text(name), begin, end] => Some((name.to_lowercase(), begin.as_i64()?, end.as_i64()?)),
            _ => None,
        })
        .collect())
}

/// Moves every position that can be moved to the newest snapshot, in one commit.
pub(crate) fn move_positions(session: &Session, root: &Path, cancellation: &Cancellation) -> Result<(), RunError> {
    let mut attempts = Attempts::begin();
    loop {
        cancellation.check()?;
        let Some(update) = update_statement(session, &Positions::read(session, root, &[])?) else { return Ok(()) };
        match commit(session, &update) {
            Err(error) if error.is_conflict() => attempts.again(cancellation, error.cleaned())?,
            done => return Ok(done?),
        }
    }
}

/// The text of the records is changed where the number stands and nowhere else: another tool's keys stay.
/// A row that was replaced since it was read has another position, and is left alone.
fn update_statement(session: &Session, positions: &Positions) -> Option<String> {
    let moving = positions.list.iter().filter(|position| position.movable && position.since < positions.newest);
    let rows: Vec<String> =
        moving.map(|position| format!("({}, '{}')", literal(&position.target), position.since)).collect();
    let newest = positions.newest;
    let key = r#""read_snapshot":"#;
    (!rows.is_empty()).then(|| {
        format!(
            "UPDATE {}.main.{} SET commit_info = regexp_replace(commit_info, '{key}\\d+', '{key}{newest}') \
             WHERE (target, regexp_extract(commit_info, '{key}(\\d+)', 1)) IN (VALUES {})",
            quote(&session.lake),
            quote(TARGET_REGISTRY),
            rows.join(", ")
        )
    })
}

fn commit(session: &Session, update: &str) -> Result<(), EngineError> {
    let connection = &session.connection;
    let message = format!("CALL {}.set_commit_message('ondatrasql', 'Advance positions')", quote(&session.lake));
    connection.execute("BEGIN")?;
    let committed = [update, &message, "COMMIT"].iter().try_for_each(|sql| connection.execute(sql));
    if committed.is_err() {
        // After a failed COMMIT there is no transaction left, and this says so: nothing to do about it.
        let _ = connection.execute("ROLLBACK");
    }
    committed
}
