//! Pictures drawn from rows and points: SVG, and pixels made of it. A file for each kind of chart; `sheet` is what they are
//! drawn on, `scale` which value lies where, `font` how wide texts are, `theme` the colours.

mod axes;
mod cells;
mod experiment;
mod font;
mod key;
mod ladder;
mod lines;
pub(super) mod number;
mod png;
mod prelude;
mod roofline;
mod scale;
mod sheet;
mod size;
mod strip;
mod sweep;
pub(super) mod theme;
mod timeline;
mod waterfall;

pub use cells::of_grids;
pub use experiment::{StudyText, experiment};
pub use ladder::ladder;
pub use png::{PNG_MARK, PNG_WIDTHS, png};
pub use roofline::roofline;
pub use sheet::{Figures, Picture};
pub use size::size;
pub use strip::strip;
pub use sweep::sweep;
pub use theme::Theme;
pub use timeline::{of_bars, overlap};
pub use waterfall::waterfall;

#[cfg(test)]
mod tests;

/// Why a picture cannot be drawn from these records.
pub type Drawn = Result<Picture, String>;
