//! Validating a project costs little more than what only the engine can do: giving the syntax trees of its SQL.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Database;
use types::literal;

use crate::measure::{Figure, time};
use crate::workspace::Project;

const MODELS: usize = 1_000;

/// The texts of a raw, a staging and a mart model, with places for numbers.
pub struct Templates {
    pub raw: &'static str,
    pub staging: &'static str,
    pub mart: &'static str,
}

const OURS: Templates = Templates {
    raw: include_str!("../projects/validate/raw.sql"),
    staging: include_str!("../projects/validate/staging.sql"),
    mart: include_str!("../projects/validate/mart.sql"),
};

/// Files of a project of so many models that read each other: path and text.
pub fn files(models: usize, templates: &Templates) -> Vec<(String, String)> {
    let third = models / 3;
    let text = |template: &str, numbers: &[(&str, usize)]| {
        numbers.iter().fold(template.to_owned(), |text, (name, number)| text.replace(name, &number.to_string()))
    };
    let file = |at: usize| match at / third {
        0 => (format!("models/raw/r{at}.sql"), text(templates.raw, &[("<at>", at)])),
        1 => (format!("models/staging/s{at}.sql"), text(templates.staging, &[("<at>", at), ("<raw>", at - third)])),
        _ => {
            let numbers = [("<staging>", third + at % third), ("<raw>", at % third)];
            (format!("models/mart/m{at}.sql"), text(templates.mart, &numbers))
        }
    };
    (0..models).map(file).collect()
}

/// A project of raw, staging and mart models.
pub fn project(models: usize) -> Project {
    let project = Project::new();
    for (path, text) in files(models, &OURS) {
        project.write(&path, &text);
    }
    project
}

/// What validating cannot do without: an engine, the files, the trees as text.
fn floor(files: &[PathBuf]) {
    let connection = Arc::new(Database::open(&[]).unwrap()).connect().unwrap();
    let texts: Vec<String> = files.iter().map(|file| literal(&fs::read_to_string(file).unwrap())).collect();
    let sql = format!(
        "SELECT json_serialize_sql(s, skip_null := true, skip_empty := true, skip_default := true)::VARCHAR \
         FROM (SELECT unnest([{}]) AS s)",
        texts.join(",")
    );
    let trees = connection.query(&sql).unwrap().into_values().filter_map(|mut row| row.swap_remove(0).into_text());
    assert_eq!(trees.filter(|tree| tree.contains("SELECT_NODE")).count(), files.len());
}

pub fn figure(binary: &Path) -> Figure {
    let project = project(MODELS);
    let files: Vec<PathBuf> = files(MODELS, &OURS).into_iter().map(|(path, _)| project.dir.path().join(path)).collect();
    let what = "validate 1,000 models / reading and serializing their SQL";
    let validate = || project.command(binary, &["validate"]);
    Figure::measure(what, 4.5, |_| time(validate), |_| time(|| floor(&files)))
}

/// Time per model: reading and planning follow the number of models, no more.
pub fn growth(binary: &Path) -> Figure {
    const FEW: u32 = 1_000;
    let many = FEW * 10;
    let projects = [many, FEW].map(|models| (project(models as usize), models));
    let per_model = |(project, models): &(Project, u32)| time(|| project.command(binary, &["validate"])) / *models;
    let what = "validate, time per model: 10,000 models / 1,000 models";
    Figure::measure(what, 1.2, |_| per_model(&projects[0]), |_| per_model(&projects[1]))
}

#[cfg(test)]
mod tests {
    use super::{OURS, files};

    #[test]
    fn no_place_for_a_number_is_left_and_every_model_that_is_read_is_there() {
        let files = files(31, &OURS);
        let known: Vec<String> =
            files.iter().map(|(path, _)| path["models/".len()..path.len() - ".sql".len()].replace('/', ".")).collect();
        let words =
            |text: &str| text.split(|c: char| c.is_whitespace() || "(),".contains(c)).map(str::to_owned).collect();
        for (path, text) in &files {
            assert!(!text.contains("<at>") && !text.contains("<raw>") && !text.contains("<staging>"), "{path}: {text}");
            let words: Vec<String> = words(text);
            let read = words.iter().filter(|word| word.starts_with("raw.r") || word.starts_with("staging.s"));
            for name in read {
                assert!(known.contains(name), "{path} reads {name}");
            }
        }
        assert_eq!(files.len(), 31);
    }
}
