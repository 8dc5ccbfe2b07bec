//! The counts gate: counts kept in a file, and what grew since.

mod gauge;
mod growth;
mod kept;
mod matching;

pub use gauge::{CountAllowance, CountAllowances, CountGauge, GAUGES};
pub use growth::{CountGrowth, EditedLine, GrowthPlace, growths};
pub use kept::KeptCounts;
