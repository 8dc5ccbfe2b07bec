//! Texts put together.

use std::borrow::Borrow;

pub trait Joined: Iterator<Item: Borrow<str>> + Sized {
    /// All texts, with this between them.
    fn joined(self, between: &str) -> String {
        self.collect::<Vec<_>>().join(between)
    }
}

impl<I: Iterator<Item: Borrow<str>>> Joined for I {}
