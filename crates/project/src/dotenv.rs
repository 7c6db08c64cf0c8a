//! The variables of a project: the process environment first, then `.env` (chapter 01 §2.3).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::ProjectError;
use crate::file_reference::Value;

/// Variables by name. What the process has, even empty, wins over `.env`.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, Value>,
    /// Where paths of files begin that values stand for.
    root: PathBuf,
    /// Names that `.env` defines, whether or not the process has them too.
    in_file: BTreeSet<String>,
    /// Names that the process has.
    in_process: BTreeSet<String>,
}

impl Environment {
    /// The variables of the process and those of `<root>/.env`.
    pub fn load(root: &Path, process: impl IntoIterator<Item = (String, String)>) -> Result<Self, ProjectError> {
        let variables: BTreeMap<String, Value> =
            process.into_iter().map(|(name, text)| (name, Value::of(text))).collect();
        let in_process = variables.keys().cloned().collect();
        let mut environment = Self { variables, root: root.to_owned(), in_file: BTreeSet::new(), in_process };
        let text = match fs::read_to_string(root.join(".env")) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(environment),
            Err(error) => return Err(ProjectError::file("load config: read", Path::new(".env"), &error)),
        };
        for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            if let Some((name, value)) =
                parse_line(line).map_err(|message| ProjectError::DotEnv { line: at + 1, message })?
            {
                environment.in_file.insert(name.clone());
                environment.variables.entry(name).or_insert_with(|| Value::of(value));
            }
        }
        Ok(environment)
    }

    /// The variables that `.env` names.
    pub(crate) fn named_in_file(&self) -> impl Iterator<Item = (&str, &str)> {
        self.in_file.iter().filter_map(|name| Some((name.as_str(), self.get(name)?)))
    }

    /// Whether the process itself has the variable: its value wins over `.env`.
    pub fn is_of_process(&self, name: &str) -> bool {
        self.in_process.contains(name)
    }

    /// The same variables, one of them with another value.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut changed = self.clone();
        changed.variables.insert(name.to_owned(), Value::Text(value.to_owned()));
        changed
    }

    /// The names of all variables, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// The value of a variable: its text, or the content of the file that it stands for (`file:PATH`). `None` if that
    /// cannot be read, which [`Self::check`] tells.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name)?.get(&self.root).ok()
    }

    /// # Errors
    /// The variable stands for a file that cannot be read.
    pub fn check(&self, name: &str) -> Result<(), ProjectError> {
        match self.variables.get(name).map(|value| value.get(&self.root)) {
            Some(Err((path, cause))) => {
                Err(ProjectError::SecretFile { variable: name.to_owned(), path: path.into(), cause: cause.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Whether a variable stands for a file: what that holds is a secret, whatever the variable is called.
    pub fn is_file(&self, name: &str) -> bool {
        matches!(self.variables.get(name), Some(Value::File { .. }))
    }
}

// Values are secrets: they are never printed, not even for debugging.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

/// The file `.env` itself, to change values in it. All other lines stay as they are.
pub struct DotEnv {
    path: PathBuf,
    lines: Vec<String>,
}

impl DotEnv {
    /// Reads `<root>/.env`; empty if it is not there.
    pub fn read(root: &Path) -> Result<Self, ProjectError> {
        let path = root.join(".env");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(ProjectError::file("read", Path::new(".env"), &error)),
        };
        Ok(Self { path, lines: text.split_inclusive('\n').map(str::to_owned).collect() })
    }

    /// The value that the file gives a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        self.lines.iter().find_map(|line| value_of(line, name))
    }

    /// Whether the two are the same, line by line.
    pub fn is_same(&self, other: &Self) -> bool {
        self.lines == other.lines
    }

    /// Gives a variable a value, in its first line or in a new one.
    pub fn set(&mut self, name: &str, value: &str) {
        let is_crlf = self.lines.first().is_some_and(|line| line.ends_with("\r\n"));
        let end = if is_crlf { "\r\n" } else { "\n" };
        if let Some(old) = self.lines.iter_mut().find(|line| value_of(line, name).is_some()) {
            // What stands before the value stays: `export`, a mark of the encoding.
            let before = old.find('=').map_or(0, |at| at + 1);
            *old = format!("{}{value}{end}", &old[..before]);
            return;
        }
        if let Some(last) = self.lines.last_mut().filter(|line| !line.ends_with('\n')) {
            last.push_str(end);
        }
        self.lines.push(format!("{name}={value}{end}"));
    }

    /// Takes a variable out.
    pub fn remove(&mut self, name: &str) {
        self.lines.retain(|line| value_of(line, name).is_none());
    }

    /// Writes the file, readable for its owner alone, in one step: a crash leaves the old or the new one.
    /// The owner stays the same.
    pub fn write(&self) -> Result<(), ProjectError> {
        let failed = |error: &std::io::Error| ProjectError::file("write", Path::new(".env"), error);
        // A link stays one.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let mut new = path.clone().into_os_string();
        new.push(".new");
        let write = || -> std::io::Result<()> {
            let _ = fs::remove_file(&new);
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(self.lines.concat().as_bytes())?;
            file.sync_all()?;
            if let Ok(old) = fs::metadata(&path) {
                let made = file.metadata()?;
                if (old.uid(), old.gid()) != (made.uid(), made.gid()) {
                    fchown(&file, Some(old.uid()), Some(old.gid()))?;
                }
            }
            fs::rename(&new, &path)?;
            File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
        };
        write().map_err(|error| failed(&error))
    }
}

fn value_of(line: &str, name: &str) -> Option<String> {
    parse_line(line.trim_start_matches('\u{feff}'))
        .ok()
        .flatten()
        .filter(|(known, _)| known == name)
        .map(|(_, value)| value)
}

fn parse_line(line: &str) -> Result<Option<(String, String)>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = line.strip_prefix("export ").unwrap_or(line);
    let Some((name, value)) = line.split_once('=') else { return Ok(None) };
    let name = name.trim();
    if name.is_empty() {
        return Err("setenv: the name before `=` is empty".into());
    }
    let value = value.trim();
    let inner = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    Ok(Some((name.to_owned(), inner.unwrap_or(value).replace("\\'", "'").replace("\\\"", "\""))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Environment;

    fn load(text: &str, process: &[(&str, &str)]) -> Result<Environment, crate::ProjectError> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".env"), text).unwrap();
        Environment::load(dir.path(), process.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn lines_are_read_as_chapter_01_2_3_says() {
        let text = "\n# c\nA=1 # c\nA=2\nexport B = 'x y' \nC=\"it\\'s\"\nno equals sign\nD=a=b\nE='open\nP=file\n";
        let environment = load(text, &[("P", "")]).unwrap();
        for (name, value) in [("A", "1 # c"), ("B", "x y"), ("C", "it's"), ("D", "a=b"), ("E", "'open"), ("P", "")] {
            assert_eq!(environment.get(name), Some(value), "{name}");
        }
        assert_eq!(environment.get("export B"), None);
    }

    #[test]
    fn an_empty_name_is_an_error_and_a_missing_file_is_none() {
        assert_eq!(
            load("A=1\n = x", &[]).unwrap_err().to_string(),
            "load config: .env line 2: setenv: the name before `=` is empty"
        );
        let empty = tempfile::tempdir().unwrap();
        assert!(Environment::load(empty.path(), []).is_ok());
    }

    #[test]
    fn changing_the_file_leaves_every_other_line_as_it_was() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".env");
        fs::write(&path, "# c\r\nexport A='1'\r\nnonsense\nB=2").unwrap();
        let mut file = super::DotEnv::read(dir.path()).unwrap();
        assert_eq!(file.get("A").as_deref(), Some("1"));
        file.set("A", "x=");
        file.set("C", "3");
        file.remove("B");
        file.write().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "# c\r\nexport A=x=\r\nnonsense\nC=3\r\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn values_do_not_show_in_debug_output() {
        assert_eq!(format!("{:?}", load("TOKEN=secret", &[]).unwrap()), "{\"TOKEN\"}");
    }
}
