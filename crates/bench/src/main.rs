//! `make bench`: every figure is a ratio of medians of two things measured in turn in one run.
//!
//! Boundary: drives the release binary as a user would; the engine room only serves as the floor.
// Its output is its result, and a benchmark that cannot be set up has none.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod drain;
mod first_run;
mod history;
mod incremental;
mod ingest;
mod measure;
mod no_op;
mod sandbox;
mod scale;
mod state_queue;
mod validate;
mod workers;
mod workspace;

use std::path::Path;

use measure::Figure;

type Measure = fn(&Path) -> Figure;

const FIGURES: [(&str, Measure); 31] = [
    ("first run", first_run::figure),
    ("no-op size", no_op::over_table_size),
    ("no-op models", no_op::over_models),
    ("no-op history", history::figure),
    ("scale", scale::figure),
    ("incremental append", incremental::append),
    ("incremental merge", incremental::merge),
    ("state feed file", state_queue::feed_file),
    ("state feed postgres", state_queue::feed_postgres),
    ("state feed quack", state_queue::feed_quack),
    ("state chunk file", state_queue::chunk_file),
    ("state chunk postgres", state_queue::chunk_postgres),
    ("state chunk quack", state_queue::chunk_quack),
    ("state growth file", state_queue::growth_file),
    ("state growth postgres", state_queue::growth_postgres),
    ("state growth quack", state_queue::growth_quack),
    ("drain many file", drain::many_file),
    ("drain many postgres", drain::many_postgres),
    ("drain many quack", drain::many_quack),
    ("drain instant", drain::instant),
    ("drain single", drain::single),
    ("drain growth", drain::growth),
    ("drain memory", drain::memory),
    ("sandbox size", sandbox::size),
    ("validate", validate::figure),
    ("ingest bare", ingest::against_bare_loop),
    ("ingest dlt", ingest::against_dlt),
    ("ingest memory", ingest::memory),
    ("ingest memory of many", ingest::memory_of_many),
    ("ingest parallel", ingest::parallel),
    ("workers", workers::share),
];

fn main() {
    let binary = workspace::binary();
    println!("binary: {}", binary.display());
    println!("rounds: {}, in turn; medians; spread is (max - min) / median of the measured side\n", measure::ROUNDS);
    println!("{:<58} {:>9} {:>9} {:>7} {:>6} {:>7}", "what", "measured", "against", "ratio", "bar", "spread");
    // `cargo run --release -p bench -- WORD` measures only what has the word in its name.
    let word = std::env::args().nth(1).unwrap_or_default();
    let mut figures = Vec::new();
    for (_, measure) in FIGURES.iter().filter(|(name, _)| name.contains(&word)) {
        let figure = measure(&binary);
        println!("{}", figure.line());
        figures.push(figure);
    }
    println!("\n{}", measure::json(&figures));
    if figures.iter().any(Figure::is_over) {
        std::process::exit(1);
    }
}
