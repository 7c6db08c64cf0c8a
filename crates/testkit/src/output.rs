//! What a command printed, and the parts of it that change from run to run taken out.

use std::path::Path;

/// Streams and exit code of a finished command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code; -1 if a signal ended it.
    pub code: i32,
}

impl Output {
    /// The command's output; an error of the test if it did not succeed.
    #[track_caller]
    pub fn success(self) -> Self {
        assert_eq!(self.code, 0, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The command's output; an error of the test if it did not end with this code.
    #[track_caller]
    pub fn failure(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Both streams and the code as one text, as a user would see them.
    pub fn transcript(&self, root: &Path) -> String {
        let text = format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr);
        normalize(&text, root)
    }
}

/// `text` with the project's path as `<project>`, durations as `<time>` and run ids as `<run>`.
pub fn normalize(text: &str, root: &Path) -> String {
    let mut words = Vec::new();
    for line in text.replace(&root.display().to_string(), "<project>").split('\n') {
        let line: Vec<String> = line.split(' ').map(normal_word).collect();
        words.push(line.join(" "));
    }
    words.join("\n")
}

fn normal_word(word: &str) -> String {
    let core = word.trim_end_matches([')', ',']);
    let rest = &word[core.len()..];
    let digits_then_unit =
        |unit: &str| core.strip_suffix(unit).is_some_and(|n| !n.is_empty() && n.parse::<f64>().is_ok());
    if digits_then_unit("ms") || digits_then_unit("s") { format!("<time>{rest}") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::normalize;

    #[test]
    fn only_what_changes_is_replaced() {
        let text =
            "[OK] raw.a (table, backfill, 3 rows, 12ms — first run)\nDone (3 rows, 1.2s)\n/projects/x/models is 5 rows";
        let expected = "[OK] raw.a (table, backfill, 3 rows, <time> — first run)\nDone (3 rows, <time>)\n<project>/models is 5 rows";
        assert_eq!(normalize(text, Path::new("/projects/x")), expected);
    }
}
