//! A full disk (chapter 04 P2): what does not fit is refused as a whole, and the state goes on once there is room.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use engine::Database;
use state::{BackendKind, Fed, Feed, Queue, SqlStore, StateConfig, StateError, WorkerId};
use testkit::{Changes, state_config};

use super::fixture;
use super::worker::TARGET;

/// Room on the disk, in MiB.
const DISK_MIB: usize = 8;
/// More than fits.
const MANY: i64 = 3_000_000;
const FEW: i64 = 1_000;

/// Not a test: what runs where the small disk is mounted. Mounted in a namespace, it goes with the process.
#[test]
#[ignore = "a process of the test below"]
fn full_disk_process() {
    let root = PathBuf::from(std::env::var("ONDATRA_TEST_ROOT").unwrap());
    let temp = std::env::temp_dir();
    let config = || StateConfig { lock_wait: Duration::from_secs(5), ..state_config(&root, &temp) };
    let open = || state::open(config(), WorkerId::from("w".to_owned())).unwrap();
    // Something else that is on the disk.
    let filler = root.join("filler");
    fs::write(&filler, vec![7; 2 << 20]).unwrap();
    let mut store = open();
    Changes::of_rows(FEW).feed(&mut store, TARGET, FEW).unwrap();
    for _ in 0..2 {
        let error = feed_many(&mut store).expect_err("there is no room for that").to_string();
        assert!(error.contains("No space left on device"), "{error}");
        drop(store);
        // Nothing of the feed is there, and what was there before is.
        store = open();
        assert_eq!(store.position(TARGET).unwrap().unwrap().last_seq, FEW);
        assert_eq!(store.counts().unwrap()[0].pending, u64::try_from(FEW).unwrap());
    }
    fs::remove_file(&filler).unwrap();
    Changes::of_rows(FEW).feed(&mut store, TARGET, FEW * 2).unwrap();
    let claim = store.claim(TARGET, "run", 10_000).unwrap().unwrap();
    assert_eq!(claim.events.len(), usize::try_from(FEW * 2).unwrap());
    store.release(&claim.lease).unwrap();
}

/// Feeds changes of rows whose keys do not compress.
fn feed_many(store: &mut SqlStore) -> Result<Fed, StateError> {
    let engine = Arc::new(Database::open(&[]).unwrap()).connect().unwrap();
    let position = store.position(TARGET)?;
    let feed =
        Feed { target: TARGET, from: position.as_ref(), snapshot: MANY, table_uuid: "uuid", definition_hash: "hash" };
    let sql = format!(
        "SELECT (hash(i) >> 1)::BIGINT AS row_key, i AS rowid, 'insert' AS change_type, i AS snapshot_id \
         FROM range({FEW}, {MANY}) AS r(i) ORDER BY i"
    );
    store.feed(&feed, &mut || engine.query(&sql))
}

#[test]
fn a_full_disk_damages_nothing() {
    let fixture = fixture(BackendKind::File);
    let root = fixture.project.root();
    let script = format!(
        "set -e; cp -a \"$ROOT\" \"$ROOT.kept\"; mount -t tmpfs -o size={DISK_MIB}m tmpfs \"$ROOT\"; \
         cp -a \"$ROOT.kept/.\" \"$ROOT\"; exec \"$0\" --exact state::full_disk::full_disk_process --ignored --nocapture"
    );
    // A mount of the process's own, which also a user may make where the kernel lets users have namespaces.
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env("ROOT", &root)
        .env("ONDATRA_TEST_ROOT", &root)
        .env("TMPDIR", fixture.project.temp_root())
        .output();
    let is_ci = std::env::var_os("CI").is_some();
    match output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(text.contains("1 passed"), "{text}");
        }
        Ok(output) if is_ci || !String::from_utf8_lossy(&output.stderr).contains("unshare") => {
            panic!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
        }
        // Not every machine lets users mount.
        _ => assert!(!is_ci, "unshare is missing"),
    }
}
