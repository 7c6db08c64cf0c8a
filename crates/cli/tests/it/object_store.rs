//! A lake whose catalog is in PostgreSQL and whose files are in an object store.

use std::time::Duration;

use testkit::{ObjectStore, Postgres, Project, Random};

use crate::project;

struct Cloud {
    project: Project,
    store: ObjectStore,
    _postgres: Postgres,
}

impl Cloud {
    fn new() -> Self {
        let (store, postgres) = (ObjectStore::start(), Postgres::start());
        postgres.create_database("lake");
        let project = project();
        let lake = postgres.connection("lake");
        project.write(
            "config/catalog.sql",
            &format!(
                "ATTACH 'ducklake:postgres:{lake}' AS lake (DATA_PATH 's3://lake/data', DATA_INLINING_ROW_LIMIT 0);"
            ),
        );
        project.write("config/secrets.sql", &store.secret());
        project.model(
            "raw/items",
            "SELECT id::BIGINT AS id FROM read_csv('items.csv', columns = {'id': 'BIGINT'}, header = true)",
        );
        project.model("mart/log", "-- @kind: append\nSELECT id FROM raw.items");
        project.model("mart/merged", "-- @kind: merge\n-- @unique_key: id\nSELECT id, id * 2 AS v FROM mart.log");
        Self { project, store, _postgres: postgres }
    }

    fn items(&self, count: usize) {
        let lines: String = (0..count).map(|id| format!("{id}\n")).collect();
        self.project.write("items.csv", &format!("id\n{lines}"));
    }

    #[track_caller]
    fn check(&self, count: usize) {
        for table in ["mart.log", "mart.merged"] {
            let found = self.project.rows(&format!("SELECT count(*), count(DISTINCT id) FROM {table}"));
            assert_eq!(found, format!("{count},{count}\n"), "{table}");
        }
    }

    /// The files that are in the store.
    fn files(&self) -> String {
        self.project.rows("SELECT file FROM glob('s3://lake/data/**') ORDER BY file")
    }
}

#[test]
fn models_maintenance_and_a_sandbox_work_on_it() {
    let cloud = Cloud::new();
    for count in [100, 150, 151] {
        cloud.items(count);
        cloud.project.run(&["run"]).success();
        cloud.check(count);
    }
    let before = cloud.files();
    assert!(before.contains("s3://lake/data/mart/log/"), "{before}");
    cloud.items(160);
    let told = cloud.project.run(&["sandbox", "--yes"]).success().stdout;
    assert!(told.contains("Added: 9 rows"), "{told}");
    assert_eq!(cloud.files(), before, "a sandbox leaves nothing in the store");
    cloud.project.write("sql/merge.sql", "CALL ducklake_merge_adjacent_files('lake');");
    cloud.project.run(&["merge"]).success();
    cloud.check(151);
    cloud.project.run(&["run"]).success();
    cloud.check(160);
}

#[test]
fn a_run_that_is_killed_loses_and_doubles_nothing() {
    let cloud = Cloud::new();
    let mut random = Random(11);
    let rounds = if std::env::var_os("ONDATRA_SOAK").is_some() { 40 } else { 4 };
    for round in 1..=rounds {
        cloud.items(round * 10);
        let mut run = cloud.project.command(&["run"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(200 + random.below(900) as u64));
        run.kill().unwrap();
        run.wait().unwrap();
    }
    cloud.project.run(&["run"]).success();
    cloud.check(rounds * 10);
}

#[test]
fn a_store_that_is_down_is_told_and_no_secret_with_it() {
    let cloud = Cloud::new();
    cloud.items(10);
    cloud.project.run(&["run"]).success();
    let Cloud { project, store, _postgres } = cloud;
    drop(store);
    project.write("items.csv", "id\n77\n");
    let output = project.run(&["run"]).failure(1);
    let told = [output.stdout, output.stderr].concat();
    assert!(told.contains("error:") && told.contains("127.0.0.1"), "{told}");
    assert!(!told.contains("store-secret") && !told.contains("store-key"), "{told}");
}
