//! The looks of pictures: one style sheet of classes, light and dark.
//!
//! Series have the colours of Okabe and Ito ("Color Universal Design", 2008), which readers of any colour vision tell apart,
//! lightened on dark paper; shares have steps of one blue.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// As the reader's system asks.
    // Light where nothing asks, and in print.
    #[default]
    Auto,
    /// White.
    Light,
    /// Black.
    Dark,
}

/// Colours that series have before they begin again.
pub(super) const SERIES: usize = 7;

/// Steps of shares, the best first.
pub(super) const STEPS: usize = 5;

struct Palette {
    paper: &'static str,
    ink: &'static str,
    dim: &'static str,
    grid: &'static str,
    axis: &'static str,
    /// Bars that are not the ones to look at.
    plain: &'static str,
    host: &'static str,
    series: [&'static str; SERIES],
    /// Of shares: the area's colour, and that of text upon it.
    steps: [(&'static str, &'static str); STEPS],
}

const LIGHT: Palette = Palette {
    paper: "#ffffff",
    ink: "#1b1f24",
    dim: "#57606a",
    grid: "#dfe3e8",
    axis: "#8c959f",
    plain: "#8fbbd9",
    host: "#b9a37c",
    series: ["#0072b2", "#d55e00", "#009e73", "#b2548d", "#b87d00", "#3a96cc", "#1b1f24"],
    steps: [
        ("#08519c", "#ffffff"),
        ("#2a74ae", "#ffffff"),
        ("#8dc0e0", "#1b1f24"),
        ("#c9e0f1", "#1b1f24"),
        ("#eef3f8", "#1b1f24"),
    ],
};

const DARK: Palette = Palette {
    paper: "#14181d",
    ink: "#e6eaef",
    dim: "#a3adb8",
    grid: "#2b323a",
    axis: "#6b7682",
    plain: "#3f6a8a",
    host: "#7d6d4f",
    series: ["#56b4e9", "#f0793a", "#2fc49a", "#dd8fbd", "#e6a91e", "#8fd0f5", "#e6eaef"],
    steps: [
        ("#8ecbf2", "#14181d"),
        ("#4f9bcb", "#14181d"),
        ("#2f6d97", "#ffffff"),
        ("#234c69", "#e6eaef"),
        ("#1e2f3d", "#e6eaef"),
    ],
};

pub(crate) fn style(theme: Theme) -> String {
    match theme {
        Theme::Light => rules(&LIGHT),
        Theme::Dark => rules(&DARK),
        Theme::Auto => {
            format!("{}\n@media screen and (prefers-color-scheme: dark){{\n{}\n}}", rules(&LIGHT), rules(&DARK))
        }
    }
}

fn rules(paper: &Palette) -> String {
    let mut rules = vec![
        format!(".paper{{fill:{}}}", paper.paper),
        format!(".ink{{fill:{}}}", paper.ink),
        format!(".dim{{fill:{}}}", paper.dim),
        format!(".grid{{stroke:{};fill:none}}", paper.grid),
        format!(".axis{{stroke:{};fill:none}}", paper.axis),
        format!(".rim{{stroke:{};fill:none}}", paper.ink),
        format!(".ring{{stroke:{};fill:none}}", paper.series[1]),
        format!(".plain{{fill:{}}}", paper.plain),
        format!(".host{{fill:{}}}", paper.host),
        format!(".mute{{fill:{}}}", paper.axis),
        format!(".halo{{stroke:{};stroke-width:4;stroke-linejoin:round;paint-order:stroke}}", paper.paper),
    ];
    for (at, color) in paper.series.iter().enumerate() {
        rules.push(format!(".f{at}{{fill:{color}}}.s{at}{{stroke:{color};fill:none}}"));
    }
    for (at, (fill, text)) in paper.steps.iter().enumerate() {
        rules.push(format!(".p{at}{{fill:{fill}}}.t{at}{{fill:{text}}}"));
    }
    rules.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as WCAG 2.1 defines it.
    fn luminance(color: &str) -> f64 {
        let part = |at: usize| f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
        let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let a = luminance(a);
        let b = luminance(b);
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_lines_stand_out_from_their_ground_as_wcag_asks() {
        for paper in [LIGHT, DARK] {
            assert!(contrast(paper.ink, paper.paper) >= 7.0 && contrast(paper.dim, paper.paper) >= 4.5);
            for color in paper.series {
                assert!(contrast(color, paper.paper) >= 3.0, "{color}: {}", contrast(color, paper.paper));
            }
            for (fill, text) in paper.steps {
                assert!(contrast(fill, text) >= 4.5, "{text} on {fill}: {}", contrast(fill, text));
            }
        }
    }

    #[test]
    fn a_dark_screen_asks_and_print_does_not() {
        let auto = style(Theme::Auto);
        assert!(auto.starts_with(&style(Theme::Light)) && auto.contains(&style(Theme::Dark)));
        assert!(auto.contains("@media screen and (prefers-color-scheme: dark)"));
    }
}
