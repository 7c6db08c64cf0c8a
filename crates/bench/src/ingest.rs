//! An API of a million rows into a table: against a bare loop that downloads, parses and loads the same pages, against
//! dlt, and with how many rows the memory grows (chapter 03; the bars of the issue on lib functions).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use engine::{Connection, Database};

use crate::measure::{Figure, time};
use crate::peers;
use crate::workspace::Project;

const PAGES: usize = 1_000;
const ROWS_PER_PAGE: usize = 1_000;
/// The engine's memory in the runs whose memory is compared, so little that both need all of it: how many blocks of its
/// files the engine keeps beyond is a matter of its limit, not of the rows. One thread, since each writes a group of rows
/// of its own.
const MEMORY: &str = "SET memory_limit = '40MB'; SET threads = 1;";

pub const LIB: &str = r#"
def fetch(page):
    resp = http.get("/rows", params = {"page": page.cursor or 0})
    if not resp.ok:
        fail("status", resp.status_code)
    return {"rows": resp.json["rows"], "next": resp.json["next"]}
"#;

pub const MODEL: &str = "-- @kind: table\n-- @fetch\nSELECT id::BIGINT AS id, name::VARCHAR AS name, email::VARCHAR AS email, \
    amount::DECIMAL(10,2) AS amount, qty::INTEGER AS qty, active::BOOLEAN AS active, created_at::TIMESTAMP AS created_at, \
    country::VARCHAR AS country, score::DOUBLE AS score, note::VARCHAR AS note\nFROM api()\n";

/// A fetch of a million rows / the same pages downloaded, parsed with `serde_json`, and loaded by one append.
pub fn against_bare_loop(binary: &Path) -> Figure {
    let server = Server::start(PAGES);
    let project = project(&server, "");
    Figure::measure_times(
        3,
        "fetch 1,000,000 rows of 10 columns / bare loop",
        3.0,
        |_| {
            project.forget_lake();
            time(|| project.run(binary))
        },
        |_| bare_loop(&server),
    )
}

/// The same fetch / dlt's REST source into DuckDB.
pub fn against_dlt(binary: &Path) -> Figure {
    let what = "fetch 1,000,000 rows of 10 columns / dlt 1.31";
    peers::against(&peers::DLT, what, |dlt| {
        let server = Server::start(PAGES);
        let project = project(&server, "");
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/dlt");
        let load = || {
            let folder = Project::new();
            folder.write(".dlt/config.toml", include_str!("../peers/dlt/config.toml"));
            let mut load = dlt.command("python");
            load.arg(bench.join("ingest.py")).arg(server.url()).current_dir(folder.dir.path()).stdout(Stdio::null());
            time(|| assert!(load.status().unwrap().success()))
        };
        let fetch = || {
            project.forget_lake();
            time(|| project.run(binary))
        };
        Figure::measure_times(1, what, 0.2, |_| fetch(), |_| load())
    })
}

/// Peak memory with a million rows / with 100,000, in MiB as if they were milliseconds.
pub fn memory(binary: &Path) -> Figure {
    memory_of(
        binary,
        "peak memory (MiB) of a fetch, 40 MB for the engine: 1,000,000 / 100,000 rows",
        [PAGES, PAGES / 10],
    )
}

/// The same with rows that fill a group both times.
pub fn memory_of_many(binary: &Path) -> Figure {
    memory_of(
        binary,
        "peak memory (MiB) of a fetch, 40 MB for the engine: 3,000,000 / 300,000 rows",
        [PAGES * 3, PAGES * 3 / 10],
    )
}

fn memory_of(binary: &Path, what: &'static str, pages: [usize; 2]) -> Figure {
    let peak = |pages: usize| {
        let server = Server::start(pages);
        let project = project(&server, MEMORY);
        Duration::from_millis(project.watch_memory(binary, &["run"]))
    };
    Figure::measure_times(1, what, 1.2, |_| peak(pages[0]), |_| peak(pages[1]))
}

/// 20 models of 10 slow pages each: eight at a time / one after the other.
pub fn parallel(binary: &Path) -> Figure {
    let server = Server::with(10, 20, Duration::from_millis(50));
    let project = project(&server, "");
    std::fs::remove_file(project.dir.path().join("models/raw/t.sql")).unwrap();
    for at in 0..20 {
        project.write(&format!("models/raw/t{at}.sql"), MODEL);
    }
    let run = |jobs: &'static str| {
        project.forget_lake();
        time(|| project.run_with(binary, &["--jobs", jobs]))
    };
    Figure::measure_times(
        3,
        "20 fetch models of 10 pages with 50 ms: --jobs 8 / --jobs 1",
        0.2,
        |_| run("8"),
        |_| run("1"),
    )
}

fn project(server: &Server, settings: &str) -> Project {
    let project = Project::new();
    project.write("config/settings.sql", settings);
    project.write("lib/api.star", &format!("API = {{\"base_url\": \"{}\", \"fetch\": {{}}}}\n{LIB}", server.url()));
    project.write("models/raw/t.sql", MODEL);
    project
}

/// Downloads the pages, parses each, and appends as many rows of the same columns.
fn bare_loop(server: &Server) -> Duration {
    let engine = Arc::new(Database::open(&[]).unwrap()).connect().unwrap();
    let columns = "i AS id, 'name ' || i AS name, 'user' || i || '@example.com' AS email, (i % 1000)::DECIMAL(10,2) AS amount, \
                   (i % 100)::INTEGER AS qty, i % 2 = 0 AS active, TIMESTAMP '2026-01-02 10:00:00' AS created_at, \
                   'SE' AS country, i / 7.0::DOUBLE AS score, CASE WHEN i % 3 = 0 THEN 'some text' END AS note";
    let mut rows = engine.query(&format!("SELECT {columns} FROM range({}) AS r(i)", PAGES * ROWS_PER_PAGE)).unwrap();
    engine.execute(&format!("CREATE TEMP TABLE loaded AS SELECT {columns} FROM range(0) AS r(i)")).unwrap();
    time(|| {
        let mut connection = Download::new(server);
        for page in 0..PAGES {
            let document: serde_json::Value = serde_json::from_slice(&connection.page(page)).unwrap();
            assert_eq!(document["rows"].as_array().unwrap().len(), ROWS_PER_PAGE);
        }
        append(&engine, &mut rows);
    })
}

fn append(engine: &Connection, rows: &mut engine::Rows) {
    engine.append("loaded", rows).unwrap();
}

/// A client that knows no more of HTTP than this server needs.
struct Download {
    stream: BufReader<TcpStream>,
}

impl Download {
    fn new(server: &Server) -> Self {
        Self { stream: BufReader::new(TcpStream::connect(("127.0.0.1", server.port)).unwrap()) }
    }

    fn page(&mut self, page: usize) -> Vec<u8> {
        // One write: several small ones would wait for each other's acknowledgment.
        let request = format!("GET /rows?page={page} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            if line == "\r\n" {
                break;
            }
            if let Some(text) = line.strip_prefix("Content-Length: ") {
                length = text.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        body
    }
}

/// A server whose pages are written before anything is measured.
pub struct Server {
    port: u16,
}

impl Server {
    fn start(pages: usize) -> Self {
        Self::with(pages, ROWS_PER_PAGE, Duration::ZERO)
    }

    pub fn with(pages: usize, rows: usize, pause: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let pages: Arc<Vec<Vec<u8>>> = Arc::new((0..pages).map(|page| body(page, pages, rows)).collect());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let pages = Arc::clone(&pages);
                std::thread::spawn(move || answer(stream, &pages, pause));
            }
        });
        Self { port }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn body(page: usize, pages: usize, rows: usize) -> Vec<u8> {
    let row = |at: usize| {
        let id = page * rows + at;
        let note = if id.is_multiple_of(3) { "\"some text with \\\"quotes\\\"\"" } else { "null" };
        format!(
            "{{\"id\": {id}, \"name\": \"name {id}\", \"email\": \"user{at}@example.com\", \"amount\": {}.{:02}, \"qty\": {}, \
             \"active\": {}, \"created_at\": \"2026-01-02T10:00:00Z\", \"country\": \"SE\", \"score\": {}, \"note\": {note}}}",
            id % 1000,
            id % 100,
            id % 100 + 1,
            id.is_multiple_of(2),
            f64::from(u32::try_from(id % 9973).unwrap()) / 9973.0
        )
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    let next = if page + 1 < pages { (page + 1).to_string() } else { "null".to_owned() };
    format!("{{\"rows\": [{}], \"next\": {next}}}", rows.join(", ")).into_bytes()
}

fn answer(stream: TcpStream, pages: &[Vec<u8>], pause: Duration) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let page = line.split("page=").nth(1).and_then(|rest| rest.split([' ', '&']).next()?.parse::<usize>().ok());
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
        }
        std::thread::sleep(pause);
        let body = &pages[page.unwrap_or(0)];
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        let answer = [head.as_bytes(), body].concat();
        if reader.get_mut().write_all(&answer).is_err() {
            return;
        }
    }
}
