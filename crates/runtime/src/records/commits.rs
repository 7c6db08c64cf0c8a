//! The commits of models, as the lake keeps them with its snapshots (chapter 02 §7.2). Other tools commit to it too, so
//! what a commit says of itself may be anything.

use engine::Value;
use jiff::Timestamp;

use crate::Session;

/// A time, for programs and for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Microseconds since 1970.
    micros: i64,
    /// `YYYY-MM-DD HH:MM:SS` in the session's time zone.
    pub local: String,
}

impl Moment {
    /// RFC 3339 in UTC, with a fraction only as needed.
    pub fn rfc3339(&self) -> String {
        Timestamp::from_microsecond(self.micros).map_or_else(|_| self.local.clone(), |time| time.to_string())
    }

    /// Reads the two columns of [`moment_columns`].
    pub(super) fn read(micros: &Value, local: &Value) -> Option<Self> {
        Some(Self { micros: micros.as_i64()?, local: local.as_text()?.to_owned() })
    }
}

/// Two columns that [`Moment::read`] reads, of a TIMESTAMPTZ.
pub(super) fn moment_columns(expression: &str) -> String {
    format!("epoch_us({expression}), strftime({expression}, '%Y-%m-%d %H:%M:%S')")
}

/// The commit of a model, as it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// The snapshot that it made.
    pub snapshot: i64,
    /// When.
    pub time: Moment,
    /// The model.
    pub model: String,
    /// Kind it was written as.
    pub kind: Option<String>,
    /// Run type.
    pub run_type: Option<String>,
    /// Rows of the result.
    pub rows: Option<i64>,
    /// Duration in milliseconds.
    pub duration_ms: Option<i64>,
    /// The run that it belongs to.
    pub run_id: Option<String>,
}

/// Columns of a record, for a query from [`commits`].
pub(super) fn record_columns() -> String {
    format!("snapshot_id, {}, model, kind, run_type, rows, duration_ms, run_id", moment_columns("moment"))
}

/// The commits of models: `snapshot_id`, `moment`, and the texts `model`, `kind`, `run_type`, `rows`, `duration_ms`,
/// `run_id`, `source_file` that they tell. To stand in FROM.
pub(super) fn commits(session: &Session) -> String {
    let metadata = &session.metadata;
    format!(
        "(SELECT snapshot_id, moment, told[1] AS model, told[2] AS kind, told[3] AS run_type, told[4] AS rows, \
         told[5] AS duration_ms, told[6] AS run_id, told[7] AS source_file FROM (SELECT c.snapshot_id, s.snapshot_time::TIMESTAMPTZ AS moment, \
         json_extract_string(CASE WHEN json_valid(c.commit_extra_info) THEN c.commit_extra_info END, \
         ['$.model', '$.kind', '$.run_type', '$.rows_affected', '$.duration_ms', '$.dag_run_id', '$.source_file']) AS told \
         FROM {metadata}.ducklake_snapshot_changes c JOIN {metadata}.ducklake_snapshot s USING (snapshot_id)) \
         WHERE told[1] IS NOT NULL)"
    )
}

impl RunRecord {
    /// Reads a row of [`record_columns`]; a number that cannot be read is missing, and told in `warnings`.
    pub(super) fn read(row: &[Value], warnings: &mut Vec<String>) -> Option<Self> {
        let [snapshot, micros, local, Value::Text(model), kind, run_type, rows, duration_ms, run_id] = row else {
            return None;
        };
        let snapshot = snapshot.as_i64()?;
        let text = |value: &Value| value.as_text().filter(|text| !text.is_empty()).map(str::to_owned);
        let mut number = |name: &str, value: &Value| {
            let text = value.as_text()?;
            let read = text.parse().ok();
            if read.is_none() {
                warnings.push(format!("snapshot {snapshot}: {name} of {model} is no whole number: {text:?}"));
            }
            read
        };
        Some(Self {
            rows: number("rows_affected", rows),
            duration_ms: number("duration_ms", duration_ms),
            snapshot,
            time: Moment::read(micros, local)?,
            model: model.clone(),
            kind: text(kind),
            run_type: text(run_type),
            run_id: text(run_id),
        })
    }
}
