//! Opens a browser where there is one. Whether it works shows itself: the URL is printed in any case.

use std::process::{Command, Stdio};

use project::Environment;

/// Tries to open a URL.
pub(super) fn open(url: &str, environment: &Environment) {
    let set = |name: &str| environment.get(name).filter(|value| !value.trim().is_empty());
    let has_screen = set("DISPLAY").or(set("WAYLAND_DISPLAY")).is_some() || cfg!(target_os = "macos");
    let program = match set("BROWSER") {
        // Several stand there with colons between them.
        Some(browsers) => browsers.split(':').next().unwrap_or_default(),
        None if cfg!(target_os = "macos") => "open",
        None if has_screen => "xdg-open",
        None => return,
    };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A failure is harmless, and what it becomes is not waited for: it may last as long as the browser.
    let _ = command.spawn();
}
