//! Finds the project's root (chapter 01 §1.2).

use std::path::{Path, PathBuf};

use crate::ProjectError;

/// The nearest folder at or above `from` that holds `config/catalog.sql`; failing that, one with `config/`.
pub fn find_root(from: &Path) -> Result<PathBuf, ProjectError> {
    let nearest = |is_root: fn(&Path) -> bool| from.ancestors().find(|dir| is_root(dir));
    nearest(|dir| dir.join("config/catalog.sql").is_file())
        .or_else(|| nearest(|dir| dir.join("config").is_dir()))
        .map(Path::to_owned)
        .ok_or(ProjectError::NotInProject)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::find_root;

    #[test]
    fn a_catalog_wins_over_a_nearer_config_folder() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("models/config")).unwrap();
        assert!(find_root(root).is_err());
        assert_eq!(find_root(&root.join("models")).unwrap(), root.join("models"), "any config/ is better than none");
        fs::create_dir_all(root.join("config")).unwrap();
        fs::write(root.join("config/catalog.sql"), "").unwrap();
        assert_eq!(find_root(&root.join("models")).unwrap(), root);
    }
}
