//! Ctrl-C, SIGTERM and SIGHUP: the first stops the run gently, the second ends the process at once.

use std::fs;
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
    // Whoever started the process with `nohup` wants it to go on.
    if !ignores_hangup() {
        signals.add_signal(SIGHUP)?;
    }
    let cancellation = cancellation.clone();
    thread::Builder::new().name("signals".into()).spawn(move || {
        let (mut seen, mut hung_up) = (0, false);
        // The system and the shell both tell of one terminal that was closed.
        let mut counts = |signal: &i32| *signal != SIGHUP || !std::mem::replace(&mut hung_up, true);
        loop {
            seen += signals.pending().filter(&mut counts).count();
            match seen {
                0 => {
                    // Blocks until the first signal.
                    seen += signals.forever().take(1).filter(&mut counts).count();
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

/// Whether the process was started with SIGHUP ignored; to take the signal would undo that.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}
