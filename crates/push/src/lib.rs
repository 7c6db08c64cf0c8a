//! Delivers the events of a target to its sink: claims them, calls `push`, and notes what became of each (chapter 04
//! §5, §6).
//!
//! Boundary: knows events, rows and a lib function; not models, not how changes are found, not the lake. It reads no
//! environment variable and prints nothing.

mod backoff;
mod batch;
mod change;
mod chunk;
mod delivery;
mod fold;
mod job;
mod json;
mod lane;
mod preview;
mod report;
mod rows;
mod values;

pub use change::Row;
pub use delivery::{Delivery, DeliveryError, Images, Sink};
pub use preview::{Preview, SentBatch, sent_row, shown_arguments};
pub use report::{BatchCounts, BatchReport, Report};
