//! What compilers made of kernels, as tables.

use crate::format::{self, Screen};
use crate::table::Table;
use gpulab_kernels::occupancy::Resident;
use gpulab_model::outcome::Inspected;
use gpulab_study::asm::{AsmKernel, AsmKind, AsmLine};
use std::fmt::Write as _;

/// The text of a line of a file.
type SourceLine<'a> = &'a dyn Fn(&str, u64) -> Option<String>;

/// Of each kernel a table: a row for each line of the source, whose own file comes first, and a column for each kind of
/// instruction. The whole has each instruction.
pub fn by_line(
    title: &str,
    kernels: &[AsmKernel],
    file: &str,
    source: SourceLine<'_>,
    is_whole: bool,
    screen: Screen,
) -> String {
    let mut text = screen.wrap(&format!("{title}, instructions by kind and line"));
    for kernel in kernels {
        let count = format::counted(kernel.instructions.len(), "instruction");
        let lines = ordered(kernel, file);
        let table = lines_table(kernel, &lines, file, source);
        let _ = write!(
            text,
            "\n{}: {count}\n{}",
            kernel.name,
            table.blocks(screen.width)
        );
        if is_whole {
            text += &instructions(&lines, source);
        }
    }
    text.push('\n');
    text += &screen.wrap(NOTE);
    format::on_screen(&text, screen)
}

const NOTE: &str = "Each instruction counts once, however often it runs. One of a CPU that also reads or writes memory is in both \
                    columns. Optimisers move and join instructions: a line's are those that they still know to be its own.";

/// Lines in the order of the source, the rung's own file first; those of no line last.
fn ordered<'a>(kernel: &'a AsmKernel, file: &str) -> Vec<AsmLine<'a>> {
    let mut lines = kernel.lines();
    lines.sort_by_key(|line| match line.place {
        Some((path, number)) => (
            0,
            format::file_name(path) != format::file_name(file),
            path,
            number,
        ),
        None => (1, false, "", 0),
    });
    lines
}

fn lines_table(
    kernel: &AsmKernel,
    lines: &[AsmLine<'_>],
    file: &str,
    source: SourceLine<'_>,
) -> Table {
    let mut places = Vec::new();
    let mut texts = Vec::new();
    for line in lines {
        let Some((path, number)) = line.place else {
            places.push("-".to_owned());
            texts.push(String::new());
            continue;
        };
        let is_own = format::file_name(path) == format::file_name(file);
        places.push(if is_own {
            number.to_string()
        } else {
            format!("{}:{number}", format::file_name(path))
        });
        let text = source(path, number).unwrap_or_default();
        texts.push(format::shorten(&format::terminal(text.trim()), MOST_SOURCE));
    }
    places.push("all".to_owned());
    texts.push(String::new());
    let mut grid = Table::default()
        .texts("line", places)
        .texts("source", texts);
    for kind in AsmKind::ALL
        .into_iter()
        .filter(|kind| kernel.count(*kind) > 0)
    {
        let counts = lines
            .iter()
            .map(|line| line.instructions.iter().filter(|one| one.is(kind)).count());
        grid = grid.numbers(kind.name().replace(' ', "\n"), with_sum(counts.collect()));
    }
    if kernel.instructions.iter().any(|one| one.is_vector) {
        let counts = lines
            .iter()
            .map(|line| line.instructions.iter().filter(|one| one.is_vector).count());
        grid = grid.numbers("of vec-\ntors", with_sum(counts.collect()));
    }
    grid
}

/// Counts and their sum; a dash for none.
fn with_sum(mut counts: Vec<usize>) -> impl Iterator<Item = String> {
    counts.push(counts.iter().sum());
    counts.into_iter().map(|n| {
        if n == 0 {
            "-".to_owned()
        } else {
            n.to_string()
        }
    })
}

/// Longest text of a line beside its numbers.
const MOST_SOURCE: usize = 30;

/// The instructions themselves, below the lines that they are of.
fn instructions(lines: &[AsmLine<'_>], source: SourceLine<'_>) -> String {
    let mut text = String::new();
    for line in lines {
        let said = line.place.map_or_else(
            || "of no line".to_owned(),
            |(path, number)| {
                let source = source(path, number).unwrap_or_default();
                format!("{}:{number}  {}", format::file_name(path), source.trim())
            },
        );
        let _ = write!(text, "\n{}", format::terminal(&said).trim_end());
        for one in &line.instructions {
            let _ = write!(
                text,
                "\n  {:<16} {}",
                one.kind.name(),
                format::terminal(&one.text)
            );
        }
    }
    text + "\n"
}

/// What a group of a kernel needs, and how many groups a compute unit of this generation holds at once.
pub fn groups(kernel: &Inspected, held: Option<(&str, &Resident)>) -> String {
    let Inspected {
        kernel,
        registers,
        spills,
        local,
        wg,
        ..
    } = kernel;
    let registers = registers.map_or_else(
        || "registers unknown".to_owned(),
        |n| format!("{n} registers"),
    );
    let spills = match *spills {
        Some([stores, loads]) if stores > 0 || loads > 0 => {
            format!(" (too few: {stores} bytes are stored and {loads} loaded in their place)")
        }
        _ => String::new(),
    };
    let needs = format!(
        "{kernel}: {registers}{spills}, {local} bytes of local memory, groups of {wg} work-items"
    );
    match held {
        None => needs,
        Some((name, Resident { groups: 0, .. })) => {
            format!("{needs}; not even one group fits on a compute unit of {name}")
        }
        Some((
            name,
            Resident {
                groups,
                warps,
                most_warps,
                limited_by,
            },
        )) => format!(
            "{needs}; a compute unit of {name} holds {} at once, {warps} of {most_warps} warps ({}), limited by {}",
            format::counted(*groups as usize, "group"),
            format::percent(*warps as f64 / *most_warps as f64),
            limited_by.join(" and ")
        ),
    }
}

/// Of two cases how many instructions of each kind they have, in all of their kernels.
pub fn side_by_side(
    what: &str,
    names: [&str; 2],
    kernels: [&[AsmKernel]; 2],
    screen: Screen,
) -> String {
    let mut rows: Vec<(String, [usize; 2])> = Vec::new();
    for kind in AsmKind::ALL {
        rows.push((
            kind.name().to_owned(),
            sums(kernels, &|kernel| kernel.count(kind)),
        ));
        rows.push((
            format!("  {}, vectors", kind.name()),
            sums(kernels, &|kernel| kernel.vectors(kind)),
        ));
    }
    rows.retain(|(_, counts)| *counts != [0, 0]);
    rows.push((
        "all".to_owned(),
        sums(kernels, &|kernel| kernel.instructions.len()),
    ));
    let changes = rows.iter().map(|(_, [a, b])| match b.checked_sub(*a) {
        Some(0) => "-".to_owned(),
        Some(more) => format!("+{more}"),
        None => format!("-{}", a - b),
    });
    let grid = Table::default()
        .texts("instructions", rows.iter().map(|row| row.0.clone()))
        .numbers(
            names[0].replacen(' ', "\n", 1),
            rows.iter().map(|row| row.1[0].to_string()),
        )
        .numbers(
            names[1].replacen(' ', "\n", 1),
            rows.iter().map(|row| row.1[1].to_string()),
        )
        .numbers("change", changes);
    let title = screen.wrap(&format!("{} and {}: {what}", names[0], names[1]));
    format::on_screen(&format!("{title}\n{}", grid.text()), screen)
}

fn sums(kernels: [&[AsmKernel]; 2], of: &dyn Fn(&AsmKernel) -> usize) -> [usize; 2] {
    kernels.map(|all| all.iter().map(of).sum())
}
