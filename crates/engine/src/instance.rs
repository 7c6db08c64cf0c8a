//! Bringing up an instance of the engine: settings, pinned extensions, a folder of its own to spill to.

use std::path::PathBuf;
use std::sync::Arc;

use crate::{Connection, Database, EngineError, ExtensionSearch, Pins, SpillFolder};

/// What an instance needs from outside.
#[derive(Clone)]
pub struct EngineOptions {
    /// Where extensions may be.
    pub extensions: ExtensionSearch,
    /// Folder for files that the engine spills to; each instance makes one below it, and removes it at its end.
    pub temp_root: PathBuf,
}

/// A connection to an instance of its own.
pub struct Instance {
    /// The connection.
    pub connection: Connection,
    /// Goes after the connection: the folder must outlive what spills into it.
    pub spill: SpillFolder,
}

impl EngineOptions {
    /// Opens an instance with the pinned extensions `names` loaded; any other is loaded only if it is signed.
    pub fn open(&self, names: &[&str]) -> Result<Instance, EngineError> {
        self.open_with(names, &[])
    }

    /// The same without the network: those of `names` that are nowhere on this machine are left out, and no function is
    /// looked for elsewhere.
    pub fn open_offline(&self, names: &[&str]) -> Result<Instance, EngineError> {
        let pins = Pins::read();
        let present: Vec<&str> = names.iter().copied().filter(|name| self.extensions.holds(name, &pins)).collect();
        self.open_with(&present, &[("autoinstall_known_extensions", "false"), ("autoload_known_extensions", "false")])
    }

    fn open_with(&self, names: &[&str], more: &[(&str, &str)]) -> Result<Instance, EngineError> {
        let pins = Pins::read();
        pins.check_library()?;
        let spill = SpillFolder::new(&self.temp_root)?;
        let path = spill.path().display().to_string();
        // Unsigned extensions are allowed only until the pinned ones are loaded; `load` ends it.
        let mut settings = vec![("allow_unsigned_extensions", "true"), ("temp_directory", path.as_str())];
        settings.extend_from_slice(more);
        let folder = self.extensions.engine_folder().map(|folder| folder.display().to_string());
        settings.extend(folder.as_deref().map(|folder| ("extension_directory", folder)));
        let connection = std::thread::scope(|scope| {
            let checking = self.extensions.check(scope, names, &pins);
            let connection = Arc::new(Database::open(&settings)?).connect()?;
            checking.load(&connection)?;
            Ok::<_, EngineError>(connection)
        })?;
        Ok(Instance { connection, spill })
    }
}
