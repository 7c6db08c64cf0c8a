//! Metrics in the text format of Prometheus, version 0.0.4.

use std::fmt::Write as _;

/// Metrics, a family after the other.
#[derive(Default)]
pub struct Metrics {
    /// Labels of all samples, as they are written.
    common: Vec<String>,
    text: String,
}

impl Metrics {
    /// None yet; all samples will have these labels, before their own.
    pub fn with_labels(labels: &[(&'static str, &str)]) -> Self {
        Self { common: pairs(labels), text: String::new() }
    }

    /// Adds a gauge with its samples, each with its labels; nothing if there are no samples.
    pub fn gauge<'a, L: AsRef<[(&'static str, &'a str)]>>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (L, f64)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let _ = writeln!(self.text, "# HELP {name} {}\n# TYPE {name} gauge", escaped(help, false));
        for (labels, value) in samples {
            self.text.push_str(name);
            let labels = [&self.common[..], &pairs(labels.as_ref())].concat();
            if !labels.is_empty() {
                let _ = write!(self.text, "{{{}}}", labels.join(","));
            }
            let _ = writeln!(self.text, " {value}");
        }
    }

    /// The text of all of them.
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn pairs(labels: &[(&'static str, &str)]) -> Vec<String> {
    labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value, true))).collect()
}

fn escaped(text: &str, quotes: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    if quotes { text.replace('"', "\\\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::Metrics;

    #[test]
    fn families_have_help_type_and_samples() {
        let mut metrics = Metrics::default();
        metrics.gauge("a_seconds", "How long\nit \\ took", [([], 0.25)]);
        metrics.gauge("none", "Nothing", Vec::<([(&str, &str); 0], f64)>::new());
        metrics.gauge("b", "Of each", [([("target", "raw.\"a\"\\\n"), ("state", "x")], 3.0)]);
        let expected = "# HELP a_seconds How long\\nit \\\\ took\n# TYPE a_seconds gauge\na_seconds 0.25\n\
                        # HELP b Of each\n# TYPE b gauge\nb{target=\"raw.\\\"a\\\"\\\\\\n\",state=\"x\"} 3\n";
        assert_eq!(metrics.text(), expected);
    }

    #[test]
    fn labels_of_all_samples_come_before_their_own() {
        let mut metrics = Metrics::with_labels(&[("project", "a \"shop\"")]);
        metrics.gauge("a", "A", [([], 1.0)]);
        metrics.gauge("b", "B", [([("target", "raw.a")], 2.0)]);
        let samples: Vec<&str> = metrics.text().lines().filter(|line| !line.starts_with('#')).collect();
        let project = r#"project="a \"shop\"""#;
        assert_eq!(samples, [format!("a{{{project}}} 1"), format!("b{{{project},target=\"raw.a\"}} 2")]);
    }
}
