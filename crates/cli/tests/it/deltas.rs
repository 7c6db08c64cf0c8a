//! Random histories of append and merge over joins, unions and aggregates: after every run each table is
//! what plain SQL makes of the same changes (chapter 02 §4).

use std::collections::BTreeMap;

use testkit::{Lake, Project, Random};

use crate::project;

/// An append model, and the rows that a run must add to it. `new_x` are the new rows of `ext.x`, `old_x`
/// all others; `{…}` is put in their place. A part counts only if its first delta is not empty.
struct Shape {
    name: &'static str,
    select: &'static str,
    adds: &'static [&'static str],
}

const SUMMED: &str = "(SELECT k, sum(x)::BIGINT AS s FROM {i} GROUP BY k)";

const SHAPES: &[Shape] = &[
    Shape { name: "plain", select: "SELECT id, k, v FROM ext.o", adds: &["SELECT id, k, v FROM {new_o}"] },
    Shape {
        name: "cte",
        select: "WITH c AS (SELECT * FROM ext.o WHERE k IS NOT NULL), d AS (SELECT * FROM c) SELECT upper(d.v) AS u, ext.o.k IS NULL AS n FROM d LEFT JOIN ext.o ON false",
        adds: &["SELECT upper(v) AS u, true AS n FROM {new_o} WHERE k IS NOT NULL"],
    },
    Shape {
        name: "joined",
        select: "SELECT o.id, c.v FROM ext.o o JOIN ext.c c ON o.k IS NOT DISTINCT FROM c.k",
        adds: &["SELECT o.id, c.v FROM {new_o} o JOIN ext.c c ON o.k IS NOT DISTINCT FROM c.k"],
    },
    Shape {
        name: "left_joined",
        select: "SELECT o.id, c.v FROM ext.o o LEFT JOIN ext.c c USING (k)",
        adds: &["SELECT o.id, c.v FROM {new_o} o LEFT JOIN ext.c c USING (k)"],
    },
    Shape {
        name: "right_joined",
        select: "SELECT o.id, c.v FROM ext.c c RIGHT JOIN ext.o o USING (k)",
        adds: &["SELECT o.id, c.v FROM ext.c c RIGHT JOIN {new_o} o USING (k)"],
    },
    Shape {
        name: "of_itself",
        select: "SELECT a.id, b.id AS other FROM ext.o a JOIN ext.o b ON a.k = b.k AND a.id <> b.id",
        adds: &["SELECT a.id, b.id AS other FROM {new_o} a JOIN ext.o b ON a.k = b.k AND a.id <> b.id"],
    },
    Shape {
        name: "united",
        select: "SELECT id, v FROM ext.o UNION ALL (SELECT k, v FROM ext.c WHERE k > 1) UNION ALL SELECT x, NULL FROM ext.i",
        adds: &["SELECT id, v FROM {new_o}", "SELECT k, v FROM {new_c} WHERE k > 1", "SELECT x, NULL FROM {new_i}"],
    },
    Shape {
        name: "united_in_join",
        select: "SELECT u.k, c.v FROM (SELECT k FROM ext.o UNION ALL SELECT k FROM ext.i) u JOIN ext.c c USING (k)",
        adds: &[
            "SELECT k, c.v FROM {new_o} JOIN ext.c c USING (k)",
            "SELECT k, c.v FROM {new_i} JOIN ext.c c USING (k)",
        ],
    },
    Shape {
        name: "with_sums",
        select: "SELECT o.id, s FROM ext.o o JOIN (SELECT k, sum(x)::BIGINT AS s FROM ext.i GROUP BY k) USING (k)",
        adds: &[
            "SELECT o.id, s FROM {new_o} o JOIN {sum_i} USING (k)",
            "SELECT o.id, s FROM {old_o} o JOIN {sum_new_i} USING (k)",
        ],
    },
    Shape {
        name: "with_outer_sums",
        select: "SELECT o.id, s FROM ext.o o LEFT JOIN (SELECT k, sum(x)::BIGINT AS s FROM ext.i GROUP BY k) USING (k)",
        adds: &[
            "SELECT o.id, s FROM {new_o} o LEFT JOIN {sum_i} USING (k)",
            "SELECT o.id, s FROM {old_o} o JOIN {sum_new_i} USING (k)",
        ],
    },
    Shape {
        name: "grouped",
        select: "SELECT k, count(*) AS n, max(v) AS v FROM ext.o GROUP BY k",
        adds: &["SELECT k, count(*) AS n, max(v) AS v FROM {new_o} GROUP BY k"],
    },
    Shape {
        name: "pairs_counted",
        select: "SELECT o.k, count(*) AS n FROM ext.o o JOIN ext.c c USING (k) GROUP BY ALL",
        adds: &[
            "SELECT k, count(*) AS n FROM {new_o} JOIN ext.c USING (k) GROUP BY ALL",
            "SELECT k, count(*) AS n FROM {old_o} JOIN {new_c} USING (k) GROUP BY ALL",
        ],
    },
    Shape {
        name: "looked_up",
        select: "SELECT id, (SELECT max(v) FROM ext.c) AS top FROM ext.o WHERE k IN (SELECT k FROM ext.i)",
        adds: &["SELECT id, (SELECT max(v) FROM ext.c) AS top FROM {new_o} WHERE k IN (SELECT k FROM ext.i)"],
    },
    Shape {
        name: "viewed",
        select: "WITH o AS (SELECT 1 AS nothing) SELECT ext.w.id FROM ext.w, o",
        adds: &["SELECT id FROM {new_o} WHERE v IS NOT NULL"],
    },
    Shape {
        name: "downstream",
        select: "SELECT id, v FROM m.copied",
        adds: &["SELECT id, v FROM ext.o EXCEPT ALL SELECT id, v FROM memory.main.then_o"],
    },
];

/// Merge models over `ext.u`, whose ids are unique: after a run each key of the query has the query's row.
const MERGES: &[(&str, &str)] = &[
    ("rows", "SELECT id, v, k FROM ext.u WHERE v IS DISTINCT FROM 'v1'"),
    ("with_name", "SELECT u.id, u.v, (SELECT min(v) FROM ext.c WHERE c.k = u.k) AS name FROM ext.u u"),
    ("total", "SELECT k AS id, count(*) AS n, sum(id)::BIGINT AS s FROM ext.u WHERE k IS NOT NULL GROUP BY k"),
    ("both", "SELECT id, v FROM ext.u WHERE k = 1 UNION ALL SELECT 1000 + id, v FROM ext.u WHERE k = 2"),
    ("ranked", "SELECT id, row_number() OVER (ORDER BY id) AS r FROM ext.u"),
];

const SOURCES: [(&str, &str); 4] = [
    ("o", "id INTEGER, k INTEGER, v VARCHAR"),
    ("c", "k INTEGER, v VARCHAR"),
    ("i", "k INTEGER, x INTEGER"),
    ("u", "id INTEGER, k INTEGER, v VARCHAR"),
];

fn models(project: &Project, lake: &Lake) {
    lake.execute("CREATE SCHEMA ext");
    for (name, columns) in SOURCES {
        lake.execute(&format!("CREATE TABLE ext.{name} ({columns})"));
    }
    lake.execute("INSERT INTO ext.o VALUES (1, 1, 'a'), (2, NULL, 'b'); INSERT INTO ext.c VALUES (1, 'one'); INSERT INTO ext.u VALUES (1, 1, 'x')");
    lake.execute("CREATE VIEW ext.w AS SELECT id FROM ext.o WHERE v IS NOT NULL");
    project.write("sql/expire.sql", "CALL ducklake_expire_snapshots('lake', older_than => now())");
    project.write(
        "sql/tidy.sql",
        "CALL ducklake_flush_inlined_data('lake'); CALL ducklake_merge_adjacent_files('lake'); \
         CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01); \
         CALL ducklake_cleanup_old_files('lake', older_than => now());",
    );
    project.model("m/copied", "SELECT id, v FROM ext.o");
    for shape in SHAPES {
        project.model(&format!("m/{}", shape.name), &format!("-- @kind: append\n{}", shape.select));
    }
    merges(project, 0);
}

fn merges(project: &Project, edit: usize) {
    for (name, select) in MERGES {
        let select =
            if edit == 0 { (*select).to_owned() } else { format!("SELECT * FROM ({select}) WHERE {edit} = {edit}") };
        project.model(&format!("g/{name}"), &format!("-- @kind: merge\n-- @unique_key: id\n{select}"));
    }
}

fn change(random: &mut Random, inlining: bool) -> String {
    let (n, k) = (random.below(7), ["1", "2", "3", "NULL"][random.below(4)]);
    match random.below(16) {
        14 => "ALTER TABLE ext.o ADD COLUMN IF NOT EXISTS extra INTEGER DEFAULT 7".into(),
        15 => "ALTER TABLE ext.o DROP COLUMN IF EXISTS extra".into(),
        0 | 1 => format!("INSERT INTO ext.o (id, k, v) VALUES ({n}, {k}, 'v{n}'), ({n}, {k}, 'v{n}')"),
        2 => format!("INSERT INTO ext.c VALUES ({k}, 'c{n}')"),
        3 => format!("INSERT INTO ext.i VALUES ({k}, {n}), ({}, 1)", n % 3),
        4 => format!("DELETE FROM ext.o WHERE id = {n}"),
        5 => format!("UPDATE ext.o SET v = nullif('w{}', 'w2') WHERE id % 3 = {}", n % 4, n % 3),
        6 => format!("DELETE FROM ext.c WHERE v = 'c{n}'; UPDATE ext.i SET x = x + 1 WHERE k = {k}"),
        7 => format!("INSERT INTO ext.u SELECT max(id) + 1, {k}, 'v{}' FROM ext.u", n % 3),
        8 => format!("UPDATE ext.u SET v = 'v{}', k = {k} WHERE id % 4 = {}", n % 3, n % 4),
        9 => format!("DELETE FROM ext.u WHERE id = {n} + 2"),
        10 => "CALL ducklake_merge_adjacent_files('lake')".into(),
        11 if inlining => "CALL ducklake_flush_inlined_data('lake')".into(),
        12 => "CALL ducklake_flush_inlined_data('lake'); CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01)"
            .into(),
        _ => "BEGIN; CREATE OR REPLACE TEMP TABLE all_o AS FROM ext.o; TRUNCATE ext.o; INSERT INTO ext.o FROM all_o; COMMIT".into(),
    }
}

/// A shape's part over the changes since the last run.
fn filled(part: &str) -> String {
    let mut sql = part
        .replace("{sum_new_i}", &SUMMED.replace("{i}", "{new_i}"))
        .replace("{sum_i}", &SUMMED.replace("{i}", "ext.i"));
    for (name, columns) in SOURCES {
        let columns: Vec<&str> = columns.split(", ").filter_map(|column| column.split(' ').next()).collect();
        let select = |table: &str| format!("SELECT {} FROM {table}", columns.join(", "));
        let (now, then) = (select(&format!("ext.{name}")), select(&format!("memory.main.then_{name}")));
        let new = format!("({now} EXCEPT ALL {then})");
        sql = sql.replace(&format!("{{old_{name}}}"), &format!("({now} EXCEPT ALL FROM {new})"));
        sql = sql.replace(&format!("{{new_{name}}}"), &new);
    }
    sql
}

fn remember(lake: &Lake) {
    for (name, _) in SOURCES {
        lake.execute(&format!("CREATE OR REPLACE TABLE memory.main.then_{name} AS FROM lake.ext.{name}"));
    }
}

/// Adds to the references what a run must add, by the state of the sources.
fn expect(lake: &Lake, is_first: bool) {
    for Shape { name, select, adds } in SHAPES {
        if is_first {
            lake.execute(&format!(
                "CREATE OR REPLACE TABLE memory.main.ref_{name} AS {}",
                select.replace("m.copied", "ext.o")
            ));
            continue;
        }
        let parts: Vec<String> = adds.iter().map(|part| format!("SELECT * FROM ({})", filled(part))).collect();
        lake.execute(&format!("INSERT INTO memory.main.ref_{name} {}", parts.join(" UNION ALL ")));
    }
    for (name, select) in MERGES {
        lake.execute(&format!(
            "CREATE OR REPLACE TABLE memory.main.ref_{name} AS FROM ({select}) UNION ALL FROM {} WHERE id NOT IN (SELECT id FROM ({select}))",
            if is_first { format!("({select} LIMIT 0)") } else { format!("memory.main.ref_{name}") }
        ));
    }
}

fn assert_equal(lake: &Lake, log: &[String]) {
    let models = SHAPES.iter().map(|shape| ("m", shape.name)).chain(MERGES.iter().map(|(name, _)| ("g", *name)));
    for (schema, name) in models {
        for (a, b) in
            [(format!("{schema}.{name}"), format!("memory.main.ref_{name}"))].iter().flat_map(|(a, b)| [(a, b), (b, a)])
        {
            let missing = lake.number(&format!("SELECT count(*) FROM (FROM {a} EXCEPT ALL FROM {b})"));
            assert_eq!(missing, 0, "{a} EXCEPT ALL {b} after {log:#?}");
        }
    }
}

/// 2 histories in the suite, 40 with `ONDATRA_SOAK`.
#[test]
fn soak_deltas_follow_random_histories() {
    let mut random = Random(0xde17a);
    let (rounds, runs) = if std::env::var_os("ONDATRA_SOAK").is_some() { (40, 6) } else { (2, 4) };
    for round in 0..rounds {
        let inlining = round % 2 == 1;
        let project = project();
        let lake = Lake::open_inlining(&project, if inlining { 10 } else { 0 });
        models(&project, &lake);
        let mut log = Vec::new();
        for run in 0..runs {
            for _ in 0..random.below(4) {
                let statement = change(&mut random, inlining);
                lake.execute(&statement);
                log.push(statement);
            }
            if random.below(4) == 0 {
                project.run(&["expire"]).success();
                project.run(&["tidy"]).success();
            }
            expect(&lake, run == 0);
            remember(&lake);
            if random.below(3) == 0 {
                // The same rows by another text: a merge then reads everything.
                merges(&project, run);
            }
            if random.below(4) == 0 {
                let mut killed = project.command(&["run"]).stdout(std::process::Stdio::null()).spawn().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(100 + 37 * random.below(40) as u64));
                killed.kill().unwrap();
                killed.wait().unwrap();
                log.push("killed run".into());
            }
            log.push("run".into());
            project.run(&["run"]).success();
            assert_equal(&lake, &log);
        }
    }
}

/// Which shapes read deltas, and which the whole query.
#[test]
fn each_shape_is_read_as_it_should_be() {
    let project = project();
    let lake = Lake::open(&project);
    models(&project, &lake);
    project.run(&["run"]).success();
    lake.execute(
        "INSERT INTO ext.o VALUES (9, 1, 'n'); INSERT INTO ext.u VALUES (9, 1, 'n'); INSERT INTO ext.i VALUES (1, 1)",
    );
    let output = project.run(&["run", "--json"]).success();
    let records = output.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let reasons: BTreeMap<String, String> = records
        .map(|record| (record["model"].as_str().unwrap().to_owned(), record["run_reason"].as_str().unwrap().to_owned()))
        .collect();
    insta::assert_snapshot!(
        "reasons",
        reasons.iter().map(|(model, reason)| format!("{model}: {reason}\n")).collect::<String>()
    );
}
