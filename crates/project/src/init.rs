//! `init`: writes a new project (chapter 01 §1.1). Files that exist are never overwritten.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use checks::{Stage, function_summary, summary};

use crate::{DotEnv, ProjectError, draw_state_key};

/// Where the lake's catalog will live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CatalogKind {
    /// A SQLite file in the project.
    #[default]
    Sqlite,
    /// A DuckDB file in the project.
    Duckdb,
    /// A PostgreSQL server.
    Postgres,
}

/// The line of `.env` that holds the state's key.
pub(crate) const STATE_KEY: &str = "ONDATRA_STATE_KEY";

/// What `config/` is called until it is complete.
const UNFINISHED: &str = ".config.unfinished/";

const FOLDERS: [&str; 11] = [
    UNFINISHED,
    ".config.unfinished/macros",
    ".config.unfinished/variables",
    "sql",
    "lib",
    "models",
    "models/raw",
    "models/staging",
    "models/intermediate",
    "models/mart",
    "models/sync",
];

const EMPTY_FOLDERS: [&str; 6] =
    ["lib", "models/raw", "models/staging", "models/intermediate", "models/mart", "models/sync"];

macro_rules! templates {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../templates/", $path)))),*]
    };
}

const FILES: &[(&str, &str)] = templates![
    "config/state.sql",
    "config/settings.sql",
    "config/secrets.sql",
    "config/extensions.sql",
    "config/sources.sql",
    "config/macros/helpers.sql",
    "config/macros/masking.sql",
    "config/macros/constraints.sql",
    "config/macros/audits.sql",
    "config/macros/warnings.sql",
    "config/variables/constants.sql",
    "config/variables/global.sql",
    "config/variables/local.sql",
    "sql/flush.sql",
    "sql/merge.sql",
    "sql/expire.sql",
    "sql/cleanup.sql",
    "sql/orphaned.sql",
    "sql/rewrite.sql",
    "sql/checkpoint.sql",
];

impl CatalogKind {
    fn template(self) -> &'static str {
        match self {
            Self::Sqlite => include_str!("../templates/config/catalog.sql"),
            Self::Duckdb => include_str!("../templates/config/catalog.duckdb.sql"),
            Self::Postgres => include_str!("../templates/config/catalog.postgres.sql"),
        }
    }

    /// Lines of `.env` that only this catalog needs.
    fn variables(self) -> &'static str {
        match self {
            Self::Sqlite | Self::Duckdb => "",
            Self::Postgres => include_str!("../templates/env.postgres"),
        }
    }
}

/// Writes a new project into `root` and returns its name, the folder's.
///
/// `config/`, which makes a folder a project, is put together under another name and renamed last: an
/// `init` that was stopped can be run again.
pub fn init(root: &Path, catalog: CatalogKind) -> Result<String, ProjectError> {
    if fs::symlink_metadata(root.join("config")).is_ok() {
        return Err(ProjectError::AlreadyExists(root.to_owned()));
    }
    let name = root.file_name().map_or_else(|| "project".to_owned(), |name| name.to_string_lossy().into_owned());
    // The key comes first: without it a project that looks complete could not open its state.
    write_env(&root.join(".env"), catalog)?;
    write_new(root, ".gitignore", include_str!("../templates/gitignore"))?;
    write_new(root, "README.md", &include_str!("../templates/README.md").replace("{{project}}", &name))?;
    for folder in FOLDERS {
        make_folder(root, folder)?;
    }
    for folder in EMPTY_FOLDERS {
        write_new(root, &format!("{folder}/.gitkeep"), "")?;
    }
    for (path, text) in FILES {
        write_new(root, &path.replacen("config/", UNFINISHED, 1), &with_lists(path, text))?;
    }
    write_new(root, &format!("{UNFINISHED}catalog.sql"), catalog.template())?;
    fs::rename(root.join(UNFINISHED), root.join("config"))
        .map_err(|error| ProjectError::file("write", Path::new("config"), &error))?;
    Ok(name)
}

/// The templates of macros list what is shipped of their sort.
fn with_lists(path: &str, text: &str) -> String {
    let margin = "--   ";
    let text = match path {
        "config/macros/helpers.sql" => text.replace("{{functions}}", &function_summary(false, margin)),
        "config/macros/masking.sql" => text.replace("{{functions}}", &function_summary(true, margin)),
        _ => text.to_owned(),
    };
    let stage = Stage::ALL.into_iter().find(|stage| path == format!("config/macros/{stage}s.sql"));
    stage.map_or_else(|| text.clone(), |stage| text.replace("{{checks}}", &summary(stage, margin)))
}

fn make_folder(root: &Path, folder: &str) -> Result<(), ProjectError> {
    let path = root.join(folder);
    match fs::create_dir(&path) {
        Ok(()) => fs::set_permissions(&path, fs::Permissions::from_mode(0o755)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => return Ok(()),
        Err(error) => Err(error),
    }
    .map_err(|error| ProjectError::file("create", Path::new(folder), &error))
}

fn write_new(root: &Path, path: &str, text: &str) -> Result<(), ProjectError> {
    create(&root.join(path), text, 0o644).map_err(|error| ProjectError::file("write", Path::new(path), &error))
}

/// Creates a file with exactly `mode`; one that exists stays as it is.
fn create(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(mode).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error),
    };
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.write_all(text.as_bytes())
}

/// Makes `.env` with a fresh key, or appends the key's line to one that lacks it.
fn write_env(path: &Path, catalog: CatalogKind) -> Result<(), ProjectError> {
    let failed = |error: &std::io::Error| ProjectError::file("write", Path::new(".env"), error);
    let key_line = format!("{STATE_KEY}={}\n", draw_state_key()?);
    let present = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let text = format!("{key_line}{}{}", include_str!("../templates/env"), catalog.variables());
            return create(path, &text, 0o600).map_err(|error| failed(&error));
        }
        Err(error) => return Err(failed(&error)),
    };
    let has_key = present.lines().any(|line| {
        let line = line.trim();
        line.strip_prefix("export ").unwrap_or(line).split_once('=').is_some_and(|(name, _)| name.trim() == STATE_KEY)
    });
    if has_key {
        let mut file = DotEnv::read(path.parent().unwrap_or(Path::new(".")))?;
        // A line without a value is no key.
        if file.get(STATE_KEY).as_deref() == Some("") {
            file.set(STATE_KEY, &draw_state_key()?);
            file.write()?;
        }
        return Ok(());
    }
    let separator = if present.is_empty() || present.ends_with('\n') { "" } else { "\n" };
    let append = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        file.write_all(format!("{separator}{key_line}").as_bytes())
    };
    append().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use base64::Engine as _;

    use base64::engine::general_purpose::STANDARD;

    use super::{CatalogKind, init};
    use crate::Environment;

    fn mode(path: &std::path::Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_project_has_a_fresh_key_and_strict_modes() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("shop");
        fs::create_dir(&root).unwrap();
        assert_eq!(init(&root, CatalogKind::Sqlite).unwrap(), "shop");
        let key = Environment::load(&root, []).unwrap().get("ONDATRA_STATE_KEY").map(str::to_owned).unwrap();
        assert_eq!(STANDARD.decode(key).unwrap().len(), 32);
        assert_eq!(mode(&root.join(".env")), 0o600);
        assert_eq!(mode(&root.join("config")), 0o755);
        assert_eq!(mode(&root.join("config/catalog.sql")), 0o644);
        for kept in ["lib", "models/raw", "models/staging", "models/intermediate", "models/mart", "models/sync"] {
            assert!(root.join(kept).join(".gitkeep").is_file(), "{kept}");
        }
        assert!(fs::read_to_string(root.join("README.md")).unwrap().starts_with("# shop"));
        assert!(init(&root, CatalogKind::Sqlite).unwrap_err().to_string().contains("already exists"));
    }

    #[test]
    fn what_the_catalog_needs_stands_in_env_to_be_filled_in() {
        for catalog in [CatalogKind::Sqlite, CatalogKind::Duckdb, CatalogKind::Postgres] {
            let dir = tempfile::tempdir().unwrap();
            init(dir.path(), catalog).unwrap();
            let env = fs::read_to_string(dir.path().join(".env")).unwrap();
            let sql = fs::read_to_string(dir.path().join("config/catalog.sql")).unwrap();
            let active: Vec<&str> = sql.lines().filter(|line| !line.starts_with("--")).collect();
            let active = active.concat();
            let named: Vec<&str> =
                active.split("${").skip(1).map(|rest| rest.split('}').next().unwrap_or_default()).collect();
            assert_eq!(named.len(), if catalog == CatalogKind::Postgres { 5 } else { 0 }, "{named:?}");
            for name in named {
                assert!(env.contains(&format!("\n# {name}=")), "{name} is missing: {env}");
            }
            let given = Environment::load(dir.path(), std::iter::empty()).unwrap();
            assert_eq!(given.get("PG_CATALOG_HOST"), None, "nothing is set before somebody fills it in");
        }
    }

    #[test]
    fn files_that_exist_are_kept_and_env_gets_only_the_missing_key() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::write(root.join(".env"), "A=1").unwrap();
        fs::write(root.join("README.md"), "mine").unwrap();
        fs::create_dir(root.join("models")).unwrap();
        init(root, CatalogKind::Duckdb).unwrap();
        let env = fs::read_to_string(root.join(".env")).unwrap();
        assert!(env.starts_with("A=1\nONDATRA_STATE_KEY=") && env.lines().count() == 2, "{env}");
        assert_eq!(mode(&root.join(".env")), 0o600);
        assert_eq!(fs::read_to_string(root.join("README.md")).unwrap(), "mine");
        assert!(fs::read_to_string(root.join("config/catalog.sql")).unwrap().contains("ducklake:"));
    }

    #[test]
    fn an_init_that_was_stopped_can_be_run_again() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::write(root.join("models"), "a file").unwrap();
        let error = init(root, CatalogKind::Sqlite).unwrap_err().to_string();
        assert!(error.starts_with("create models: "), "{error}");
        assert!(!root.join("config").exists());
        fs::remove_file(root.join("models")).unwrap();
        init(root, CatalogKind::Sqlite).unwrap();
        assert!(root.join("config/macros/audits.sql").is_file() && !root.join(".config.unfinished").exists());
        let other = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("nowhere", other.path().join("config")).unwrap();
        assert!(init(other.path(), CatalogKind::Sqlite).unwrap_err().to_string().contains("already exists"));
    }

    #[test]
    fn an_env_with_a_key_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".env"), "export ONDATRA_STATE_KEY = abc\n").unwrap();
        init(dir.path(), CatalogKind::Postgres).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(".env")).unwrap(), "export ONDATRA_STATE_KEY = abc\n");
    }
}
