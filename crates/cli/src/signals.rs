//! Ctrl-C and SIGTERM: the first stops the run gently, the second ends the process at once.

use std::thread;
use std::time::Duration;

use runtime::Cancellation;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Pause between two interrupts: a statement may have begun just after the one before.
const REPEAT: Duration = Duration::from_millis(100);

/// Connects the process's signals with a run.
pub(crate) fn cancel_on_signal(cancellation: &Cancellation) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
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
