//! What changed in a table of the lake between two snapshots, as SQL, and how its rows were.
//!
//! Boundary: knows tables and snapshots, not models; runs inside a transaction that it is given.

mod columns;
mod delta;
mod error;
mod events;
mod history;
mod images;
mod layout;
mod narrow;
mod net;
mod raw;
mod row_key;
mod window;

pub use delta::{Delta, TempNames};
pub use error::FeedError;
pub use events::{EventMethod, EventSource, Events};
pub use history::{TableNow, table_at};
pub use images::{Image, ImageOf, Images, read_images};
pub use window::{Method, Window};
