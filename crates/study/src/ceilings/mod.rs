//! Ceilings: what a device does at best, which quantities that is, how they are searched for, and where they are kept.
//!
//! A quantity is a number of spaces of shapes, each of one probe; the ceiling is the best rate over all of them of a
//! result that was right.

mod kept;
mod limits;
mod measure;
mod quantity;
mod row;

pub use kept::{Kept, cached, check_writable, folder};
pub use limits::{LimitNeeded, Limits, bounded, gone_wrong, is_bounded, is_in_cache, probe_name};
pub use measure::{Effort, measure};
pub use quantity::{
    ATOMIC, Axis, CROWD, CROWD_GROUPS, DIVISION, FOUR, LOAD, ProbeSpace, Quantity, Rate, SUM, Site,
    VECTORS, WORDS, bounding, for_model, quantities,
};
pub use row::CeilingRow;
