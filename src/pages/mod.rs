//! Pages of recorded results: what they are made from, and galleries of them.

mod films;
mod gallery;
mod inputs;

pub(crate) use films::films_beside;
pub(crate) use gallery::{is_folder, write as write_gallery};
pub(crate) use inputs::{folders, inputs};
