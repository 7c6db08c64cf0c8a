//! Commit, branch and remote of the project's repository, read from its files.

use std::fs;
use std::path::{Path, PathBuf};

/// What of git goes into commit metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GitInfo {
    pub commit: Option<String>,
    pub branch: Option<String>,
    pub repo_url: Option<String>,
}

/// Reads the repository around `root`; outside of one everything is `None`.
pub(crate) fn git_info(root: &Path) -> GitInfo {
    let Some(dir) = root.ancestors().find_map(git_dir) else { return GitInfo::default() };
    let common =
        fs::read_to_string(dir.join("commondir")).map_or_else(|_| dir.clone(), |common| dir.join(common.trim()));
    let repo_url = fs::read_to_string(common.join("config")).ok().and_then(|config| origin_url(&config));
    let Ok(head) = fs::read_to_string(dir.join("HEAD")) else { return GitInfo { repo_url, ..GitInfo::default() } };
    match head.trim().strip_prefix("ref: ") {
        None => GitInfo { commit: hash(&head), branch: None, repo_url },
        Some(reference) => {
            let branch = reference.strip_prefix("refs/heads/").map(str::to_owned);
            let loose = fs::read_to_string(common.join(reference)).ok().and_then(|text| hash(&text));
            GitInfo { commit: loose.or_else(|| packed(&common, reference)), branch, repo_url }
        }
    }
}

/// `.git` is a folder, or in a worktree a file that names one.
fn git_dir(dir: &Path) -> Option<PathBuf> {
    let git = dir.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let link = fs::read_to_string(&git).ok()?;
    Some(dir.join(link.trim().strip_prefix("gitdir: ")?))
}

fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    (text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

fn packed(common: &Path, reference: &str) -> Option<String> {
    let refs = fs::read_to_string(common.join("packed-refs")).ok()?;
    refs.lines()
        .find_map(|line| line.split_once(' ').filter(|(_, name)| *name == reference).and_then(|(id, _)| hash(id)))
}

/// The URL of `origin`, without user, password and query.
fn origin_url(config: &str) -> Option<String> {
    let mut lines = config.lines().map(str::trim).skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let url = lines.by_ref().take_while(|line| !line.starts_with('[')).find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "url").then(|| value.trim().to_owned())
    })?;
    Some(match url.split_once("://") {
        Some((scheme, rest)) => {
            let rest = rest.split(['?', '#']).next().unwrap_or(rest);
            format!("{scheme}://{}", rest.rsplit_once('@').map_or(rest, |(_, host)| host))
        }
        None => url,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{GitInfo, git_info, origin_url};

    #[test]
    fn a_repository_above_the_project_is_read_without_credentials() {
        let dir = tempfile::tempdir().unwrap();
        let (git, project) = (dir.path().join(".git"), dir.path().join("a/b"));
        fs::create_dir_all(&git).unwrap();
        fs::create_dir_all(&project).unwrap();
        let id = "0123456789abcdef0123456789abcdef01234567";
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("packed-refs"), format!("# pack\n{id} refs/heads/main\n")).unwrap();
        fs::write(git.join("config"), "[core]\n[remote \"origin\"]\n\turl = https://me:pw@host/x.git?token=t\n")
            .unwrap();
        let info = git_info(&project);
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(info, GitInfo { commit: text(id), branch: text("main"), repo_url: text("https://host/x.git") });
    }

    #[test]
    fn outside_of_a_repository_nothing_is_known() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(git_info(dir.path()), GitInfo::default());
        assert_eq!(origin_url("[remote \"other\"]\nurl = x"), None);
        assert_eq!(origin_url("[remote \"origin\"]\nurl = git@host:x.git").as_deref(), Some("git@host:x.git"));
    }
}
