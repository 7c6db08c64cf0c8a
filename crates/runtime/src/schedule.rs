//! Which models may have their turn: those of which everything that they read has had its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::planning::PlannedModel;

/// Models by their place in the order of the run.
pub(crate) struct Schedule {
    /// Of how many models that it reads each waits for the end.
    waits_for: Vec<usize>,
    readers: Vec<Vec<usize>>,
    fetches: Vec<bool>,
    /// Those that may begin: the ones that fetch, and the others.
    ready: [BTreeSet<usize>; 2],
}

impl Schedule {
    pub fn new(models: &[PlannedModel]) -> Self {
        let names: Vec<String> = models.iter().map(|planned| planned.target().key()).collect();
        let read = |planned: &PlannedModel| planned.depends.iter().map(|name| name.to_lowercase()).collect();
        Self::of(&names, models.iter().map(|planned| (read(planned), planned.model.fetch)))
    }

    /// Of models with these names, each with what it reads and whether it fetches.
    fn of(names: &[String], models: impl Iterator<Item = (Vec<String>, bool)>) -> Self {
        let places: BTreeMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let mut schedule = Self {
            waits_for: Vec::new(),
            readers: vec![Vec::new(); names.len()],
            fetches: Vec::new(),
            ready: Default::default(),
        };
        for (at, (reads, fetches)) in models.enumerate() {
            let upstream: BTreeSet<usize> = reads
                .iter()
                .filter_map(|name| places.get(name.as_str()).copied())
                .filter(|&other| other != at)
                .collect();
            schedule.waits_for.push(upstream.len());
            schedule.fetches.push(fetches);
            if upstream.is_empty() {
                schedule.give_back(at);
            }
            for other in upstream {
                schedule.readers[other].push(at);
            }
        }
        schedule
    }

    /// The first model at or behind a place that may begin, of those that fetch or of the others.
    pub fn next(&self, fetches: bool, from: usize) -> Option<usize> {
        self.ready[usize::from(fetches)].range(from..).next().copied()
    }

    /// Whether only this one may begin.
    pub fn is_alone(&self, at: usize) -> bool {
        self.ready.iter().map(BTreeSet::len).sum::<usize>() == 1 && self.ready.iter().any(|ready| ready.contains(&at))
    }

    /// The model has begun.
    pub fn begin(&mut self, at: usize) {
        self.ready.iter_mut().for_each(|ready| {
            ready.remove(&at);
        });
    }

    /// The model may begin, again if it did before.
    pub fn give_back(&mut self, at: usize) {
        self.ready[usize::from(self.fetches[at])].insert(at);
    }

    /// The model had its turn.
    pub fn finish(&mut self, at: usize) {
        self.begin(at);
        for reader in std::mem::take(&mut self.readers[at]) {
            self.waits_for[reader] -= 1;
            if self.waits_for[reader] == 0 {
                self.give_back(reader);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;

    fn schedule(models: &[(&str, &[&str], bool)]) -> Schedule {
        let names: Vec<String> = models.iter().map(|(name, ..)| (*name).to_owned()).collect();
        let read = |reads: &[&str]| reads.iter().map(|name| (*name).to_owned()).collect();
        Schedule::of(&names, models.iter().map(|(_, reads, fetches)| (read(reads), *fetches)))
    }

    #[test]
    fn a_model_may_begin_once_all_that_it_reads_had_its_turn() {
        let mut schedule = schedule(&[
            ("raw.a", &["elsewhere.x"], false),
            ("raw.api", &[], true),
            ("mart.b", &["raw.a", "raw.api", "raw.a"], false),
        ]);
        assert_eq!([schedule.next(false, 0), schedule.next(true, 0)], [Some(0), Some(1)]);
        assert_eq!(schedule.next(false, 1), None);
        schedule.finish(1);
        assert!(schedule.is_alone(0));
        schedule.begin(0);
        assert_eq!(schedule.next(false, 0), None, "what has begun does not begin again");
        schedule.finish(0);
        assert_eq!(schedule.next(false, 0), Some(2));
        assert!(schedule.is_alone(2));
    }

    #[test]
    fn a_model_that_was_given_back_may_begin_again() {
        let mut schedule = schedule(&[("raw.a", &[], false), ("raw.b", &[], false)]);
        schedule.begin(0);
        schedule.give_back(0);
        assert_eq!(schedule.next(false, 0), Some(0));
        assert!(!schedule.is_alone(0));
    }
}
