//! A sheet to draw on: text, lines and areas as SVG elements, each of a class of the theme.
//!
//! Elements are markup by construction: a text or a name of any kind becomes text, never an element.

use super::font;
use super::theme::{self, Theme};
use crate::format;
use gpulab_system::text::Joined;
use maud::{Markup, PreEscaped, Render, html};
use std::fmt::Write as _;

/// Units across a sheet. Narrow, so that its letters can be read on a telephone.
pub(super) const WIDTH: f64 = 480.0;

/// Units of the margin around all of it.
pub(super) const MARGIN: f64 = 10.0;

/// Units of height from which on a picture is tall: two screens of a telephone.
const TALL: f64 = 900.0;

pub(super) const TITLE: f64 = 16.0;
pub(super) const BODY: f64 = 12.5;
pub(super) const SMALL: f64 = 11.5;

/// Which part of a text lies at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks: its height, which part of it lies at its place, and its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lettering {
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) class: &'static str,
}

impl Lettering {
    pub(super) const fn new(size: f64, anchor: Anchor, class: &'static str) -> Lettering {
        Lettering { size, anchor, class }
    }
}

/// A place or length in units, as text: two digits behind the point at most, and never what is no number.
struct Units(f64);

impl Render for Units {
    fn render_to(&self, buffer: &mut String) {
        let hundredths = if self.0.is_finite() { (100.0 * self.0).round() } else { 0.0 };
        // Writing to a String cannot fail; adding nought makes -0 of it 0.
        let _ = write!(buffer, "{}", hundredths / 100.0 + 0.0);
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    pub(super) fn new(left: f64, top: f64, right: f64, bottom: f64) -> Area {
        Area { left, top, right, bottom }
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn center(&self) -> f64 {
        (self.left + self.right) / 2.0
    }
}

/// The numbers below a picture: a heading for each column, and cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub legend: Option<String>,
}

impl Figures {
    pub(super) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Figures {
        Figures { head: head.into_iter().map(Into::into).collect(), ..Figures::default() }
    }
}

pub(super) struct Sheet {
    head: Vec<Markup>,
    /// What the head says: its lines, the title first, each with its class.
    said: Vec<(&'static str, String)>,
    /// Where what is below the head begins.
    below: f64,
    marks: Vec<Markup>,
    /// Where the next part begins.
    pub(super) y: f64,
}

impl Sheet {
    /// An empty sheet with its heading: what the reader learns, and of what.
    pub(super) fn titled(title: &str, subtitle: &str) -> Sheet {
        Sheet::headed(title, subtitle, "ink")
    }

    /// The same; `class` is the title's.
    pub(super) fn headed(title: &str, subtitle: &str, class: &'static str) -> Sheet {
        let mut sheet = Sheet { head: Vec::new(), said: Vec::new(), below: 0.0, marks: Vec::new(), y: MARGIN };
        sheet.say(title, TITLE, class);
        sheet.say(subtitle, SMALL, "dim");
        sheet.y += 6.0;
        sheet
    }

    pub(super) fn say_more(&mut self, text: &str) {
        self.say(text, SMALL, "dim");
    }

    fn say(&mut self, text: &str, size: f64, class: &'static str) {
        let drawn = std::mem::take(&mut self.marks);
        self.lines(text, Lettering::new(size, Anchor::Start, class), MARGIN, WIDTH - 2.0 * MARGIN);
        self.head.append(&mut self.marks);
        self.marks = drawn;
        self.said.push((class, unbroken(text)));
        self.below = self.y;
    }

    /// Writes a text from the current place on in lines of at most this width, and moves the place below it.
    pub(super) fn lines(&mut self, text: &str, look: Lettering, x: f64, most: f64) {
        for line in font::wrapped(&unbroken(text), look.size, most) {
            self.y += look.size * 1.3;
            self.text(x, self.y - 0.3 * look.size, look, &line);
        }
    }

    /// Writes a line of text; `y` is that of the line that letters stand on.
    pub(super) fn text(&mut self, x: f64, y: f64, look: Lettering, text: &str) {
        let anchor = match look.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = format::terminal(text);
        self.below = self.below.min(y - look.size);
        self.marks.push(html! {
            text x=(Units(x)) y=(Units(y)) font-size=(Units(look.size)) text-anchor=(anchor) class=(look.class) { (text) }
        });
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str, width: f64) {
        self.stroke((from, to), class, width, None);
    }

    pub(super) fn dashes(&mut self, from: (f64, f64), to: (f64, f64), class: &str, width: f64) {
        self.stroke((from, to), class, width, Some("4 3"));
    }

    fn stroke(&mut self, (from, to): ((f64, f64), (f64, f64)), class: &str, width: f64, dashes: Option<&str>) {
        self.marks.push(html! {
            line x1=(Units(from.0)) y1=(Units(from.1)) x2=(Units(to.0)) y2=(Units(to.1)) class=(class)
                stroke-width=(Units(width)) stroke-dasharray=[dashes] {}
        });
    }

    /// Fills an area, which tells more when it is pointed at.
    pub(super) fn fill(&mut self, area: Area, class: &str, tip: &str) {
        let width = area.width().max(0.0);
        let height = (area.bottom - area.top).max(0.0);
        self.marks.push(html! {
            rect x=(Units(area.left)) y=(Units(area.top)) width=(Units(width)) height=(Units(height)) class=(class) { (told(tip)) }
        });
    }

    pub(super) fn outline(&mut self, area: Area, class: &str, width: f64, round: f64) {
        self.marks.push(html! {
            rect x=(Units(area.left)) y=(Units(area.top)) width=(Units(area.width())) height=(Units(area.bottom - area.top))
                rx=(Units(round)) class=(class) stroke-width=(Units(width)) {}
        });
    }

    /// Draws a line through all of these places, of dashes if these are given.
    pub(super) fn path(&mut self, places: &[(f64, f64)], class: &str, width: f64, dashes: Option<&str>) {
        self.marks.push(html! {
            polyline points=(points(places)) class=(class) stroke-width=(Units(width)) stroke-linejoin="round"
                stroke-dasharray=[dashes] {}
        });
    }

    /// Fills the area that these places go around, so that what lies behind it shows.
    pub(super) fn band(&mut self, places: &[(f64, f64)], class: &str) {
        self.marks.push(html! { polygon points=(points(places)) class=(class) fill-opacity="0.2" {} });
    }

    /// Draws the sign of a series, which tells more when it is pointed at.
    pub(super) fn dot(&mut self, at: (f64, f64), series: usize, tip: &str) {
        const R: f64 = 3.4;
        let class = format!("f{}", series % theme::SERIES);
        let shape = |corners: &[(f64, f64)]| -> Vec<(f64, f64)> {
            corners.iter().map(|(x, y)| (at.0 + R * x, at.1 + R * y)).collect()
        };
        let polygon = match series % 5 {
            0 => Vec::new(),
            1 => shape(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => shape(&[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)]),
            3 => shape(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            _ => shape(&[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)]),
        };
        self.marks.push(match polygon.is_empty() {
            true => html! { circle cx=(Units(at.0)) cy=(Units(at.1)) r=(Units(R)) class=(class) { (told(tip)) } },
            false => html! { polygon points=(points(&polygon)) class=(class) { (told(tip)) } },
        });
    }

    /// The picture, with what it shows in words and the numbers that it was made from.
    pub(super) fn done(self, title: &str, about: &str, figures: Figures) -> Picture {
        let height = self.y + MARGIN;
        Picture {
            title: format::terminal(title),
            about: format::terminal(about),
            height,
            below: self.below,
            said: self.said,
            head: html! { @for mark in &self.head { (mark) } },
            marks: html! { @for mark in &self.marks { (mark) } },
            figures,
        }
    }
}

/// Pictures that show by turns, four seconds each; the first alone where the reader wants nothing to move.
pub(super) fn by_turns(all: &[Picture]) -> Picture {
    const SECONDS: usize = 4;
    let count = all.len().max(1);
    let share = 100 / count;
    let height = all.iter().map(|picture| picture.height).fold(0.0, f64::max);
    let rules = format!(
        "@media (prefers-reduced-motion:no-preference){{.turn{{animation:turn {}s infinite step-end}}\
         @keyframes turn{{0%{{opacity:1}}{share}%{{opacity:0}}}}}}\
         @media (prefers-reduced-motion:reduce){{.turn:not(.turn-0){{opacity:0}}}}",
        SECONDS * count
    );
    let join = |text: fn(&Picture) -> &String| all.iter().map(|one| text(one).as_str()).joined("; then ");
    Picture {
        title: join(|one| &one.title),
        about: join(|one| &one.about),
        height,
        below: 0.0,
        said: Vec::new(),
        head: html! { style { (PreEscaped(rules)) } },
        marks: html! {
            @for (at, one) in all.iter().enumerate() {
                g class=(format!("turn turn-{at}")) style=(format!("animation-delay:{}s{}", SECONDS * at, if at > 0 { ";opacity:0" } else { "" })) {
                    (one.head) (one.marks)
                }
            }
        },
        figures: Figures::default(),
    }
}

/// The text for a reader, with no line's end before a sign of per cent.
fn unbroken(text: &str) -> String {
    format::terminal(text).replace(" %", "\u{a0}%")
}

fn points(places: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (x, y) in places {
        if !text.is_empty() {
            text.push(' ');
        }
        Units(*x).render_to(&mut text);
        text.push(',');
        Units(*y).render_to(&mut text);
    }
    text
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
    /// Where what is below the head begins.
    below: f64,
    said: Vec<(&'static str, String)>,
    head: Markup,
    marks: Markup,
    pub figures: Figures,
}

impl Picture {
    pub fn svg(&self, theme: Theme) -> String {
        let style = PreEscaped(theme::style(theme));
        let before = html! { style { (style) } rect .paper width="100%" height="100%" {} (self.head) };
        self.element("picture", 0.0, &before).into_string() + "\n"
    }

    /// Whether it is so tall that a page has it folded.
    pub(crate) fn is_tall(&self) -> bool {
        self.height - self.below > TALL
    }

    pub(crate) fn is_open(&self) -> bool {
        self.said.first().is_some_and(|(class, _)| *class == "dim")
    }

    /// What its head says, line by line: the title first, `dim` if it is open, then what it is of, and more.
    pub(crate) fn said(&self) -> &[(&'static str, String)] {
        &self.said
    }

    /// Without its head, as an element of a page that has the style; `id` begins the ids within.
    pub(crate) fn chart(&self, id: &str) -> Markup {
        self.element(id, self.below, &html! {})
    }

    fn element(&self, id: &str, top: f64, before: &Markup) -> Markup {
        let title = format!("{id}-title");
        let about = format!("{id}-about");
        let top = top.floor();
        let bottom = self.height.ceil();
        let size = format!("0 {top:.0} {WIDTH} {:.0}", bottom - top);
        // A length and a half of a unit each, which slides and pages enlarge as they please.
        let width = 1.5 * WIDTH;
        let height = 1.5 * (bottom - top);
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(size) width=(Units(width)) height=(Units(height)) role="img"
                aria-labelledby=(format!("{title} {about}")) font-family=(font::FAMILY) {
                title id=(title) { (self.title) }
                desc id=(about) { (self.about) }
                (before)
                (self.marks)
            }
        }
    }
}
