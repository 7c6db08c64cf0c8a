//! What the configuration says, as it is written: for what must be told without its secrets and without running it.

use std::fs;
use std::path::{Path, PathBuf};

use model::{WrittenMacro, attached_names, code_words, written_macros};

/// The alias that scripts and templates give the lake.
const LAKE: &str = "lake";

/// Names that the configuration gives.
#[derive(Debug, Default)]
pub struct ConfigTexts {
    /// Alias of the lake.
    pub lake: String,
    /// Aliases of other databases.
    pub catalogs: Vec<String>,
    /// All macros; `{{catalog}}` is replaced.
    pub macros: Vec<WrittenMacro>,
    /// Extensions that other files than `extensions.sql` load, in lower case.
    pub loads: Vec<String>,
}

impl ConfigTexts {
    /// Reads `config/`, without `state.sql`, which is of a session of its own. What cannot be read says nothing.
    pub fn read(root: &Path) -> Self {
        let folder = root.join("config");
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let catalog = text("catalog.sql");
        let mut texts: Vec<String> = [
            "settings.sql",
            "secrets.sql",
            "schemas.sql",
            "variables/constants.sql",
            "variables/global.sql",
            "sources.sql",
        ]
        .map(text)
        .into();
        texts.extend(macro_texts(&folder));
        let lake = attached_names(&catalog).into_iter().next().unwrap_or_else(|| LAKE.to_owned());
        let catalogs = texts.iter().flat_map(|text| attached_names(text)).collect();
        texts.push(catalog);
        let loads = texts.iter().flat_map(|text| loaded(text)).collect();
        texts.push(text("extensions.sql"));
        let macros = texts.iter().flat_map(|text| written_macros(&text.replace("{{catalog}}", &lake))).collect();
        Self { lake, catalogs, macros, loads }
    }
}

fn macro_texts(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("macros")).into_iter().flatten().flatten();
    let is_sql = |path: &PathBuf| {
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        !is_hidden && path.extension().is_some_and(|ending| ending == "sql")
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_sql).collect();
    files.sort();
    files.into_iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

/// What `LOAD name` loads.
fn loaded(text: &str) -> Vec<String> {
    let statements = model::split_statements(text);
    let words = statements.into_iter().map(|range| code_words(&text[range]));
    words
        .filter(|words| words.first().is_some_and(|word| word == "load"))
        .filter_map(|words| words.get(1).cloned())
        .collect()
}
