//! Pictures of what a kernel's warps do, as grids of cells: in the terminal and as SVG.

use super::cell_grid::{self, CellGrid, DrawnGrids, EMPTY, GridCell, GridRow, Shade, shown_marks, shown_rows};
use super::film::Film;
use super::launch_grid::launches;
use crate::prelude::*;
use clap::ValueEnum;
use gpulab_study::count::{RequestKind, TracedRequest, TracedStep};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DrawnView {
    /// One access of a warp: which lane touches which word, in which segments and banks
    Access,
    /// The lanes that execute each step of a warp, line by line
    Mask,
    /// From barrier to barrier: which words of local memory are read and written
    Phases,
    /// The elements of each array that one work-item, its warp and its group touch
    Reach,
    /// The launches on the queue: which buffers each reads and writes
    Launches,
}

pub struct Chosen {
    pub view: DrawnView,
    pub line: Option<u64>,
    /// From 1, as a film counts them, from launch to launch.
    pub step: Option<usize>,
    pub warp: u64,
    pub group: u64,
    /// Rather an access of this kind to this array, to compare it with another kernel's.
    pub like: Option<(RequestKind, String)>,
}

/// Words of a row: 128 bytes.
const WORDS: u64 = 32;
/// Bytes of the smallest transaction.
const SMALLEST: u64 = 32;
const WORD: u64 = 4;

fn sign(lane: u64) -> char {
    const SIGNS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-";
    SIGNS.get(lane as usize).map_or('?', |byte| char::from(*byte))
}

fn lanes(bits: u64) -> impl Iterator<Item = u64> {
    (0..64).filter(move |lane| bits >> lane & 1 == 1)
}

pub fn draw(film: &Film, chosen: &Chosen) -> Result<DrawnGrids, String> {
    let mut steps: Vec<&TracedStep> = match chosen.step {
        Some(number) => moment(film, chosen.group, number),
        None => film.launches.iter().flat_map(|launch| &launch.steps).collect(),
    };
    steps.retain(|step| step.group == chosen.group && chosen.line.is_none_or(|line| step.line == line));
    if steps.is_empty() {
        return Err(format!("nothing happens there: {}", film.lines()));
    }
    match chosen.view {
        DrawnView::Access => access(film, &steps, chosen),
        DrawnView::Mask => Ok(mask(film, &of_warp(&steps, chosen.warp))),
        DrawnView::Phases => phases(film, &steps),
        DrawnView::Launches => launches(film),
        DrawnView::Reach => Ok(reach(film, &steps, chosen.warp)),
    }
}

/// What the warps of a group do at once: side by side from barrier to barrier.
fn moment(film: &Film, group: u64, number: usize) -> Vec<&TracedStep> {
    let mut before = 0;
    for launch in &film.launches {
        let own = || launch.steps.iter().filter(|step| step.group == group);
        for phase in 0..=own().map(|step| step.phase).max().unwrap_or_default() {
            let mut warps: BTreeMap<u64, Vec<&TracedStep>> = BTreeMap::new();
            own().filter(|step| step.phase == phase).for_each(|step| warps.entry(step.warp).or_default().push(step));
            let most = warps.values().map(Vec::len).max().unwrap_or(1);
            if number <= before + most {
                return warps.values().filter_map(|own| own.get(number - before - 1).copied()).collect();
            }
            before += most;
        }
    }
    Vec::new()
}

fn of_warp<'a>(steps: &[&'a TracedStep], warp: u64) -> Vec<&'a TracedStep> {
    steps.iter().copied().filter(|step| step.warp == warp).collect()
}

fn access(film: &Film, steps: &[&TracedStep], chosen: &Chosen) -> Result<DrawnGrids, String> {
    let own = of_warp(steps, chosen.warp);
    let all = || own.iter().flat_map(|step| step.requests.iter().map(move |one| (step, one)));
    let is_like = |one: &TracedRequest| {
        chosen.like.as_ref().is_some_and(|(kind, array)| (one.kind, &one.array) == (*kind, array))
    };
    let has_like = all().any(|(_, one)| is_like(one));
    let all = all().filter(|(_, one)| !has_like || is_like(one));
    // The first of those that cost most.
    let worst =
        all.enumerate().max_by_key(|(at, (_, one))| (film.excess(one), one.counts.bytes, std::cmp::Reverse(*at)));
    let (_, (step, request)) = worst.ok_or("no access to memory is there: choose another --line or --warp")?;
    let (verb, place) = match (request.kind.is_read(), request.kind.is_local()) {
        (true, true) => ("reads", "local memory"),
        (false, true) => ("writes", "local memory"),
        (true, false) => ("reads", "global memory"),
        (false, false) => ("writes", "global memory"),
    };
    let array = if request.array.is_empty() { "an array" } else { &request.array };
    let counts = &request.counts;
    let cost = match request.kind.is_local() {
        true => format!(
            "{} lanes ask for {} bytes each: {} in {} ({} of them for bank conflicts)",
            counts.items,
            request.size,
            format::counted(counts.requests as usize, "request"),
            format::counted(counts.passes as usize, "pass"),
            counts.conflicts
        ),
        false => format!(
            "{} lanes ask for {} bytes each: {} move, {} bytes for {} asked",
            counts.items,
            request.size,
            match request.moved_pieces.is_empty() {
                true =>
                    format!("{} of {} bytes", format::counted(counts.segments as usize, "segment"), film.model.segment),
                false => format::counted(counts.segments as usize, "transaction"),
            },
            counts.moved,
            counts.bytes
        ),
    };
    let about = vec![
        format!("{}: line {}: {}", step.file, step.line, film.line(&step.file, step.line).unwrap_or_default()),
        format!("group {}, warp {}: {verb} {array} ({place})", step.group, step.warp),
        cost,
    ];
    let grid = if request.kind.is_local() { banks(film, request) } else { segments(film, request) };
    Ok(DrawnGrids {
        title: film.title.clone(),
        about,
        grids: vec![grid],
        of: Some((request.kind, request.array.clone())),
    })
}

/// The words that lanes ask for: of each word the lanes.
fn words(request: &TracedRequest) -> BTreeMap<u64, Vec<u64>> {
    let mut words: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (lane, at) in lanes(request.lanes).zip(&request.at) {
        for word in at / WORD..=(at + request.size.max(1) - 1) / WORD {
            words.entry(word).or_default().push(lane);
        }
    }
    words
}

/// Lines of 128 bytes, segment beside segment.
fn segments(film: &Film, request: &TracedRequest) -> CellGrid {
    let words = words(request);
    let is_whole = request.moved_pieces.is_empty();
    let segment = if is_whole { film.model.segment } else { SMALLEST };
    let together = (segment / WORD).max(1);
    let asked = words.keys().map(|word| word / together);
    let pieces = request.moved_pieces.iter().flat_map(|(at, bytes)| at / segment..(at + bytes) / segment);
    let moved: BTreeSet<u64> = if is_whole { asked.collect() } else { pieces.collect() };
    let rows: BTreeSet<u64> = words.keys().map(|word| word / WORDS).collect();
    let cell = |word: u64| match words.get(&word) {
        Some(asking) => GridCell { letter: if asking.len() > 1 { '*' } else { sign(asking[0]) }, shade: Shade::Full },
        None if moved.contains(&(word / together)) => GridCell { letter: '-', shade: Shade::Light },
        None => EMPTY,
    };
    CellGrid {
        head: "byte".into(),
        together: together as usize,
        rows: rows
            .iter()
            .map(|row: &u64| {
                let cells = (row * WORDS..(row + 1) * WORDS).map(cell).collect();
                (format!("{}", row * WORDS * WORD), cells, String::new())
            })
            .collect(),
        below: vec![format!(
            "A row is 128 bytes, a cell is a word of 4 bytes; lines separate segments of {segment} bytes."
        )],
        marks: vec![
            (GridCell { letter: '0', shade: Shade::Full }, legend(request, &words)),
            mark('-', Shade::Light, "moved for nobody"),
            mark('.', Shade::Empty, "not moved"),
        ],
    }
}

/// The words of the lanes that go together, of one part of the warp behind the other: as many parts as come to the passes that
/// were counted.
fn parts(film: &Film, request: &TracedRequest) -> Vec<BTreeMap<u64, Vec<u64>>> {
    let split = |parts: u64| {
        let together = (film.model.warp / parts).max(1);
        let mut all: BTreeMap<u64, BTreeMap<u64, Vec<u64>>> = BTreeMap::new();
        for (word, asking) in words(request) {
            for lane in asking {
                all.entry(lane / together).or_default().entry(word).or_default().push(lane);
            }
        }
        all.into_values().collect::<Vec<_>>()
    };
    let passes =
        |part: &BTreeMap<u64, Vec<u64>>| queues(film, part).values().map(Vec::len).max().unwrap_or_default() as u64;
    let is_right =
        |parts: &Vec<BTreeMap<u64, Vec<u64>>>| parts.iter().map(passes).sum::<u64>() == request.counts.passes;
    [1, 2, 4].into_iter().map(split).find(is_right).unwrap_or_else(|| split(1))
}

/// The words that each bank is asked for.
fn queues(film: &Film, words: &BTreeMap<u64, Vec<u64>>) -> BTreeMap<u64, Vec<u64>> {
    let mut of_bank: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    words.keys().for_each(|word| of_bank.entry(word % film.model.banks).or_default().push(*word));
    of_bank
}

/// A row of words for each pass: bank beside bank.
fn banks(film: &Film, request: &TracedRequest) -> CellGrid {
    let banks = film.model.banks;
    let parts = parts(film, request);
    let mut rows = Vec::new();
    for (number, words) in parts.iter().enumerate() {
        let of_bank = queues(film, words);
        let cell = |pass: usize, bank: u64| match of_bank.get(&bank).and_then(|all| Some((all.len(), all.get(pass)?))) {
            Some((queue, word)) => {
                let asking = &words[word];
                let letter = if asking.len() > 1 { '*' } else { sign(asking[0]) };
                GridCell { letter, shade: if queue > 1 { Shade::Strong } else { Shade::Full } }
            }
            None => EMPTY,
        };
        if number > 0 {
            rows.push((format!("part {}", number + 1), Vec::new(), String::new()));
        }
        for pass in 0..of_bank.values().map(Vec::len).max().unwrap_or_default() {
            let label =
                format!("pass {}", rows.iter().filter(|(_, cells, _): &&GridRow| !cells.is_empty()).count() + 1);
            rows.push((label, (0..banks).map(|bank| cell(pass, bank)).collect(), String::new()));
        }
    }
    let fullest = parts.iter().flat_map(|words| queues(film, words));
    let fullest =
        fullest.max_by_key(|(bank, all)| (all.len(), std::cmp::Reverse(*bank))).filter(|(_, all)| all.len() > 1);
    let told = fullest.map(|(bank, all)| {
        let named: Vec<String> = all.iter().take(4).map(|word: &u64| format!("byte {}", word * WORD)).collect();
        let more = if all.len() > 4 { ", ..." } else { "" };
        format!("Bank {bank} is asked for {} at once: {}{more}.", format::counted(all.len(), "word"), named.join(", "))
    });
    let split = match parts.len() {
        1 => None,
        n => Some(format!("A warp asks for so many bytes in {n} parts, one after the other.")),
    };
    let below = [Some("A column is a bank, which gives one word in a pass.".to_owned()), split, told];
    let marks = vec![
        (GridCell { letter: '0', shade: Shade::Full }, legend(request, &words(request))),
        (GridCell { letter: ' ', shade: Shade::Strong }, "it waits, or lets others wait".to_owned()),
        mark('.', Shade::Empty, "nobody asks"),
    ];
    CellGrid {
        head: format!("bank 0 to {}", banks - 1),
        together: 8,
        rows,
        marks,
        below: below.into_iter().flatten().collect(),
    }
}

fn legend(request: &TracedRequest, words: &BTreeMap<u64, Vec<u64>>) -> String {
    let last = lanes(request.lanes).last().unwrap_or_default();
    let shared = if words.values().any(|asking| asking.len() > 1) { "; * several lanes" } else { "" };
    let range = if last > 9 { format!("-9, a-{}", sign(last)) } else { format!("-{last}") };
    format!("{range} the lane that asks{shared}")
}

fn mark(letter: char, shade: Shade, meaning: &str) -> (GridCell, String) {
    (GridCell { letter, shade }, meaning.to_owned())
}

/// A row for each step: the lanes that execute it.
fn mask(film: &Film, steps: &[&TracedStep]) -> DrawnGrids {
    let width = film.model.warp;
    let row = |step: &&TracedStep| {
        let busy = |lane: u64| step.lanes >> lane & 1 == 1;
        let cells = (0..width)
            .map(|lane| if busy(lane) { GridCell { letter: '#', shade: Shade::Full } } else { EMPTY })
            .collect();
        let text = film.line(&step.file, step.line).unwrap_or_default();
        (format!("{}", step.line), cells, text.to_owned())
    };
    let (issued, executed) =
        steps.iter().fold((0, 0), |(issued, executed), step| (issued + step.issued, executed + step.executed));
    let busy = if issued > 0 { 100.0 * executed as f64 / (issued * width) as f64 } else { 0.0 };
    let mut rows: Vec<GridRow> = Vec::new();
    let mut phase = steps.first().map_or(0, |step| step.phase);
    for step in steps {
        if step.phase != phase {
            phase = step.phase;
            rows.push(("barrier".into(), Vec::new(), String::new()));
        }
        rows.push(row(step));
    }
    let about = match steps.first() {
        Some(step) => vec![format!(
            "group {}, warp {}: {} steps, {busy:.1} % of its lanes busy",
            step.group,
            step.warp,
            steps.len()
        )],
        None => vec!["this warp does nothing there: choose another --warp or --line".into()],
    };
    let grid = CellGrid {
        head: "line".into(),
        together: 8,
        rows,
        marks: vec![mark('#', Shade::Full, "the lane executes the line"), mark('.', Shade::Empty, "it is masked")],
        below: Vec::new(),
    };
    DrawnGrids { title: film.title.clone(), about, grids: vec![grid], of: None }
}

/// For each local array a row from barrier to barrier, a cell for each word or for several.
fn phases(film: &Film, steps: &[&TracedStep]) -> Result<DrawnGrids, String> {
    const CELLS: u64 = 64;
    type Touched = BTreeMap<u64, (bool, bool)>;
    let mut arrays: BTreeMap<&str, BTreeMap<u64, Touched>> = BTreeMap::new();
    for step in steps {
        for request in step.requests.iter().filter(|request| request.kind.is_local()) {
            let phase = arrays.entry(&request.array).or_default().entry(step.phase).or_default();
            for word in words(request).keys() {
                let (read, written) = phase.entry(*word).or_default();
                *read |= request.kind.is_read();
                *written |= !request.kind.is_read();
            }
        }
    }
    if arrays.is_empty() {
        return Err("no local memory is read or written there: --view access or reach draws it".into());
    }
    let grids = arrays.iter().map(|(array, phases)| {
        let last = phases.values().flat_map(|phase| phase.keys()).max().copied().unwrap_or_default();
        let share = (last + 1).div_ceil(CELLS);
        let cell = |phase: &Touched, at: u64| {
            let touched = phase.range(at * share..(at + 1) * share);
            cell_grid::touched(touched.fold((false, false), |(r, w), (_, (read, written))| (r || *read, w || *written)))
        };
        let row = |(phase, touched): (&u64, &Touched)| {
            let cells = (0..(last + 1).div_ceil(share)).map(|at| cell(touched, at)).collect();
            (phase.to_string(), cells, String::new())
        };
        let words = if share == 1 { "a word".to_owned() } else { format!("{share} words") };
        CellGrid {
            head: format!("{array}, {} words; a row for each number of barriers met", last + 1),
            together: 8,
            rows: phases.iter().map(row).collect(),
            marks: cell_grid::touched_marks("neither"),
            below: vec![format!("A cell is {words}.")],
        }
    });
    let about = vec![format!("group {}: local memory from barrier to barrier", steps[0].group)];
    Ok(DrawnGrids { title: film.title.clone(), about, grids: grids.collect(), of: None })
}

/// For each global array the elements that an item, its warp and its group touch, row by row of a matrix.
fn reach(film: &Film, steps: &[&TracedStep], warp: u64) -> DrawnGrids {
    const CELLS: u64 = 64;
    let lane = of_warp(steps, warp).first().and_then(|step| lanes(step.lanes).next()).unwrap_or_default();
    let mut arrays: BTreeMap<&str, (u64, BTreeMap<u64, Shade>)> = BTreeMap::new();
    for step in steps {
        for request in step.requests.iter().filter(|request| !request.kind.is_local()) {
            let (size, touched) = arrays.entry(&request.array).or_insert((request.size.min(WORD), BTreeMap::new()));
            for (own, at) in lanes(request.lanes).zip(&request.at) {
                let shade = match (step.warp == warp, own == lane) {
                    (true, true) => Shade::Strong,
                    (true, false) => Shade::Full,
                    (false, _) => Shade::Light,
                };
                for element in at / *size..(at + request.size) / *size {
                    let known = touched.entry(element).or_insert(shade);
                    *known = shade.max(*known);
                }
            }
        }
    }
    let is_matrix = film.case.shape.m > 1;
    let width = if is_matrix { film.case.shape.n.max(1) } else { CELLS };
    let share = width.div_ceil(CELLS);
    let grids = arrays.iter().map(|(array, (_, touched))| {
        let rows: BTreeSet<u64> = touched.keys().map(|element| element / width / share).collect();
        // Of a large array a cell is a square of elements.
        let mut cells: BTreeMap<(u64, u64), Shade> = BTreeMap::new();
        for (element, shade) in touched {
            let place = (element / width / share, element % width / share);
            let known = cells.entry(place).or_insert(*shade);
            *known = (*shade).max(*known);
        }
        let cell = |row: u64, column: u64| match cells.get(&(row, column)) {
            Some(Shade::Strong) => GridCell { letter: '#', shade: Shade::Strong },
            Some(Shade::Full) => GridCell { letter: 'o', shade: Shade::Full },
            Some(_) => GridCell { letter: '-', shade: Shade::Light },
            None => EMPTY,
        };
        let one = if share == 1 { "an element".to_owned() } else { format!("{share} x {share} elements") };
        CellGrid {
            head: format!(
                "{}, {}",
                if array.is_empty() { "an array" } else { array },
                if is_matrix { "row" } else { "element" }
            ),
            together: 8,
            rows: rows
                .iter()
                .map(|row: &u64| {
                    let cells = (0..width.div_ceil(share)).map(|column| cell(*row, column)).collect();
                    (format!("{}", row * share * if is_matrix { 1 } else { width }), cells, String::new())
                })
                .collect(),
            marks: vec![
                (GridCell { letter: '#', shade: Shade::Strong }, format!("work-item {lane} of warp {warp} touches it")),
                mark('o', Shade::Full, "its warp"),
                mark('-', Shade::Light, "its group"),
            ],
            below: vec![format!("A cell is {one}.")],
        }
    });
    let about = vec![format!("group {}: the elements that it touches in global memory", steps[0].group)];
    DrawnGrids { title: film.title.clone(), about, grids: grids.collect(), of: None }
}

pub fn text(drawn: &DrawnGrids, screen: Screen) -> String {
    let mut text = format!("{}\n", format::terminal(&drawn.title));
    drawn.about.iter().for_each(|line| text += &format::wrap(&format::terminal(line), screen.width, "  "));
    for grid in &drawn.grids {
        text += &format!("\n{}\n", format::terminal(&grid.head));
        let widest = grid.rows.iter().map(|(label, ..)| label.len()).max().unwrap_or_default();
        let (first, left_out, last) = shown_rows(grid);
        let row = |(label, cells, behind): &GridRow| line(grid, (label, cells, behind), widest, screen);
        text.extend(first.iter().map(row));
        if left_out > 0 {
            text += &format!("{:>widest$}  {left_out} more rows\n", "...");
        }
        text.extend(last.iter().map(row));
        // A shade without a letter is a colour.
        let told = shown_marks(grid).filter(|(cell, _)| cell.letter != ' ');
        let marks: Vec<String> = told
            .map(|(cell, meaning)| {
                format!("{}{}{meaning}", cell.letter, if meaning.starts_with('-') { "" } else { " " })
            })
            .collect();
        text += &format::wrap(&marks.join("; "), screen.width, "  ");
        grid.below.iter().for_each(|line| text += &format::wrap(&format::terminal(line), screen.width, "  "));
    }
    text
}

fn line(grid: &CellGrid, (label, cells, behind): (&str, &[GridCell], &str), widest: usize, screen: Screen) -> String {
    // Wide grids have no blanks between their cells.
    let gap = if widest + 2 + 2 * cells.len() + cells.len() / grid.together <= screen.width && behind.is_empty() {
        " "
    } else {
        ""
    };
    let mut text = format!("{label:>widest$}  ");
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 && at % grid.together == 0 {
            text += if gap.is_empty() { "|" } else { "| " };
        }
        text += &painted(*cell, screen);
        text += gap;
    }
    let used = widest + 2 + cells.len() + cells.len().saturating_sub(1) / grid.together.max(1);
    let room = screen.width.saturating_sub(used + 2);
    let behind: String = format::terminal(behind).chars().take(room).collect();
    if cells.is_empty() {
        text += &"-".repeat(screen.width.saturating_sub(widest + 2).min(36));
    }
    let text = if behind.is_empty() { text } else { format!("{text}  {behind}") };
    format!("{}\n", text.trim_end())
}

fn painted(cell: GridCell, screen: Screen) -> String {
    let tint = match cell.shade {
        _ if !screen.color => return cell.letter.to_string(),
        Shade::Empty => return cell.letter.to_string(),
        Shade::Light => format::Tint::Yellow,
        Shade::Full => format::Tint::Green,
        Shade::Strong => format::Tint::Red,
    };
    format::paint(&cell.letter.to_string(), tint)
}
