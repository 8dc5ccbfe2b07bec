//! Recorded results as commands find and show them: files, records that come with gpulab, and texts and pictures of both.

mod compared;
mod files;
mod picture;
mod shipped;
mod style;

pub(crate) use compared::runs_of;
pub(crate) use files::{
    AskedRecords, add_kept, asked, ceilings_of, is_path, kept_of, limits, material, named, of_device, read, records,
};
pub(crate) use picture::{check_picture, finished, rendered};
pub(crate) use shipped::{contents, overview};
pub(crate) use style::{Reasons, ShowingStyle};
