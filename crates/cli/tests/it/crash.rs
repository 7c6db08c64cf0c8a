//! kill -9 at random moments: the next run completes with the right result and nothing is left behind.

use std::time::Duration;

use testkit::{Catalog, Project};

use crate::BINARY;

fn models(project: &Project, version: usize) {
    project.model(
        "raw/events",
        &format!("SELECT i AS id, i % 7 AS kind, hash(i + {version}) AS payload FROM range(60000) t(i)"),
    );
    project.model("staging/events", "SELECT id, kind, payload % 1000 AS bucket FROM raw.events");
    for mart in 0..4 {
        project.model(
            &format!("mart/m{mart}"),
            &format!("SELECT kind, bucket % {} AS b, count(*) AS n FROM staging.events GROUP BY ALL", mart + 2),
        );
    }
}

const CHECKSUM: &str = "SELECT (SELECT sum(payload::HUGEINT) FROM raw.events), (SELECT sum(bucket) FROM staging.events), \
    (SELECT sum(hash(m)::HUGEINT) FROM mart.m0 m), (SELECT sum(hash(m)::HUGEINT) FROM mart.m3 m)";

/// 6 kills in the suite, 50 with `ONDATRA_SOAK` (make soak).
#[test]
fn soak_killed_runs_recover() {
    let kills = if std::env::var_os("ONDATRA_SOAK").is_some() { 50 } else { 6 };
    for catalog in [Catalog::Sqlite, Catalog::Duckdb] {
        let (project, reference) = (Project::new(BINARY, catalog), Project::new(BINARY, catalog));
        for kill in 0..kills {
            models(&project, kill);
            let mut run = project.command(&["run"]).stdout(std::process::Stdio::null()).spawn().unwrap();
            // Spread over the whole run, start-up included.
            std::thread::sleep(Duration::from_millis(30 + (kill as u64 * 7919) % 600));
            run.kill().unwrap();
            run.wait().unwrap();
        }
        models(&project, 0);
        models(&reference, 0);
        project.run(&["run"]).success();
        reference.run(&["run"]).success();
        assert_eq!(project.rows(CHECKSUM), reference.rows(CHECKSUM));
        assert!(project.run(&["run"]).success().stdout.contains("Done: 0 ran, 6 skipped, 0 failed"));
        assert_eq!(project.files(), reference.files(), "nothing is left in the project's folder");
        assert_eq!(
            std::fs::read_dir(project.temp_root()).unwrap().count(),
            0,
            "nothing is left in the temporary folder"
        );
    }
}
