//! Markdown documents with blocks that commands fill, and figures from recorded cells.

mod allowed;
mod block;
mod document;

pub(crate) use block::{Filled, PlannedBlock, check_outputs, planned};
pub(crate) use document::Document;
