//! Random histories of several workers: the database's queue holds exactly what a plain one in memory says.
//!
//! No verb takes a time from its worker, so clocks that differ change nothing; what passes is the database's
//! time, and the history says when.

mod admin;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use state::{
    Action, Answer, BackendKind, ClaimLease, EventState, Outcome, OutcomeStatus, Queue, SqlStore, StateError, after,
};
use testkit::{Changes, Random};

use super::fixture;

const TARGET: &str = "sync.contacts";
/// Few rows, so that events of one row meet.
const ROWS: i64 = 5;
const WORKERS: [&str; 3] = ["a", "b", "c"];

struct ModelEvent {
    row: i64,
    state: EventState,
    attempts: i64,
    claim: Option<usize>,
}

struct ModelClaim {
    lease: ClaimLease,
    worker: &'static str,
    is_over: bool,
    is_expired: bool,
}

/// The plain queue.
#[derive(Default)]
struct Model {
    events: BTreeMap<i64, ModelEvent>,
    claims: Vec<ModelClaim>,
    last_seq: i64,
    /// Rows' delivered events, in the order of delivery.
    delivered: BTreeMap<i64, Vec<i64>>,
}

impl Model {
    /// The row of an event; 0 for one that there never was.
    fn row_of(&self, seq: i64) -> i64 {
        self.events.get(&seq).map_or(0, |event| event.row)
    }

    /// A new event, behind all others.
    fn add(&mut self, row: i64) {
        self.last_seq += 1;
        let event = ModelEvent { row, state: EventState::Pending, attempts: 0, claim: None };
        self.events.insert(self.last_seq, event);
    }

    /// Whether an event of the row satisfies this.
    fn any_of_row(&self, row: i64, is: impl Fn(i64, &ModelEvent) -> bool) -> bool {
        self.events.iter().any(|(&seq, event)| event.row == row && is(seq, event))
    }

    /// What a claim takes: due events in order, but none of a row with an event in flight or an earlier one
    /// that waits. Rows of which nothing failed come first, then those that failed least often.
    fn claimable(&self, limit: usize) -> Vec<i64> {
        let is_in_flight = |event: &ModelEvent| matches!(event.state, EventState::InFlight | EventState::Answered(_));
        let is_queued = |event: &ModelEvent| matches!(event.state, EventState::Pending | EventState::Waiting);
        let has_failed = |row| self.any_of_row(row, |_, event| is_queued(event) && event.attempts > 0);
        let is_held = |seq: i64| {
            self.any_of_row(self.row_of(seq), |other, event| {
                is_in_flight(event) || event.state == EventState::Waiting && other < seq
            })
        };
        let due = || self.events.iter().filter(|(_, event)| event.state == EventState::Pending).map(|(&seq, _)| seq);
        // It looks no further than needed, unless all that it sees is held back.
        for window in [4 * limit, usize::MAX] {
            let first = due().filter(|seq| self.events[seq].attempts == 0).take(window);
            let fresh = first.filter(|&seq| !is_held(seq) && !has_failed(self.row_of(seq)));
            let fresh: Vec<i64> = fresh.take(limit).collect();
            if !fresh.is_empty() {
                return fresh;
            }
        }
        let failed = || due().filter(|&seq| self.events[&seq].attempts > 0 && !is_held(seq));
        let least = failed().map(|seq| self.events[&seq].attempts).min();
        let first = failed().filter(|seq| Some(self.events[seq].attempts) == least).take(limit);
        let rows: BTreeSet<i64> = first.map(|seq| self.row_of(seq)).collect();
        due().filter(|&seq| rows.contains(&self.row_of(seq)) && !is_held(seq)).take(limit).collect()
    }

    fn act(&mut self, seq: i64, action: Action) {
        let event = self.events.get_mut(&seq).unwrap();
        event.state = after(event.state, action).unwrap();
    }

    /// The events of a claim in a state.
    fn of_claim(&self, claim: usize) -> Vec<i64> {
        let is_in = |event: &ModelEvent| {
            event.claim == Some(claim) && matches!(event.state, EventState::InFlight | EventState::Answered(_))
        };
        self.events.iter().filter(|(_, event)| is_in(event)).map(|(&seq, _)| seq).collect()
    }

    fn apply(&mut self, claim: usize) {
        for seq in self.of_claim(claim) {
            let EventState::Answered(answer) = self.events[&seq].state else { continue };
            self.act(seq, Action::Apply);
            match answer {
                Answer::Ok => self.delivered.entry(self.row_of(seq)).or_default().push(seq),
                Answer::Error | Answer::Reject => self.events.get_mut(&seq).unwrap().attempts += 1,
            }
        }
    }

    fn end(&mut self, claim: usize) {
        self.apply(claim);
        for seq in self.of_claim(claim) {
            self.act(seq, Action::Release);
        }
        self.claims[claim].is_over = true;
    }
}

struct History {
    store: SqlStore,
    changes: Changes,
    model: Model,
    random: Random,
    fed: i64,
    log: Vec<String>,
}

impl History {
    fn step(&mut self) {
        let worker = WORKERS[self.random.below(WORKERS.len())];
        self.store.set_worker(worker.to_owned().into());
        match self.random.below(12) {
            0 => self.feed(),
            1..=3 => self.claim(worker),
            4 | 5 => self.record(worker),
            6 => self.apply(worker),
            7 => self.release(worker),
            8 => self.recover(worker),
            9 | 10 => self.act_as_a_person(worker),
            _ => self.time(),
        }
        self.check();
    }

    fn feed(&mut self) {
        let count = i64::try_from(self.random.below(9)).unwrap();
        self.log.push(format!("feed {count}"));
        self.fed += count;
        self.changes.feed(&mut self.store, TARGET, self.fed).unwrap();
        (self.fed - count + 1..=self.fed).for_each(|change| self.model.add(Changes::row_of(change, ROWS)));
    }

    fn claim(&mut self, worker: &'static str) {
        let limit = 1 + self.random.below(6);
        self.log.push(format!("{worker} claims {limit}"));
        let expected = self.model.claimable(limit);
        let claim = self.store.claim(TARGET, "run", limit).unwrap();
        let seqs: Vec<i64> = claim.iter().flat_map(|claim| &claim.events).map(|event| event.seq).collect();
        assert_eq!(seqs, expected, "{:#?}", self.log);
        let Some(claim) = claim else { return };
        for event in &claim.events {
            assert_eq!(i64::from(event.attempts), self.model.events[&event.seq].attempts);
        }
        let at = self.model.claims.len();
        self.model.claims.push(ModelClaim { lease: claim.lease, worker, is_over: false, is_expired: false });
        for seq in seqs {
            self.model.act(seq, Action::Claim);
            self.model.events.get_mut(&seq).unwrap().claim = Some(at);
        }
    }

    /// Any claim, also of another worker or one that is over.
    fn some_claim(&mut self) -> Option<usize> {
        let count = self.model.claims.len();
        // The newest are the interesting ones.
        (count > 0).then(|| count - 1 - self.random.below(count.min(5)))
    }

    /// Whether `worker` may act on the claim; the database must say the same.
    fn may(&self, claim: usize, worker: &str) -> bool {
        let claim = &self.model.claims[claim];
        !claim.is_over && claim.worker == worker
    }

    #[track_caller]
    fn assert_answer(&self, answer: Result<(), StateError>, may: bool) {
        match answer {
            Ok(()) => assert!(may, "a lost lease was not noticed: {:#?}", self.log),
            Err(StateError::LeaseLost { .. }) => assert!(!may, "a held lease was refused: {:#?}", self.log),
            Err(error) => panic!("{error}: {:#?}", self.log),
        }
    }

    fn record(&mut self, worker: &str) {
        let Some(claim) = self.some_claim() else { return };
        let seqs: Vec<i64> = match self.model.of_claim(claim) {
            held if held.is_empty() => vec![self.model.last_seq],
            held => held,
        };
        let mut outcomes = Vec::new();
        // A worker sends nothing of a row after an event of it that failed or was not sent.
        let mut held_back = BTreeSet::new();
        for seq in seqs {
            if held_back.contains(&self.model.row_of(seq)) {
                continue;
            }
            let chosen = match self.random.below(5) {
                0 => Some((Answer::Error, OutcomeStatus::Error(Duration::from_hours(1)))),
                1 => Some((Answer::Reject, OutcomeStatus::Reject(None))),
                2 => None,
                _ => Some((Answer::Ok, OutcomeStatus::Ok)),
            };
            // An answer that was noted before stands, whatever is sent now.
            let answer = match self.model.events.get(&seq).map(|event| event.state) {
                Some(EventState::Answered(first)) => Some(first),
                _ => chosen.as_ref().map(|(answer, _)| *answer),
            };
            if matches!(answer, None | Some(Answer::Error)) {
                held_back.insert(self.model.row_of(seq));
            }
            outcomes.extend(chosen.map(|(answer, status)| (answer, Outcome { seq, status, message: None })));
        }
        if outcomes.is_empty() {
            return;
        }
        self.log.push(format!("{worker} records {} for claim {claim}", outcomes.len()));
        let may = self.may(claim, worker);
        let lease = self.model.claims[claim].lease.clone();
        let list: Vec<Outcome> = outcomes.iter().map(|(_, outcome)| outcome.clone()).collect();
        let answer = self.store.record(&lease, &list);
        self.assert_answer(answer, may);
        if may {
            self.model.claims[claim].is_expired = false;
            for (answer, outcome) in outcomes {
                if self.model.events.get(&outcome.seq).is_some_and(|event| event.claim == Some(claim))
                    && self.model.of_claim(claim).contains(&outcome.seq)
                {
                    self.model.act(outcome.seq, Action::Record(answer));
                }
            }
        }
    }

    fn apply(&mut self, worker: &str) {
        let Some(claim) = self.some_claim() else { return };
        self.log.push(format!("{worker} applies claim {claim}"));
        let may = self.may(claim, worker);
        let lease = self.model.claims[claim].lease.clone();
        let answer = self.store.apply(&lease);
        self.assert_answer(answer, may);
        if may {
            self.model.claims[claim].is_expired = false;
            self.model.apply(claim);
        }
    }

    fn release(&mut self, worker: &str) {
        let Some(claim) = self.some_claim() else { return };
        self.log.push(format!("{worker} releases claim {claim}"));
        let may = self.may(claim, worker);
        let lease = self.model.claims[claim].lease.clone();
        let answer = self.store.release(&lease);
        self.assert_answer(answer, may);
        if may {
            self.model.end(claim);
        }
    }

    fn recover(&mut self, worker: &str) {
        self.log.push(format!("{worker} recovers"));
        let dead = self.claims_that(|claim| self.is_dead(claim, worker));
        assert_eq!(self.store.recover().unwrap().released, dead.len(), "{:#?}", self.log);
        for claim in dead {
            self.model.end(claim);
        }
    }

    /// Whether a claim's worker counts as gone, as `worker` sees it.
    fn is_dead(&self, claim: &ModelClaim, worker: &str) -> bool {
        let is_exclusive = self.store.backend_kind() == BackendKind::File;
        claim.worker != worker && (is_exclusive || claim.is_expired)
    }

    /// The claims that are not over and of which `is` holds.
    fn claims_that(&self, is: impl Fn(&ModelClaim) -> bool) -> Vec<usize> {
        let claims = self.model.claims.iter().enumerate();
        claims.filter(|(_, claim)| !claim.is_over && is(claim)).map(|(at, _)| at).collect()
    }

    /// Time passes: leases run out, or waiting events become due.
    fn time(&mut self) {
        if self.random.below(2) == 0 {
            self.log.push("leases run out".into());
            self.store.run_sql("UPDATE sync_claim SET lease_until = now() - INTERVAL '1 minute'").unwrap();
            self.model.claims.iter_mut().for_each(|claim| claim.is_expired = true);
            return;
        }
        self.log.push("waiting events are due".into());
        self.store.run_sql("UPDATE sync_evt SET not_before = now() WHERE not_before IS NOT NULL").unwrap();
        let waiting: Vec<i64> =
            self.model.events.iter().filter(|(_, e)| e.state == EventState::Waiting).map(|(&seq, _)| seq).collect();
        for seq in waiting {
            self.model.act(seq, Action::Due);
        }
    }

    /// The database holds what the model holds, table by table.
    fn check(&mut self) {
        let sql = "SELECT 1 AS place, seq, attempts FROM sync_evt WHERE not_before IS NULL OR not_before <= now() \
                   UNION ALL SELECT 2, seq, attempts FROM sync_evt WHERE not_before > now() \
                   UNION ALL SELECT 3, seq, attempts FROM sync_inflight \
                   UNION ALL SELECT 4, seq, attempts FROM sync_dead ORDER BY 1, 2";
        let number = |value: &engine::Value| value.as_i64().unwrap();
        let found: Vec<(i64, i64, i64)> = self
            .store
            .ask_sql(sql)
            .unwrap()
            .iter()
            .map(|row| (number(&row[0]), number(&row[1]), number(&row[2])))
            .collect();
        let place = |state| match state {
            EventState::Pending => Some(1),
            EventState::Waiting => Some(2),
            EventState::InFlight | EventState::Answered(_) => Some(3),
            EventState::Dead => Some(4),
            EventState::Done | EventState::Dropped => None,
        };
        let events = self.model.events.iter();
        let mut expected: Vec<(i64, i64, i64)> =
            events.filter_map(|(&seq, event)| Some((place(event.state)?, seq, event.attempts))).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{:#?}", self.log);
        for (row, delivered) in &self.model.delivered {
            assert!(delivered.is_sorted(), "row {row} out of order {delivered:?}: {:#?}", self.log);
        }
    }
}

fn run_histories(kind: BackendKind, histories: u64, steps: usize) {
    let fixture = fixture(kind);
    let mut store = Some(fixture.open("a"));
    for seed in 0..histories {
        let mut open = store.take().unwrap();
        for table in ["sync_evt", "sync_inflight", "sync_claim", "sync_apply_log", "sync_dead", "sync_feed"] {
            open.run_sql(&format!("DELETE FROM {table}")).unwrap();
        }
        let mut history = History {
            store: open,
            changes: Changes::of_rows(ROWS),
            model: Model::default(),
            random: Random(seed * 7919 + 17),
            fed: 0,
            log: vec![format!("seed {seed}")],
        };
        (0..steps).for_each(|_| history.step());
        store = Some(history.store);
    }
}

#[test]
fn a_file_does_what_the_model_says() {
    run_histories(BackendKind::File, 3, 60);
}

#[test]
fn postgresql_does_what_the_model_says() {
    run_histories(BackendKind::Postgres, 3, 60);
}

#[test]
fn a_quack_server_does_what_the_model_says() {
    run_histories(BackendKind::Quack, 3, 60);
}

fn soak(kind: BackendKind) {
    run_histories(kind, 60, 150);
}

#[test]
#[ignore = "make soak"]
fn soak_a_file_does_what_the_model_says() {
    soak(BackendKind::File);
}

#[test]
#[ignore = "make soak"]
fn soak_postgresql_does_what_the_model_says() {
    soak(BackendKind::Postgres);
}

#[test]
#[ignore = "make soak"]
fn soak_a_quack_server_does_what_the_model_says() {
    soak(BackendKind::Quack);
}
