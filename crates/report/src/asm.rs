//! What compilers made of kernels, as tables.

use crate::prelude::*;
use gpulab_kernels::occupancy::Resident;
use gpulab_model::outcome::Inspected;
use gpulab_study::asm::{AsmKernel, AsmKind, AsmLine};
use std::fmt::Write as _;

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Gives a number for a file and a line of it.
pub type CountedAt<'a> = &'a dyn Fn(&str, u64) -> u64;

pub struct ShownKernel<'a> {
    /// As in `reduce v3 sequential`.
    pub name: &'a str,
    pub file: &'a str,
    pub source: &'a dyn Fn(&str, u64) -> Option<String>,
    /// Instructions of warps that the simulator counts at a line, if it was asked.
    pub counted: Option<CountedAt<'a>>,
    pub is_whole: bool,
}

/// Of each kernel a table: a row for each line of the source, a column for each kind of instruction.
pub fn by_line(what: &str, kernels: &[AsmKernel], shown: &ShownKernel<'_>, screen: Screen) -> String {
    let mut text = format::wrap(&format!("{}: {what}, instructions by kind and line", shown.name), screen.width, "  ");
    for kernel in kernels {
        let count = format::counted(kernel.instructions.len(), "instruction");
        let _ = write!(text, "\n{}: {count}\n", kernel.name);
        text += &lines_table(kernel, shown).blocks(screen.width);
        if shown.is_whole {
            text += &instructions(kernel, shown);
        }
    }
    text.push('\n');
    text += &format::wrap(NOTE, screen.width, "  ");
    if shown.counted.is_some() {
        text += &format::wrap(COUNTED, screen.width, "  ");
    }
    format::on_screen(&text, screen)
}

const NOTE: &str = "Each instruction counts once, however often it runs. One of a CPU that also reads or writes memory is in both \
                    columns. Optimisers move and join instructions: a line's are those that they still know to be its own.";

const COUNTED: &str = "Warp instructions: how often the simulator's warps execute LLVM's instructions of the line, over few \
                       elements.";

/// Lines in the order of the source, the rung's own file first; those of no line last.
fn ordered<'a>(kernel: &'a AsmKernel, file: &str) -> Vec<AsmLine<'a>> {
    let mut lines = kernel.lines();
    lines.sort_by_key(|line| match line.place {
        Some((path, number)) => (0, last(path) != last(file), path, number),
        None => (1, false, "", 0),
    });
    lines
}

fn lines_table(kernel: &AsmKernel, shown: &ShownKernel<'_>) -> TextGrid {
    let lines = ordered(kernel, shown.file);
    let place = |line: &AsmLine<'_>| match line.place {
        None => "-".to_owned(),
        Some((path, number)) if last(path) == last(shown.file) => number.to_string(),
        Some((path, number)) => format!("{}:{number}", last(path)),
    };
    let source = |line: &AsmLine<'_>| {
        let text = line.place.and_then(|(path, number)| (shown.source)(path, number)).unwrap_or_default();
        format::shorten(&format::terminal(text.trim()), MOST_SOURCE)
    };
    let column = |cell: &dyn Fn(&AsmLine<'_>) -> usize, sum: usize| {
        let number = |n: usize| if n == 0 { "-".to_owned() } else { n.to_string() };
        lines.iter().map(|line| number(cell(line))).chain([number(sum)]).collect::<Vec<_>>()
    };
    let end = |cells: Vec<String>, end: &str| cells.into_iter().chain([end.to_owned()]).collect::<Vec<_>>();
    let mut columns = vec![GridColumn::texts("line", end(lines.iter().map(place).collect(), "all"), 0)];
    columns.push(GridColumn::texts("source", end(lines.iter().map(source).collect(), ""), 0));
    for kind in AsmKind::ALL.into_iter().filter(|kind| kernel.count(*kind) > 0) {
        let cell = |line: &AsmLine<'_>| line.instructions.iter().filter(|one| one.is(kind)).count();
        columns.push(GridColumn::numbers(kind.name().replace(' ', "\n"), column(&cell, kernel.count(kind)), 0));
    }
    let vectors = |line: &AsmLine<'_>| line.instructions.iter().filter(|one| one.is_vector).count();
    let all = kernel.instructions.iter().filter(|one| one.is_vector).count();
    if all > 0 {
        columns.push(GridColumn::numbers("of vec-\ntors", column(&vectors, all), 0));
    }
    if let Some(counted) = shown.counted {
        let cell = |line: &AsmLine<'_>| line.place.map_or(0, |(path, number)| counted(path, number) as usize);
        let sum = lines.iter().map(cell).sum();
        columns.push(GridColumn::numbers("warp in-\nstructions", column(&cell, sum), 0));
    }
    TextGrid { columns }
}

/// Longest text of a line beside its numbers.
const MOST_SOURCE: usize = 30;

/// The instructions themselves, below the lines that they are of.
fn instructions(kernel: &AsmKernel, shown: &ShownKernel<'_>) -> String {
    let mut text = String::new();
    for line in ordered(kernel, shown.file) {
        let (place, source) = match line.place {
            Some((path, number)) => {
                (format!("{}:{number}", last(path)), (shown.source)(path, number).unwrap_or_default())
            }
            None => ("of no line".to_owned(), String::new()),
        };
        let _ = write!(text, "\n{}", format::terminal(&format!("{place}  {}", source.trim())).trim_end());
        for one in &line.instructions {
            let _ = write!(text, "\n  {:<16} {}", one.kind.name(), format::terminal(&one.text));
        }
    }
    text + "\n"
}

/// What a group of a kernel needs, and how many groups a compute unit of this generation holds at once.
pub fn groups(kernel: &Inspected, held: Option<(&str, &Resident)>) -> String {
    let Inspected { kernel, registers, spills, local, wg, .. } = kernel;
    let registers = registers.map_or_else(|| "registers unknown".to_owned(), |n| format!("{n} registers"));
    let spills = match *spills {
        Some([stores, loads]) if stores > 0 || loads > 0 => {
            format!(" (too few: {stores} bytes are stored and {loads} loaded in their place)")
        }
        _ => String::new(),
    };
    let needs = format!("{kernel}: {registers}{spills}, {local} bytes of local memory, groups of {wg} work-items");
    match held {
        None => needs,
        Some((name, Resident { groups: 0, .. })) => {
            format!("{needs}; not even one group fits on a compute unit of {name}")
        }
        Some((name, Resident { groups, warps, most_warps, limited_by })) => format!(
            "{needs}; a compute unit of {name} holds {} at once, {warps} of {most_warps} warps ({}), limited by {}",
            format::counted(*groups as usize, "group"),
            format::percent(*warps as f64 / *most_warps as f64),
            limited_by.join(" and ")
        ),
    }
}

/// Of two cases how many instructions of each kind they have, in all of their kernels.
pub fn side_by_side(what: &str, names: [&str; 2], kernels: [&[AsmKernel]; 2], screen: Screen) -> String {
    let sum = |of: &dyn Fn(&AsmKernel) -> usize| kernels.map(|all| all.iter().map(of).sum::<usize>());
    let mut rows: Vec<(String, [usize; 2])> = Vec::new();
    for kind in AsmKind::ALL {
        rows.push((kind.name().to_owned(), sum(&|kernel| kernel.count(kind))));
        rows.push((format!("  {}, vectors", kind.name()), sum(&|kernel| kernel.vectors(kind))));
    }
    rows.retain(|(_, counts)| *counts != [0, 0]);
    rows.push(("all".to_owned(), sum(&|kernel| kernel.instructions.len())));
    let change = |(_, [a, b]): &(String, [usize; 2])| match b.checked_sub(*a) {
        Some(0) => "-".to_owned(),
        Some(more) => format!("+{more}"),
        None => format!("-{}", a - b),
    };
    let grid = TextGrid::of(&rows)
        .texts("instructions", |(name, _)| name.clone())
        .numbers(names[0].replacen(' ', "\n", 1), |(_, counts)| counts[0].to_string())
        .numbers(names[1].replacen(' ', "\n", 1), |(_, counts)| counts[1].to_string())
        .numbers("change", change)
        .grid();
    let title = format::wrap(&format!("{} and {}: {what}", names[0], names[1]), screen.width, "  ");
    format::on_screen(&format!("{title}\n{}\n", grid.lines().join("\n")), screen)
}
