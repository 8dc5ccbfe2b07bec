//! Records of a device: the commands that make one, their run, and the files that say what was done.

mod journal;
mod lock;
mod run;
mod sheet;
mod steps;
mod text;

pub(crate) use journal::Journal;
pub(crate) use lock::FolderLock;
pub(crate) use run::{Recording, begin};
pub(crate) use steps::{Thoroughness, UNFINISHED, steps};
pub(crate) use text::{ABOUT, command, folder_name, proposal, summary, worst};
