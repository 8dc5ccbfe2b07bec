//! Pictures of what a kernel's warps do, as grids of cells: what they hold, and as lines of a terminal.

use super::film::Film;
use crate::format::{self, Screen};
use crate::moment::FilmLine;
use Shade::{Empty, Full, Light, Strong};
use clap::{Args, ValueEnum};
use gpulab_model::Joined;
use gpulab_model::plan::{Arg, Role, WorkGroup};
use gpulab_study::count::{
    CountedLaunch, LockstepModel, RequestKind, TracedLaunch, TracedRequest, TracedStep,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DrawnView {
    /// One access of a warp: which lane touches which word, in which segments and banks
    Access,
    /// The lanes that execute each step of a warp, line by line
    Mask,
    /// The steps of a tree in local memory: who reads and writes which word, and the values; of groups of 16 by default
    #[value(alias = "phases")]
    Tree,
    /// The elements of each array that one work-item, its warp and its group touch
    Reach,
    /// The launches on the queue: which buffers each reads and writes
    Launches,
    /// The place (x, y) in its group of each lane of the warps
    Items,
    /// The groups that the compute units of --machine run at once, wave by wave, and the partitions of memory that they ask
    Units,
}

#[derive(Debug, Args)]
pub struct Chosen {
    /// What to draw
    #[arg(long, value_enum, value_name = "VIEW", default_value_t = DrawnView::Access)]
    pub view: DrawnView,
    /// Draw what this line does, as in 33 or strided.cl:33, or open the film where it costs most; worst is the costliest of all
    /// [default: all lines; of accesses the one that the kernel is about; of a film the first access]
    #[arg(long, value_name = "LINE")]
    pub line: Option<FilmLine>,
    /// Draw a picture for each time that the warps come to this line, six at most; a file shows them by turns
    #[arg(long, value_name = "LINE")]
    pub each: Option<FilmLine>,
    /// Draw what this warp of the group does
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warp: u64,
    /// Draw what this group does, one of those that --groups watches
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub group: u64,
}

/// The kind of an access, and the array that it goes to.
pub type ArrayAccess = (RequestKind, String);

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

/// Its number or sign, and its shade.
pub(crate) type GridCell = (Cow<'static, str>, Shade);

const EMPTY: GridCell = (Cow::Borrowed("."), Empty);

const READ: GridCell = (Cow::Borrowed("r"), Light);
const WRITTEN: GridCell = (Cow::Borrowed("w"), Full);
const BOTH: GridCell = (Cow::Borrowed("+"), Strong);

/// A cell that is touched once more.
fn touched(cell: &GridCell, kind: RequestKind) -> GridCell {
    let own = if kind.is_read() { READ } else { WRITTEN };
    if *cell == EMPTY || *cell == own {
        own
    } else {
        BOTH
    }
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
    pub(crate) marks: Vec<(GridCell, &'static str)>,
    pub(crate) below: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DrawnGrids {
    pub(crate) title: String,
    pub(crate) about: Vec<String>,
    pub(crate) grids: Vec<CellGrid>,
    /// Of an access, its kind and array.
    pub of: Option<ArrayAccess>,
}

impl CellGrid {
    /// Characters of its widest cell.
    pub(crate) fn digits(&self) -> usize {
        let cells = self.rows.iter().flat_map(|(_, cells, _)| cells);
        cells.map(|(sign, _)| sign.len()).max().unwrap_or(1)
    }
}

/// Most rows of a grid; of more those in the middle are left out.
const MOST_ROWS: usize = 36;

/// The first and last rows, where there are too many: those between them are left out.
pub(crate) fn shown_rows(grid: &CellGrid) -> [&[GridRow]; 2] {
    match grid.rows.len() {
        all if all <= MOST_ROWS => [&grid.rows, &[]],
        all => [&grid.rows[..MOST_ROWS - 4], &grid.rows[all - 4..]],
    }
}

/// What the shades mean that occur.
pub(crate) fn shown_marks(grid: &CellGrid) -> impl Iterator<Item = &(GridCell, &'static str)> {
    let cells = grid.rows.iter().flat_map(|(_, cells, _)| cells);
    grid.marks.iter().filter(move |(mark, _)| {
        let mut cells = cells.clone();
        cells.any(|cell| cell.1 == mark.1 && (mark.1 != Empty || cell == mark))
    })
}

/// Words of a row: 128 bytes.
const WORDS: u64 = 32;
/// Bytes of the smallest transaction.
pub(crate) const SMALLEST: u64 = 32;
const WORD: u64 = 4;

/// The first of the lanes that ask.
fn first(asking: &[u64]) -> Cow<'static, str> {
    asking[0].to_string().into()
}

fn lanes(bits: u64) -> impl Iterator<Item = u64> {
    (0..64).filter(move |lane| bits >> lane & 1 == 1)
}

/// The picture that is chosen; where each time that the warps come to a line is, one for each. Of accesses rather one that is
/// `like` another kernel's, to compare them.
pub fn draw(
    film: &Film,
    chosen: &Chosen,
    like: Option<&ArrayAccess>,
) -> Result<Vec<DrawnGrids>, String> {
    let timed = film.launches.iter().zip(&film.counted.launches);
    let mut steps: Vec<&TracedStep> = timed
        .filter(|(_, counted)| counted.timed || chosen.line.is_some())
        .flat_map(|(launch, _)| &launch.steps)
        .collect();
    steps.retain(|step| {
        step.group == chosen.group && chosen.line.as_ref().is_none_or(|line| line.is_of(step))
    });
    let turns = match &chosen.each {
        Some(line) => turns(&steps, line),
        None => vec![steps],
    };
    let all = turns.concat();
    if all.is_empty() {
        return Err(format!("nothing happens there: {}", film.lines()));
    }
    let mut drawn = Vec::new();
    for (number, turn) in (1..).zip(&turns) {
        let mut one = view(film, &all, turn, (chosen, like))?;
        if let Some(line) = &chosen.each {
            one.about.push(format!("turn {number} of line {line}"));
        }
        drawn.push(one);
    }
    Ok(drawn)
}

/// A picture of `steps`, some of `all`.
fn view(
    film: &Film,
    all: &[&TracedStep],
    steps: &[&TracedStep],
    (chosen, like): (&Chosen, Option<&ArrayAccess>),
) -> Result<DrawnGrids, String> {
    match chosen.view {
        DrawnView::Access => access(film, &of_warp(steps, chosen.warp), like),
        DrawnView::Mask => Ok(mask(film, &of_warp(steps, chosen.warp))),
        DrawnView::Tree => tree(film, steps),
        DrawnView::Launches => launches(film),
        DrawnView::Items => Ok(items(film, steps[0])),
        DrawnView::Units => units(film, steps[0]),
        DrawnView::Reach => Ok(reach(film, all, steps, chosen.warp)),
    }
}

/// What the warps do from each time that they come to a line until the next; of the first times.
fn turns<'a>(steps: &[&'a TracedStep], line: &FilmLine) -> Vec<Vec<&'a TracedStep>> {
    const MOST: usize = 6;
    let mut turns: Vec<Vec<&TracedStep>> = Vec::new();
    let mut warps: BTreeMap<u64, (usize, bool)> = BTreeMap::new();
    for step in steps {
        let (turn, was_there) = warps.entry(step.warp).or_default();
        let is_there = line.is_of(step);
        *turn += usize::from(is_there && !*was_there);
        *was_there = is_there;
        if (1..=MOST).contains(turn) {
            turns.resize(turns.len().max(*turn), Vec::new());
            turns[*turn - 1].push(step);
        }
    }
    turns
}

fn drawn(film: &Film, about: Vec<String>, grids: Vec<CellGrid>) -> DrawnGrids {
    DrawnGrids {
        title: film.title.clone(),
        about,
        grids,
        of: None,
    }
}

fn of_warp<'a>(steps: &[&'a TracedStep], warp: u64) -> Vec<&'a TracedStep> {
    steps
        .iter()
        .copied()
        .filter(|step| step.warp == warp)
        .collect()
}

fn requests<'a>(steps: &[&'a TracedStep]) -> Vec<(&'a TracedStep, &'a TracedRequest)> {
    steps
        .iter()
        .flat_map(|step| step.requests.iter().map(move |one| (*step, one)))
        .collect()
}

fn access(
    film: &Film,
    steps: &[&TracedStep],
    like: Option<&ArrayAccess>,
) -> Result<DrawnGrids, String> {
    let mut all = requests(steps);
    if let Some((kind, array)) = like {
        keep(&mut all, |one| (one.kind, &one.array) == (*kind, array));
    } else {
        let named = format!("{} {}", film.case.family, film.case.variant);
        keep(&mut all, |one| {
            let line = format!("{named} {} {}", verb(one), one.array);
            SUBJECTS.lines().any(|own| own == line)
        });
    }
    // What the run is about: of which array's accesses in a line most is wasted; of a run without waste, most is asked.
    let mut totals: BTreeMap<(u64, bool, &str), (u64, u64)> = BTreeMap::new();
    for &(step, one) in &all {
        let total = totals.entry(subject(step, one)).or_default();
        total.0 += waste(film, step, one);
        total.1 += one.counts.passes + one.counts.segments;
    }
    let most = totals.iter().rev().max_by_key(|(_, total)| **total);
    all.retain(|(step, one)| most.is_some_and(|(most, _)| subject(step, one) == *most));
    // The first of those that cost most.
    let worst = all
        .iter()
        .rev()
        .max_by_key(|(step, one)| (waste(film, step, one), one.counts.bytes));
    let &(step, request) =
        worst.ok_or("no access to memory is there: choose another --line or --warp")?;
    let verb = verb(request);
    let place = match request.kind {
        RequestKind::ConstantRead => "constant",
        kind if kind.is_local() => "local",
        _ => "global",
    };
    let array = if request.array.is_empty() {
        "an array"
    } else {
        &request.array
    };
    let counts = &request.counts;
    let lanes = format::counted(counts.items as usize, "lane");
    let mut cost = format!(
        "{lanes}, {} bytes each: {}",
        request.size,
        film.asked(request)
    );
    let outside = outside(film, step, request);
    if outside > 0 {
        let lanes = format::counted(outside as usize, "lane");
        cost += &format!("; {lanes} outside of the array");
    }
    let about = vec![
        format!(
            "{}: line {}: {}",
            step.file,
            step.line,
            film.line(&step.file, step.line).unwrap_or_default()
        ),
        format!(
            "group {} ({} work-items), warp {}: {verb} {array} ({place} memory)",
            step.group,
            group_of(film, step),
            step.warp
        ),
        cost,
    ];
    let grid = if request.kind.is_local() {
        banks(film, request)
    } else {
        segments(film, request, end(film, step, request))
    };
    Ok(DrawnGrids {
        of: Some((request.kind, request.array.clone())),
        ..drawn(film, about, vec![grid])
    })
}

/// The accesses that rungs and experiments are named after, where others cost more.
const SUBJECTS: &str = include_str!("subjects.txt");

/// Leaves accesses of this kind alone, if there are any.
fn keep(all: &mut Vec<(&TracedStep, &TracedRequest)>, is_meant: impl Fn(&TracedRequest) -> bool) {
    if all.iter().any(|(_, one)| is_meant(one)) {
        all.retain(|(_, one)| is_meant(one));
    }
}

fn verb(one: &TracedRequest) -> &'static str {
    if one.kind.is_read() {
        "reads"
    } else {
        "writes"
    }
}

/// A launch, the buffers of its kernel's parameters by their names, and its counts.
type Launched<'a> = (
    &'a TracedLaunch,
    BTreeMap<&'a str, usize>,
    &'a CountedLaunch,
);

/// The launches; those that a flag left out were not traced.
fn launched(film: &Film) -> Vec<Launched<'_>> {
    let mut passes = film.plan.passes.iter();
    let mut launched = Vec::new();
    for (launch, counted) in film.launches.iter().zip(&film.counted.launches) {
        // Launches of one kernel may have other buffers each.
        let pass = passes.by_ref().find(|pass| pass.kernel == launch.kernel);
        let names = film.parameters.get(&launch.kernel);
        let mut buffers = BTreeMap::new();
        for (name, arg) in names
            .into_iter()
            .flatten()
            .zip(pass.iter().flat_map(|pass| &pass.args))
        {
            if let Arg::Buffer(buffer) = arg {
                buffers.insert(name.as_str(), *buffer);
            }
        }
        launched.push((launch, buffers, counted));
    }
    launched
}

fn launch_of<'a>(film: &'a Film, step: &TracedStep) -> Option<Launched<'a>> {
    launched(film)
        .into_iter()
        .find(|(launch, ..)| launch.steps.iter().any(|own| std::ptr::eq(own, step)))
}

/// The work-group of the launch that a step is of.
fn group_of(film: &Film, step: &TracedStep) -> WorkGroup {
    launch_of(film, step).map_or(film.plan.wg, |(.., counted)| WorkGroup(counted.counts.wg))
}

/// Bytes of the buffer that an access goes to, where it is known.
fn end(film: &Film, step: &TracedStep, one: &TracedRequest) -> Option<u64> {
    let (_, buffers, _) = launch_of(film, step)?;
    let spec = &film.plan.buffers[*buffers.get(one.array.as_str())?];
    Some(spec.len as u64 * spec.dtype.size() as u64)
}

/// Lanes that ask for what lies outside of the buffer.
fn outside(film: &Film, step: &TracedStep, one: &TracedRequest) -> u64 {
    let end = end(film, step, one).unwrap_or(u64::MAX);
    one.at.iter().filter(|at| **at >= end).count() as u64
}

fn waste(film: &Film, step: &TracedStep, one: &TracedRequest) -> u64 {
    film.excess(one) + outside(film, step, one)
}

fn subject<'a>(step: &TracedStep, one: &'a TracedRequest) -> (u64, bool, &'a str) {
    (step.line, !one.kind.is_read(), &one.array)
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

/// A row with nothing behind it.
fn row(label: impl Into<String>, cells: impl IntoIterator<Item = GridCell>) -> GridRow {
    (label.into(), cells.into_iter().collect(), String::new())
}

/// A row above others, with their columns' numbers.
fn numbers(label: &str, columns: u64) -> GridRow {
    let cells = (0..columns).map(|column| (column.to_string().into(), Empty));
    row(label, cells)
}

/// Lines of 128 bytes, segment beside segment.
fn segments(film: &Film, request: &TracedRequest, end: Option<u64>) -> CellGrid {
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
    let mut rows = vec![numbers("word", WORDS)];
    for line in words
        .keys()
        .map(|word| word / WORDS)
        .collect::<BTreeSet<u64>>()
    {
        let cells = (line * WORDS..(line + 1) * WORDS).map(|word| match words.get(&word) {
            Some(asking) if end.is_some_and(|end| word * WORD >= end) => (first(asking), Strong),
            Some(asking) => (first(asking), Full),
            None if moved.contains(&(word / together)) => ("-".into(), Light),
            None => EMPTY,
        });
        rows.push(row((line * WORDS * WORD).to_string(), cells));
    }
    CellGrid { together: together as usize, below: [format!(
            "A row is 128 bytes, a cell is a word of 4 bytes; lines separate segments of {segment} bytes."
        )]
        .into_iter()
        .chain(shared(&words))
        .collect(), ..grid("byte", rows, "access") }
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
    let mut rows = vec![numbers("bank", banks)];
    let mut number = 0;
    for (part, words) in parts.iter().enumerate() {
        let of_bank = queues(film, words);
        if part > 0 {
            rows.push(row(format!("part {}", part + 1), []));
        }
        for pass in 0..of_bank.values().map(Vec::len).max().unwrap_or_default() {
            let mut cells = vec![EMPTY; banks as usize];
            for (bank, queue) in &of_bank {
                if let Some(word) = queue.get(pass) {
                    let shade = if queue.len() > 1 { Strong } else { Full };
                    cells[*bank as usize] = (first(&words[word]), shade);
                }
            }
            number += 1;
            rows.push(row(format!("pass {number}"), cells));
        }
    }
    let split = format!(
        "A warp asks for so many bytes in {} parts, one after the other.",
        parts.len()
    );
    let below = [
        Some("A column is a bank, which gives one word in a pass.".to_owned()),
        (parts.len() > 1).then_some(split),
        shared(&words(request)),
    ];
    CellGrid {
        below: below.into_iter().flatten().collect(),
        ..grid("local memory", rows, "banks")
    }
}

/// Words that several lanes ask for, and these lanes.
fn shared(words: &BTreeMap<u64, Vec<u64>>) -> Option<String> {
    let mut told = Vec::new();
    for (word, asking) in words.iter().filter(|(_, asking)| asking.len() > 1).take(4) {
        let asking = asking.iter().map(u64::to_string).joined(" ");
        told.push(format!("byte {}: lanes {asking}", word * WORD));
    }
    (!told.is_empty()).then(|| format!("Several lanes ask for a word. {}.", told.join("; ")))
}

/// What the cells of each view mean: the view, a cell's sign, its shade from empty to strong, and the meaning.
const MARKS: &str = include_str!("marks.txt");

/// A grid with the marks of its view.
fn grid(head: impl Into<String>, rows: Vec<GridRow>, view: &str) -> CellGrid {
    let marks = MARKS.lines().filter_map(|line| {
        let (sign, rest) = line.strip_prefix(view)?.trim_start().split_once(' ')?;
        let (shade, meaning) = rest.split_once(' ')?;
        let shade = [Empty, Light, Full, Strong][shade.parse::<usize>().ok()?];
        Some(((sign.into(), shade), meaning))
    });
    CellGrid {
        head: head.into(),
        together: 8,
        rows,
        marks: marks.collect(),
        below: Vec::new(),
    }
}

/// A row for each step: the lanes that execute it.
fn mask(film: &Film, steps: &[&TracedStep]) -> DrawnGrids {
    let width = film.model.warp;
    let issued: u64 = steps.iter().map(|step| step.issued).sum();
    let executed: u64 = steps.iter().map(|step| step.executed).sum();
    let busy = 100.0 * executed as f64 / (issued * width).max(1) as f64;
    let mut rows: Vec<GridRow> = Vec::new();
    let mut phase = steps.first().map_or(0, |step| step.phase);
    for step in steps {
        if step.phase != phase {
            phase = step.phase;
            rows.push(row("barrier", []));
        }
        let cells = (0..width).map(|lane| {
            if step.lanes >> lane & 1 == 1 {
                ("#".into(), Full)
            } else {
                EMPTY
            }
        });
        let text = film.line(&step.file, step.line).unwrap_or_default();
        rows.push((step.line.to_string(), cells.collect(), text.to_owned()));
    }
    let about = match steps.first() {
        Some(step) => vec![format!(
            "group {} ({} work-items), warp {}: {} steps, {busy:.1} % of its lanes busy",
            step.group,
            group_of(film, step),
            step.warp,
            steps.len()
        )],
        None => vec!["this warp does nothing there: choose another --warp or --line".into()],
    };
    let grid = grid("line", rows, "mask");
    drawn(film, about, vec![grid])
}

/// Of each local array its words after each step that writes some of them, below the items that read and write them.
fn tree(film: &Film, steps: &[&TracedStep]) -> Result<DrawnGrids, String> {
    const MOST: usize = 16;
    let mut writes = requests(steps);
    writes.retain(|(_, one)| one.kind == RequestKind::LocalWrite);
    let words = writes
        .iter()
        .flat_map(|(_, one)| one.at.iter().map(|at| at / one.size));
    let columns = words
        .max()
        .ok_or("no local memory is written there: --view reach draws the rest")?
        as usize
        + 1;
    if columns > MOST {
        return Err(format!(
            "{columns} words of local memory are too many for a tree: --wg {MOST} has fewer"
        ));
    }
    let mut trees: BTreeMap<&str, (Vec<GridCell>, Vec<GridRow>)> = BTreeMap::new();
    for (step, write) in writes {
        let first = step.warp * film.model.warp;
        let (values, rows) = trees
            .entry(&write.array)
            .or_insert((vec![EMPTY; columns], Vec::new()));
        let mut items = vec![EMPTY; columns];
        for read in step
            .requests
            .iter()
            .filter(|one| one.kind == RequestKind::LocalRead && one.array == write.array)
        {
            for (lane, at) in lanes(read.lanes).zip(&read.at) {
                if let Some(item) = items.get_mut((at / read.size) as usize) {
                    *item = (format!("+{}", first + lane).into(), Light);
                }
            }
        }
        values.iter_mut().for_each(|value| value.1 = Empty);
        for ((lane, at), value) in lanes(write.lanes).zip(&write.at).zip(&write.stored) {
            let at = (at / write.size) as usize;
            let item = first + lane;
            let is_read = items[at].0 == format!("+{item}");
            let sign = if is_read {
                format!("{item}=")
            } else {
                format!("={item}")
            };
            items[at] = (sign.into(), Full);
            values[at] = (value.clone().into(), Full);
        }
        rows.push(row(format!("line {}", step.line), items));
        rows.push(row("values", values.clone()));
    }
    let mut grids = Vec::new();
    for (array, (_, rows)) in trees {
        grids.push(CellGrid {
            together: columns,
            ..grid(format!("{array}, a column for each word"), rows, "tree")
        });
    }
    Ok(drawn(
        film,
        vec![format!(
            "group {}: local memory step by step",
            steps[0].group
        )],
        grids,
    ))
}

/// Of each array the elements that an item, its warp and its group touch in some steps, in the rows that all of them touch.
fn reach(film: &Film, all: &[&TracedStep], steps: &[&TracedStep], warp: u64) -> DrawnGrids {
    const CELLS: u64 = 64;
    let lane = of_warp(steps, warp)
        .first()
        .and_then(|step| lanes(step.lanes).next())
        .unwrap_or_default();
    let mut arrays: BTreeMap<(bool, &str), BTreeMap<u64, Shade>> = BTreeMap::new();
    let before = all.iter().map(|step| (step, false));
    for (step, is_now) in before.chain(steps.iter().map(|step| (step, true))) {
        for request in &step.requests {
            let size = request.size.min(WORD);
            let array = arrays
                .entry((request.kind.is_local(), &request.array))
                .or_default();
            for (own, at) in lanes(request.lanes).zip(&request.at) {
                let shade = match (step.warp == warp, own == lane) {
                    _ if !is_now => Empty,
                    (true, true) => Strong,
                    (true, false) => Full,
                    (false, _) => Light,
                };
                for element in at / size..(at + request.size) / size {
                    let known = array.entry(element).or_insert(shade);
                    *known = shade.max(*known);
                }
            }
        }
    }
    let mut grids = Vec::new();
    for (&(is_local, array), touched) in &arrays {
        let shape = film.case.shape;
        let (width, step, rows_of) = match (is_local, shape.m > 1) {
            (true, _) => (
                film.model.banks,
                film.model.banks,
                "word; a column for each bank",
            ),
            (_, true) => (shape.n, 1, "row"),
            _ => (CELLS, CELLS, "element"),
        };
        let share = width.div_ceil(CELLS);
        // Of a large array a cell is a square of elements.
        let mut shades: BTreeMap<u64, BTreeMap<u64, Shade>> = BTreeMap::new();
        for (element, shade) in touched {
            let row = shades.entry(element / width / share).or_default();
            let known = row.entry(element % width / share).or_insert(*shade);
            *known = (*shade).max(*known);
        }
        let mut rows: Vec<GridRow> = Vec::new();
        for (place, cells) in &shades {
            let cells = (0..width.div_ceil(share)).map(|column| match cells.get(&column) {
                Some(Strong) => ("#".into(), Strong),
                Some(Full) => ("o".into(), Full),
                Some(Light) => ("-".into(), Light),
                _ => EMPTY,
            });
            let first = place * share * step;
            rows.push(row(first.to_string(), cells));
        }
        let array = if array.is_empty() { "an array" } else { array };
        grids.push(CellGrid {
            below: vec![format!(
                "A cell is {}.",
                format::counted((share * share) as usize, "element")
            )],
            ..grid(format!("{array}, {rows_of}"), rows, "reach")
        });
    }
    let about = vec![format!(
        "group {}: the elements that it touches, and in it work-item {lane} of warp {warp}",
        steps[0].group
    )];
    drawn(film, about, grids)
}

/// A cell for each work-item, at its place (x, y): its lane.
fn items(film: &Film, step: &TracedStep) -> DrawnGrids {
    let wg = group_of(film, step);
    let warp = film.model.warp as usize;
    let [across, high, deep] = wg.0;
    let width = across.min(warp);
    let third = |text: String| if deep > 1 { text } else { String::new() };
    let axes = format!("(x, y{})", third(", z".to_owned()));
    let mut rows = vec![numbers(&axes, width as u64)];
    let all: Vec<usize> = (0..wg.size()).collect();
    for own in all.chunk_by(|_, next| next % across > 0 && next % width > 0) {
        let first = own[0];
        let place = format!(
            "warp {}, ({}, {}{})",
            first / warp,
            first % across,
            first / across % high,
            third(format!(", {}", first / across / high))
        );
        let cells = own.iter().map(|item| {
            let shade = [Full, Light][item / warp % 2];
            ((item % warp).to_string().into(), shade)
        });
        rows.push(row(place, cells));
    }
    let last = third(format!(" + {} z", across * high));
    let grid = CellGrid {
        below: vec![format!(
            "The number x + {across} y{last} of a work-item, divided by {warp}, is its warp; the remainder is its lane."
        )],
        ..grid(format!("a group of {wg} work-items"), rows, "items")
    };
    drawn(film, Vec::new(), vec![grid])
}

/// The groups of a launch, a column for each compute unit and a row for each wave: their numbers, and of each array the partition
/// that they ask first.
fn units(film: &Film, step: &TracedStep) -> Result<DrawnGrids, String> {
    const PARTITION: u64 = 256;
    let LockstepModel {
        units, partitions, ..
    } = film.model;
    let (launch, _, counted) = launch_of(film, step).filter(|_| partitions > 0).ok_or(
        "how many compute units this machine has is not known: --machine gtx280 has 30, cc1.0 16",
    )?;
    let groups = counted.counts.groups;
    let numbers_of: BTreeMap<u64, u64> = (0..groups).map(|group| (group, group)).collect();
    let mut shown = BTreeMap::from([("groups, by number".to_owned(), numbers_of)]);
    let last = launch.steps.iter().map(|step| step.group).max();
    let last = last.unwrap_or_default();
    for step in &launch.steps {
        for one in &step.requests {
            if matches!(one.kind, RequestKind::GlobalRead | RequestKind::GlobalWrite) {
                let head = format!(
                    "groups, by the partition of {} that each {} first: groups 0 to {last}",
                    one.array,
                    verb(one)
                );
                shown
                    .entry(head)
                    .or_default()
                    .entry(step.group)
                    .or_insert(one.at[0] / PARTITION % partitions);
            }
        }
    }
    let mut grids = Vec::new();
    for (head, numbers_of) in shown {
        let mut rows = vec![numbers("unit", units)];
        let last = numbers_of.keys().max().copied().unwrap_or_default();
        for wave in 0..=last / units {
            let own: Vec<Option<&u64>> = (0..units)
                .map(|unit| numbers_of.get(&(wave * units + unit)))
                .collect();
            let cells = own.iter().map(|one| {
                let alike = own.iter().filter(|other| *other == one).count() as u64;
                let shade = if alike > units.div_ceil(partitions) {
                    Strong
                } else {
                    Full
                };
                one.map_or(EMPTY, |number| (number.to_string().into(), shade))
            });
            rows.push(row(format!("wave {}", wave + 1), cells));
        }
        grids.push(grid(head, rows, "units"));
    }
    let groups = format::counted(groups as usize, "group");
    let about = vec![
        format!("{}: {groups} on {units} compute units", launch.kernel),
        "A wave is one group for each unit. A unit that holds more groups runs as many waves at once.".into(),
        "The hardware chooses the unit of a group; here groups follow their numbers.".into(),
    ];
    Ok(drawn(film, about, grids))
}

/// Most buffers that one picture shows.
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
    for (number, (traced, places, counted)) in (1..).zip(&launched(film)) {
        let helper = HELPERS.iter().find(|(kernel, _)| *kernel == traced.kernel);
        if helper.is_none() {
            for (name, place) in places {
                names[*place].insert(*name);
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
                cells[place] = touched(&cells[place], request.kind);
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
    let read = film.plan.buffers.iter().map(|spec| {
        if spec.role == Role::Output {
            READ
        } else {
            EMPTY
        }
    });
    rows.push(("host reads".into(), read.collect(), "the result".into()));
    let about = format!(
        "{} on one queue: each begins when the one before has ended.",
        format::counted(film.launches.len(), "launch")
    );
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
        together: 1,
        below: told.collect(),
        ..grid("a column for each buffer", rows, "launches")
    };
    Ok(drawn(film, vec![about], vec![grid]))
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
        for part in parts_of(grid, screen.width.saturating_sub(widest)) {
            let [first, last] = shown_rows(&part);
            let left_out = part.rows.len() - first.len() - last.len();
            text.extend(first.iter().map(|row| line(&part, row, widest, screen)));
            if left_out > 0 {
                text += &format!("{:>widest$}  {left_out} more rows\n", "...");
            }
            text.extend(last.iter().map(|row| line(&part, row, widest, screen)));
        }
        let mut marks: Vec<_> = shown_marks(grid).collect();
        if !screen.color {
            // What only a colour tells apart is one.
            marks.dedup_by_key(|(cell, _)| &cell.0);
        }
        let marks = marks
            .iter()
            .map(|(cell, meaning)| format!("{} {meaning}", cell.0));
        text += &screen.wrap(&marks.joined("; "));
        grid.below
            .iter()
            .for_each(|line| text += &screen.wrap_foreign(line));
    }
    text
}

/// The grid, or its halves if the room is too narrow for so many numbers.
fn parts_of(grid: &CellGrid, room: usize) -> Vec<CellGrid> {
    let columns = grid.rows.first().map_or(0, |(_, cells, _)| cells.len());
    let wide = grid.digits() + 1;
    if wide == 2 || wide * columns + 2 * (columns / grid.together) < room {
        return vec![grid.clone()];
    }
    let mut halves = vec![grid.clone(), grid.clone()];
    for (at, half) in halves.iter_mut().enumerate() {
        half.rows.retain_mut(|(_, cells, _)| {
            let own = cells.chunks(columns / 2).nth(at).unwrap_or_default();
            *cells = own.to_vec();
            cells.iter().any(|cell| *cell != EMPTY)
        });
    }
    halves
}

fn line(
    grid: &CellGrid,
    (label, cells, behind): &GridRow,
    widest: usize,
    screen: Screen,
) -> String {
    let wide = grid.digits();
    // Wide grids have no blanks between their cells.
    let all = widest + 2 + (wide + 1) * cells.len() + cells.len() / grid.together;
    let gap = if all <= screen.width && behind.is_empty() {
        " "
    } else {
        ""
    };
    let mut text = format!("{label:>widest$}  ");
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 && at % grid.together == 0 {
            text += "|";
            text += gap;
        }
        text += &" ".repeat(wide.saturating_sub(cell.0.len()));
        text += &painted(cell, screen);
        text += gap;
    }
    let used = widest + 2 + wide * cells.len() + cells.len().saturating_sub(1) / grid.together;
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

fn painted((sign, shade): &GridCell, screen: Screen) -> String {
    let tint = match shade {
        Light if screen.color => format::Tint::Yellow,
        Full if screen.color => format::Tint::Green,
        Strong if screen.color => format::Tint::Red,
        _ => return sign.to_string(),
    };
    format::paint(sign, tint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_is_one_of_a_view() {
        let views = [
            "access", "banks", "mask", "tree", "reach", "items", "units", "launches",
        ];
        let known = views.map(|view| grid("", Vec::new(), view).marks.len());
        assert_eq!(known.iter().sum::<usize>(), MARKS.lines().count());
    }
}
