//! `ondatrasql lineage`: what models and columns are made of (chapter 05 §3.12).

use std::fs;

use serde_json::{Value, json};
use testkit::{Lake, Project};

use crate::docs::{blocks, repository};
use crate::schema::document;
use crate::terminal::{on_terminal, on_terminal_with};
use crate::{BINARY, project};

fn shop() -> Project {
    let project = project();
    project.write("data/orders.csv", "id,customer,amount,quantity\n1,ada,19.90,2\n");
    for (path, sql) in [
        (
            "raw/orders",
            "SELECT id, customer, amount::DECIMAL(10, 2) AS amount, quantity FROM read_csv('data/orders.csv')",
        ),
        ("raw/customers", "SELECT 'ada' AS name, 'SE' AS country"),
        (
            "staging/sales",
            "SELECT id, customer, amount * quantity AS revenue, coalesce(c.country, 'XX') AS country \
             FROM raw.orders LEFT JOIN raw.customers c ON c.name = customer",
        ),
        (
            "mart/Totals",
            "SELECT country, sum(revenue) AS total, count(*) AS sales, count(DISTINCT customer) AS customers, \
             median(revenue) AS middle, upper(country) AS shown, sum(revenue)::BIGINT AS whole, 'x' AS fixed \
             FROM staging.sales GROUP BY country",
        ),
    ] {
        project.model(path, sql);
    }
    project.run(&["run"]).success();
    project
}

#[track_caller]
fn told(project: &Project, what: &str) -> Value {
    let output = project.run(&["--json", "lineage", what]).success();
    assert_eq!(output.stderr, "");
    document("lineage", &output.stdout)
}

#[track_caller]
fn text(project: &Project, what: &str) -> String {
    let output = project.run(&["lineage", what]).success();
    assert_eq!(output.stderr, "");
    assert!(!output.stdout.contains('\u{1b}'), "{}", output.stdout);
    output.stdout
}

fn names(told: &Value) -> Vec<&str> {
    told["models"].as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap()).collect()
}

#[test]
fn pictures_are_those_of_the_docs() {
    let project = shop();
    let drawn: String = blocks("lineage.md", "")
        .into_iter()
        .filter(|block| block.language == "console")
        .map(|block| block.text)
        .collect();
    let mut parts = drawn.split("$ ondatrasql ").skip(1);
    for what in ["overview", "mart.totals", "mart.totals.total"] {
        let (command, shown) = parts.next().unwrap().split_once('\n').unwrap();
        assert_eq!(command, format!("lineage {what}"));
        assert_eq!(text(&project, what), shown);
    }
    let svg = project.run(&["lineage", "overview", "--format", "svg"]).success().stdout;
    assert_eq!(svg, fs::read_to_string(format!("{}/docs/lineage.svg", repository())).unwrap());
}

#[test]
fn all_models_are_told_with_what_they_are_made_of() {
    let project = shop();
    let all = told(&project, "overview");
    assert_eq!((&all["mode"], &all["target"], &all["warnings"]), (&json!("overview"), &json!(""), &json!([])));
    assert_eq!(names(&all), ["raw.orders", "raw.customers", "staging.sales", "mart.Totals"]);
    assert_eq!(all["models"][0]["dependencies"], json!(["read_csv()"]));
    assert_eq!(all["models"][2]["columns"], json!(["id", "customer", "revenue", "country"]));
    assert_eq!(
        all["models"][2]["column_lineage"][2],
        json!({"column": "revenue", "sources": [
            {"table": "raw.orders", "column": "amount", "transformation": "ARITHMETIC"},
            {"table": "raw.orders", "column": "quantity", "transformation": "ARITHMETIC"},
        ]})
    );
    assert_eq!(
        all["models"][3]["column_lineage"][1]["sources"],
        json!([{"table": "staging.sales", "column": "revenue", "transformation": "AGGREGATION", "function": "sum"}])
    );
}

#[test]
fn a_model_is_told_with_its_ancestors_alone_and_a_column_with_what_is_on_its_way() {
    let project = shop();
    let model = told(&project, "STAGING.sales");
    assert_eq!((&model["mode"], &model["target"]), (&json!("model"), &json!("staging.sales")));
    assert_eq!(names(&model), ["raw.orders", "raw.customers", "staging.sales"]);
    let column = told(&project, "mart.totals.TOTAL");
    assert_eq!((&column["mode"], &column["target"]), (&json!("column"), &json!("mart.Totals.total")));
    assert_eq!(names(&column), ["raw.orders", "staging.sales", "mart.Totals"]);
    let columns: Vec<&Value> = column["models"].as_array().unwrap().iter().map(|model| &model["columns"]).collect();
    assert_eq!(columns, [&json!(["amount", "quantity"]), &json!(["revenue"]), &json!(["total"])]);
    assert_eq!(column["models"][2]["dependencies"], json!(["staging.sales"]));
    // The rows of a table are no column of it, but the way leads there.
    let rows = text(&project, "mart.totals.sales");
    assert!(rows.contains("◆ sales ··· [CNT]  ← staging.sales.*") && rows.contains("│ ● * "), "{rows}");
    let fixed = text(&project, "mart.totals.fixed");
    assert!(fixed.contains("│ ◆ fixed ") && !fixed.contains('→') && !fixed.contains("staging"), "{fixed}");
}

#[test]
fn formats_are_made_of_the_same_lineage() {
    let project = shop();
    let format = |what: &str, format: &str| project.run(&["lineage", what, "--format", format]).success().stdout;
    let indented = format("mart.totals", "json");
    assert!(indented.starts_with("{\n  \"schema_version\": 1,\n  \"mode\": \"model\","), "{indented}");
    assert_eq!(serde_json::from_str::<Value>(&indented).unwrap(), told(&project, "mart.totals"));
    let output = project.run(&["--json", "lineage", "overview", "--format", "svg"]).success();
    assert_eq!(document("lineage", &output.stdout)["mode"], "overview");
    let mermaid = format("overview", "mermaid");
    assert!(mermaid.starts_with("flowchart LR\n  subgraph s0[\"outside\"]\n"), "{mermaid}");
    assert!(mermaid.contains("(\"Totals\")") && mermaid.contains("(\"read_csv#40;#41; #63;\"):::unknown"), "{mermaid}");
    let dot = format("mart.totals.total", "dot");
    assert!(
        dot.starts_with("digraph lineage {\n") && dot.contains("◆ total [SUM] ← staging.sales.revenue\\l"),
        "{dot}"
    );
    for what in ["overview", "mart.totals", "mart.totals.total"] {
        let svg = format(what, "svg");
        assert!(
            svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n") && svg.contains("<title>mart.Totals</title>")
        );
    }
    for wrong in ["xml", "SVG", ""] {
        let output = project.run(&["lineage", "overview", "--format", wrong]).failure(2);
        assert!(output.stderr.contains("--format") && output.stdout.is_empty(), "{}", output.stderr);
    }
}

#[test]
fn what_is_not_there_is_told_and_what_to_do() {
    let project = shop();
    project.model("mart/later", "SELECT 1 AS a");
    project.model("raw/broken", "-- @kind: nonsense\nthis (is no SQL");
    for (what, expected, help) in [
        ("mart.total", "model not found: mart.total [MODEL-009]", "did you mean `mart.Totals`?"),
        ("totals", "model not found: totals", "did you mean `mart.Totals`?"),
        ("nothing.at_all.x", "model not found: nothing.at_all [MODEL-009]", "name a target"),
        ("", "model not found: ", "name a target"),
        ("a'.\"b", "model not found: a'.\"b", "name a target"),
        ("mart.LATER", "mart.later has not been run yet [RUN-007]", "`ondatrasql run mart.later` runs it"),
        ("raw.broken.x", "raw.broken has not been run yet", "runs it"),
        (
            "mart.totals.totl",
            "column \"totl\" not found in mart.Totals (available: country, total, sales, customers, middle, shown, \
             whole, fixed) [MODEL-012]",
            "did you mean `mart.Totals.total`?",
        ),
        ("raw.customers.", "column \"\" not found in raw.customers (available: name, country)", "name a column"),
    ] {
        for format in ["text", "svg"] {
            let output = project.run(&["lineage", what, "--format", format]).failure(1);
            assert!(output.stderr.starts_with(&format!("error: {expected}")), "{what}: {}", output.stderr);
            assert!(output.stderr.contains(help) && output.stdout.is_empty(), "{what}: {}", output.stderr);
        }
    }
    for (args, expected) in [
        (&["lineage"][..], "usage: ondatrasql lineage"),
        (&["lineage", "a.b", "c"], "extra args: c"),
        (&["lineage", "overview", "--all"], "unknown flag: --all"),
        (&["lineage", "overview", "--format"], "requires a value"),
    ] {
        assert!(project.run(args).failure(2).stderr.contains(expected), "{args:?}");
    }
    let broken = text(&project, "overview");
    assert!(!broken.contains("broken") && !broken.contains("later") && broken.contains("│ Totals │"), "{broken}");
    project.write("config/catalog.sql", "ATTACH 'nothing");
    let output = project.run(&["--json", "lineage", "overview"]).failure(1);
    assert!(output.stdout.is_empty() && output.stderr.starts_with("error: "), "{}", output.stderr);
    let outside = Project::empty(BINARY).run(&["lineage"]).failure(1);
    assert!(outside.stderr.contains("not in an ondatrasql project"), "{}", outside.stderr);
}

#[test]
fn without_a_commit_there_is_nothing_to_draw() {
    let project = project();
    project.run(&["sql", "SELECT 1"]).success();
    assert_eq!(text(&project, "overview"), "No models found\n");
    project.model("raw/orders", "SELECT 1 AS id");
    assert_eq!(text(&project, "overview"), "No models found\n");
    assert_eq!(told(&project, "overview")["models"], json!([]));
    for (format, begin) in [("mermaid", "flowchart LR\n"), ("dot", "digraph lineage {"), ("svg", "<svg ")] {
        let output = project.run(&["lineage", "overview", "-f", format]).success();
        assert!(output.stdout.starts_with(begin), "{}", output.stdout);
    }
    assert!(!project.files().contains(&"state.duckdb".to_owned()), "a look makes no state");
}

#[test]
fn tables_of_others_views_and_files_are_sources_without_a_commit() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT 1 AS id, 2 AS n; CREATE VIEW ext.v AS SELECT id, n AS m FROM ext.t");
    project.write("data/x.csv", "a\n1\n");
    project.model("m/a", "SELECT id, m, a FROM ext.v, 'data/x.csv'");
    project.run(&["run"]).success();
    let drawn = text(&project, "m.a");
    for shown in
        ["│ t ? ", "│ v ? ", "│ data/x.csv ? ", "│ ◆ m ····  ● ext.t.n ", "│ ◆ a ", "  ? no commit", "outside  "]
    {
        assert!(drawn.contains(shown), "{shown}:\n{drawn}");
    }
    let traced = text(&project, "m.a.m");
    assert!(traced.contains("╭─ ext.t ? ") && traced.contains("│ ● n ") && !traced.contains("data/x.csv"), "{traced}");
    // A model of the project that has no commit any more is one of them.
    project.model("ext/t", "SELECT 1 AS id, 2 AS n");
    assert!(text(&project, "overview").contains("│ t ? "));
}

#[test]
fn a_model_whose_file_is_gone_is_drawn_only_where_it_is_read() {
    let project = shop();
    project.remove("models/mart/Totals.sql");
    project.remove("models/raw/orders.sql");
    assert_eq!(names(&told(&project, "overview")), ["raw.customers", "raw.orders", "staging.sales"]);
    let output = project.run(&["lineage", "mart.totals"]).failure(1);
    assert!(output.stderr.contains("model not found: mart.totals"), "{}", output.stderr);
}

#[test]
fn circles_and_odd_words_in_commits_end_and_are_told() {
    let project = project();
    for name in ["a", "b", "c"] {
        project.model(&format!("m/{name}"), "SELECT 1 AS x");
    }
    project.run(&["run"]).success();
    let lake = Lake::open(&project);
    let record = |target: &str, other: &str| {
        let source = format!(r#"{{"table":"{other}","column":"x","transformation":"IDENTITY"}}"#);
        let own = format!(r#"{{"table":"{target}","column":"X","transformation":"ARITHMETIC"}}"#);
        let info = format!(
            r#"{{"model":"{target}","depends":["{other}","{target}"],"columns":[{{"name":"x","type":"INT"}}],"column_lineage":[{{"column":"x","sources":[{source},{own}]}}]}}"#
        );
        lake.execute(&format!(
            "UPDATE lake.main._ondatra_registry SET commit_info = '{info}' WHERE target = '{target}'"
        ));
    };
    record("m.a", "m.b");
    record("m.b", "m.a");
    lake.execute("UPDATE lake.main._ondatra_registry SET commit_info = '{broken' WHERE target = 'm.c'");
    for what in ["overview", "m.a", "m.b.x"] {
        let output = project.run(&["--json", "lineage", what]).success();
        let told = document("lineage", &output.stdout);
        let warning = told["warnings"][0].as_str().unwrap();
        assert!(warning.contains("the last commit of m.c cannot be read"), "{told:#}");
        assert_eq!(output.stderr, format!("warning: {warning}\n"));
        let drawn = project.run(&["lineage", what]).success().stdout;
        assert!(drawn.contains("a ↻") && drawn.contains("b ↻") && drawn.contains("↻ reads itself"), "{drawn}");
    }
}

#[test]
fn names_of_any_kind_are_drawn_and_found() {
    let project = project();
    let long = "x".repeat(200);
    let columns = ["select", "a\"b", "<&>", "日本", "a.b", "line\nbreak", &long];
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let list = |with: &dyn Fn(&str) -> String| columns.iter().map(|name| with(name)).collect::<Vec<_>>().join(", ");
    project.model("order/group", &format!("SELECT {}", list(&|name| format!("1 AS {}", quoted(name)))));
    project.model("order/table", &format!("SELECT {} FROM \"order\".\"group\"", list(&quoted)));
    project.run(&["run"]).success();
    for column in columns {
        let what = format!("order.table.{column}");
        let column_told = told(&project, &what);
        assert_eq!((&column_told["target"], names(&column_told)), (&json!(what), vec!["order.group", "order.table"]));
        for format in ["text", "mermaid", "dot", "svg"] {
            let drawn = project.run(&["lineage", &what, "--format", format]).success().stdout;
            assert!(drawn.contains("order") && !drawn.contains('\r'), "{drawn}");
        }
    }
    let drawn = text(&project, "order.table");
    for shown in ["│ ◆ select ·", "● order.group.<&>", "│ ◆ 日本 ·", "◆ line break ·", "xxx..."] {
        assert!(drawn.contains(shown), "{shown}:\n{drawn}");
    }
}

#[test]
fn the_drawing_fits_the_terminal_and_is_colored_only_there() {
    let project = shop();
    for columns in [40, 60, 80, 100, 140] {
        let (shown, code) = on_terminal(&project, columns, &["lineage", "mart.totals"]);
        assert_eq!(code, 0);
        assert!(shown.contains("\u{1b}[32m") && shown.contains("\u{1b}[33m"), "{shown}");
        let plain = shown.replace("\u{1b}[32m", "").replace("\u{1b}[33m", "").replace("\u{1b}[0m", "");
        assert!(plain.lines().all(|line| line.chars().count() <= columns), "{columns}:\n{plain}");
        assert!(plain.contains("mart.Totals") && plain.contains("◆ total ·"), "{columns}:\n{plain}");
    }
    let (wide, _) = on_terminal(&project, 140, &["lineage", "mart.totals"]);
    // Colors are around borders, never within what is said of a column.
    assert!(wide.contains(" ◆ total ······· [SUM]   ● staging.sales.revenue "), "{wide}");
    let piped = text(&project, "mart.totals");
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let (shown, _) = on_terminal_with(&project, 140, variable, &["lineage", "mart.totals"]);
        assert_eq!(shown, piped, "{variable:?}");
    }
    let (narrow, _) = on_terminal_with(&project, 140, ("COLUMNS", "30"), &["lineage", "mart.totals"]);
    assert!(narrow.lines().all(|line| line.chars().count() <= 40) && !narrow.contains('→'), "{narrow}");
    let (svg, _) = on_terminal(&project, 30, &["lineage", "mart.totals", "--format", "svg"]);
    assert!(svg.contains("</svg>") && !svg.contains('\u{1b}'), "{svg}");
}
