//! Rows made into text. Nothing here measures, prints or touches a file; only [`progress`] and [`live`] draw.
//!
//! Every renderer takes `&[Row]` or `&[Point]`, so that a run and its recorded rows read the same.

pub mod ceilings;
pub mod chapter;
pub mod columns;
pub mod doing;
pub mod experiment;
pub mod format;
pub mod ladder;
mod launching;
pub mod live;
pub mod markdown;
pub mod occupancy;
pub mod progress;
pub mod rates;
pub mod source;
pub mod sources;
pub mod sweep;
pub mod timeline;
mod view;
pub mod wrap;

pub use view::RateUnit;

/// Compares a rendered text with the one of this name in `tests/golden`.
#[cfg(test)]
fn golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../tests/golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
