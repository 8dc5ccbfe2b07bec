//! The road from the sources' slides to commands. `docs/sources.md` is the data: its sections with a table of commands.

use crate::wrap::{hung, wrapped};
use gpulab_model::Joined;

const PAGE: &str = include_str!("../../../docs/sources.md");

/// How the table of a source begins.
const TABLE: &str = "| slide or section | command | without a GPU |";

const WIDTH: usize = 79;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitedSource {
    /// The heading, as in `Maruyama: lecture on parallel reduction`.
    pub title: &'static str,
    /// What the section says before its table, on one line.
    pub about: String,
    pub steps: Vec<RoadStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoadStep {
    pub place: &'static str,
    /// The command that shows it, as in `gpulab lab banks`.
    pub command: &'static str,
    /// The command that shows it without a GPU, by counts or a picture.
    pub unmeasured: Option<&'static str>,
    pub see: &'static str,
    /// What differs today, and why; `-` for nothing.
    pub today: &'static str,
}

impl CitedSource {
    /// What selects it: the heading's first word in small letters.
    pub fn name(&self) -> String {
        self.title
            .split(':')
            .next()
            .unwrap_or_default()
            .to_lowercase()
    }
}

pub fn all() -> Vec<CitedSource> {
    sections(PAGE)
}

fn sections(page: &'static str) -> Vec<CitedSource> {
    page.split("\n## ").skip(1).filter_map(section).collect()
}

fn section(text: &'static str) -> Option<CitedSource> {
    let (before, table) = text.split_once(TABLE)?;
    let (title, about) = before.split_once('\n')?;
    let about = about.split_whitespace().joined(" ");
    // Behind the rest of the header's line, and the line below it.
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    Some(CitedSource {
        title,
        about,
        steps: rows.filter_map(step).collect(),
    })
}

fn step(row: &'static str) -> Option<RoadStep> {
    let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
    let [place, command, unmeasured, see, today] = cells[..] else {
        return None;
    };
    let unmeasured = Some(unmeasured.trim_matches('`')).filter(|command| *command != "-");
    Some(RoadStep {
        place,
        command: command.trim_matches('`'),
        unmeasured,
        see,
        today,
    })
}

/// The names and titles of all sources, a line each.
pub fn overview(indent: &str, width: usize) -> String {
    all()
        .iter()
        .map(|source: &CitedSource| {
            hung(
                source.title,
                &format!("{indent}{:<10} ", source.name()),
                width,
            )
        })
        .collect()
}

pub fn text(source: &CitedSource) -> String {
    let mut text = lines(source.title, "", "");
    text += &lines(&source.about, "", "");
    for step in &source.steps {
        text += &format!("\n{}  {}\n", lines(step.place, "", ""), step.command);
        text += &step
            .unmeasured
            .map_or_else(String::new, |command| format!("  {command}\n"));
        text += &lines(step.see, "    see:   ", "           ");
        if step.today != "-" {
            text += &lines(step.today, "    today: ", "           ");
        }
    }
    text
}

/// Text without Markdown's marks for code and those of figures, in lines of a terminal's width.
fn lines(text: &str, first: &str, rest: &str) -> String {
    let shown = text.split("<!--=").enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.split_once("-->").map_or(part, |(_, shown)| shown),
    });
    wrapped(
        &shown.collect::<String>().replace('`', ""),
        first,
        rest,
        WIDTH,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "# Title\n\n## Ann: lecture\n\nOf the\nyear 1.\n\n| slide or section | command | without a GPU | what | today |\n\
                         | --- | --- | --- | --- | --- |\n| one | `gpulab list` | `gpulab lab` | a | `b` c |\n\
                         | two | `gpulab doctor` | - | d <!--= a : b -->3 | - |\n\n\
                         ## Words\n\n| CUDA | OpenCL |\n| --- | --- |\n| warp | sub-group |\n";

    #[test]
    fn a_section_with_a_table_of_commands_is_a_source() {
        let [ann] = &sections(SMALL)[..] else {
            panic!("{:?}", sections(SMALL))
        };
        assert_eq!(
            (ann.name().as_str(), ann.title, ann.about.as_str()),
            ("ann", "Ann: lecture", "Of the year 1.")
        );
        let want = RoadStep {
            place: "one",
            command: "gpulab list",
            unmeasured: Some("gpulab lab"),
            see: "a",
            today: "`b` c",
        };
        assert_eq!((ann.steps.len(), &ann.steps[0]), (2, &want));
        let want = "Ann: lecture\nOf the year 1.\n\none\n  gpulab list\n  gpulab lab\n    see:   a\n    today: b c\n\ntwo\n  \
                    gpulab doctor\n    see:   d 3\n";
        assert_eq!(text(ann), want);
    }

    #[test]
    fn lines_fit_a_terminal() {
        for source in all() {
            for line in text(&source)
                .lines()
                .filter(|line| !line.starts_with("  gpulab "))
            {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
    }
}
