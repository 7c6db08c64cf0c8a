//! The lake of who only looks: where the catalog is a file that is not there yet, an empty lake in a folder of its own stands
//! in for it, so that looking makes nothing.

use std::path::Path;

use engine::{EngineOptions, SpillFolder};
use project::ConfigFiles;

use crate::sandbox::standing_in;
use crate::{MissingCatalog, RunError, Session, missing_catalog};

/// An empty lake, gone with the session.
pub(crate) struct StandIn {
    missing: MissingCatalog,
    _folder: SpillFolder,
}

impl Session {
    /// Opens the lake to look at it. One whose catalog is missing is not made; it looks like one that nothing has run in.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn look(config: ConfigFiles, options: &EngineOptions) -> Result<Self, RunError> {
        if missing_catalog(&config).is_none() {
            return Self::open(&config, options);
        }
        let folder = SpillFolder::new(&options.temp_root)?;
        let Some((missing, catalog)) = standing_in(&config, folder.path()) else { return Self::open(&config, options) };
        let mut session = Self::open(&ConfigFiles { catalog, ..config }, options)?;
        session.stand_in = Some(StandIn { missing, _folder: folder });
        Ok(session)
    }

    /// The catalog that another one stands in for, as it is not there.
    pub fn missing_catalog(&self) -> Option<&MissingCatalog> {
        self.stand_in.as_ref().map(|stand_in| &stand_in.missing)
    }
}

impl MissingCatalog {
    /// What it means, for people: nothing has run, or the catalog of a lake was lost.
    pub fn told(&self) -> String {
        let shown = |path: &Path| path.display().to_string();
        match &self.left_behind {
            None => format!("there is no lake yet ({}): the first `ondatrasql run` makes it", shown(&self.file)),
            Some(folder) => format!(
                "the lake's catalog {} is not there, and {} holds files of a lake: bring it back from a backup before \
                 anything runs",
                shown(&self.file),
                shown(folder)
            ),
        }
    }
}
