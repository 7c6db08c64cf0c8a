//! The table: a line for each figure, printed as it is measured.

use std::time::Duration;

use crate::measure::{Figure, ROUNDS};
use crate::report::{Machine, Setting};

/// The lines above the table.
pub fn header(setting: &Setting) -> String {
    let Machine { cpu, cores, memory_mib } = &setting.machine;
    let versions: Vec<String> = setting.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    format!(
        "machine:  {cores} cores of {cpu}, {memory_mib} MiB\n\
         versions: {}\n\
         rounds:   {ROUNDS} (fewer where one takes long), in turn; medians; a spread is (max - min) / median, of both sides\n\n\
         {:<62} {:>11} {:>11} {:>7} {:>6} {:>10}",
        versions.join(", "),
        "what",
        "measured",
        "against",
        "ratio",
        "bar",
        "spreads",
    )
}

/// The line of a figure.
pub fn row(figure: &Figure) -> String {
    let what = figure.what;
    match &figure.result {
        Err(why) => format!("{what:<62} skipped: {why}"),
        Ok(pair) => format!(
            "{what:<62} {:>11} {:>11} {:>7} {:>6} {:>10}{}",
            milliseconds(pair.measured.median),
            milliseconds(pair.against.median),
            // A small ratio needs more digits to be told from its bar.
            if pair.ratio() < 0.1 { format!("{:.4}", pair.ratio()) } else { format!("{:.2}", pair.ratio()) },
            figure.bar.map_or_else(|| "-".to_owned(), |bar| bar.to_string()),
            format!("{:.0}%/{:.0}%", pair.measured.spread * 100.0, pair.against.spread * 100.0),
            if figure.is_over() { "  OVER" } else { "" }
        ),
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::row;
    use crate::measure::Figure;

    fn line(bar: Option<f64>) -> String {
        row(&Figure::measure("a / b", bar, |_| Duration::from_millis(9), |_| Duration::from_millis(1500)))
    }

    #[test]
    fn a_row_tells_times_ratio_bar_and_both_spreads() {
        let told: Vec<String> = line(Some(0.033)).split_whitespace().map(str::to_owned).collect();
        assert_eq!(told, ["a", "/", "b", "9.0", "ms", "1500.0", "ms", "0.0060", "0.033", "0%/0%"]);
        assert!(line(Some(0.001)).ends_with("OVER"));
        assert!(line(None).contains(" - "), "{}", line(None));
    }

    #[test]
    fn a_peer_that_is_not_there_is_told_with_the_reason() {
        let figure = Figure::skipped("a / b", "dbt cannot be installed: no network".into()).against("dbt");
        assert_eq!(row(&figure).split_once(" skipped: ").unwrap().1, "dbt cannot be installed: no network");
    }
}
