//! Ctrl-C, SIGTERM and a terminal that is closed: the first stops the run gently, the second ends the process at once.

use std::thread;
use std::time::Duration;

use runtime::Cancellation;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Pause between two interrupts: a statement may have begun just after the one before.
const REPEAT: Duration = Duration::from_millis(100);

/// Connects the process's signals with a run.
pub(crate) fn cancel_on_signal(cancellation: &Cancellation) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    if !outlives_terminal() {
        signals.add_signal(SIGHUP)?;
    }
    let cancellation = cancellation.clone();
    thread::Builder::new().name("signals".into()).spawn(move || {
        let mut seen = 0;
        loop {
            seen += signals.pending().count();
            match seen {
                0 => {
                    // Blocks until the first signal.
                    seen += usize::from(signals.forever().next().is_some());
                }
                1 => cancellation.cancel(),
                _ => signal_hook::low_level::exit(1),
            }
            if seen > 0 {
                thread::sleep(REPEAT);
            }
        }
    })?;
    Ok(())
}

/// Whether the process was started to go on when its terminal is closed (`nohup`): it ignores that signal then. `/proc`
/// shows the signals that are ignored as a mask, the first in its lowest bit.
fn outlives_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}
