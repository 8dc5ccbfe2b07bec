//! Pictures of what a kernel's warps do, as grids of cells: what they hold, and as lines of a terminal.

use super::film::Film;
use crate::format::{self, Screen};
use crate::moment::FilmLine;
use clap::ValueEnum;
use gpulab_model::plan::{Arg, Role};
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
    pub line: Option<FilmLine>,
    /// From 1, as a film counts them, from launch to launch.
    pub step: Option<usize>,
    pub warp: u64,
    pub group: u64,
    /// Rather an access of this kind to this array, to compare it with another kernel's.
    pub like: Option<(RequestKind, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shade {
    Empty,
    /// It is moved, and nobody asks for it; of a reach, the group's.
    Light,
    /// It is asked for; of a reach, the warp's.
    Full,
    /// It makes others wait; of a reach, the item's.
    Strong,
}

/// Its letter, and its shade.
pub(crate) type GridCell = (char, Shade);

const EMPTY: GridCell = ('.', Shade::Empty);

const READ: GridCell = ('r', Shade::Light);
const WRITTEN: GridCell = ('w', Shade::Full);
const BOTH: GridCell = ('+', Shade::Strong);

/// A cell that is touched once more.
fn touched(cell: GridCell, kind: RequestKind) -> GridCell {
    let own = if kind.is_read() { READ } else { WRITTEN };
    if cell == EMPTY || cell == own {
        own
    } else {
        BOTH
    }
}

/// What these cells mean.
fn touched_marks() -> Vec<(GridCell, String)> {
    [
        (READ, "read"),
        (WRITTEN, "written"),
        (BOTH, "both"),
        (EMPTY, "neither"),
    ]
    .map(|(cell, word)| (cell, word.to_owned()))
    .into()
}

/// A row: words before its cells, the cells, and words behind them. One without cells parts others.
type GridRow = (String, Vec<GridCell>, String);

/// Rows of cells, with words before and behind each.
#[derive(Clone, Debug, PartialEq)]
pub struct CellGrid {
    pub(crate) head: String,
    /// Cells that belong together: a line stands between them.
    pub(crate) together: usize,
    pub(crate) rows: Vec<GridRow>,
    pub(crate) marks: Vec<(GridCell, String)>,
    pub(crate) below: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DrawnGrids {
    pub(crate) title: String,
    pub(crate) about: Vec<String>,
    pub(crate) grids: Vec<CellGrid>,
    /// Of an access, its kind and array.
    pub of: Option<(RequestKind, String)>,
}

/// Most rows of a grid; of more those in the middle are left out.
const MOST_ROWS: usize = 24;

/// The first and last rows, where there are too many: those between them are left out.
pub(crate) fn shown_rows(grid: &CellGrid) -> [&[GridRow]; 2] {
    match grid.rows.len() {
        all if all <= MOST_ROWS => [&grid.rows, &[]],
        all => [&grid.rows[..MOST_ROWS - 4], &grid.rows[all - 4..]],
    }
}

/// What the shades mean that occur.
pub(crate) fn shown_marks(grid: &CellGrid) -> impl Iterator<Item = &(GridCell, String)> {
    let shades: BTreeSet<Shade> = grid
        .rows
        .iter()
        .flat_map(|(_, cells, _)| cells)
        .map(|cell| cell.1)
        .collect();
    grid.marks
        .iter()
        .filter(move |(cell, _)| shades.contains(&cell.1))
}

/// Words of a row: 128 bytes.
const WORDS: u64 = 32;
/// Bytes of the smallest transaction.
const SMALLEST: u64 = 32;
const WORD: u64 = 4;

/// The sign of the one lane that asks, or of several.
fn sign(lanes: &[u64]) -> char {
    const SIGNS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-";
    match lanes {
        [lane] => SIGNS
            .get(*lane as usize)
            .map_or('?', |byte| char::from(*byte)),
        _ => '*',
    }
}

fn lanes(bits: u64) -> impl Iterator<Item = u64> {
    (0..64).filter(move |lane| bits >> lane & 1 == 1)
}

pub fn draw(film: &Film, chosen: &Chosen) -> Result<DrawnGrids, String> {
    let mut steps: Vec<&TracedStep> = match chosen.step {
        Some(number) => moment(film, chosen.group, number),
        None => film
            .launches
            .iter()
            .flat_map(|launch| &launch.steps)
            .collect(),
    };
    steps.retain(|step| {
        step.group == chosen.group && chosen.line.as_ref().is_none_or(|line| line.is_of(step))
    });
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
        let mut phases: BTreeMap<u64, BTreeMap<u64, Vec<&TracedStep>>> = BTreeMap::new();
        for step in launch.steps.iter().filter(|step| step.group == group) {
            phases
                .entry(step.phase)
                .or_default()
                .entry(step.warp)
                .or_default()
                .push(step);
        }
        for warps in phases.values() {
            let most = warps.values().map(Vec::len).max().unwrap_or(1);
            if number <= before + most {
                return warps
                    .values()
                    .filter_map(|own| own.get(number - before - 1).copied())
                    .collect();
            }
            before += most;
        }
    }
    Vec::new()
}

fn of_warp<'a>(steps: &[&'a TracedStep], warp: u64) -> Vec<&'a TracedStep> {
    steps
        .iter()
        .copied()
        .filter(|step| step.warp == warp)
        .collect()
}

fn access(film: &Film, steps: &[&TracedStep], chosen: &Chosen) -> Result<DrawnGrids, String> {
    let own = of_warp(steps, chosen.warp);
    let mut all: Vec<(&TracedStep, &TracedRequest)> = own
        .iter()
        .flat_map(|step| step.requests.iter().map(move |one| (*step, one)))
        .collect();
    if let Some((kind, array)) = &chosen.like
        && all
            .iter()
            .any(|(_, one)| (one.kind, &one.array) == (*kind, array))
    {
        all.retain(|(_, one)| (one.kind, &one.array) == (*kind, array));
    }
    // The first of those that cost most.
    let worst = all
        .iter()
        .rev()
        .max_by_key(|(_, one)| (film.excess(one), one.counts.bytes));
    let &(step, request) =
        worst.ok_or("no access to memory is there: choose another --line or --warp")?;
    let verb = if request.kind.is_read() {
        "reads"
    } else {
        "writes"
    };
    let place = if request.kind.is_local() {
        "local memory"
    } else {
        "global memory"
    };
    let array = if request.array.is_empty() {
        "an array"
    } else {
        &request.array
    };
    let counts = &request.counts;
    let cost = match request.kind.is_local() {
        true => format!(
            "{} in {} ({} of them for bank conflicts)",
            format::counted(counts.requests as usize, "request"),
            format::counted(counts.passes as usize, "pass"),
            counts.conflicts
        ),
        false => format!(
            "{} {}, {} bytes for {} asked",
            match request.moved_pieces.is_empty() {
                true => format!(
                    "{} of {} bytes",
                    format::counted(counts.segments as usize, "segment"),
                    film.model.segment
                ),
                false => format::counted(counts.segments as usize, "transaction"),
            },
            if counts.segments == 1 {
                "moves"
            } else {
                "move"
            },
            counts.moved,
            counts.bytes
        ),
    };
    let cost = match counts.items {
        1 => format!("1 lane asks for {} bytes: {cost}", request.size),
        lanes => format!("{lanes} lanes ask for {} bytes each: {cost}", request.size),
    };
    let about = vec![
        format!(
            "{}: line {}: {}",
            step.file,
            step.line,
            film.line(&step.file, step.line).unwrap_or_default()
        ),
        format!(
            "group {}, warp {}: {verb} {array} ({place})",
            step.group, step.warp
        ),
        cost,
    ];
    let grid = if request.kind.is_local() {
        banks(film, request)
    } else {
        segments(film, request)
    };
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
    let segment = if is_whole {
        film.model.segment
    } else {
        SMALLEST
    };
    let together = (segment / WORD).max(1);
    let moved: BTreeSet<u64> = match is_whole {
        true => words.keys().map(|word| word / together).collect(),
        false => request
            .moved_pieces
            .iter()
            .flat_map(|(at, bytes)| at / segment..(at + bytes) / segment)
            .collect(),
    };
    let mut rows: Vec<GridRow> = Vec::new();
    for row in words
        .keys()
        .map(|word| word / WORDS)
        .collect::<BTreeSet<u64>>()
    {
        let cells = (row * WORDS..(row + 1) * WORDS).map(|word| match words.get(&word) {
            Some(asking) => (sign(asking), Shade::Full),
            None if moved.contains(&(word / together)) => ('-', Shade::Light),
            None => EMPTY,
        });
        rows.push((
            format!("{}", row * WORDS * WORD),
            cells.collect(),
            String::new(),
        ));
    }
    CellGrid {
        head: "byte".into(),
        together: together as usize,
        rows,
        below: vec![format!(
            "A row is 128 bytes, a cell is a word of 4 bytes; lines separate segments of {segment} bytes."
        )],
        marks: vec![
            (('0', Shade::Full), legend(request, &words)),
            mark('-', Shade::Light, "moved for nobody"),
            mark('.', Shade::Empty, "not moved"),
        ],
    }
}

/// The words of the lanes that go together, of one part of the warp behind the other: as many parts as come to the passes that
/// were counted.
fn parts(film: &Film, request: &TracedRequest) -> Vec<BTreeMap<u64, Vec<u64>>> {
    let mut whole = Vec::new();
    for count in [1, 2, 4] {
        let together = (film.model.warp / count).max(1);
        let mut parts: BTreeMap<u64, BTreeMap<u64, Vec<u64>>> = BTreeMap::new();
        for (word, asking) in words(request) {
            for lane in asking {
                parts
                    .entry(lane / together)
                    .or_default()
                    .entry(word)
                    .or_default()
                    .push(lane);
            }
        }
        let parts: Vec<_> = parts.into_values().collect();
        let passes = parts.iter().map(|part| {
            queues(film, part)
                .values()
                .map(Vec::len)
                .max()
                .unwrap_or_default()
        });
        if passes.sum::<usize>() as u64 == request.counts.passes {
            return parts;
        }
        if whole.is_empty() {
            whole = parts;
        }
    }
    whole
}

/// The words that each bank is asked for.
fn queues(film: &Film, words: &BTreeMap<u64, Vec<u64>>) -> BTreeMap<u64, Vec<u64>> {
    let mut of_bank: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    words.keys().for_each(|word| {
        of_bank
            .entry(word % film.model.banks)
            .or_default()
            .push(*word)
    });
    of_bank
}

/// A row of words for each pass: bank beside bank.
fn banks(film: &Film, request: &TracedRequest) -> CellGrid {
    let banks = film.model.banks;
    let parts = parts(film, request);
    let mut rows: Vec<GridRow> = Vec::new();
    let mut fullest: Option<(u64, Vec<u64>)> = None;
    let mut number = 0;
    for (part, words) in parts.iter().enumerate() {
        let of_bank = queues(film, words);
        if part > 0 {
            rows.push((format!("part {}", part + 1), Vec::new(), String::new()));
        }
        for pass in 0..of_bank.values().map(Vec::len).max().unwrap_or_default() {
            let mut cells = Vec::new();
            for bank in 0..banks {
                let queue = of_bank.get(&bank).map_or(&[][..], Vec::as_slice);
                let shade = if queue.len() > 1 {
                    Shade::Strong
                } else {
                    Shade::Full
                };
                cells.push(
                    queue
                        .get(pass)
                        .map_or(EMPTY, |word| (sign(&words[word]), shade)),
                );
            }
            number += 1;
            rows.push((format!("pass {number}"), cells, String::new()));
        }
        for (bank, all) in of_bank {
            if all.len() > fullest.as_ref().map_or(1, |(_, most)| most.len()) {
                fullest = Some((bank, all));
            }
        }
    }
    let told = fullest.map(|(bank, all)| {
        let named: Vec<String> = all
            .iter()
            .take(4)
            .map(|word: &u64| format!("byte {}", word * WORD))
            .collect();
        let more = if all.len() > 4 { ", ..." } else { "" };
        format!(
            "Bank {bank} is asked for {} at once: {}{more}.",
            format::counted(all.len(), "word"),
            named.join(", ")
        )
    });
    let split = match parts.len() {
        1 => None,
        n => Some(format!(
            "A warp asks for so many bytes in {n} parts, one after the other."
        )),
    };
    let below = [
        Some("A column is a bank, which gives one word in a pass.".to_owned()),
        split,
        told,
    ];
    let marks = vec![
        (('0', Shade::Full), legend(request, &words(request))),
        (
            (' ', Shade::Strong),
            "it waits, or lets others wait".to_owned(),
        ),
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
    let shared = if words.values().any(|asking| asking.len() > 1) {
        "; * several lanes"
    } else {
        ""
    };
    let range = match last {
        0 => String::new(),
        1..=9 => format!("-{last}"),
        _ => format!("-9, a-{}", sign(&[last])),
    };
    format!("{range} the lane that asks{shared}")
}

fn mark(letter: char, shade: Shade, meaning: &str) -> (GridCell, String) {
    ((letter, shade), meaning.to_owned())
}

/// A row for each step: the lanes that execute it.
fn mask(film: &Film, steps: &[&TracedStep]) -> DrawnGrids {
    let width = film.model.warp;
    let issued: u64 = steps.iter().map(|step| step.issued).sum();
    let executed: u64 = steps.iter().map(|step| step.executed).sum();
    let busy = if issued > 0 {
        100.0 * executed as f64 / (issued * width) as f64
    } else {
        0.0
    };
    let mut rows: Vec<GridRow> = Vec::new();
    let mut phase = steps.first().map_or(0, |step| step.phase);
    for step in steps {
        if step.phase != phase {
            phase = step.phase;
            rows.push(("barrier".into(), Vec::new(), String::new()));
        }
        let cells = (0..width).map(|lane| {
            if step.lanes >> lane & 1 == 1 {
                ('#', Shade::Full)
            } else {
                EMPTY
            }
        });
        let text = film.line(&step.file, step.line).unwrap_or_default();
        rows.push((format!("{}", step.line), cells.collect(), text.to_owned()));
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
        marks: vec![
            mark('#', Shade::Full, "the lane executes the line"),
            mark('.', Shade::Empty, "it is masked"),
        ],
        below: Vec::new(),
    };
    DrawnGrids {
        title: film.title.clone(),
        about,
        grids: vec![grid],
        of: None,
    }
}

/// For each local array a row from barrier to barrier, a cell for each word or for several.
fn phases(film: &Film, steps: &[&TracedStep]) -> Result<DrawnGrids, String> {
    const CELLS: u64 = 64;
    let mut arrays: BTreeMap<&str, BTreeMap<u64, BTreeMap<u64, GridCell>>> = BTreeMap::new();
    for step in steps {
        for request in step
            .requests
            .iter()
            .filter(|request| request.kind.is_local())
        {
            let phase = arrays
                .entry(&request.array)
                .or_default()
                .entry(step.phase)
                .or_default();
            for word in words(request).into_keys() {
                let cell = phase.entry(word).or_insert(EMPTY);
                *cell = touched(*cell, request.kind);
            }
        }
    }
    if arrays.is_empty() {
        return Err(
            "no local memory is read or written there: --view access or reach draws it".into(),
        );
    }
    let mut grids = Vec::new();
    for (array, phases) in &arrays {
        let last = phases
            .values()
            .flat_map(|phase| phase.keys())
            .max()
            .copied()
            .unwrap_or_default();
        let share = (last + 1).div_ceil(CELLS);
        let mut rows: Vec<GridRow> = Vec::new();
        for (number, phase) in phases {
            let mut cells = Vec::new();
            for at in 0..(last + 1).div_ceil(share) {
                let own: BTreeSet<char> = phase
                    .range(at * share..(at + 1) * share)
                    .map(|(_, cell)| cell.0)
                    .collect();
                cells.push(match (own.contains(&'r'), own.contains(&'w'), own.len()) {
                    (.., 0) => EMPTY,
                    (true, false, 1) => READ,
                    (false, true, 1) => WRITTEN,
                    _ => BOTH,
                });
            }
            rows.push((number.to_string(), cells, String::new()));
        }
        let words = if share == 1 {
            "a word".to_owned()
        } else {
            format!("{share} words")
        };
        grids.push(CellGrid {
            head: format!(
                "{array}, {} words; a row for each number of barriers met",
                last + 1
            ),
            together: 8,
            rows,
            marks: touched_marks(),
            below: vec![format!("A cell is {words}.")],
        });
    }
    let about = vec![format!(
        "group {}: local memory from barrier to barrier",
        steps[0].group
    )];
    Ok(DrawnGrids {
        title: film.title.clone(),
        about,
        grids,
        of: None,
    })
}

/// For each global array the elements that an item, its warp and its group touch, row by row of a matrix.
fn reach(film: &Film, steps: &[&TracedStep], warp: u64) -> DrawnGrids {
    const CELLS: u64 = 64;
    let lane = of_warp(steps, warp)
        .first()
        .and_then(|step| lanes(step.lanes).next())
        .unwrap_or_default();
    let mut arrays: BTreeMap<&str, (u64, BTreeMap<u64, Shade>)> = BTreeMap::new();
    for step in steps {
        for request in step
            .requests
            .iter()
            .filter(|request| !request.kind.is_local())
        {
            let array = arrays
                .entry(&request.array)
                .or_insert((request.size.min(WORD), BTreeMap::new()));
            for (own, at) in lanes(request.lanes).zip(&request.at) {
                let shade = match (step.warp == warp, own == lane) {
                    (true, true) => Shade::Strong,
                    (true, false) => Shade::Full,
                    (false, _) => Shade::Light,
                };
                for element in at / array.0..(at + request.size) / array.0 {
                    let known = array.1.entry(element).or_insert(shade);
                    *known = shade.max(*known);
                }
            }
        }
    }
    let is_matrix = film.case.shape.m > 1;
    let width = if is_matrix {
        film.case.shape.n.max(1)
    } else {
        CELLS
    };
    let share = width.div_ceil(CELLS);
    let one = if share == 1 {
        "an element".to_owned()
    } else {
        format!("{share} x {share} elements")
    };
    let mut grids = Vec::new();
    for (array, (_, touched)) in &arrays {
        // Of a large array a cell is a square of elements.
        let mut shades: BTreeMap<u64, BTreeMap<u64, Shade>> = BTreeMap::new();
        for (element, shade) in touched {
            let row = shades.entry(element / width / share).or_default();
            let known = row.entry(element % width / share).or_insert(*shade);
            *known = (*shade).max(*known);
        }
        let mut rows: Vec<GridRow> = Vec::new();
        for (row, cells) in &shades {
            let cells = (0..width.div_ceil(share)).map(|column| match cells.get(&column) {
                Some(Shade::Strong) => ('#', Shade::Strong),
                Some(Shade::Full) => ('o', Shade::Full),
                Some(_) => ('-', Shade::Light),
                None => EMPTY,
            });
            let first = row * share * if is_matrix { 1 } else { width };
            rows.push((first.to_string(), cells.collect(), String::new()));
        }
        let array = if array.is_empty() { "an array" } else { array };
        grids.push(CellGrid {
            head: format!("{array}, {}", if is_matrix { "row" } else { "element" }),
            together: 8,
            rows,
            marks: vec![
                mark(
                    '#',
                    Shade::Strong,
                    &format!("work-item {lane} of warp {warp} touches it"),
                ),
                mark('o', Shade::Full, "its warp"),
                mark('-', Shade::Light, "its group"),
            ],
            below: vec![format!("A cell is {one}.")],
        });
    }
    let about = vec![format!(
        "group {}: the elements that it touches in global memory",
        steps[0].group
    )];
    DrawnGrids {
        title: film.title.clone(),
        about,
        grids,
        of: None,
    }
}

/// Most launches and buffers that one picture shows.
const MOST: usize = 24;

/// Kernels of gpulab's own, which prepare a reader's buffers, in words.
const HELPERS: [(&str, &str); 2] = [
    ("gpulab_copy", "gpulab copies the input"),
    ("gpulab_zero", "gpulab writes zeros"),
];

/// A row for all that the host sends, one for each launch, and one for what the host reads; a column for each buffer.
fn launches(film: &Film) -> Result<DrawnGrids, String> {
    let buffers = film.plan.buffers.len();
    if buffers > MOST {
        return Err(format!(
            "{buffers} buffers are too many for one picture, which shows {MOST}"
        ));
    }
    let mut names = vec![BTreeSet::new(); buffers];
    let sent = film.plan.buffers.iter().map(|spec| {
        if matches!(spec.role, Role::Input(_)) {
            WRITTEN
        } else {
            EMPTY
        }
    });
    let mut rows: Vec<GridRow> = vec![("host sends".into(), sent.collect(), "the inputs".into())];
    // Launches of one kernel may have other buffers each; those that a flag left out were not traced.
    let mut passes = film.plan.passes.iter();
    for (number, (traced, counted)) in (1..)
        .zip(film.launches.iter().zip(&film.counted.launches))
        .take(MOST)
    {
        let parameters = film
            .parameters
            .get(&traced.kernel)
            .map_or(&[][..], Vec::as_slice);
        let pass = passes.by_ref().find(|pass| pass.kernel == traced.kernel);
        let args = pass.map_or(&[][..], |pass| &pass.args[..]);
        let helper = HELPERS.iter().find(|(kernel, _)| *kernel == traced.kernel);
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, arg) in parameters.iter().zip(args) {
            if let Arg::Buffer(buffer) = arg {
                places.insert(name, *buffer);
                if helper.is_none() {
                    names[*buffer].insert(name.as_str());
                }
            }
        }
        let mut cells = vec![EMPTY; buffers];
        for request in traced
            .steps
            .iter()
            .flat_map(|step| &step.requests)
            .filter(|one| !one.kind.is_local())
        {
            if let Some(&place) = places.get(request.array.as_str()) {
                cells[place] = touched(cells[place], request.kind);
            }
        }
        let counts = &counted.counts;
        let groups = format::counted(counts.groups as usize, "group");
        let items = format::counted(counts.items as usize, "work-item");
        let timed = if counted.timed { "" } else { ", not timed" };
        let name = helper.map_or(traced.kernel.as_str(), |(_, what)| *what);
        let about = format!("{name}: {groups}, {items}{timed}");
        rows.push((format!("launch {number}"), cells, about));
    }
    let more = film.launches.len().saturating_sub(MOST);
    if more > 0 {
        rows.push((
            "...".into(),
            vec![EMPTY; buffers],
            format!(
                "{} more; a smaller -n has fewer",
                format::counted(more, "launch")
            ),
        ));
    }
    let read = film.plan.buffers.iter().map(|spec| {
        if spec.role == Role::Output {
            READ
        } else {
            EMPTY
        }
    });
    rows.push(("host reads".into(), read.collect(), "the result".into()));
    let about = match film.launches.len() {
        1 => "One launch on the queue.".to_owned(),
        several => {
            format!("{several} launches on one queue: each begins when the one before has ended.")
        }
    };
    let told = film
        .plan
        .buffers
        .iter()
        .zip(&names)
        .enumerate()
        .map(|(at, (spec, names))| {
            let role = match spec.role {
                Role::Input(_) => "input",
                Role::Output => "result",
                Role::Scratch => "between launches",
                Role::Zeroed => "zeros before the first launch",
                Role::Image { .. } => "image",
            };
            let names: Vec<&str> = names.iter().copied().collect();
            let named = if names.is_empty() {
                String::new()
            } else {
                format!("{}, ", names.join(" or "))
            };
            format!(
                "{}. column: {named}{} {}, {role}",
                at + 1,
                format::count(spec.len as u64),
                spec.dtype.name()
            )
        });
    let grid = CellGrid {
        head: "a column for each buffer".into(),
        together: 1,
        rows,
        marks: touched_marks(),
        below: told.collect(),
    };
    Ok(DrawnGrids {
        title: film.title.clone(),
        about: vec![about],
        grids: vec![grid],
        of: None,
    })
}

pub fn text(drawn: &DrawnGrids, screen: Screen) -> String {
    let mut text = format!("{}\n", format::terminal(&drawn.title));
    drawn
        .about
        .iter()
        .for_each(|line| text += &screen.wrap_foreign(line));
    for grid in &drawn.grids {
        text += &format!("\n{}\n", format::terminal(&grid.head));
        let widest = format::widest(grid.rows.iter().map(|(label, ..)| label));
        let [first, last] = shown_rows(grid);
        let left_out = grid.rows.len() - first.len() - last.len();
        text.extend(first.iter().map(|row| line(grid, row, widest, screen)));
        if left_out > 0 {
            text += &format!("{:>widest$}  {left_out} more rows\n", "...");
        }
        text.extend(last.iter().map(|row| line(grid, row, widest, screen)));
        // A shade without a letter is a colour.
        let told = shown_marks(grid).filter(|(cell, _)| cell.0 != ' ');
        let marks: Vec<String> = told
            .map(|(cell, meaning)| {
                format!(
                    "{}{}{meaning}",
                    cell.0,
                    if meaning.starts_with('-') { "" } else { " " }
                )
            })
            .collect();
        text += &screen.wrap(&marks.join("; "));
        grid.below
            .iter()
            .for_each(|line| text += &screen.wrap_foreign(line));
    }
    text
}

fn line(
    grid: &CellGrid,
    (label, cells, behind): &GridRow,
    widest: usize,
    screen: Screen,
) -> String {
    // Wide grids have no blanks between their cells.
    let gap = if widest + 2 + 2 * cells.len() + cells.len() / grid.together <= screen.width
        && behind.is_empty()
    {
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
    let text = if behind.is_empty() {
        text
    } else {
        format!("{text}  {behind}")
    };
    format!("{}\n", text.trim_end())
}

fn painted((letter, shade): GridCell, screen: Screen) -> String {
    let tint = match shade {
        _ if !screen.color => return letter.to_string(),
        Shade::Empty => return letter.to_string(),
        Shade::Light => format::Tint::Yellow,
        Shade::Full => format::Tint::Green,
        Shade::Strong => format::Tint::Red,
    };
    format::paint(&letter.to_string(), tint)
}
