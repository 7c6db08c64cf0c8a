//! A file of `lib/`: its API and its functions, known without running it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::LibError;
use crate::api::Api;
use crate::endpoints::{Endpoint, endpoints};
use crate::fields::UnknownKey;
use crate::literal::Problem;
use crate::program::{Loaded, Program};
use crate::signature::Signature;
use crate::signatures::check_signatures;
use crate::source::Source;
use crate::status_check::{UncheckedStatus, unchecked_status};

/// A lib function: a file of `lib/` with an `API`.
#[derive(Debug, Clone)]
pub struct Lib {
    /// What SQL calls it: the file's stem.
    pub name: String,
    /// The file, relative to the project.
    pub path: PathBuf,
    /// What it declares.
    pub api: Api,
    /// Its functions by name.
    pub functions: BTreeMap<String, Signature>,
    /// The requests that it makes, in its order.
    pub endpoints: Vec<Endpoint>,
    /// Functions that make requests and never look at the answer's status.
    pub unchecked_status: Vec<UncheckedStatus>,
    /// Remarks about keys of `API` that nobody knows.
    pub remarks: Vec<Remark>,
    /// The file and all that it loads.
    pub(crate) program: Program,
}

impl Lib {
    /// The texts of the file and of all that it loads, for fingerprints.
    pub fn texts(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.program.modules().iter().map(|module| (module.source.path.as_path(), module.source.text.as_ref()))
    }
}

/// A remark about a lib file that is no error.
#[derive(Debug, Clone)]
pub struct Remark {
    /// The rule.
    pub rule: types::Rule,
    /// What it says.
    pub message: String,
    /// Where.
    pub place: types::Place,
}

/// Reads a file of `lib/`; `None` if it has no `API`, so that only other files load it. Nothing of it is executed.
pub(crate) fn read_lib(root: &Path, path: &Path) -> Result<Option<Lib>, LibError> {
    let Loaded { program, module, top } = Program::read(root, path)?;
    let source = program.main();
    let Some((api, span)) = top.api else { return Ok(None) };
    let in_file = |problem: Problem| source.error(&problem);
    let (api, unknown) = Api::read(api, span).map_err(in_file)?;
    check_signatures(&api, &top.functions).map_err(in_file)?;
    Ok(Some(Lib {
        name: stem(path),
        path: path.to_owned(),
        api,
        functions: top.functions,
        endpoints: endpoints(&module),
        unchecked_status: unchecked_status(&module, source),
        remarks: unknown.iter().map(|key| remark(source, key)).collect(),
        program,
    }))
}

/// A file's name without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn remark(source: &Source, key: &UnknownKey) -> Remark {
    Remark {
        rule: types::Rule::UnknownKey,
        message: format!("{} is not a known key, the closest one is \"{}\"", key.path, key.closest),
        place: source.place_of(key.span),
    }
}
