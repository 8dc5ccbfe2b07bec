//! Recorded results as commands read them: their files, the rows that `--where` picks, and what points mean.

mod files;
mod filter;
mod study;

pub(crate) use files::{
    AskedRecords, Material, ShownContent, ShownFile, add_kept, asked, ceilings_of, is_path, material, named, of_device,
    records, take_apart,
};
pub(crate) use filter::filtered;
pub(crate) use study::PointStudy;
