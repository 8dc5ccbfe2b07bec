//! Recorded results as commands read and show them: their files, the rows that `--where` picks, what points mean; tables and
//! pictures of them.

mod compared;
mod files;
mod filter;
mod picture;
mod shipped;
mod study;
mod style;
mod tables;

pub(crate) use compared::{rows_of, split_names};
pub(crate) use files::{
    AskedRecords, Material, ShownContent, ShownFile, add_kept, asked, ceilings_of, is_path, material, named, of_device,
    records, take_apart,
};
pub(crate) use filter::filtered;
pub(crate) use picture::finished;
pub(crate) use shipped::{contents, overview};
pub(crate) use study::PointStudy;
pub(crate) use style::{Reasons, ShowingStyle};
