//! Metrics in the text format of Prometheus, version 0.0.4.

use std::fmt::Write as _;

/// Metrics, a family after the other.
#[derive(Default)]
pub struct Metrics {
    text: String,
}

impl Metrics {
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
            let labels = labels.as_ref();
            if !labels.is_empty() {
                let pairs: Vec<String> =
                    labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value, true))).collect();
                let _ = write!(self.text, "{{{}}}", pairs.join(","));
            }
            let _ = writeln!(self.text, " {value}");
        }
    }

    /// The text of all of them.
    pub fn text(&self) -> &str {
        &self.text
    }
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
}
