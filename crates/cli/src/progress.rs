//! A progress bar on stderr for work over a second, erased at the end.

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ui::Ui;

/// Work that is shorter shows nothing.
const DELAY: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(120);

/// Progress over a number of models.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Dropping it ends the thread that waits to show the bar.
    _show: Option<Sender<()>>,
}

impl Progress {
    pub(crate) fn new(ui: &Ui, models: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(models as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} {wide_msg} {elapsed}") {
            bar.set_style(style);
        }
        let show = ui.has_error_color().then(|| {
            let (sender, receiver) = channel::<()>();
            let shown = bar.clone();
            thread::spawn(move || {
                if receiver.recv_timeout(DELAY) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                    shown.enable_steady_tick(REDRAW);
                }
            });
            sender
        });
        Self { bar, _show: show }
    }

    pub(crate) fn begin(&self, what: String) {
        self.bar.set_message(what);
    }

    pub(crate) fn advance(&self) {
        self.bar.inc(1);
    }

    /// Runs `print` with the bar out of the way.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
