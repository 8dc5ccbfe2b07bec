//! A sheet to draw on: text, lines and areas as SVG elements, each of a class of the style sheet, light and dark.
//!
//! Elements are markup by construction: a text or a name of any kind becomes text, never an element.

use crate::format;
use gpulab_model::Joined;
use maud::{Markup, PreEscaped, html};

/// Units across a sheet. Narrow, so that its letters can be read on a telephone.
pub const WIDTH: f64 = 480.0;

/// Units of the margin around all of it.
pub const MARGIN: f64 = 10.0;

pub const TITLE: f64 = 16.0;
pub const BODY: f64 = 12.5;
pub const SMALL: f64 = 11.5;

/// Colours that series have before they begin again.
pub const SERIES: usize = 7;

/// Rules with the colour that stands for `$` on light paper and on dark one. Series have the colours of Okabe and Ito ("Color
/// Universal Design", 2008), which readers of any colour vision tell apart, lightened on dark paper.
const RULES: [(&str, &str, &str); 17] = [
    (
        ".paper{fill:$}.halo{stroke:$;stroke-width:4;stroke-linejoin:round;paint-order:stroke}",
        "#ffffff",
        "#14181d",
    ),
    (".ink{fill:$}.rim{stroke:$;fill:none}", "#1b1f24", "#e6eaef"),
    (".dim{fill:$}", "#57606a", "#a3adb8"),
    (".grid{stroke:$;fill:none}", "#dfe3e8", "#2b323a"),
    (
        ".axis{stroke:$;fill:none}.mute{fill:$}",
        "#8c959f",
        "#6b7682",
    ),
    (".plain{fill:$}", "#8fbbd9", "#3f6a8a"),
    (".host{fill:$}", "#b9a37c", "#7d6d4f"),
    (".f0{fill:$}.s0{stroke:$;fill:none}", "#0072b2", "#56b4e9"),
    (".f1{fill:$}.s1{stroke:$;fill:none}", "#d55e00", "#f0793a"),
    (".f2{fill:$}.s2{stroke:$;fill:none}", "#009e73", "#2fc49a"),
    (".f3{fill:$}.s3{stroke:$;fill:none}", "#b2548d", "#dd8fbd"),
    (".f4{fill:$}.s4{stroke:$;fill:none}", "#b87d00", "#e6a91e"),
    (".f5{fill:$}.s5{stroke:$;fill:none}", "#3a96cc", "#8fd0f5"),
    (".f6{fill:$}.s6{stroke:$;fill:none}", "#1b1f24", "#e6eaef"),
    // Words that are asked for, the text upon them, and words that are moved for nobody.
    (".p1{fill:$}", "#2a74ae", "#4f9bcb"),
    (".t1{fill:$}", "#ffffff", "#14181d"),
    (".p3{fill:$}", "#c9e0f1", "#234c69"),
];

/// The style sheet of pictures: light where nothing asks, and in print.
pub fn style() -> String {
    let light = RULES
        .iter()
        .map(|(rule, light, _)| rule.replace('$', light))
        .joined("\n");
    let dark = RULES
        .iter()
        .map(|(rule, _, dark)| rule.replace('$', dark))
        .joined("\n");
    format!("{light}\n@media screen and (prefers-color-scheme: dark){{\n{dark}\n}}")
}

/// The width of a line of text whose letters are `size` units high, at most: browsers take a sans-serif font of their own, and
/// few of them have wider letters.
pub fn width(text: &str, size: f64) -> f64 {
    let shares = text.chars().map(|c| match c {
        'i' | 'j' | 'l' | '\'' => 0.3,
        ' ' | '.' | ',' | ':' | ';' | '!' | '|' | 'f' | 'r' | 't' | 'I' | '/' | '(' | ')' | '-'
        | '\u{202f}' | '·' => 0.42,
        'm' | 'M' | 'W' | '%' | '@' => 1.0,
        '<' | '>' | '=' | '+' | '#' | '&' | '×' | '−' | 'w' | 'A'..='Z' => 0.84,
        c if c.is_ascii() => 0.64,
        'µ' | '–' | '²' | '⁻' | '⁰'..='⁹' | '¹' | '³' => 0.65,
        _ => 1.0,
    });
    size * shares.sum::<f64>()
}

/// Text of at most this width, an ellipsis in place of what was cut off.
pub fn fitted(text: &str, size: f64, most: f64) -> String {
    let mut kept = text.to_owned();
    while width(&kept, size) > most && !kept.is_empty() {
        kept.truncate(kept.trim_end_matches('…').len());
        kept.pop();
        kept.push('…');
        if kept == "…" {
            break;
        }
    }
    kept
}

pub fn widest<'a>(texts: impl IntoIterator<Item = &'a String>, size: f64) -> f64 {
    texts
        .into_iter()
        .map(|text| width(text, size))
        .fold(0.0, f64::max)
}

/// How a text looks: its height, which part of it lies at its place (`start`, `middle` or `end`), and its class.
pub type Lettering = (f64, &'static str, &'static str);

/// What most texts look like: of the names of lines, of figures behind them, and of notes.
pub const NAME: Lettering = (BODY, "start", "ink");
pub const FIGURE: Lettering = (BODY, "end", "ink");
pub const NOTE: Lettering = (SMALL, "start", "dim");

/// A place or length with two digits behind the point at most, and never what is no number.
fn units(value: f64) -> f64 {
    let hundredths = if value.is_finite() {
        (100.0 * value).round()
    } else {
        0.0
    };
    // Adding nought makes -0 of it 0.
    hundredths / 100.0 + 0.0
}

#[derive(Clone, Copy)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    pub fn new(left: f64, top: f64, right: f64, bottom: f64) -> Area {
        Area {
            left,
            top,
            right,
            bottom,
        }
    }
}

pub struct Sheet {
    marks: Vec<Markup>,
    /// Where the next part begins.
    pub y: f64,
}

impl Sheet {
    /// An empty sheet with its heading: what the reader learns, in letters of this class, and of what.
    pub fn titled(title: &str, class: &'static str, subtitle: &str) -> Sheet {
        let mut sheet = Sheet {
            marks: Vec::new(),
            y: MARGIN,
        };
        sheet.lines(title, (TITLE, "start", class), MARGIN);
        sheet.lines(subtitle, NOTE, MARGIN);
        sheet.y += 6.0;
        sheet
    }

    /// Writes a text from the current place on in lines, and moves the place below it.
    pub fn lines(&mut self, text: &str, look: Lettering, x: f64) {
        let mut lines: Vec<String> = Vec::new();
        for word in unbroken(text)
            .split([' ', '\n', '\t'])
            .filter(|word| !word.is_empty())
        {
            match lines.last_mut() {
                Some(line)
                    if width(line, look.0) + width(word, look.0) + look.0 / 2.0
                        <= WIDTH - MARGIN - x =>
                {
                    *line += " ";
                    *line += word;
                }
                _ => lines.push(fitted(word, look.0, WIDTH - MARGIN - x)),
            }
        }
        for line in lines {
            self.y += look.0 * 1.3;
            self.text(x, self.y - 0.3 * look.0, look, &line);
        }
    }

    /// Writes a line of text; `y` is that of the line that letters stand on.
    pub fn text(&mut self, x: f64, y: f64, (size, anchor, class): Lettering, text: &str) {
        self.marks.push(html! {
            text x=(units(x)) y=(units(y)) font-size=(units(size)) text-anchor=(anchor) class=(class) {
                (format::terminal(text))
            }
        });
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str, width: f64) {
        self.path(&[from, to], class, width, None);
    }

    /// Fills an area, which tells more when it is pointed at.
    pub fn fill(&mut self, area: Area, class: &str, tip: &str) {
        let width = (area.right - area.left).max(0.0);
        let height = (area.bottom - area.top).max(0.0);
        self.marks.push(html! {
            rect x=(units(area.left)) y=(units(area.top)) width=(units(width)) height=(units(height)) class=(class) { (told(tip)) }
        });
    }

    /// Draws a line through all of these places, of dashes if these are given.
    pub fn path(&mut self, places: &[(f64, f64)], class: &str, width: f64, dashes: Option<&str>) {
        self.marks.push(html! {
            polyline points=(points(places)) class=(class) stroke-width=(units(width)) stroke-linejoin="round"
                stroke-dasharray=[dashes] {}
        });
    }

    /// Fills the area that these places go around, so that what lies behind it shows.
    pub fn band(&mut self, places: &[(f64, f64)], class: &str) {
        self.marks
            .push(html! { polygon points=(points(places)) class=(class) fill-opacity="0.2" {} });
    }

    /// Draws the sign of a series, which tells more when it is pointed at.
    pub fn dot(&mut self, (x, y): (f64, f64), series: usize, tip: &str) {
        const R: f64 = 3.4;
        let class = format!("f{}", series % SERIES);
        let corners: &[(f64, f64)] = match series % 5 {
            0 => &[],
            1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            2 => &[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)],
            3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            _ => &[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)],
        };
        let places: Vec<(f64, f64)> = corners
            .iter()
            .map(|corner| (x + R * corner.0, y + R * corner.1))
            .collect();
        self.marks.push(match places.is_empty() {
            true => html! { circle cx=(units(x)) cy=(units(y)) r=(units(R)) class=(class) { (told(tip)) } },
            false => html! { polygon points=(points(&places)) class=(class) { (told(tip)) } },
        });
    }

    /// Draws the sign and the name of each series, from left to right in as many lines as that takes.
    pub fn key(&mut self, names: &[String]) {
        let mut x = MARGIN;
        self.y += 20.0;
        for (series, name) in names.iter().enumerate() {
            let name = fitted(name, SMALL, WIDTH - 2.0 * MARGIN - 26.0);
            let wide = 26.0 + width(&name, SMALL);
            if x > MARGIN && x + wide > WIDTH - MARGIN {
                x = MARGIN;
                self.y += 16.0;
            }
            let y = self.y - 4.0;
            self.path(
                &[(x, y), (x + 18.0, y)],
                &format!("s{}", series % SERIES),
                2.0,
                dashes(series),
            );
            self.dot((x + 9.0, y), series, "");
            self.text(x + 23.0, self.y, (SMALL, "start", "ink"), &name);
            x += wide + 14.0;
        }
        self.y += 4.0;
    }

    /// The picture, with what it shows in words and the numbers that it was made from.
    pub fn done(
        self,
        title: &str,
        about: &str,
        head: &[&str],
        figures: Vec<Vec<String>>,
    ) -> Picture {
        Picture {
            title: format::terminal(title),
            about: format::terminal(about),
            height: self.y + MARGIN,
            marks: html! { @for mark in &self.marks { (mark) } },
            head: head.iter().map(|name| (*name).to_owned()).collect(),
            figures,
        }
    }
}

/// Series that have a colour twice differ by their dashes.
pub fn dashes(series: usize) -> Option<&'static str> {
    [None, Some("5 3"), Some("1.5 3"), Some("8 3 2 3")][(series / SERIES).min(3)]
}

/// The text for a reader, with no line's end before a sign of per cent.
fn unbroken(text: &str) -> String {
    format::terminal(text).replace(" %", "\u{a0}%")
}

fn points(places: &[(f64, f64)]) -> String {
    places
        .iter()
        .map(|(x, y)| html! { (units(*x)) "," (units(*y)) }.into_string())
        .joined(" ")
}

fn told(tip: &str) -> Markup {
    html! { @if !tip.is_empty() { title { (format::terminal(tip)) } } }
}

/// A picture that was drawn: markup, and what it shows in words and numbers.
#[derive(Clone, Debug)]
pub struct Picture {
    pub title: String,
    /// What it shows, for those who do not see it.
    pub about: String,
    height: f64,
    marks: Markup,
    /// The numbers below it: a heading for each column, and their rows.
    pub head: Vec<String>,
    pub figures: Vec<Vec<String>>,
}

impl Picture {
    /// A file of its own.
    pub fn svg(&self) -> String {
        let before =
            html! { style { (PreEscaped(style())) } rect .paper width="100%" height="100%" {} };
        self.element("picture", &before).into_string() + "\n"
    }

    /// An element, of a page that has the style; `id` begins the ids within.
    pub fn element(&self, id: &str, before: &Markup) -> Markup {
        let title = format!("{id}-title");
        let about = format!("{id}-about");
        let height = self.height.ceil();
        // A length and a half of a unit each, which slides and pages enlarge as they please.
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height:.0}")) width=(units(1.5 * WIDTH))
                height=(units(1.5 * height)) role="img" aria-labelledby=(format!("{title} {about}"))
                font-family="system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif" {
                title id=(title) { (self.title) }
                desc id=(about) { (self.about) }
                (before)
                (self.marks)
            }
        }
    }
}

/// Pictures that show by turns, four seconds each; the first alone where the reader wants nothing to move.
pub fn by_turns(all: &[Picture]) -> Picture {
    const SECONDS: usize = 4;
    let count = all.len().max(1);
    let rules = format!(
        "@media (prefers-reduced-motion:no-preference){{.turn{{animation:turn {}s infinite step-end}}\
         @keyframes turn{{0%{{opacity:1}}{}%{{opacity:0}}}}}}\
         @media (prefers-reduced-motion:reduce){{.turn:not(.turn-0){{opacity:0}}}}",
        SECONDS * count,
        100 / count
    );
    Picture {
        title: all.iter().map(|one| one.title.as_str()).joined("; then "),
        about: all.iter().map(|one| one.about.as_str()).joined("; then "),
        height: all.iter().map(|one| one.height).fold(0.0, f64::max),
        marks: html! {
            style { (PreEscaped(rules)) }
            @for (at, one) in all.iter().enumerate() {
                g class=(format!("turn turn-{at}")) style=(format!("animation-delay:{}s{}", SECONDS * at, if at > 0 { ";opacity:0" } else { "" })) {
                    (one.marks)
                }
            }
        },
        head: Vec::new(),
        figures: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as WCAG 2.1 defines it.
    fn luminance(color: &str) -> f64 {
        let part =
            |at: usize| f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
        let linear = |c: f64| {
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
    }

    #[test]
    fn text_and_lines_stand_out_from_their_ground_as_wcag_asks() {
        let contrast = |a: &str, b: &str| {
            let (a, b) = (luminance(a), luminance(b));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        let least = |rule: &str| match rule {
            rule if rule.starts_with(".ink") => 7.0,
            rule if rule.starts_with(".dim") => 4.5,
            rule if rule.starts_with(".f") => 3.0,
            _ => 0.0,
        };
        for (rule, light, dark) in RULES {
            assert!(contrast(light, RULES[0].1) >= least(rule), "{rule}");
            assert!(contrast(dark, RULES[0].2) >= least(rule), "{rule}");
        }
    }
}
