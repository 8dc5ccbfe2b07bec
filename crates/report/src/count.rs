//! Counts of kernels as text: a row for each rung or trial, and the lines of their sources.

use super::payoff;
use crate::format::{self, Screen};
use crate::table::Table;
use gpulab_kernels::{Rung, built_in};
use gpulab_model::data::Dtype;
use gpulab_model::outcome::Status;
use gpulab_study::count::{AccessRule, CheckFinding, CountRow, Counts, Machine};
use gpulab_study::why::Payoffs;

/// The rows of each case: of its launches, and of their lines.
fn cases(rows: &[CountRow]) -> Vec<&[CountRow]> {
    let begins = rows
        .chunk_by(|_, row| row.launch.is_some() && (row.launch != Some(1) || row.line.is_some()));
    begins.collect()
}

fn launches(case: &[CountRow]) -> impl Iterator<Item = &CountRow> {
    case.iter()
        .filter(|row| row.is_of_launch() && row.timed == Some(true))
}

fn is_counted(case: &[CountRow]) -> bool {
    case[0].status == Status::Ok
}

/// `v3 sequential`, or of an experiment the series and what is varied.
fn case_label(case: &[CountRow]) -> String {
    let row = &case[0];
    if let Some(x) = row.x {
        return format!("{}, {x}", row.series);
    }
    let rung = built_in(&row.family).and_then(|family| family.rung(&row.variant));
    let number = row
        .rung
        .map_or_else(String::new, |number| format!("v{number} "));
    rung.map_or_else(|| number + &row.variant, Rung::label)
}

/// A line of a table: what it is called, and what it sums up.
struct CountLine<'a> {
    label: String,
    /// One of the rows.
    row: &'a CountRow,
    launches: u64,
    groups: u64,
    warps: u64,
    barriers: u64,
    counts: Counts,
}

impl<'a> CountLine<'a> {
    fn new(label: String, row: &'a CountRow) -> CountLine<'a> {
        CountLine {
            label,
            row,
            launches: 0,
            groups: 0,
            warps: 0,
            barriers: 0,
            counts: Counts::default(),
        }
    }

    fn add(&mut self, row: &CountRow) {
        self.launches += 1;
        self.groups = self.groups.saturating_add(row.groups.unwrap_or(0));
        self.warps = self.warps.saturating_add(row.warps.unwrap_or(0));
        self.barriers = self.barriers.saturating_add(row.barriers.unwrap_or(0));
        self.counts += row.counts();
    }

    fn partition_load(&self) -> Option<f64> {
        self.counts.partition_load(self.row.partitions.unwrap_or(0))
    }
}

type CountColumn = (&'static str, fn(&CountLine<'_>) -> Option<String>);

fn number(n: u64) -> Option<String> {
    Some(n.to_string())
}

fn few(n: u64) -> Option<String> {
    (n > 0).then(|| n.to_string())
}

fn ratio(x: f64) -> String {
    format!("{x:.2}")
}

/// The columns in their order; one that has nothing in any line is left out.
const COLUMNS: &[CountColumn] = &[
    ("launches", |line| number(line.launches)),
    ("groups", |line| number(line.groups)),
    ("warps", |line| number(line.warps)),
    ("warp\ninstruc-\ntions", |line| number(line.counts.issued)),
    ("item in-\nstructions\nper elem.", |line| {
        let elements = line.row.elements().max(1) as f64;
        (!line.row.is_of_program()).then(|| ratio(line.counts.lanes as f64 / elements))
    }),
    ("lanes\nbusy", |line| {
        line.counts.lanes_busy(line.row.warp).map(ratio)
    }),
    ("flop\nper byte\nmoved", |line| {
        line.counts.flops_a_byte().map(ratio)
    }),
    ("barriers\nper group", |line| {
        few(line.barriers).map(|_| ratio(line.barriers as f64 / line.groups.max(1) as f64))
    }),
    ("global\nsegments\nper load", |line| {
        line.counts
            .memory
            .global_read
            .segments_a_request()
            .map(ratio)
    }),
    ("global\nsegments\nper store", |line| {
        line.counts
            .memory
            .global_write
            .segments_a_request()
            .map(ratio)
    }),
    ("moved\nper byte\nasked", |line| {
        line.counts.moved_an_asked_byte().map(ratio)
    }),
    ("partition\nload", |line| line.partition_load().map(ratio)),
    ("local\npasses\nper load", |line| {
        line.counts.memory.local_read.passes_a_request().map(ratio)
    }),
    ("local\npasses\nper store", |line| {
        line.counts.memory.local_write.passes_a_request().map(ratio)
    }),
    ("bank\ncon-\nflicts", |line| {
        line.counts.local().conflicts_a_request().map(ratio)
    }),
    ("broad-\ncasts", |line| {
        few(line.counts.memory.local_read.broadcasts)
    }),
    ("words\nper con-\nstant", |line| {
        let constant = line.counts.memory.constant_read;
        few(constant.requests).map(|_| ratio(constant.words as f64 / constant.requests as f64))
    }),
    ("atomics", |line| few(line.counts.atomics().items)),
    ("passes\nper\natomic", |line| {
        line.counts.atomics().passes_a_request().map(ratio)
    }),
];

/// Counted cases as a table, with what was not counted and what the counts mean. With `each_launch` also the launches of cases
/// that have several.
pub fn table(rows: &[CountRow], each_launch: bool, screen: Screen) -> String {
    let Some(first) = rows.first() else {
        return "Nothing was counted.\n".to_owned();
    };
    let cases = cases(rows);
    let counted = cases.iter().filter(|case| is_counted(case));
    let lines: Vec<CountLine<'_>> = counted
        .flat_map(|case| lines_of(case, each_launch))
        .collect();
    let mut alike = Vec::new();
    let grid = grid(first, &lines, &mut alike);
    let alike = (!alike.is_empty()).then(|| format!("Alike in all trials: {}.", alike.join(", ")));
    let of_cases = notes_of_cases(&cases)
        .into_iter()
        .map(|(labels, what)| format!("{}: {what}", named(&labels)));
    let said = alike
        .into_iter()
        .chain(of_cases)
        .chain(notes(first, &cases, each_launch));
    let mut text = screen.wrap(&title(first)) + "\n";
    if !lines.is_empty() {
        text += &(grid.blocks(screen.width) + "\n");
    }
    said.for_each(|sentence| text += &screen.wrap_foreign(&sentence));
    format::on_screen(&text, screen)
}

/// What is said of single cases, each once, with the cases that it is said of: why they were not counted, and what is to be
/// known of the counts of others.
fn notes_of_cases(cases: &[&[CountRow]]) -> Vec<(Vec<String>, String)> {
    let mut all: Vec<(Vec<String>, String)> = Vec::new();
    for case in cases {
        let row = &case[0];
        let what = match row.status {
            Status::Ok => row.reason.clone(),
            Status::WrongResult => format!("WRONG: {}", row.reason),
            // Of a compiler's log the first error.
            status => {
                let reason: Vec<&str> = row.reason.lines().take(2).map(str::trim).collect();
                format!("{}: {}", status.name().replace('_', " "), reason.join(" "))
            }
        };
        match all.iter_mut().find(|(_, known)| *known == what) {
            _ if what.is_empty() => {}
            Some((labels, _)) => labels.push(case_label(case)),
            None => all.push((vec![case_label(case)], what)),
        }
    }
    all
}

/// A few names, or the first of many and how many more there are.
fn named(labels: &[String]) -> String {
    const MOST: usize = 3;
    match labels {
        [first, rest @ ..] if labels.len() > MOST => format!("{first} and {} more", rest.len()),
        _ => labels.join("; "),
    }
}

fn lines_of(case: &[CountRow], each_launch: bool) -> Vec<CountLine<'_>> {
    let mut lines = vec![CountLine::new(case_label(case), &case[0])];
    launches(case).for_each(|row| lines[0].add(row));
    let is_each = each_launch && lines[0].launches > 1;
    for row in launches(case).filter(|_| is_each) {
        let mut line = CountLine::new(format!("  {} {}", row.launch.unwrap_or(0), row.kernel), row);
        line.add(row);
        lines.push(line);
    }
    lines
}

/// The table; what is `alike` in all trials of an experiment is no column of it.
fn grid(first: &CountRow, lines: &[CountLine<'_>], alike: &mut Vec<String>) -> Table {
    let is_experiment = !first.experiment.is_empty();
    let labels = lines.iter().map(|line| line.label.clone());
    let head = match () {
        () if first.is_of_program() => "kernel",
        () if is_experiment => "trial",
        () => "rung",
    };
    let mut table = Table::default().texts(head, labels);
    for (head, cell) in COLUMNS {
        let cells: Vec<Option<String>> = lines.iter().map(cell).collect();
        match cells.first().and_then(Option::as_ref) {
            _ if cells.iter().all(Option::is_none) => {}
            Some(one)
                if is_experiment
                    && lines.len() > 1
                    && cells.iter().all(|cell| cell.as_ref() == Some(one)) =>
            {
                alike.push(format!(
                    "{} {one}",
                    head.replace("-\n", "").replace('\n', " ")
                ));
            }
            _ => {
                table = table.numbers(
                    *head,
                    cells
                        .into_iter()
                        .map(|cell| cell.unwrap_or_else(|| "-".to_owned())),
                )
            }
        }
    }
    table
}

fn title(row: &CountRow) -> String {
    let size = if row.m == 1 {
        String::new()
    } else {
        format!(" x {}", row.m)
    };
    match row.experiment.as_str() {
        _ if row.is_of_program() => format!(
            "the kernels that the program launched: counted in {}, not timed",
            row.simulator
        ),
        "" => {
            // Of a reader's own types there is no name.
            let of = match row.dtype {
                Dtype::U8 => String::new(),
                dtype => format!(" of {dtype}"),
            };
            format!(
                "{}, {}{size} elements{of}: counted in {}, not timed",
                row.family, row.n, row.simulator
            )
        }
        name => format!(
            "{name}, small trials: counted in {}, not timed",
            row.simulator
        ),
    }
}

/// What the counts are of, and what they say nothing of.
fn notes(row: &CountRow, cases: &[&[CountRow]], each_launch: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !each_launch && cases.iter().any(|case| launches(case).count() > 1) {
        let what = if row.is_of_program() {
            "kernel"
        } else {
            "rung"
        };
        notes.push(format!(
            "Counts are sums over a {what}'s launches; -v shows each."
        ));
    }
    let mut rows = cases.iter().copied().flatten();
    if rows.clone().any(|row| row.timed == Some(false)) {
        notes.push(
            "Launches that only prepare the data are left out here; files have them.".to_owned(),
        );
    }
    if rows
        .clone()
        .any(|row| row.is_of_program() && row.wg.size() == 1)
    {
        notes.push(
            "Groups of 1 work-item: the program asks for them, or leaves their size to the driver (local size NULL)."
                .to_owned(),
        );
    }
    if rows.any(|row| row.group_copies.unwrap_or(0) > 0) {
        notes.push("Requests leave out copies by whole groups (async_work_group_copy).".to_owned());
    }
    notes.push(format!(
        "Model: {}. \
         It has no caches, no latency and not the device's compiler (instructions are LLVM's): counts alone do \
         not predict times.",
        model_of(row)
    ));
    notes
}

fn model_of(row: &CountRow) -> String {
    let CountRow {
        warp,
        segment,
        banks,
        ..
    } = row;
    let named = Machine::named(&row.machine);
    let name = named.map_or_else(String::new, |machine| {
        format!("{} ({}), ", machine.name, machine.about)
    });
    let memory = match named.map(|machine| machine.model.rule) {
        Some(AccessRule::Strict) => {
            "requests of half a warp, segments of 32 to 128 bytes".to_owned()
        }
        Some(AccessRule::Shrinking) => {
            "requests of half a warp, segments that shrink from 128 bytes to 32".to_owned()
        }
        Some(AccessRule::Segments) | None => format!("memory segments of {segment} bytes"),
    };
    let partitions = row
        .partitions
        .zip(named)
        .map_or_else(String::new, |(partitions, machine)| {
            format!(
                ", {partitions} partitions of 256 bytes under {} groups at once",
                machine.model.units
            )
        });
    format!(
        "{name}warps of {warp} work-items in step, {memory}, {banks} banks of local memory{partitions}"
    )
}

/// For each counted case the lines of its source with what they cost; `source` gives a line's text.
pub fn lines(
    rows: &[CountRow],
    source: &dyn Fn(&str, u64) -> Option<String>,
    screen: Screen,
) -> String {
    let counted = cases(rows).into_iter().filter(|case| is_counted(case));
    let text: String = counted
        .map(|case| source_lines(case, source, screen))
        .collect();
    format::on_screen(&text, screen)
}

/// The lines of a source, with what their instructions come to in all launches.
fn source_lines(
    case: &[CountRow],
    source: &dyn Fn(&str, u64) -> Option<String>,
    screen: Screen,
) -> String {
    let mut lines: Vec<CountLine<'_>> = Vec::new();
    for row in case
        .iter()
        .filter(|row| row.timed == Some(true) && row.line.is_some())
    {
        match lines
            .iter_mut()
            .find(|known| (&known.row.file, known.row.line) == (&row.file, row.line))
        {
            Some(known) => known.add(row),
            None => {
                lines.push(CountLine::new(String::new(), row));
                lines
                    .iter_mut()
                    .next_back()
                    .into_iter()
                    .for_each(|line| line.add(row));
            }
        }
    }
    let row = &case[0];
    let own = match built_in(&row.family).and_then(|family| family.rung(&row.variant)) {
        _ if row.is_of_program() => {
            let mut files = lines.iter().map(|one| one.row.file.clone());
            files.find(|file| !file.is_empty()).unwrap_or_default()
        }
        Some(rung) => rung.path.to_string(),
        None => {
            let number = row
                .rung
                .map_or_else(String::new, |number| format!("v{number}_"));
            format!("own/{}/{number}{}.cl", row.family, row.variant)
        }
    };
    // The rung's own file first.
    lines.sort_by_key(|one| (one.row.file != own, &one.row.file, one.row.line));
    let pays =
        Payoffs::of_case(case).map(|pays| payoff::text(&pays, "", (&row.family, row.rung), screen));
    let pays = pays.map_or_else(String::new, |text| format!("\n{text}"));
    let grid = source_grid(&lines, &own, source).shorten(screen.width);
    format!("\n{}: {own}\n{}{pays}", case_label(case), grid.text())
}

fn source_grid(
    lines: &[CountLine<'_>],
    own: &str,
    source: &dyn Fn(&str, u64) -> Option<String>,
) -> Table {
    let all: u64 = lines.iter().map(|one| one.counts.issued).sum();
    let places = lines.iter().map(|one| {
        match (one.row.line.unwrap_or(0), one.row.file.rsplit('/').next()) {
            (0, _) => "-".to_owned(),
            (line, Some(name)) if one.row.file != own => format!("{name}:{line}"),
            (line, _) => line.to_string(),
        }
    });
    let shares = lines.iter().map(|one| {
        format!(
            "{:.1}%",
            100.0 * one.counts.issued as f64 / all.max(1) as f64
        )
    });
    let texts = lines.iter().map(|one| match one.row.line.unwrap_or(0) {
        0 => "(of no line: the compiler's own)".to_owned(),
        line => format::terminal(source(&one.row.file, line).unwrap_or_default().trim()),
    });
    let mut grid = Table::default()
        .texts("line", places)
        .numbers("of all\ninstr.", shares);
    let columns: [CountColumn; 4] = [
        ("lanes\nbusy", |one| {
            one.counts.lanes_busy(one.row.warp).map(ratio)
        }),
        ("seg-\nments", |one| {
            one.counts.global().segments_a_request().map(ratio)
        }),
        ("partition\nload", |one| one.partition_load().map(ratio)),
        ("pas-\nses", |one| {
            one.counts.local().passes_a_request().map(ratio)
        }),
    ];
    let has_partitions = lines
        .iter()
        .any(|one| one.row.partitions.is_some_and(|partitions| partitions > 0));
    for (head, cell) in columns
        .into_iter()
        .filter(|(head, _)| has_partitions || !head.starts_with("partition"))
    {
        grid = grid.numbers(
            head,
            lines
                .iter()
                .map(|one| cell(one).unwrap_or_else(|| "-".to_owned())),
        );
    }
    grid.texts("source", texts)
}

/// What the simulator found in a kernel, in words, with the lines of its file.
pub fn found(
    findings: &[CheckFinding],
    line_of: &dyn Fn(&str, u64) -> Option<String>,
    screen: Screen,
) -> String {
    const MOST: usize = 6;
    let mut told = String::new();
    for found in findings.iter().take(MOST) {
        let source = found
            .file
            .as_deref()
            .zip(found.line)
            .and_then(|(file, line)| line_of(file, line));
        let text = format!("check: {}", format::terminal(&found.sentence()));
        told += &screen.wrap(&text);
        told += &source.map_or_else(String::new, |source| {
            format!("    {}\n", format::terminal(&source))
        });
    }
    let more = findings.len().saturating_sub(MOST);
    if more > 0 {
        told + &format!("check: {more} more places\n")
    } else {
        told
    }
}

#[cfg(test)]
mod tests {
    use super::super::golden;
    use super::*;
    use gpulab_model::data::{Params, Shape};
    use gpulab_model::outcome::Stop;
    use gpulab_model::plan::{Case, WorkGroup};
    use gpulab_record::Run;
    use gpulab_study::count::{
        CountSubject, CountedCase, CountedLaunch, LaunchCounts, LockstepModel,
    };

    /// A launch whose local loads take so many passes each, as the plugin writes it.
    fn launch(kernel: &str, timed: bool, passes: u64) -> CountedLaunch {
        let file = "reduce/strided.cl";
        let line = format!(
            r#"{{"kernel": "{kernel}", "groups": 2, "items": 64, "warps": 2, "barriers": 4, "copies": 0, "private": 0,
            "unordered": false, "instructions": [
            {{"file": "{file}", "line": 26, "issued": 10, "lanes": 320, "flops": 0, "memory": {{"global_read":
            {{"requests": 2, "items": 64, "bytes": 256, "segments": 8, "group_segments": 8, "passes": 0, "conflicts": 0, "broadcasts": 0,
            "words": 0, "moved": 256}}}}}},
            {{"file": "{file}", "line": 31, "issued": 20, "lanes": 40, "flops": 512, "memory": {{"local_read":
            {{"requests": 4, "items": 64, "bytes": 256, "segments": 0, "passes": {}, "conflicts": {}, "broadcasts": 0,
            "words": 0}}}}}},
            {{"file": "", "line": 0, "issued": 2, "lanes": 64, "flops": 0, "memory": {{}}}}]}}"#,
            4 * passes,
            4 * passes - 4
        );
        let counts: LaunchCounts = serde_json::from_str(&line).unwrap();
        CountedLaunch { timed, counts }
    }

    fn rows(
        trial: Option<(&str, &str, f64)>,
        variant: &str,
        end: Result<Vec<CountedLaunch>, Stop>,
    ) -> Vec<CountRow> {
        let case = Case {
            wg: WorkGroup::linear(32),
            ..Case::of("reduce", variant, Dtype::I32, Shape::vector(64))
        };
        let run = Run::begin();
        let model = LockstepModel::USUAL;
        let subject = CountSubject {
            run: &run,
            simulator: "Oclgrind 21.10",
            model,
            case: &case,
            rung: None,
            trial,
            note: "",
        };
        match end {
            Ok(launches) => CountRow::of(
                &subject,
                &CountedCase {
                    wg: case.wg,
                    params: Params::new(),
                    launches,
                    wrong: None,
                },
            ),
            Err(stop) => vec![CountRow::stopped(&subject, &stop)],
        }
    }

    #[test]
    fn launches_are_summed_up_and_what_was_not_counted_is_told_once() {
        let none = || Err(Stop::new(Status::Skipped, "it has no kernel"));
        let several = vec![
            launch("fill", false, 9),
            launch("strided", true, 3),
            launch("finish", true, 1),
        ];
        let all = [
            rows(
                None,
                "interleaved",
                Ok(vec![launch("interleaved", true, 1)]),
            ),
            rows(None, "strided", Ok(several)),
            rows(None, "subgroup", none()),
            rows(None, "wide", none()),
        ]
        .concat();
        let text =
            golden::at_all_widths("counts", &|screen| table(&all, screen.width == 160, screen));
        golden::compare("counts_table", &text);
    }

    #[test]
    fn what_is_alike_in_all_trials_is_no_column() {
        let trial = |x: u64| {
            rows(
                Some(("banks", "words", x as f64)),
                "strided",
                Ok(vec![launch("k", true, x)]),
            )
        };
        let text = table(&[trial(1), trial(32)].concat(), false, golden::SCREEN);
        golden::compare("counts_of_trials", &text);
    }

    #[test]
    fn lines_have_their_text_and_what_they_cost() {
        let all = rows(
            None,
            "strided",
            Ok(vec![launch("strided", true, 3), launch("finish", true, 1)]),
        );
        let source = |file: &str, line: u64| {
            Some(format!(
                "  text {line} of {file}, longer than a terminal is wide"
            ))
        };
        golden::compare("counts_of_lines", &lines(&all, &source, golden::SCREEN));
    }
}
