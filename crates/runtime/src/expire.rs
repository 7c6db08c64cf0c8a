//! Statements that make the lake forget snapshots, kept from removing those that runs need (chapter 04 §9).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engine::{EngineError, Rows, Value};
use model::Code as Words;
use model::{TokenKind, code_words, reachable_words};
use types::{Code, literal, quote};

use crate::macros::macro_names;
use crate::pins::{Positions, move_positions};
use crate::pushing::Deliveries;
use crate::{Cancellation, RunError, Session};

/// Functions that expire snapshots. The second is how DuckLake names its functions inside a lake.
const EXPIRE: [&str; 2] = ["ducklake_expire_snapshots", "expire_snapshots"];
/// A checkpoint of a lake expires as well, if the lake's option `expire_older_than` says so.
const CHECKPOINT: [&str; 2] = ["checkpoint", "force_checkpoint"];
/// Merging files gives rows that were updated other row ids, in every version (measured).
const MERGE: [&str; 2] = ["ducklake_merge_adjacent_files", "merge_adjacent_files"];
/// A checkpoint first writes files, which takes time, and expires what is old enough by then.
const CHECKPOINT_MARGIN: &str = "INTERVAL 1 HOUR";

/// What a statement of a script can do to snapshots.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// None that is known.
    None,
    /// It expires snapshots.
    Expire(ExpireCall),
    /// It is a checkpoint, perhaps of the lake.
    Checkpoint,
    /// It may merge files.
    Merge,
    /// It may expire snapshots in a way that cannot be checked.
    Hidden(String),
}

/// A call of a function that expires snapshots, in pieces.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ExpireCall {
    /// The function, as written.
    function: String,
    /// Where it has it, the alias of the lake: SQL that gives it, or a name before the function's.
    lake: Option<String>,
    /// Arguments that are neither below.
    others: Vec<String>,
    /// `versions` or `older_than`, as written.
    selection: Vec<String>,
    /// What was given as `dry_run`; the last one counts.
    dry_run: Option<String>,
}

/// Names of macros and views that lead to such functions.
#[derive(Default)]
pub(crate) struct Callers {
    expire: BTreeSet<String>,
    checkpoint: BTreeSet<String>,
    merge: BTreeSet<String>,
}

impl Callers {
    /// Asks the engine for them.
    pub fn read(session: &Session) -> Result<Self, EngineError> {
        let sql = "SELECT lower(function_name), macro_definition FROM duckdb_functions() \
                   WHERE macro_definition IS NOT NULL AND NOT internal \
                   UNION ALL SELECT lower(view_name), sql FROM duckdb_views() WHERE NOT internal";
        let rows = match session.connection.query(sql) {
            Ok(rows) => rows,
            // A source cannot be opened. Nothing is known of what macros and views lead to, so any may.
            Err(error @ EngineError::Sql { .. }) if !error.is_fatal() => {
                let views = format!("SELECT lower(view_name) FROM {}.ducklake_view", session.metadata);
                let views = session.connection.query(&views)?.into_values();
                let views = views.filter_map(|mut row| row.swap_remove(0).into_text());
                let expire = macro_names(session)?.into_iter().chain(views).collect();
                return Ok(Self { expire, ..Self::default() });
            }
            Err(error) => return Err(error),
        };
        let mut definitions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in rows.into_values() {
            if let [Value::Text(name), Value::Text(definition)] = &row[..] {
                definitions.entry(name.clone()).or_default().extend(reachable_words(definition));
            }
        }
        let of = |names: &[&str]| callers_of(names, &definitions);
        Ok(Self { expire: of(&EXPIRE), checkpoint: of(&CHECKPOINT), merge: of(&MERGE) })
    }
}

/// Those of `definitions` that mention one of `names`, or one another that does.
fn callers_of(names: &[&str], definitions: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut callers = BTreeSet::new();
    loop {
        let leads =
            |words: &BTreeSet<String>| names.iter().any(|&name| words.contains(name)) || !words.is_disjoint(&callers);
        let found: BTreeSet<String> =
            definitions.iter().filter(|(_, words)| leads(words)).map(|(name, _)| name.clone()).collect();
        if found.len() == callers.len() {
            return callers;
        }
        callers = found;
    }
}

impl Effect {
    /// Reads the statement's words; what the engine would make of them plays no part, so that nothing is run
    /// for it.
    pub fn of(statement: &str, lake: &str, callers: &Callers) -> Self {
        let words = reachable_words(statement);
        let mentions = |names: &[&str]| words.iter().filter(|word| names.contains(&word.as_str())).count();
        if let Some(caller) = words.iter().find(|word| callers.expire.contains(*word)) {
            return Self::Hidden(caller.clone());
        }
        match mentions(&EXPIRE) {
            0 => {}
            1 => return ExpireCall::read(statement).map_or_else(|| Self::Hidden(EXPIRE[0].into()), Self::Expire),
            _ => return Self::Hidden(EXPIRE[0].into()),
        }
        let checkpoint = mentions(&CHECKPOINT) > 0 || words.iter().any(|word| callers.checkpoint.contains(word));
        if checkpoint && !is_checkpoint_of_other(statement, lake) {
            return Self::Checkpoint;
        }
        let merges = mentions(&MERGE) > 0 || words.iter().any(|word| callers.merge.contains(word));
        if merges { Self::Merge } else { Self::None }
    }
}

/// `[FORCE] CHECKPOINT name` of another database.
fn is_checkpoint_of_other(statement: &str, lake: &str) -> bool {
    let code = Words::new(statement);
    let at = usize::from(code.is(0, &["FORCE"]));
    code.is(at, &["CHECKPOINT"]) && code.len() == at + 2 && !code.value(at + 1).eq_ignore_ascii_case(lake)
}

impl ExpireCall {
    /// Reads `CALL f(…)`, `FROM f(…)` or `SELECT * FROM f(…)`; `None` for any other form.
    fn read(statement: &str) -> Option<Self> {
        let code = Words::new(statement);
        let start = match () {
            () if code.is(0, &["CALL", "FROM"]) => 1,
            () if code.is(0, &["SELECT"]) && code.is(1, &["*"]) && code.is(2, &["FROM"]) => 3,
            () => return None,
        };
        let is_name = |at| matches!(code.kind(at), Some(TokenKind::Word | TokenKind::QuotedName));
        let mut open = start + 1;
        while code.is(open, &["."]) && is_name(open + 1) {
            open += 2;
        }
        let name = code.value(open - 1).to_lowercase();
        let closes_at_end = closing(&code, open) == Some(code.len() - 1);
        if !is_name(start) || !EXPIRE.contains(&name.as_str()) || !code.is(open, &["("]) || !closes_at_end {
            return None;
        }
        let function = statement[code.start(start)..code.start(open)].trim_end().to_owned();
        let before = (open > start + 1).then(|| literal(&code.value(start)));
        let lake = before.filter(|_| name == EXPIRE[1]);
        let mut call = Self { function, lake, others: Vec::new(), selection: Vec::new(), dry_run: None };
        for (from, to) in arguments(&code, open) {
            call.add(&code, statement, from, to);
        }
        Some(call)
    }

    /// Takes in the argument of the pieces `from..to`.
    fn add(&mut self, code: &Words<'_>, statement: &str, from: usize, to: usize) {
        let text = |from: usize| statement[code.start(from)..code.start(to - 1) + code.text(to - 1).len()].to_owned();
        let value = match () {
            () if code.is(from + 1, &["="]) && code.is(from + 2, &[">"]) => Some(from + 3),
            () if code.is(from + 1, &[":"]) && code.is(from + 2, &["="]) => Some(from + 3),
            () if code.is(from + 1, &["="]) && !code.is(from + 2, &["="]) => Some(from + 2),
            () => None,
        };
        match (code.value(from).to_lowercase().as_str(), value.filter(|&at| at < to)) {
            ("dry_run", Some(at)) => self.dry_run = Some(text(at)),
            ("versions" | "older_than", Some(_)) => self.selection.push(text(from)),
            (_, None) if self.lake.is_none() => {
                self.lake = Some(text(from));
                self.others.push(text(from));
            }
            _ => self.others.push(text(from)),
        }
    }

    fn sql(&self, before: &str, selection: &[String], dry_run: bool) -> String {
        let mut arguments = [&self.others, selection].concat();
        arguments.extend(dry_run.then(|| "dry_run => true".to_owned()));
        format!("{before} {}({})", self.function, arguments.join(", "))
    }
}

/// The piece that closes the bracket at `open`.
fn closing(code: &Words<'_>, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    (open..code.len()).find(|&at| {
        depth += usize::from(code.is(at, &["(", "[", "{"]));
        let closes = code.is(at, &[")", "]", "}"]);
        depth = depth.saturating_sub(usize::from(closes));
        closes && depth == 0
    })
}

/// The pieces of each argument inside the bracket at `open`, which the last piece closes.
fn arguments(code: &Words<'_>, open: usize) -> Vec<(usize, usize)> {
    let (mut found, mut from, mut at) = (Vec::new(), open + 1, open + 1);
    let end = code.len() - 1;
    while at < end {
        if code.is(at, &["(", "[", "{"]) {
            at = closing(code, at).unwrap_or(end);
        } else if code.is(at, &[","]) {
            found.push((from, at));
            from = at + 1;
        }
        at += 1;
    }
    found.push((from, end));
    found.retain(|(from, to)| from < to);
    found
}

/// What was done instead of the statement.
pub(crate) struct Expired {
    /// What the engine answered; `None` if there was nothing to ask it for.
    pub rows: Option<Rows>,
    /// Texts for the user.
    pub notes: Vec<String>,
}

/// What runs statements that are guarded.
pub(crate) struct Guard<'a> {
    pub session: &'a Session,
    pub root: &'a Path,
    /// What deliveries need.
    pub deliveries: &'a Deliveries,
    pub cancellation: &'a Cancellation,
}

/// Why a statement was not run as written.
pub(crate) enum Refusal {
    /// The engine or the lake.
    Error(RunError),
    /// The runtime.
    Refused { code: Code, message: String, help: String },
}

impl<E: Into<RunError>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

impl Guard<'_> {
    /// Runs a call that expires snapshots without those that runs need.
    pub fn expire(&self, call: &ExpireCall) -> Result<Expired, Refusal> {
        if !self.is_of_lake(call)? {
            let dry_run = self.is_dry_run(call)?;
            return Ok(Expired {
                rows: Some(self.query(&call.sql("CALL", &call.selection, dry_run))?),
                notes: Vec::new(),
            });
        }
        self.check_no_transaction()?;
        let dry_run = self.is_dry_run(call)?;
        let candidates = self.candidates(call)?;
        if candidates.is_empty() {
            return Ok(Expired { rows: None, notes: Vec::new() });
        }
        let mut positions = Positions::read(self.session, self.root, &self.deliveries.needed)?;
        if gains_by_moving(&positions, &candidates) {
            positions = if dry_run {
                positions.moved()
            } else {
                move_positions(self.session, self.root, self.cancellation)?;
                Positions::read(self.session, self.root, &self.deliveries.needed)?
            };
        }
        let floor = positions.floor();
        let (kept, going): (Vec<i64>, Vec<i64>) = candidates.into_iter().partition(|&snapshot| snapshot >= floor);
        let notes = positions.explain(&kept).into_iter().collect();
        if going.is_empty() {
            return Ok(Expired { rows: None, notes });
        }
        let going: Vec<String> = going.iter().map(ToString::to_string).collect();
        let versions = [format!("versions => [{}]", going.join(", "))];
        Ok(Expired { rows: Some(self.query(&call.sql("CALL", &versions, dry_run))?), notes })
    }

    /// The snapshots that the call would remove.
    fn candidates(&self, call: &ExpireCall) -> Result<Vec<i64>, RunError> {
        let rows = self.query(&call.sql("SELECT snapshot_id FROM", &call.selection, true))?;
        Ok(rows.into_values().filter_map(|row| row.first().and_then(Value::as_i64)).collect())
    }

    fn is_of_lake(&self, call: &ExpireCall) -> Result<bool, EngineError> {
        let Some(lake) = &call.lake else { return Ok(true) };
        let name = self.session.connection.query_value(&format!("SELECT CAST(({lake}\n) AS VARCHAR)"))?;
        // What is no text is left to the engine to refuse.
        Ok(name.as_text().is_none_or(|name| name.eq_ignore_ascii_case(&self.session.lake)))
    }

    fn is_dry_run(&self, call: &ExpireCall) -> Result<bool, EngineError> {
        let Some(value) = &call.dry_run else { return Ok(false) };
        let value = self.session.connection.query_value(&format!("SELECT CAST(({value}\n) AS BOOLEAN)"))?;
        Ok(value.as_bool().unwrap_or(true))
    }

    /// Positions are moved in a transaction of their own, and a ROLLBACK must not bring back what was
    /// counted as gone.
    fn check_no_transaction(&self) -> Result<(), Refusal> {
        let connection = &self.session.connection;
        if connection.execute("BEGIN").is_err() {
            return Err(Refusal::Refused {
                code: Code::ScriptTransaction,
                message: "snapshots are not expired inside a transaction".into(),
                help: "put COMMIT before the statement, or leave out BEGIN".into(),
            });
        }
        Ok(connection.execute("ROLLBACK")?)
    }

    /// Refuses to merge files while changes wait for delivery: their rows would not be found any more.
    pub fn check_merge(&self) -> Result<(), Refusal> {
        let queued = &self.deliveries.queued;
        if queued.is_empty() {
            return Ok(());
        }
        Err(Refusal::Refused {
            code: Code::ScriptRefused,
            message: format!(
                "changes wait for delivery ({}), and merging files changes the row ids by which they are found",
                queued.join(", ")
            ),
            help: "deliver them with `ondatrasql queue drain`, or drop them, then run the script again".into(),
        })
    }

    /// Refuses a checkpoint that could remove snapshots that runs need: what it expires cannot be chosen.
    pub fn check_checkpoint(&self) -> Result<(), Refusal> {
        let lake = quote(&self.session.lake);
        let option = format!("SELECT max(value) FROM {lake}.options() WHERE option_name = 'expire_older_than'");
        let option = self.session.connection.query_value(&option)?.into_text().unwrap_or_default();
        if option.is_empty() {
            return Ok(());
        }
        let positions = Positions::read(self.session, self.root, &self.deliveries.needed)?;
        // The newest one too: the checkpoint's own commits take its place.
        let sql = format!(
            "SELECT snapshot_id FROM {lake}.snapshots() WHERE snapshot_id >= {} \
             AND snapshot_time < now() - CAST({} AS INTERVAL) + {CHECKPOINT_MARGIN}",
            positions.floor(),
            literal(&option)
        );
        let rows = self.session.connection.query(&sql)?.into_values();
        let endangered: Vec<i64> = rows.filter_map(|row| row.first().and_then(Value::as_i64)).collect();
        let Some(reasons) = positions.explain(&endangered) else { return Ok(()) };
        let reasons = reasons.split_once(": ").map_or(reasons.as_str(), |(_, reasons)| reasons);
        Err(Refusal::Refused {
            code: Code::ScriptRefused,
            message: format!(
                "the lake's option expire_older_than is '{option}', so a checkpoint could remove snapshots that runs \
                 need: {reasons}"
            ),
            help: format!(
                "write the steps one by one, as the sql/checkpoint.sql of `ondatrasql init` does, or end the option: \
                 CALL {}.set_option('expire_older_than', '')",
                self.session.lake
            ),
        })
    }

    fn query(&self, sql: &str) -> Result<Rows, RunError> {
        let connection = &self.session.connection;
        self.cancellation.check()?;
        Ok(self.cancellation.interruptible(connection.interrupt_handle(), || connection.query(sql))?)
    }
}

/// Moving positions costs a snapshot, so it has to free more than one.
fn gains_by_moving(positions: &Positions, candidates: &[i64]) -> bool {
    let freed = positions.floor()..positions.floor_if_moved();
    candidates.iter().filter(|snapshot| freed.contains(snapshot)).count() > 1
}

/// Whether a statement may have made a macro or a view.
pub(crate) fn may_define(statement: &str) -> bool {
    code_words(statement).iter().any(|word| ["create", "attach", "use"].contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{Callers, Effect, ExpireCall, callers_of};

    fn effect(sql: &str) -> Effect {
        let names = |name: &str| [name.to_owned()].into();
        let callers = Callers { expire: names("tidy"), checkpoint: names("flush_all"), merge: names("compact") };
        Effect::of(sql, "lake", &callers)
    }

    fn call(sql: &str) -> ExpireCall {
        match effect(sql) {
            Effect::Expire(call) => call,
            other => panic!("{sql}: {other:?}"),
        }
    }

    #[test]
    fn calls_are_read_in_every_accepted_form() {
        for sql in [
            "CALL ducklake_expire_snapshots('lake', older_than => now() - INTERVAL 30 DAY)",
            "call \"DuckLake_Expire_Snapshots\" ( 'lake' , older_than => now() - INTERVAL 30 DAY )",
            "FROM system.main.ducklake_expire_snapshots('lake', older_than => now() - INTERVAL 30 DAY)",
            "SELECT * FROM ducklake_expire_snapshots('lake', -- c,\n older_than => now() - INTERVAL 30 DAY)",
        ] {
            let call = call(sql);
            assert_eq!(call.lake.as_deref(), Some("'lake'"), "{sql}");
            assert_eq!(call.selection, ["older_than => now() - INTERVAL 30 DAY"], "{sql}");
            assert_eq!(call.dry_run, None, "{sql}");
        }
        let found =
            call("FROM lake.expire_snapshots(VERSIONS := [1, f(2, 3)], dry_run = false, \"DRY_RUN\" => 1 > 2,)");
        assert_eq!((found.lake.as_deref(), &found.others[..]), (Some("'lake'"), &[][..]));
        assert_eq!(found.selection, ["VERSIONS := [1, f(2, 3)]"]);
        assert_eq!(found.dry_run.as_deref(), Some("1 > 2"), "the last one counts");
        assert_eq!(
            found.sql("CALL", &found.selection, true),
            "CALL lake.expire_snapshots(VERSIONS := [1, f(2, 3)], dry_run => true)"
        );
    }

    #[test]
    fn any_other_form_is_hidden() {
        for sql in [
            "SELECT count(*) FROM ducklake_expire_snapshots('lake')",
            "FROM ducklake_expire_snapshots('lake') WHERE snapshot_id > 3",
            "CREATE TABLE t AS FROM ducklake_expire_snapshots('lake')",
            "EXPLAIN ANALYZE CALL ducklake_expire_snapshots('lake')",
            "FROM query('CALL ducklake_expire_snapshots(''lake'')')",
            "PREPARE p AS CALL ducklake_expire_snapshots('lake')",
            "CALL ducklake_expire_snapshots('lake', versions => (SELECT list(snapshot_id) FROM expire_snapshots()))",
            "CALL other('ducklake_expire_snapshots')",
            "FROM Tidy()",
            "CALL ducklake_expire_snapshots('lake'",
            "CALL ducklake_expire_snapshots",
        ] {
            assert!(matches!(effect(sql), Effect::Hidden(_)), "{sql}: {:?}", effect(sql));
        }
    }

    #[test]
    fn checkpoints_are_told_from_those_of_other_databases() {
        for sql in ["CHECKPOINT", "force checkpoint \"LAKE\"", "FROM force_checkpoint('lake')", "FROM flush_all()"] {
            assert_eq!(effect(sql), Effect::Checkpoint, "{sql}");
        }
        for sql in ["CHECKPOINT state", "FORCE CHECKPOINT memory", "-- CHECKPOINT\nSELECT 1", "VACUUM"] {
            assert_eq!(effect(sql), Effect::None, "{sql}");
        }
    }

    #[test]
    fn macros_lead_to_what_their_macros_lead_to() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        let definitions = [("a", "from b"), ("b", "call ducklake_expire_snapshots"), ("c", "select d"), ("d", "c")];
        let definitions = definitions.map(|(name, text)| (name.to_owned(), words(text))).into();
        assert_eq!(callers_of(&["ducklake_expire_snapshots"], &definitions), ["a".to_owned(), "b".to_owned()].into());
    }
}
