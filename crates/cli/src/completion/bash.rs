//! Completion in bash, which gives `--flag=value` as three words.

use std::ffi::OsString;
use std::path::Path;

use clap_complete::env::{self, EnvCompleter};

/// Where bash tells the number of the word that is typed, from 0.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";
/// Where it tells what parts the answers.
const SEPARATOR: &str = "_CLAP_IFS";

/// Bash, whose lines are those of `clap_complete`.
pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        buf: &mut dyn std::io::Write,
    ) -> std::io::Result<()> {
        env::Bash.write_registration(var, name, bin, completer, buf)
    }

    fn write_complete(
        &self,
        cmd: &mut clap::Command,
        args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn std::io::Write,
    ) -> std::io::Result<()> {
        let told = |name: &str| std::env::var(name).ok();
        let index = told(INDEX).and_then(|index| index.parse().ok()).unwrap_or_default();
        let (args, index) = without_equals(args, index);
        let candidates = clap_complete::engine::complete(cmd, args, index, current_dir)?;
        let values: Vec<_> = candidates.iter().map(|candidate| candidate.get_value().to_string_lossy()).collect();
        write!(buf, "{}", values.join(&told(SEPARATOR).unwrap_or_else(|| "\n".into())))
    }
}

/// `--flag`, `=`, `value` as the two words `--flag`, `value`, which mean the same; bash puts what is chosen in the place of
/// the last one alone. Gives the index of the same word.
fn without_equals(words: Vec<OsString>, index: usize) -> (Vec<OsString>, usize) {
    let is_sign = |at: usize| {
        let flag = at.checked_sub(1).and_then(|before| words.get(before));
        words[at] == "=" && at != index && flag.is_some_and(|flag| flag.as_encoded_bytes().starts_with(b"--"))
    };
    let signs: Vec<usize> = (0..words.len()).filter(|&at| is_sign(at)).collect();
    let index = index - signs.iter().filter(|&&at| at < index).count();
    let kept = words.into_iter().enumerate().filter(|(at, _)| !signs.contains(at));
    (kept.map(|(_, word)| word).collect(), index)
}

#[cfg(test)]
mod tests {
    use super::without_equals;

    #[test]
    fn a_flag_and_its_value_are_two_words() {
        for (words, index, expected, moved) in [
            (&["o", "sql", "--format", "=", "c"][..], 4, &["o", "sql", "--format", "c"][..], 3),
            (&["o", "sql", "--format", "=", "csv", "--l"], 5, &["o", "sql", "--format", "csv", "--l"], 4),
            (&["o", "sql", "=", "x"], 3, &["o", "sql", "=", "x"], 3),
            (&["o", "run", "--jobs", "="], 3, &["o", "run", "--jobs", "="], 3),
            (&["o", "run", "--jobs", "", "--limit", "=", "1"], 3, &["o", "run", "--jobs", "", "--limit", "1"], 3),
        ] {
            let words: Vec<_> = words.iter().map(Into::into).collect();
            let expected: Vec<std::ffi::OsString> = expected.iter().map(Into::into).collect();
            assert_eq!(without_equals(words, index), (expected, moved));
        }
    }
}
