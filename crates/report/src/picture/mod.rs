//! Pictures drawn from rows and points, as SVG. A file for each kind of chart; `sheet` is what they are drawn on, `scale` has
//! their axes.

mod cells;
mod ladder;
mod lines;
pub(super) mod number;
mod roofline;
pub(super) mod scale;
pub(super) mod sheet;

pub use cells::of_grids;
pub use ladder::{ladder, waterfall};
pub use lines::{experiment, size, sweep};
pub use roofline::roofline;
pub use sheet::Picture;

#[cfg(test)]
mod tests;

/// A picture, or why it cannot be drawn from these records.
pub type Drawn = Result<Picture, String>;
