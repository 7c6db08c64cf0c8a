//! Values on their whole way: from a script, through carriers and SQL, into a real engine.
#![allow(clippy::unwrap_used)]

mod checks;
mod dates;
mod lab;
mod nested;
mod numbers;
mod oracle;
mod rows;
mod speed;
mod texts;
