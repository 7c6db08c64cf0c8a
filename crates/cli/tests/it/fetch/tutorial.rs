//! `docs/lib-functions.md`: its tutorial, followed to the letter, and its other lib files.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use testkit::Project;

use super::run;
use crate::docs::{Block, blocks, repository};
use crate::project;

const TOKEN: &str = "token-of-the-tutorial";
/// Where the tutorial says that its service is.
const URL: &str = "http://127.0.0.1:8013";

/// The service of the example, with observations of its own.
struct Service {
    process: Child,
    url: String,
    _dir: TempDir,
}

impl Service {
    /// Two hours of Newark, and so many of JFK; one of ten has no temperature.
    fn start(hours: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("api")).unwrap();
        fs::create_dir(dir.path().join("data")).unwrap();
        let script = dir.path().join("api/server.py");
        fs::copy(format!("{}/examples/flights/api/server.py", repository()), &script).unwrap();
        let mut csv = "origin,temp,time_hour\nEWR,1.5,2013-01-01T06:00:00Z\nEWR,2.5,2013-01-01T07:00:00Z\n".to_owned();
        for hour in 0..hours {
            let temperature = if hour % 10 == 9 { "NA".to_owned() } else { format!("{}.25", hour % 90) };
            let (day, month) = (hour / 24 % 28 + 1, hour / 24 / 28 + 1);
            csv.push_str(&format!("JFK,{temperature},2013-{month:02}-{day:02}T{:02}:00:00Z\n", hour % 24));
        }
        fs::write(dir.path().join("data/weather.csv"), csv).unwrap();
        let mut command = Command::new("python3");
        command.arg(&script).arg("0").env("WEATHER_API_TOKEN", TOKEN).stdout(Stdio::piped());
        let mut process = command.spawn().expect("python3 is there");
        let mut said = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let place = said.find("http://").unwrap_or_else(|| panic!("it does not start: {said}"));
        let url = said[place..].trim().trim_end_matches("/observations").to_owned();
        Self { process, url, _dir: dir }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Puts code where the tutorial says; without a file it is another version of what stood in the one of its language.
fn follow(project: &Project, block: &Block, service: &Service) {
    let file = block.file.as_deref().unwrap_or_else(|| match block.language.as_str() {
        "python" => "lib/weather_api.star",
        "sql" => "models/raw/weather.sql",
        other => panic!("{other}"),
    });
    let before = fs::read_to_string(project.root().join(file)).unwrap_or_default();
    let text = match (file, before.split_once("def fetch")) {
        (".env", _) => format!("{before}{}", block.text.replace('…', TOKEN)),
        (_, Some((api, _))) if block.text.starts_with("def fetch") => format!("{api}{}", block.text),
        _ => block.text.replace(URL, &service.url),
    };
    project.write(file, &text);
}

const FOUND: &str = "SELECT count(*), count(DISTINCT observed_at), count(temperature_f), min(station), max(station), \
                     max(observed_at)::VARCHAR FROM raw.weather";

#[test]
fn the_tutorial_makes_the_table_that_it_promises() {
    let blocks = blocks("lib-functions.md", "## An API to a table in ten minutes");
    let languages: Vec<&str> = blocks.iter().map(|block| block.language.as_str()).collect();
    assert_eq!(languages, ["text", "python", "sql", "sql", "python"], "{blocks:#?}");
    let files: Vec<&str> = blocks.iter().filter_map(|block| block.file.as_deref()).collect();
    assert_eq!(files, [".env", "lib/weather_api.star", "models/raw/weather.sql"]);
    let (project, service) = (project(), Service::start(2_000));
    for block in &blocks[..3] {
        follow(&project, block, &service);
    }
    project.model("mart/reader", "SELECT count(*) AS n FROM raw.weather");
    let two_thousand = "2000,2000,1800,JFK,JFK,2013-03-28 07:00:00\n";
    assert!(run(&project).contains("[OK] raw.weather (table, backfill, 2000 rows"));
    assert_eq!(project.rows(FOUND), two_thousand);
    assert!(run(&project).contains("[SKIP] mart.reader"), "the same rows: none is written");

    // The variant that fetches only what is new.
    for block in &blocks[3..] {
        follow(&project, block, &service);
    }
    run(&project);
    assert_eq!(project.rows(FOUND), two_thousand);
    assert!(run(&project).contains("[OK] raw.weather (append, incremental, 0 rows"));
    let later = Service::start(2_010);
    let lib = fs::read_to_string(project.root().join("lib/weather_api.star")).unwrap();
    project.write("lib/weather_api.star", &lib.replace(&service.url, &later.url));
    assert!(run(&project).contains("[OK] raw.weather (append, incremental, 10 rows"));
    assert_eq!(project.rows(FOUND), "2010,2010,1809,JFK,JFK,2013-03-28 17:00:00\n");
}

#[test]
fn every_lib_file_of_the_page_is_read_without_an_error() {
    let project = project();
    let libs: Vec<Block> =
        blocks("lib-functions.md", "").into_iter().filter(|block| block.text.contains("API = {")).collect();
    assert!(libs.len() > 1, "{libs:#?}");
    for (at, block) in libs.iter().enumerate() {
        project.write(&format!("lib/example{at}.star"), &block.text);
    }
    project.model("raw/x", "SELECT 1 AS a");
    // A run stops at any file of `lib/` that is broken.
    run(&project);
}
