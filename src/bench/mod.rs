//! What commands that measure share: checks before anything runs, the device, the pace, and the verdict.

mod cases;
mod executor;
mod jobs;
pub(crate) mod judge;
pub(crate) mod simulate;
pub(crate) mod tuning;
mod verdict;

pub(crate) use cases::{
    Input, WORK_GROUP, case, check_dtype, check_files, check_sources, dtype, gib, own_settings, shape, single_settings,
};
pub(crate) use executor::{LOOK, PART_OF_RECORD, announce, is_part_of_record, open, open_within};
pub(crate) use jobs::{Jobs, go_on};
pub(crate) use verdict::{gone_wrong, stopped, worst, worst_named};
