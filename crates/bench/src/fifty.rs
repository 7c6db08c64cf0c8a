//! Fifty models: 10 raw ones over a source, 20 staging, 20 mart.

/// A model, whatever program runs it.
pub struct FiftyModel {
    pub schema: &'static str,
    pub name: String,
    /// What it reads.
    input: Input,
    /// Its query, before and after the name of what it reads.
    query: (String, String),
}

/// What a model reads.
pub enum Input {
    Source,
    Model { schema: &'static str, name: String },
}

impl FiftyModel {
    /// Its query, with what it reads named by `name`.
    pub fn sql(&self, name: impl Fn(&Input) -> String) -> String {
        let (before, after) = &self.query;
        format!("{before}{}{after}", name(&self.input))
    }
}

/// The models, each behind what it reads.
pub fn fifty() -> Vec<FiftyModel> {
    let raw = (0..10).map(|at| FiftyModel {
        schema: "raw",
        name: format!("r{at}"),
        input: Input::Source,
        query: ("SELECT * FROM ".to_owned(), format!(" WHERE id % 10 <> {at}")),
    });
    let staging = (0..20).map(|at| FiftyModel {
        schema: "staging",
        name: format!("s{at}"),
        input: Input::Model { schema: "raw", name: format!("r{}", at % 10) },
        query: (format!("SELECT id, grp, upper(name) AS name, amount * {} AS amount FROM ", at + 1), String::new()),
    });
    let mart = (0..20).map(|at| FiftyModel {
        schema: "mart",
        name: format!("m{at}"),
        input: Input::Model { schema: "staging", name: format!("s{at}") },
        query: ("SELECT grp, count(*) AS n, sum(amount) AS amount FROM ".to_owned(), " GROUP BY grp".to_owned()),
    });
    raw.chain(staging).chain(mart).collect()
}

/// The models as `(schema, name, sql)`, reading each other by their own names, and `source` first.
pub fn fifty_models(source: &str) -> Vec<(&'static str, String, String)> {
    let named = |input: &Input| match input {
        Input::Source => source.to_owned(),
        Input::Model { schema, name } => format!("{schema}.{name}"),
    };
    fifty().into_iter().map(|model| (model.schema, model.name.clone(), model.sql(named))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::fifty_models;

    #[test]
    fn every_model_reads_the_source_or_one_before_it() {
        let mut known = BTreeSet::from(["ext.source".to_owned()]);
        for (schema, name, sql) in fifty_models("ext.source") {
            let input = sql.split_whitespace().skip_while(|&word| word != "FROM").nth(1).unwrap();
            assert!(known.contains(input), "{sql}");
            known.insert(format!("{schema}.{name}"));
        }
        assert_eq!(known.len(), 51);
    }
}
