//! `make bench`: every figure is a ratio of medians of two things measured in turn in one run.
//!
//! Boundary: drives the release binary as a user would; the engine room only serves as the floor.
// Its output is its result, and a benchmark that cannot be set up has none.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod first_run;
mod history;
mod incremental;
mod measure;
mod no_op;
mod workspace;

use measure::Figure;

fn main() {
    let binary = workspace::binary();
    println!("binary: {}", binary.display());
    println!("rounds: {}, in turn; medians; spread is (max - min) / median of the measured side\n", measure::ROUNDS);
    println!("{:<58} {:>9} {:>9} {:>7} {:>6} {:>7}", "what", "measured", "against", "ratio", "bar", "spread");
    let figures = [
        first_run::figure(&binary),
        no_op::over_table_size(&binary),
        no_op::over_models(&binary),
        history::figure(&binary),
        incremental::append(&binary),
        incremental::merge(&binary),
    ];
    for figure in &figures {
        println!("{}", figure.line());
    }
    println!("\n{}", measure::json(&figures));
    if figures.iter().any(Figure::is_over) {
        std::process::exit(1);
    }
}
