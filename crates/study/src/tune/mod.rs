//! Tuning: the search for a family's fastest configuration on a device, and the files that remember it.
//!
//! [`TuningSpace`] is what there is to try, [`search()`] decides what is tried next, [`effects`] say what each parameter did, and a
//! [`TunedFile`] keeps the best.

mod memory;
mod rows;
mod search;
mod space;

pub use memory::{Remembered, SizeClass, TunedEntry, TunedFile, choices, source_hash};
pub use rows::{Effect, effects, fastest, is_faster, least_of, time_of};
pub use search::{Ended, Halt, Region, Strategy, search};
pub use space::TuningSpace;
