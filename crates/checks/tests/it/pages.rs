//! The pages of `docs/checks/` say what the list says.

use std::fs;
use std::path::Path;

use checks::{Stage, page, page_name, shipped_in, summary};

/// Set by `make check-docs`, which writes the pages instead.
const WRITE: &str = "ONDATRA_WRITE_DOCS";

#[test]
fn the_pages_are_those_that_the_list_makes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks");
    for stage in Stage::ALL {
        let (path, made) = (folder.join(page_name(stage)), page(stage));
        if std::env::var_os(WRITE).is_some() {
            fs::write(&path, &made).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap();
        assert!(written == made, "{} is not what the list makes: run `make check-docs`", path.display());
    }
}

#[test]
fn every_check_stands_on_its_page_and_in_the_summary_with_its_message() {
    for stage in Stage::ALL {
        let (page, summary) = (page(stage), summary(stage, "> "));
        for check in shipped_in(stage) {
            assert!(page.contains(&format!("| `{}` | ", check.signature())), "{}", check.name);
            assert!(page.contains(&check.message()), "{}", check.name);
            let line = summary.lines().find(|line| line.starts_with(&format!("> {} ", check.signature())));
            assert!(line.is_some_and(|line| line.ends_with(check.fails)), "{}", check.name);
            assert!(!check.message().contains(['{', '}']), "{}", check.message());
        }
    }
}
