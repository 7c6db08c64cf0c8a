//! Medians, ratios, and how they are printed.

use std::time::{Duration, Instant};

/// Rounds of each pair.
pub const ROUNDS: usize = 7;

/// A ratio of two medians with its bar.
pub struct Figure {
    pub what: &'static str,
    pub measured: Duration,
    pub against: Duration,
    pub bar: f64,
    pub spread: f64,
}

impl Figure {
    /// Measures two things in turn. Each call gets the round's number and returns the time that counts.
    pub fn measure(
        what: &'static str,
        bar: f64,
        left: impl FnMut(usize) -> Duration,
        right: impl FnMut(usize) -> Duration,
    ) -> Self {
        Self::measure_times(ROUNDS, what, bar, left, right)
    }

    /// The same in fewer rounds, for what takes long; their number is odd.
    pub fn measure_times(
        rounds: usize,
        what: &'static str,
        bar: f64,
        mut left: impl FnMut(usize) -> Duration,
        mut right: impl FnMut(usize) -> Duration,
    ) -> Self {
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            lefts.push(left(round));
            rights.push(right(round));
        }
        lefts.sort();
        rights.sort();
        let measured = lefts[rounds / 2];
        let spread = lefts[rounds - 1].checked_sub(lefts[0]).unwrap().as_secs_f64() / measured.as_secs_f64();
        Self { what, measured, against: rights[rounds / 2], bar, spread }
    }

    /// What cannot be measured here: a peer that cannot be installed.
    pub fn skipped(what: &'static str) -> Self {
        println!("{what:<58} skipped: the peer cannot be installed");
        Self { what, measured: Duration::ZERO, against: Duration::from_secs(1), bar: f64::INFINITY, spread: 0.0 }
    }

    pub fn ratio(&self) -> f64 {
        self.measured.as_secs_f64() / self.against.as_secs_f64()
    }

    pub fn is_over(&self) -> bool {
        self.ratio() > self.bar
    }

    pub fn line(&self) -> String {
        let ms = |time: Duration| format!("{} ms", time.as_millis());
        format!(
            "{:<58} {:>9} {:>9} {:>7.2} {:>6} {:>6.0}%{}",
            self.what,
            ms(self.measured),
            ms(self.against),
            self.ratio(),
            self.bar,
            self.spread * 100.0,
            if self.is_over() { "  OVER" } else { "" }
        )
    }
}

/// Time that `work` takes.
pub fn time(work: impl FnOnce()) -> Duration {
    let clock = Instant::now();
    work();
    clock.elapsed()
}

/// All figures as one JSON document.
pub fn json(figures: &[Figure]) -> String {
    let item = |figure: &Figure| {
        format!(
            "{{\"what\":\"{}\",\"measured_ms\":{},\"against_ms\":{},\"ratio\":{:.3},\"bar\":{},\"spread\":{:.3}}}",
            figure.what,
            figure.measured.as_millis(),
            figure.against.as_millis(),
            figure.ratio(),
            figure.bar,
            figure.spread
        )
    };
    format!("{{\"schema_version\":1,\"figures\":[{}]}}", figures.iter().map(item).collect::<Vec<_>>().join(","))
}
