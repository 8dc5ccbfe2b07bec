//! Tuning: the search for a family's fastest configuration on a device, and the files that remember it.
//!
//! [`TuningSpace`] is what there is to try, [`search`] decides what is tried next, [`measure_candidate`] checks and times it,
//! [`Effect`] says what each parameter did, and [`TuningMemory`] keeps the best. [`replay()`] runs the search over recorded rows,
//! and [`kernel_tuner`] writes them for another tuner's tools.

mod candidate;
mod effects;
pub mod kernel_tuner;
mod memory;
mod replay;
mod space;
mod strategy;

pub use candidate::{FINALISTS, Finals, SLOWER, measure_candidate};
pub use effects::{Effect, EffectVerdict, beyond, effects, fastest, is_faster, least_of, settings_of, time_of};
pub use memory::{
    Remembered, SizeClass, TUNED_FOLDER, TunedEntry, TunedFile, TuningMemory, all_tuned, choices, source_hash,
};
pub use replay::{Replay, ReplayLine, SHARES, replay};
pub use space::TuningSpace;
pub use strategy::{Ended, Region, SMALL, Score, SearchResult, StopRule, Strategy, search};
