//! What the parts of a page share: figures with their numbers, tables, folded parts.

use crate::format;
use crate::picture::{Figures, Picture};
use maud::{Markup, html};
use std::cell::Cell;

/// Gives each element of a page an id of its own.
#[derive(Default)]
pub(super) struct Ids(Cell<usize>);

impl Ids {
    pub(super) fn next(&self, kind: &str) -> String {
        self.0.set(self.0.get() + 1);
        format!("{kind}-{}", self.0.get())
    }
}

/// A picture below what its head says, and its numbers folded below it.
pub(super) fn figure(ids: &Ids, picture: &Picture) -> Markup {
    html! { figure {
        figcaption { @for (at, (class, text)) in picture.said().iter().filter(|(_, text)| !text.is_empty()).enumerate() {
            @if at == 0 { p.title .dim[*class == "dim"] { (text) } } @else { p { (text) } }
        } }
        (picture.chart(&ids.next("picture")))
        (numbers(picture))
    } }
}

/// Pictures side by side where there is room; nothing without any.
pub(super) fn figures(ids: &Ids, pictures: &[Picture]) -> Option<Markup> {
    (!pictures.is_empty()).then(|| html! { div.pair { @for picture in pictures {
        @if picture.is_tall() { div.tall { (folded(&picture.title, &figure(ids, picture))) } } @else { (figure(ids, picture)) }
    } } })
}

fn numbers(picture: &Picture) -> Markup {
    let Figures { head, rows, legend } = &picture.figures;
    html! { details.numbers { summary { "the numbers" span.unseen { " of: " (picture.title) } } (table(head, rows))
    @if let Some(legend) = legend { p.quiet { (prose(legend)) } } } }
}

/// What the reader opens when it is wanted.
pub(super) fn folded(summary: &str, body: &Markup) -> Markup {
    html! { details { summary { (format::terminal(summary)) } (body) } }
}

/// A table whose cells are text; numbers stand at the right. It scrolls where it is wider than the page.
pub(super) fn table(head: &[String], rows: &[Vec<String>]) -> Markup {
    let is_number = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
        cells.peek().is_some() && cells.all(|cell| cell.starts_with(|c: char| c.is_ascii_digit() || "-−+".contains(c)))
    };
    let classes: Vec<Option<&str>> = (0..head.len()).map(|at| is_number(at).then_some("n")).collect();
    let class = |at: usize| classes.get(at).copied().flatten();
    html! { div.scroll tabindex="0" { table {
        thead { tr { @for (at, cell) in head.iter().enumerate() { th scope="col" class=[class(at)] { (format::terminal(cell)) } } } }
        tbody { @for row in rows { tr { @for (at, cell) in row.iter().enumerate() { td class=[class(at)] { (format::terminal(cell)) } } } } }
    } } }
}

/// A sentence as a page has it: no line ends before a sign of per cent.
pub(super) fn prose(sentence: &str) -> String {
    let mut text = String::new();
    for c in format::terminal(sentence).chars() {
        if c == '%' {
            let held = text.trim_end_matches(' ').len();
            text.truncate(held);
            text.push_str(if text.ends_with(|c: char| c.is_ascii_digit()) { "\u{a0}" } else { " " });
        }
        text.push(c);
    }
    text
}

/// Sentences, each on its own line; nothing without any.
pub(super) fn notes(sentences: &[String]) -> Markup {
    html! { @if !sentences.is_empty() { ul.notes { @for sentence in sentences { li { (prose(sentence)) } } } } }
}
