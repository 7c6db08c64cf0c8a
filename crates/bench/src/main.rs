//! `make bench`: every figure is a ratio of medians of two things measured in turn in one run.
//!
//! Boundary: drives the release binary as a user would; the engine room only serves as the floor.
// Its output is its result, and a benchmark that cannot be set up has none.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod drain;
mod fifty;
mod first_run;
mod history;
mod incremental;
mod ingest;
mod measure;
mod no_op;
mod peers;
mod report;
mod sandbox;
mod scale;
mod state_queue;
mod validate;
mod workers;
mod workspace;

use std::path::{Path, PathBuf};
use std::process::Command;

use engine::Pins;
use measure::Figure;
use report::{Machine, Setting};

type Measure = fn(&Path) -> Figure;

const FIGURES: [(&str, Measure); 42] = [
    ("peers version sqlmesh", peers::version),
    ("peers no-op sqlmesh", peers::no_op_sqlmesh),
    ("peers no-op dbt", peers::no_op_dbt),
    ("peers no-op dbt file", peers::no_op_dbt_file),
    ("peers first run dbt", peers::first_run_dbt),
    ("peers first run sqlmesh", peers::first_run_sqlmesh),
    ("peers validate dbt", peers::parse_dbt),
    ("peers incremental dbt", peers::incremental_dbt),
    ("first run", first_run::figure),
    ("no-op size", no_op::over_table_size),
    ("no-op models", no_op::over_models),
    ("no-op history", history::figure),
    ("no-op very long history", history::very_long),
    ("scale", scale::figure),
    ("incremental append", incremental::append),
    ("incremental append huge", incremental::append_huge),
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
    ("validate growth", validate::growth),
    ("ingest bare", ingest::against_bare_loop),
    ("peers ingest dlt", ingest::against_dlt),
    ("ingest memory", ingest::memory),
    ("ingest memory of many", ingest::memory_of_many),
    ("ingest parallel", ingest::parallel),
    ("workers", workers::share),
];

fn main() {
    let binary = workspace::binary();
    let setting = Setting { machine: Machine::read(), versions: versions(&binary) };
    println!("binary:   {}\n{}", binary.display(), report::header(&setting));
    // `cargo run --release -p bench -- WORD` measures only what has the word in its name.
    let word = std::env::args().nth(1).unwrap_or_default();
    let mut figures = Vec::new();
    for (name, measure) in FIGURES.iter().filter(|(name, _)| name.contains(&word)) {
        let figure = measure(&binary);
        println!("{}", report::row(&figure));
        figures.push((*name, figure));
    }
    let file = json_file(&binary, &word);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, format!("{:#}\n", report::document(&setting, &figures))).unwrap();
    println!("\nJSON: {}", file.display());
    if figures.iter().any(|(_, figure)| figure.is_over()) {
        std::process::exit(1);
    }
}

/// Of everything that takes part.
fn versions(binary: &Path) -> Vec<(String, String)> {
    let own = Command::new(binary).arg("version").output().unwrap();
    let own = String::from_utf8(own.stdout).unwrap().trim().to_owned();
    let engine = Pins::read().version.trim_start_matches('v').to_owned();
    [("ondatrasql".to_owned(), own), ("duckdb".to_owned(), engine)].into_iter().chain(peers::versions()).collect()
}

/// `target/bench/all.json`, or one named after the word that selects figures.
fn json_file(binary: &Path, word: &str) -> PathBuf {
    let target = binary.ancestors().nth(2).unwrap();
    let name = if word.is_empty() { "all".to_owned() } else { word.replace(|c: char| !c.is_alphanumeric(), "-") };
    target.join(format!("bench/{name}.json"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::json_file;

    #[test]
    fn figures_of_a_word_do_not_take_the_place_of_all() {
        let of = |word| json_file(Path::new("/t/release/ondatrasql"), word);
        assert_eq!(of(""), Path::new("/t/bench/all.json"));
        assert_eq!(of("peers no-op"), Path::new("/t/bench/peers-no-op.json"));
    }
}
