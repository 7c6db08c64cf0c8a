//! Who holds something: one running process.

use std::fmt;
use std::fs;

use crate::StateError;

/// A worker's name: host, process, boot and a random part, so that no two processes ever have the same, not
/// even after the machine's process ids begin again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId(String);

impl WorkerId {
    /// The name of this process; a new one at each call.
    pub fn of_this_process() -> Result<Self, StateError> {
        let word = |path: &str, length: usize| {
            let text = fs::read_to_string(path).unwrap_or_default();
            let word: String = text.trim().chars().filter(|c| c.is_ascii_graphic() && *c != ':').take(length).collect();
            if word.is_empty() { "unknown".to_owned() } else { word }
        };
        let host = word("/proc/sys/kernel/hostname", 64);
        let boot = word("/proc/sys/kernel/random/boot_id", 8);
        Ok(Self(format!("{host}:{}:{boot}:{}", std::process::id(), random_hex::<4>().map_err(no_random_bytes)?)))
    }

    /// The name as it stands in the state.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for WorkerId {
    fn from(name: String) -> Self {
        Self(name)
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A new term: nobody can guess it, and none comes twice.
pub(crate) fn new_term() -> Result<String, StateError> {
    random_hex::<16>().map_err(no_random_bytes)
}

fn no_random_bytes(error: getrandom::Error) -> StateError {
    StateError::Write { message: format!("no random bytes: {error}") }
}

/// `N` random bytes as hex digits.
pub(crate) fn random_hex<const N: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(types::hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::WorkerId;

    #[test]
    fn a_name_has_four_parts_and_never_comes_again() {
        let (first, second) = (WorkerId::of_this_process().unwrap(), WorkerId::of_this_process().unwrap());
        assert_ne!(first, second);
        let parts: Vec<&str> = first.as_str().split(':').collect();
        assert_eq!((parts.len(), parts[1]), (4, std::process::id().to_string().as_str()));
    }
}
