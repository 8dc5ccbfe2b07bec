//! The words that all of gpulab shares: data, plans, outcomes, rules of right and statistics. No OpenCL, no files.
//!
//! - [`data`] is element types, arrays and seeded test data.
//! - [`plan`] is cases, plans, launches, commands and targets.
//! - [`outcome`] is how to measure a case, who runs it, and what came of it; what devices say of themselves.
//! - [`check`] gives verdicts on results, [`stats`] summaries of times.
//! - [`error`] is what ends a command: a message and an exit code. [`suggest`] finds what a misspelt word may have meant.
//! - [`Joined`] puts texts together; [`named_enum`] declares enums whose variants have names.

pub mod check;
pub mod data;
pub mod error;
mod named;
pub mod outcome;
pub mod plan;
pub mod stats;
pub mod suggest;

pub use error::{Error, Result, usage_error};

pub trait Joined: Iterator<Item: std::borrow::Borrow<str>> + Sized {
    /// All texts, with this between them.
    fn joined(self, between: &str) -> String {
        self.collect::<Vec<_>>().join(between)
    }
}

impl<I: Iterator<Item: std::borrow::Borrow<str>>> Joined for I {}

/// Whether a text contains one of several parts, between which are blanks.
pub fn has_part(text: &str, parts: &str) -> bool {
    parts.split(' ').any(|part| text.contains(part))
}

/// Whether a word is one of several, which blanks part.
pub fn is_among(word: &str, words: &str) -> bool {
    words.split(' ').any(|known| known == word)
}
