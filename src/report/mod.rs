//! Rows made into text. Nothing here measures, prints or touches a file; only [`progress`] draws.
//!
//! Every renderer takes `&[Row]` or `&[Point]`, so that a run and its recorded rows read the same.

pub mod ceilings;
pub mod experiment;
pub mod format;
pub mod ladder;
pub mod markdown;
pub mod progress;
pub mod sweep;
pub mod timeline;
mod view;

pub use view::Unit;
