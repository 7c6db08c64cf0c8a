//! Which models and columns an answer is about. Names are followed without case; what was seen is not followed again, so
//! that records of circles end.

use std::collections::{BTreeMap, BTreeSet};

use super::LineageModel;

/// The models that have committed, by lower-case name.
pub(super) type Models = BTreeMap<String, LineageModel>;

/// These models and all that they are made of, each after what it is made of; those without a commit are left out.
pub(super) fn ancestors(models: &Models, keys: impl IntoIterator<Item = String>) -> Vec<LineageModel> {
    let starts: BTreeSet<String> = keys.into_iter().collect();
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    for start in starts {
        // Both ways through a model are on a stack of our own: a chain may be as long as the project is large.
        let mut stack = vec![(start, false)];
        while let Some((key, done)) = stack.pop() {
            let Some(model) = models.get(&key) else { continue };
            if done {
                order.push(model.clone());
            } else if seen.insert(key.clone()) {
                stack.push((key, true));
                stack.extend(model.dependencies.iter().rev().map(|name| (name.to_lowercase(), false)));
            }
        }
    }
    order
}

/// The models through which a column came, with the columns and dependencies that had a part in it.
pub(super) fn path(models: &Models, key: &str, column: &str) -> Vec<LineageModel> {
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let mut queue = vec![(key.to_owned(), column.to_lowercase())];
    while let Some((key, column)) = queue.pop() {
        if !models.contains_key(&key) || !seen.insert((key.clone(), column.clone())) {
            continue;
        }
        let entries = models[&key].column_lineage.iter().filter(|entry| entry.column.to_lowercase() == column);
        let sources = entries.flat_map(|entry| &entry.sources);
        queue.extend(sources.map(|source| (source.table.to_lowercase(), source.column.to_lowercase())));
    }
    let narrowed = seen.iter().map(|(key, _)| (key.clone(), narrow(&models[key], key, &seen))).collect();
    ancestors(&narrowed, [key.to_owned()])
}

/// What of a model is on the way.
fn narrow(model: &LineageModel, key: &str, seen: &BTreeSet<(String, String)>) -> LineageModel {
    let is_seen = |column: &str| seen.contains(&(key.to_owned(), column.to_lowercase()));
    let column_lineage: Vec<_> = model.column_lineage.iter().filter(|entry| is_seen(&entry.column)).cloned().collect();
    // The tables that lineage names are those that `depends` lists, or lie behind a view that it lists.
    let mut dependencies: Vec<String> = Vec::new();
    for source in column_lineage.iter().flat_map(|entry| &entry.sources) {
        if !dependencies.contains(&source.table) {
            dependencies.push(source.table.clone());
        }
    }
    LineageModel {
        name: model.name.clone(),
        columns: model.columns.iter().filter(|column| is_seen(column)).cloned().collect(),
        dependencies,
        column_lineage,
    }
}

#[cfg(test)]
mod tests {
    use types::{ColumnLineage, LineageSource, Transformation};

    use super::{LineageModel, Models, ancestors, path};

    fn model(name: &str, columns: &[(&str, &[(&str, &str)])], dependencies: &[&str]) -> (String, LineageModel) {
        let source = |&(table, column): &(&str, &str)| LineageSource {
            table: table.into(),
            column: column.into(),
            transformation: Transformation::Identity,
            function: None,
        };
        let lineage = |(column, sources): &(&str, &[(&str, &str)])| ColumnLineage {
            column: (*column).into(),
            sources: sources.iter().map(source).collect(),
        };
        let model = LineageModel {
            name: name.into(),
            columns: columns.iter().map(|(column, _)| (*column).into()).collect(),
            dependencies: dependencies.iter().map(|&name| name.into()).collect(),
            column_lineage: columns.iter().map(lineage).collect(),
        };
        (name.to_lowercase(), model)
    }

    fn models() -> Models {
        [
            model("raw.A", &[("id", &[("ext.t", "k")]), ("x", &[("ext.t", "x")])], &["ext.t"]),
            model(
                "mid.b",
                &[("ID", &[("raw.a", "ID")]), ("y", &[("raw.a", "x"), ("MID.B", "y")])],
                &["RAW.a", "mid.b"],
            ),
            model("mart.c", &[("n", &[("mid.B", "*")]), ("z", &[("mid.b", "Y")])], &["mid.B"]),
            model("mart.d", &[("q", &[])], &["mart.e"]),
            model("mart.e", &[("q", &[])], &["mart.d"]),
        ]
        .into()
    }

    fn names(models: &[LineageModel]) -> Vec<&str> {
        models.iter().map(|model| model.name.as_str()).collect()
    }

    #[test]
    fn a_model_comes_after_what_it_is_made_of_and_circles_end() {
        let models = models();
        assert_eq!(names(&ancestors(&models, ["mart.c".into()])), ["raw.A", "mid.b", "mart.c"]);
        assert_eq!(names(&ancestors(&models, ["mart.d".into()])), ["mart.e", "mart.d"]);
        let all = ancestors(&models, models.keys().cloned().chain(["never.ran".into()]));
        assert_eq!(names(&all), ["raw.A", "mid.b", "mart.c", "mart.e", "mart.d"]);
    }

    #[test]
    fn a_chain_of_any_length_is_followed() {
        let chain = (0..100_000).map(|at| model(&format!("m.t{at}"), &[], &[&format!("m.t{}", at + 1)]));
        assert_eq!(ancestors(&chain.collect(), ["m.t0".into()]).len(), 100_000);
    }

    #[test]
    fn only_what_had_a_part_in_a_column_is_on_its_way() {
        let models = models();
        let z = path(&models, "mart.c", "Z");
        assert_eq!(names(&z), ["raw.A", "mid.b", "mart.c"]);
        let columns: Vec<_> = z.iter().map(|model| model.columns.clone()).collect();
        assert_eq!(columns, [["x"], ["y"], ["z"]]);
        assert_eq!(z[0].dependencies, ["ext.t"]);
        assert_eq!(z[1].dependencies, ["raw.a", "MID.B"]);
        let n = path(&models, "mart.c", "n");
        assert_eq!((names(&n), n[0].columns.len()), (vec!["mid.b", "mart.c"], 0));
        assert_eq!(names(&path(&models, "mart.d", "q")), ["mart.d"]);
    }
}
