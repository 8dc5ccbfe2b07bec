//! Rows made into text. Nothing here measures, prints or touches a file; only [`progress`] draws.
//!
//! Every renderer takes `&[Row]` or `&[Point]`, so that a run and its recorded rows read the same.

pub mod against;
pub mod alone;
pub mod asm;
pub mod ceilings;
pub mod check;
pub mod columns;
pub mod compare;
pub mod count;
pub mod count_gate;
pub mod devices;
pub mod dictionary;
pub mod diff;
pub mod drawing;
pub mod elsewhere;
pub mod exercise;
pub mod experiment;
pub mod explain;
pub mod film;
pub mod format;
pub mod glossary;
pub mod groups;
pub mod hint;
pub mod judged;
pub mod ladder;
pub mod landing;
pub mod list;
pub mod markdown;
pub mod moment;
pub mod page;
pub mod payoff;
pub mod peers;
pub mod picture;
pub mod printed;
pub mod program;
pub mod progress;
pub mod rates;
pub mod rungs;
mod screen;
pub mod shown;
pub mod source;
pub mod sources;
pub mod sweep;
mod table;
pub mod tune;
pub mod verdict;
mod view;
pub mod why;
pub mod wrap;

pub use view::RateUnit;

/// Rendered texts against those in `tests/golden`.
#[cfg(test)]
mod golden {
    use super::format::Screen;

    /// A terminal of the usual width.
    pub(super) const SCREEN: Screen = Screen {
        width: 80,
        unicode: true,
        color: false,
    };

    pub(super) fn compare(name: &str, text: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../../../tests/golden");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, text));
    }

    /// A screen at 80, 100 and 160 columns, and at 80 without UTF-8, one below the other. No line is wider than its terminal,
    /// and one without UTF-8 has ASCII alone.
    pub(super) fn at_all_widths(name: &str, render: &dyn Fn(Screen) -> String) -> String {
        let screens = [80, 100, 160].map(|width| Screen { width, ..SCREEN });
        let ascii = Screen {
            unicode: false,
            ..SCREEN
        };
        let mut all = String::new();
        for screen in screens.into_iter().chain([ascii]) {
            let text = render(screen);
            for line in text.lines() {
                assert!(
                    line.chars().count() <= screen.width,
                    "{name}, {screen:?}: {line}"
                );
                assert!(screen.unicode || line.is_ascii(), "{name}: {line}");
                assert_eq!(line.trim_end(), line, "{name}, {screen:?}");
            }
            let kind = if screen.unicode { "" } else { ", ASCII" };
            all.push_str(&format!("===== {} columns{kind}\n{text}", screen.width));
        }
        all
    }
}
