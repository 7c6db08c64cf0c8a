//! The verbs behind the commands of the queue, in SQL.

use std::collections::BTreeMap;

use engine::Value;

use crate::StateError;
use crate::failure::Fence;
use crate::queue::Position;
use crate::queue_admin::{
    Buried, InFlight, LastDelivery, Need, NeededSnapshot, NextRetry, QueueAdmin, QueuedEvent, QueuedState, Revived,
    TargetOverview, Which,
};
use crate::retry::VerbError;
use crate::script::Arg;
use crate::sql_queue::event;
use crate::sql_store::{SqlStore, count, number, optional_text, text};
use crate::worker::new_term;

/// What drops all that is to be delivered to a target that no living worker delivers to.
const DROP_QUEUE: [&str; 3] = [
    include_str!("../sql/admin/fence_idle.sql"),
    include_str!("../sql/admin/drop_queued.sql"),
    include_str!("../sql/admin/drop_claims.sql"),
];

/// Reads an event off a row.
type ReadEvent = fn(Vec<Value>) -> Result<QueuedEvent, StateError>;

impl QueueAdmin for SqlStore {
    fn overview(&mut self) -> Result<Vec<TargetOverview>, StateError> {
        let mut in_flight = self.in_flight()?;
        let mut deliveries = self.last_deliveries()?;
        let errors = self.values(include_str!("../sql/admin/last_errors.sql"))?;
        let mut errors: BTreeMap<String, String> =
            errors.into_iter().map(|mut row| (text(&mut row[0]), text(&mut row[1]))).collect();
        let rows = self.values(include_str!("../sql/admin/overview.sql"))?;
        let read = |mut row: Vec<Value>| {
            let target = text(&mut row[0]);
            let next_retry =
                (row[4] != Value::Null).then(|| NextRetry { at_ms: number(&row[4]), in_s: count(&row[5]) });
            TargetOverview {
                pending: count(&row[1]),
                waiting: count(&row[2]),
                next_retry,
                in_flight: in_flight.remove(&target).unwrap_or_default(),
                dead: count(&row[3]),
                oldest_s: (row[6] != Value::Null).then(|| count(&row[6])),
                last_delivery: deliveries.remove(&target),
                last_error: errors.remove(&target),
                target,
            }
        };
        Ok(rows.into_iter().map(read).collect())
    }

    fn events(&mut self, target: &str, which: Which, limit: usize) -> Result<Vec<QueuedEvent>, StateError> {
        let (template, read) = match which {
            Which::Queued => (include_str!("../sql/admin/queued_events.sql"), queued_event as ReadEvent),
            Which::Dead => (include_str!("../sql/admin/dead_events.sql"), dead_event as ReadEvent),
        };
        let limit_arg = Arg::Number(i64::try_from(limit).unwrap_or(i64::MAX));
        let sql = self.fill(template, &[("target", Arg::Text(target)), ("limit", limit_arg)]);
        self.query(&sql, u64::try_from(limit).unwrap_or(u64::MAX))?.into_values().map(read).collect()
    }

    fn retry(&mut self, target: &str, id: Option<i64>) -> Result<u64, StateError> {
        self.change(target, &[include_str!("../sql/admin/retry.sql")], &[id_arg(id)]).map(|receipt| receipt.done)
    }

    fn retry_dead(&mut self, target: &str, id: Option<i64>) -> Result<Revived, StateError> {
        let receipt = self.change(target, &[include_str!("../sql/admin/retry_dead.sql")], &[id_arg(id)])?;
        Ok(Revived { events: receipt.done, of_gone_tables: receipt.stayed })
    }

    fn drop_dead(&mut self, target: &str, id: Option<i64>) -> Result<u64, StateError> {
        self.change(target, &[include_str!("../sql/admin/drop_dead.sql")], &[id_arg(id)]).map(|receipt| receipt.done)
    }

    fn forget_images(&mut self, target: &str) -> Result<(), StateError> {
        let script = self.fill(include_str!("../sql/admin/forget_images.sql"), &[("target", Arg::Text(target))]);
        self.execute(&script, None).map_err(VerbError::unconditional)
    }

    fn drop_all(&mut self, target: &str) -> Result<u64, StateError> {
        self.drop_queue_and(target, include_str!("../sql/admin/drop_target.sql"), &[])
    }

    fn bury(&mut self, target: &str, up_to: i64) -> Result<Buried, StateError> {
        let args = [("up_to", Arg::Number(up_to))];
        let receipt = self.change(target, &[include_str!("../sql/admin/bury.sql")], &args)?;
        Ok(Buried { events: receipt.done, in_flight: receipt.stayed })
    }

    fn set_position(
        &mut self,
        target: &str,
        snapshot: i64,
        table_uuid: &str,
        definition_hash: &str,
    ) -> Result<u64, StateError> {
        let args = [
            ("snapshot", Arg::Number(snapshot)),
            ("table_uuid", Arg::Text(table_uuid)),
            ("definition_hash", Arg::Text(definition_hash)),
        ];
        self.drop_queue_and(target, include_str!("../sql/admin/set_position.sql"), &args)
    }

    fn forget_position(&mut self, target: &str) -> Result<u64, StateError> {
        let args = [("beginning", Arg::Number(Position::BEGINNING))];
        self.drop_queue_and(target, include_str!("../sql/admin/forget_position.sql"), &args)
    }

    fn needed_snapshots(&mut self) -> Result<Vec<NeededSnapshot>, StateError> {
        let args = [("beginning", Arg::Number(Position::BEGINNING))];
        let sql = self.fill(include_str!("../sql/admin/needed_snapshots.sql"), &args);
        let read = |mut row: Vec<Value>| NeededSnapshot {
            target: text(&mut row[0]),
            why: match text(&mut row[1]).as_str() {
                "position" => Need::Position,
                "queued" => Need::Queued,
                "in_flight" => Need::InFlight,
                _ => Need::Dead,
            },
            snapshot: number(&row[2]),
        };
        Ok(self.values(&sql)?.into_iter().map(read).collect())
    }
}

/// What a verb did.
struct Receipt {
    done: u64,
    stayed: u64,
}

impl SqlStore {
    /// Changes the queue of a target once, however often the request is executed.
    fn change(&mut self, target: &str, work: &[&str], args: &[(&str, Arg<'_>)]) -> Result<Receipt, StateError> {
        let term = new_term()?;
        let template = [&[include_str!("../sql/admin/fence_receipt.sql")], work].concat().concat();
        let mut all = vec![("term", Arg::Text(&term)), ("target", Arg::Text(target))];
        all.extend(args);
        let script = self.fill(&template, &all);
        match self.execute(&script, Some(Fence::AlreadyDone)) {
            Ok(()) => {}
            Err(VerbError::Fence(Fence::InFlight)) => return Err(self.is_delivered(target)?),
            Err(error) => return Err(error.unconditional()),
        }
        let sql = self.fill(include_str!("../sql/admin/receipt.sql"), &[("term", Arg::Text(&term))]);
        let row = self.values(&sql)?.pop().unwrap_or_else(|| vec![Value::Null; 2]);
        Ok(Receipt { done: count(&row[0]), stayed: count(&row[1]) })
    }

    /// Drops all that is to be delivered to a target, and does `work` in the same transaction.
    fn drop_queue_and(&mut self, target: &str, work: &str, args: &[(&str, Arg<'_>)]) -> Result<u64, StateError> {
        self.change(target, &[&DROP_QUEUE[..], &[work]].concat(), args).map(|receipt| receipt.done)
    }

    /// The error that names who delivers to a target.
    fn is_delivered(&mut self, target: &str) -> Result<StateError, StateError> {
        let sql = self.fill(include_str!("../sql/admin/live_claims.sql"), &[("target", Arg::Text(target))]);
        let mut workers: Vec<String> = self.values(&sql)?.into_iter().map(|mut row| text(&mut row[0])).collect();
        if workers.is_empty() {
            workers.push("a worker that has just ended".into());
        }
        Ok(StateError::InFlight { target: target.to_owned(), workers })
    }

    fn in_flight(&mut self) -> Result<BTreeMap<String, Vec<InFlight>>, StateError> {
        let sql = self.fill(include_str!("../sql/admin/in_flight.sql"), &[]);
        let mut by_target: BTreeMap<String, Vec<InFlight>> = BTreeMap::new();
        for mut row in self.values(&sql)? {
            let in_flight = InFlight {
                worker: text(&mut row[1]),
                events: count(&row[2]),
                claim_age_s: count(&row[3]),
                is_alive: count(&row[4]) > 0,
            };
            by_target.entry(text(&mut row[0])).or_default().push(in_flight);
        }
        Ok(by_target)
    }

    fn last_deliveries(&mut self) -> Result<BTreeMap<String, LastDelivery>, StateError> {
        let read = |mut row: Vec<Value>| {
            let delivery = LastDelivery {
                run_id: text(&mut row[1]),
                delivered: count(&row[2]),
                rejected: count(&row[3]),
                to_retry: count(&row[4]),
                first_error: optional_text(&mut row[5]),
                finished_ms: number(&row[6]),
            };
            (text(&mut row[0]), delivery)
        };
        Ok(self.values(include_str!("../sql/admin/last_deliveries.sql"))?.into_iter().map(read).collect())
    }
}

fn id_arg(id: Option<i64>) -> (&'static str, Arg<'static>) {
    ("id", id.map_or(Arg::Sql("NULL"), Arg::Number))
}

fn queued_event(mut row: Vec<Value>) -> Result<QueuedEvent, StateError> {
    let (due_in_s, worker) = (row[7].clone(), optional_text(&mut row[8]));
    let state = match worker {
        Some(worker) => QueuedState::InFlight { worker },
        None if due_in_s == Value::Null => QueuedState::Pending,
        None => QueuedState::Waiting { due_in_s: count(&due_in_s) },
    };
    Ok(QueuedEvent { event: event(row)?, state })
}

fn dead_event(mut row: Vec<Value>) -> Result<QueuedEvent, StateError> {
    let state = QueuedState::Dead {
        row_image: optional_text(&mut row[7]),
        first_ms: number(&row[8]),
        last_ms: number(&row[9]),
    };
    Ok(QueuedEvent { event: event(row)?, state })
}
