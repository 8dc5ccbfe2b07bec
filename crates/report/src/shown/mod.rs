//! Recorded results put together for tables, pictures and pages: what files hold, which of it is meant, and what it comes to.

pub mod choice;
mod content;
mod filter;
pub mod reasons;
mod study;
pub mod tables;

pub use content::{Material, ShownContent, ShownFile, mark_cached, only, take_apart};
pub use filter::filtered;
pub use study::PointStudy;
