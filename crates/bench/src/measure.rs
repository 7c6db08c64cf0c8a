//! Medians, their spread, and the ratio of two of them against a bar.

use std::time::{Duration, Instant};

/// Rounds of each pair.
pub const ROUNDS: usize = 7;

/// The times of one side.
#[derive(Debug, Clone, Copy)]
pub struct Side {
    pub median: Duration,
    /// (max - min) / median.
    pub spread: f64,
}

impl Side {
    /// Of at least one time.
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        let median = times[times.len() / 2];
        let range = times[times.len() - 1].saturating_sub(times[0]);
        Self { median, spread: range.as_secs_f64() / median.as_secs_f64() }
    }
}

/// Two sides, measured in turn.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    pub rounds: usize,
    pub measured: Side,
    pub against: Side,
}

impl Pair {
    pub fn ratio(&self) -> f64 {
        self.measured.median.as_secs_f64() / self.against.median.as_secs_f64()
    }
}

/// A ratio of two medians with its bar.
#[derive(Debug)]
pub struct Figure {
    pub what: &'static str,
    /// The most that the ratio may be; without one it is only told.
    pub bar: Option<f64>,
    /// Name of the peer that is the other side.
    pub peer: Option<&'static str>,
    /// Why there is none: a peer that cannot be installed.
    pub result: Result<Pair, String>,
}

impl Figure {
    /// Measures two things in turn. Each call gets the round's number and returns the time that counts.
    pub fn measure(
        what: &'static str,
        bar: impl Into<Option<f64>>,
        left: impl FnMut(usize) -> Duration,
        right: impl FnMut(usize) -> Duration,
    ) -> Self {
        Self::measure_times(ROUNDS, what, bar, left, right)
    }

    /// The same in fewer rounds, for what takes long; their number is odd.
    pub fn measure_times(
        rounds: usize,
        what: &'static str,
        bar: impl Into<Option<f64>>,
        mut left: impl FnMut(usize) -> Duration,
        mut right: impl FnMut(usize) -> Duration,
    ) -> Self {
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            lefts.push(left(round));
            rights.push(right(round));
        }
        let pair = Pair { rounds, measured: Side::of(lefts), against: Side::of(rights) };
        Self { what, bar: bar.into(), peer: None, result: Ok(pair) }
    }

    /// What cannot be measured here, and why.
    pub fn skipped(what: &'static str, why: String) -> Self {
        Self { what, bar: None, peer: None, result: Err(why) }
    }

    /// Says whom it is measured against.
    pub fn against(self, peer: &'static str) -> Self {
        Self { peer: Some(peer), ..self }
    }

    pub fn is_over(&self) -> bool {
        matches!((&self.result, self.bar), (Ok(pair), Some(bar)) if pair.ratio() > bar)
    }
}

/// Time that `work` takes.
pub fn time(work: impl FnOnce()) -> Duration {
    let clock = Instant::now();
    work();
    clock.elapsed()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Figure, Side};

    fn ms(times: &[u64]) -> Vec<Duration> {
        times.iter().map(|&ms| Duration::from_millis(ms)).collect()
    }

    #[test]
    fn the_median_counts_and_the_spread_is_told_beside_it() {
        let side = Side::of(ms(&[300, 100, 200]));
        assert_eq!(side.median, Duration::from_millis(200));
        assert!((side.spread - 1.0).abs() < 1e-9, "{side:?}");
    }

    #[test]
    fn a_ratio_is_over_its_bar_only_when_there_is_one() {
        let of = |bar: Option<f64>| {
            let (left, right) = (|_| Duration::from_millis(30), |_| Duration::from_millis(100));
            Figure::measure("x", bar, left, right)
        };
        assert!(of(Some(0.29)).is_over());
        assert!(!of(Some(0.31)).is_over());
        assert!(!of(None).is_over());
        assert!(!Figure::skipped("x", "why".into()).is_over());
    }

    #[test]
    fn the_sides_are_measured_in_turn() {
        let order = std::cell::RefCell::new(Vec::new());
        let side = |name| {
            let order = &order;
            move |round| {
                order.borrow_mut().push((name, round));
                Duration::from_millis(1)
            }
        };
        Figure::measure_times(3, "x", 1.0, side("left"), side("right"));
        let turns = [("left", 0), ("right", 0), ("left", 1), ("right", 1), ("left", 2), ("right", 2)];
        assert_eq!(order.into_inner(), turns);
    }
}
