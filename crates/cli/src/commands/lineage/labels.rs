//! What was done to a column, in a few letters (chapter 05 §3.12).

use types::{LineageSource, Transformation};

/// Letters of the name of an aggregate that has no label of its own.
const LETTERS: usize = 3;

/// The labels that are no names of functions, with what they mean.
pub(super) const MEANINGS: [(&str, &str); 5] = [
    ("[AGG]", "aggregate"),
    ("[×]", "arithmetic"),
    ("[IF]", "condition"),
    ("[CAST]", "other type"),
    ("[FN]", "function"),
];

/// The labels of a column's sources, each once; none for a plain copy.
pub(super) fn labels(sources: &[LineageSource]) -> String {
    let mut labels: Vec<String> = Vec::new();
    for label in sources.iter().filter_map(label) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels.join(" ")
}

fn label(source: &LineageSource) -> Option<String> {
    let word = match source.transformation {
        Transformation::Identity => return None,
        Transformation::Aggregation => aggregate(source.function.as_deref().unwrap_or_default()),
        Transformation::Arithmetic => "×".into(),
        Transformation::Conditional => "IF".into(),
        Transformation::Cast => "CAST".into(),
        Transformation::Function => "FN".into(),
    };
    Some(format!("[{word}]"))
}

fn aggregate(function: &str) -> String {
    match function.to_lowercase().as_str() {
        "count" | "count_star" | "count_if" => "CNT".into(),
        "avg" | "mean" => "AVG".into(),
        name => {
            let letters: String = name.chars().filter(|c| c.is_alphanumeric()).take(LETTERS).collect();
            if letters.is_empty() { "AGG".into() } else { letters.to_uppercase() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineageSource, Transformation, labels};

    fn source(transformation: Transformation, function: &str) -> LineageSource {
        let function = Some(function.to_owned()).filter(|name| !name.is_empty());
        LineageSource { table: "a.b".into(), column: "c".into(), transformation, function }
    }

    #[test]
    fn a_label_says_what_was_done_last() {
        for (function, expected) in [
            ("sum", "[SUM]"),
            ("COUNT", "[CNT]"),
            ("count_star", "[CNT]"),
            ("mean", "[AVG]"),
            ("min", "[MIN]"),
            ("max", "[MAX]"),
            ("median", "[MED]"),
            ("", "[AGG]"),
            ("\"<&", "[AGG]"),
        ] {
            assert_eq!(labels(&[source(Transformation::Aggregation, function)]), expected, "{function}");
        }
        for (transformation, expected) in [
            (Transformation::Identity, ""),
            (Transformation::Arithmetic, "[×]"),
            (Transformation::Conditional, "[IF]"),
            (Transformation::Cast, "[CAST]"),
            (Transformation::Function, "[FN]"),
        ] {
            assert_eq!(labels(&[source(transformation, "")]), expected);
        }
    }

    #[test]
    fn several_sources_have_each_label_once() {
        let sources = [
            source(Transformation::Identity, ""),
            source(Transformation::Arithmetic, ""),
            source(Transformation::Aggregation, "sum"),
            source(Transformation::Arithmetic, ""),
        ];
        assert_eq!(labels(&sources), "[×] [SUM]");
        assert_eq!(labels(&[]), "");
    }
}
