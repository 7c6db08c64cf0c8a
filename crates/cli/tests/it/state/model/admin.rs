//! What a person does to the queue between the steps of its workers.

use state::{Action, Buried, EventState, Position, Queue, QueueAdmin, StateError, after};

use super::{History, Model, TARGET};

impl Model {
    /// The events that are in one of these states, in order.
    fn in_state(&self, is: impl Fn(EventState) -> bool) -> Vec<i64> {
        self.events.iter().filter(|(_, event)| is(event.state)).map(|(&seq, _)| seq).collect()
    }

    /// Claims of dead workers end, and what is queued is dropped; gives how much.
    fn drop_queue(&mut self, dead_claims: &[usize]) -> u64 {
        for &claim in dead_claims {
            self.apply(claim);
            self.claims[claim].is_over = true;
        }
        let queued = self.in_state(|state| state != EventState::Dead && after(state, Action::Drop).is_ok());
        self.drop_each(&queued)
    }

    fn drop_each(&mut self, seqs: &[i64]) -> u64 {
        for &seq in seqs {
            self.act(seq, Action::Drop);
        }
        seqs.len() as u64
    }
}

impl History {
    pub(super) fn act_as_a_person(&mut self, worker: &str) {
        match self.random.below(10) {
            0 | 1 => self.retry(),
            2 | 3 => self.retry_dead(),
            4 => self.drop_dead(),
            5 | 6 => self.bury(),
            7 => self.set_position(worker),
            8 => self.forget_position(worker),
            _ => self.drop_all(worker),
        }
    }

    /// One of these events, or all of them: the argument of a verb, and what it is about.
    fn choose(&mut self, seqs: Vec<i64>) -> (Option<i64>, Vec<i64>) {
        if seqs.is_empty() || self.random.below(2) == 0 {
            return (None, seqs);
        }
        let one = seqs[self.random.below(seqs.len())];
        (Some(one), vec![one])
    }

    fn retry(&mut self) {
        let waiting = self.model.in_state(|state| state == EventState::Waiting);
        let (id, seqs) = self.choose(waiting);
        self.log.push(format!("retry {id:?}"));
        assert_eq!(self.store.retry(TARGET, id).unwrap(), seqs.len() as u64, "{:#?}", self.log);
        for seq in seqs {
            self.model.act(seq, Action::Retry);
        }
    }

    fn retry_dead(&mut self) {
        let dead = self.model.in_state(|state| state == EventState::Dead);
        let (id, seqs) = self.choose(dead);
        self.log.push(format!("retry dead {id:?}"));
        assert_eq!(self.store.retry_dead(TARGET, id).unwrap().events, seqs.len() as u64, "{:#?}", self.log);
        for seq in seqs {
            let event = self.model.events.remove(&seq).unwrap();
            assert_eq!(after(event.state, Action::Retry), Ok(EventState::Pending));
            self.model.add(event.row);
        }
    }

    fn drop_dead(&mut self) {
        let dead = self.model.in_state(|state| state == EventState::Dead);
        let (id, seqs) = self.choose(dead);
        self.log.push(format!("drop dead {id:?}"));
        let dropped = self.model.drop_each(&seqs);
        assert_eq!(self.store.drop_dead(TARGET, id).unwrap(), dropped, "{:#?}", self.log);
    }

    fn bury(&mut self) {
        let up_to = self.model.last_seq - i64::try_from(self.random.below(4)).unwrap();
        self.log.push(format!("bury up to {up_to}"));
        let mut up_to_there = self.model.in_state(|state| !matches!(state, EventState::Done | EventState::Dropped));
        up_to_there.retain(|&seq| seq <= up_to);
        let mut expected = Buried { events: 0, in_flight: 0 };
        for seq in up_to_there {
            match self.model.events[&seq].state {
                EventState::InFlight | EventState::Answered(_) => expected.in_flight += 1,
                EventState::Dead => {}
                _ => {
                    expected.events += 1;
                    self.model.act(seq, Action::Bury);
                }
            }
        }
        assert_eq!(self.store.bury(TARGET, up_to).unwrap(), expected, "{:#?}", self.log);
    }

    /// Does to the model what a verb does that needs an idle queue, and compares its answer.
    fn after_dropping(&mut self, worker: &str, answer: Result<u64, StateError>, with_dead: bool) -> bool {
        let is_idle = self.claims_that(|claim| !self.is_dead(claim, worker)).is_empty();
        if !is_idle {
            let error = answer.expect_err("a living worker delivers");
            assert!(matches!(error, StateError::InFlight { .. }), "{error}: {:#?}", self.log);
            return false;
        }
        let dead = self.claims_that(|_| true);
        let mut dropped = self.model.drop_queue(&dead);
        if with_dead {
            let dead = self.model.in_state(|state| state == EventState::Dead);
            dropped += self.model.drop_each(&dead);
        }
        let answer = answer.unwrap_or_else(|error| panic!("{error}: {:#?}", self.log));
        assert_eq!(answer, dropped, "{:#?}", self.log);
        true
    }

    fn set_position(&mut self, worker: &str) {
        let snapshot = self.fed + i64::try_from(self.random.below(3)).unwrap();
        self.log.push(format!("{worker} sets the position to {snapshot}"));
        let answer = self.store.set_position(TARGET, snapshot, "uuid", "hash");
        if self.after_dropping(worker, answer, false) {
            self.fed = snapshot;
        }
    }

    fn forget_position(&mut self, worker: &str) {
        self.log.push(format!("{worker} forgets the position"));
        let was = self.store.position(TARGET).unwrap();
        let answer = self.store.forget_position(TARGET);
        if self.after_dropping(worker, answer, false) {
            self.fed = 0;
            let now = self.store.position(TARGET).unwrap();
            assert_eq!(now, was.map(|was| Position { snapshot: Position::BEGINNING, ..was }), "{:#?}", self.log);
        }
    }

    fn drop_all(&mut self, worker: &str) {
        self.log.push(format!("{worker} drops all"));
        let answer = self.store.drop_all(TARGET);
        if self.after_dropping(worker, answer, true) {
            assert_eq!(self.store.position(TARGET).unwrap(), None);
            // The target begins anew, its numbers too.
            self.model.events.clear();
            self.model.delivered.clear();
            (self.fed, self.model.last_seq) = (0, 0);
        }
    }
}
