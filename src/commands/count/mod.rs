//! `gpulab count`: what kernels do, counted in a simulator: a ladder, an experiment, or what was measured.

pub(crate) mod counter;

use super::list::unknown;
use super::show::records;
use crate::bench::{self, Input, WORK_GROUP};
use crate::brought::{Brought, asks, is_exercise, is_family_file, line_of_any, parted};
use crate::cli::{Color, CountArgs, Global};
use crate::commands::check::matching;
use crate::commands::elsewhere::RecordedGpu;
use crate::console::{print, screen, worst_of};
use crate::count::{
    CountRow, CountSubject, FindingKind, LockstepModel, case_of, counted_cases, fixed_items,
    growths, machine_of,
};
use crate::data::{Dtype, Params, Shape};
use crate::experiments::{Experiment, experiment};
use crate::kernels::{Family, Registry, Rung, Sources, ladders};
use crate::outcome::Status;
use crate::outputs::{Outputs, Paths, TextOrJson};
use crate::plan::{Case, Target};
use crate::record::{Row, Run};
use crate::report::check::annotations;
use crate::report::count_gate::{sentence, text};
use crate::report::elsewhere::TimeElsewhere;
use crate::report::format::Screen;
use crate::report::verdict::{Finding, Verdict, Word};
use crate::simulator::{CountedProgram, Simulator};
use crate::store::{Recorded, of_csv};
use crate::terminal::say;
use crate::{Error, Result, ceilings, interrupt, report, usage_error, why};
use counter::{CountedTrial, Counter, is_large, of_rung, small, source_line, trials, usual_size};
use gpulab_model::Joined;
use std::path::Path;
use std::time::Duration;
use std::{env, fs};

pub fn run(global: &Global, options: &CountArgs) -> Result<()> {
    if global.device_given().is_some() {
        let why = "--device: a simulator counts kernels, not a device; leave it out";
        return usage_error(why);
    }
    let model = options.machine.unwrap_or(LockstepModel::USUAL);
    if !options.program.is_empty() {
        return count_program(global, options, model);
    }
    if options.check {
        return usage_error(
            "--check looks at host programs, as in gpulab count --check -- ./program; gpulab try FILE --check looks at a kernel",
        );
    }
    let subject = Countable::find(options, global.quiet)?;
    let registry = &Registry::default();
    let registry = if let Countable::Ladder(brought, ..) = &subject {
        &brought.registry
    } else {
        registry
    };
    let cl_dir = options.given.cl_dir.as_deref();
    let before = baseline(options)?;
    let mut outputs: Outputs<CountRow> = Outputs::open(&paths(options))?;
    interrupt::watch();
    let mut counter = Counter::open(
        registry,
        model,
        cl_dir,
        Duration::from_secs_f64(options.deadline),
        global.quiet,
    )?;
    let cases = subject.cases(options, registry, counter.worker.target(), global.quiet)?;
    let mut rows = Vec::new();
    let counted = counter.count(&cases, &mut |row| {
        if options.lines || row.line.is_none() {
            outputs.row(&row);
        }
        rows.push(row);
    });
    let sources = Sources {
        dir: cl_dir.map(Path::to_path_buf),
    };
    let rungs: Vec<&Rung> = cases.iter().map(|case| case.rung).collect();
    let source = |file: &str, line| {
        source_line(&sources, file, line).or_else(|| line_of_any(&rungs, file, line))
    };
    if before.is_none() {
        tell(global, options, &mut outputs, &rows, &source);
    }
    if let (Some(on), Countable::Ladder(brought, ..)) = (&options.on, &subject) {
        let named = (on.as_str(), &brought.family, &brought.registry);
        elsewhere(global, options, &mut outputs, named, &cases)?;
    }
    let finished = outputs.finish(counted.is_ok(), !rows.is_empty());
    worst_of([counted, gone_wrong(&rows), finished])?;
    let Some(before) = before else { return Ok(()) };
    if let Some(why) = rungs.iter().find_map(|rung| rung.own_text().and_then(asks)) {
        return Err(Error::Untrusted(why));
    }
    let whole = !matches!(subject, Countable::Ladder(_, Some(_), _));
    compare(global.color, options, before, &rows, whole)
}

/// What each rung takes on a recorded GPU, at the largest size that was recorded or that is usual there; and what would pay most.
fn elsewhere(
    global: &Global,
    options: &CountArgs,
    outputs: &mut Outputs<CountRow>,
    (on, family, registry): (&str, &Family, &Registry),
    counted: &[CountedTrial<'_>],
) -> Result<()> {
    let gpu = RecordedGpu::of(on, family)?;
    let usual = family.usual_shape(family.form.ladder_size(false), false);
    let mut cases: Vec<Case> = Vec::new();
    for trial in counted {
        let shape = match options.case.n {
            Some(_) => trial.case.shape,
            None => gpu.largest(trial.case.dtype).unwrap_or(usual),
        };
        cases.push(Case {
            shape,
            ..trial.case.clone()
        });
    }
    let times = gpu.times(registry, family, &cases, global.quiet)?;
    let mut rungs: Vec<(Row, Option<TimeElsewhere>)> = Vec::new();
    let mut pays = Vec::new();
    for (case, time) in cases.iter().zip(times) {
        let nameless = || Row {
            variant: case.variant.clone(),
            ..Row::default()
        };
        rungs.push((gpu.row(family, case).unwrap_or_else(nameless), time));
        let rung = family.rung(&case.variant).and_then(Rung::number);
        let payoffs = gpu.payoffs(registry, family, case, false)?;
        pays.extend(payoffs.map(|payoffs| (case.variant.clone(), rung, payoffs)));
    }
    let Some(Shape { n, m }) = cases.first().map(|case| case.shape) else {
        return Ok(());
    };
    let size = report::format::size(n, m);
    outputs.tell(global, &|screen| {
        let table = report::elsewhere::table((&gpu.name, &size), &rungs, screen);
        let pays = pays.iter().map(|(variant, rung, payoffs)| {
            let text = report::payoff::text(payoffs, &gpu.name, (&family.name, *rung), screen);
            format!("\n{variant}: {text}")
        });
        format!("\n{table}{}", pays.joined(""))
    });
    Ok(())
}

/// Tables of the rows, and with `--lines` what each line of their sources costs.
fn tell(
    global: &Global,
    options: &CountArgs,
    outputs: &mut Outputs<CountRow>,
    rows: &[CountRow],
    source: &dyn Fn(&str, u64) -> Option<String>,
) {
    if rows.is_empty() {
        return;
    }
    outputs.tell(global, &|screen| {
        rows.chunk_by(|a, b| {
            options.of.is_empty() || (&a.family, a.n, a.dtype) == (&b.family, b.n, b.dtype)
        })
        .map(|rows: &[CountRow]| {
            let table = report::count::table(rows, global.verbose, screen);
            if !options.lines {
                return table;
            }
            table + &report::count::lines(rows, source, screen)
        })
        .joined("\n")
    });
}

/// Files that may hold the text of a kernel.
const TEXTS: [&str; 8] = ["cl", "c", "cc", "cpp", "h", "hpp", "py", "rs"];

/// Names the file and the line of a finding, where a text of the program stands in a file below this folder.
fn name_files(counted: &mut CountedProgram) {
    let lines = |text: &str| text.matches('\n').count() as u64;
    let mut texts = counted.sources.clone();
    texts.retain(|_, text| !text.trim().is_empty());
    let files = TEXTS
        .iter()
        .flat_map(|end| matching(&format!("**/*.{end}")));
    for path in files.flatten() {
        if texts.is_empty() {
            return;
        }
        let whole = fs::read_to_string(&path).unwrap_or_default();
        let whole = whole.replace('\r', "");
        let place = texts.iter().find_map(|(name, text)| {
            let text = text.replace('\r', "");
            let (before, _) = whole.split_once(text.trim())?;
            let (blank, _) = text.split_once(text.trim())?;
            Some((name.clone(), lines(before), lines(blank)))
        });
        let Some((name, before, blank)) = place else {
            continue;
        };
        texts.remove(&name);
        for found in &mut counted.findings {
            let own = found.file.as_mut().zip(found.line.as_mut());
            let other = found.other.as_mut().map(|(file, line)| (file, line));
            for (file, line) in own.into_iter().chain(other) {
                if *file == name {
                    file.clone_from(&path);
                    *line = line.saturating_sub(blank) + before;
                }
            }
        }
        counted.sources.insert(path, whole);
    }
}

/// Counts the kernels that a host program launches.
fn count_program(global: &Global, options: &CountArgs, model: LockstepModel) -> Result<()> {
    let before = baseline(options)?;
    let mut outputs: Outputs<CountRow> = Outputs::open(&paths(options))?;
    interrupt::watch();
    let simulator = Simulator::prepare(&ceilings::folder()?)?;
    let limit = Duration::from_secs_f64(options.deadline);
    global.note(&format!(
        "the program runs in the simulator, for at most {} s (--deadline)",
        options.deadline
    ));
    let mut counted = simulator.count_program(
        (model, options.check),
        &options.program,
        limit,
        interrupt::interrupted,
    )?;
    if !counted.findings.is_empty() {
        name_files(&mut counted);
    }
    let run = Run::begin();
    let mut rows = Vec::new();
    for (name, kernel) in &counted.kernels {
        let items = kernel.launches.iter().map(|launch| launch.counts.items);
        let subject = CountSubject {
            run: &run,
            simulator: &simulator.version,
            model,
            case: &Case::of("", name, Dtype::default(), Shape::vector(items.sum())),
            rung: None,
            trial: None,
            note: "",
        };
        rows.extend(CountRow::of(&subject, kernel));
    }
    rows.iter()
        .filter(|row| options.lines || row.line.is_none())
        .for_each(|row| outputs.row(row));
    // A file that a text names is not read: any may be named.
    let source = |file: &str, line: u64| {
        let at = usize::try_from(line.checked_sub(1)?).ok()?;
        counted
            .sources
            .get(file)?
            .lines()
            .nth(at)
            .map(str::to_owned)
    };
    if before.is_none() && !options.check {
        tell(global, options, &mut outputs, &rows, &source);
    }
    let found = report::count::found(
        &counted.findings,
        &|file, line| source(file, line).map(|text| text.trim().to_owned()),
        Screen::stderr(),
    );
    let kernels: Vec<&str> = counted
        .kernels
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let faults = match &counted.findings[..] {
        [] if options.check => {
            say(&format!(
                "check: with these arguments no race, no access out of bounds, no value that was never set and no refused call \
                 in {}",
                kernels.join(", ")
            ));
            Ok(())
        }
        [] => Ok(()),
        all if all.iter().all(|found| found.kind == FindingKind::Call) => Err(Error::Failed(
            "the program's calls were refused: see above".into(),
        )),
        _ => Err(Error::WrongResult(
            "the simulator found faults: see above".into(),
        )),
    };
    say(found.trim_end());
    if env::var_os("GITHUB_ACTIONS").is_some() {
        let mut verdict = Verdict::new("count", "program");
        let findings = counted.findings.iter();
        let findings = findings.map(|found| Finding::of_check(found, ""));
        verdict.findings = findings.collect();
        for finding in &mut verdict.findings {
            finding.file = finding.file.take().filter(|file| Path::new(file).is_file());
        }
        print(&annotations(&verdict))?;
    }
    if !options.check {
        say("races were not looked for: count --check -- PROGRAM does");
    }
    let finished = outputs.finish(counted.end.is_ok(), true);
    worst_of([counted.end, finished, faults])?;
    let Some(before) = before else { return Ok(()) };
    if let Some(why) = counted.sources.values().find_map(|text| asks(text)) {
        return Err(Error::Untrusted(why));
    }
    compare(global.color, options, before, &rows, true)
}

/// The error that the worst case makes.
fn gone_wrong(rows: &[CountRow]) -> Result<()> {
    let ends = [
        Status::WrongResult,
        Status::BuildFailed,
        Status::Failed,
        Status::Timeout,
    ];
    let worst = ends
        .iter()
        .find_map(|end| rows.iter().find(|row| row.status == *end));
    worst.map_or(Ok(()), |row| {
        let who = format!("{}/{}", row.family, row.variant);
        Err(bench::simulated(row.status, &who, &row.reason))
    })
}

/// What is counted: a family's rungs, an experiment's trials, or what was measured.
enum Countable {
    /// With the list of the rungs that are meant, if it is not all, and their case, without a rung's name.
    Ladder(Box<Brought>, Option<String>, Case),
    Trials(&'static Experiment),
    Measured(Vec<Row>),
}

impl Countable {
    fn find(options: &CountArgs, quiet: bool) -> Result<Countable> {
        if !options.of.is_empty() {
            return options
                .of
                .iter()
                .map(|path| measured(path))
                .collect::<Result<Vec<_>, _>>()
                .map(|rows| Countable::Measured(rows.into_iter().flatten().collect()));
        }
        let what = options.subject.name().unwrap_or_default();
        let (name, part) = parted(what);
        let variant = &options.rungs.variant;
        if part.is_some() && variant.is_some() && !is_exercise(name) {
            return usage_error(format!(
                "--variant: {what} names the rung already; leave one of them out"
            ));
        }
        if options.solves.is_some() || name.ends_with(".cl") || is_exercise(name) {
            let named = Brought::of(what, options.solves.as_deref())?;
            return Countable::ladder(named.0, variant.clone(), options, quiet);
        }
        let list = part.map(str::to_owned).or(variant.clone());
        if is_family_file(name) || ladders().any(|family| family.name == name) {
            let brought = Brought::beside(name, options.rungs.own.as_deref())?;
            return Countable::ladder(brought, list, options, quiet);
        }
        if options.rungs.own.is_some() {
            return usage_error(format!(
                "--own: {name} has no ladder; name the kernel's family"
            ));
        }
        if let (Some(experiment), None) = (experiment(name), part) {
            return check_trials(options).map(|()| Countable::Trials(experiment));
        }
        // Kernels of experiments and probes too, though nobody is told.
        let brought = Brought::new(name).map_err(|_| Error::Usage(unknown(name)))?;
        Countable::ladder(brought, list, options, quiet)
    }

    /// A ladder with the case that is asked for. Refuses what can be seen before anything is started.
    fn ladder(
        brought: Brought,
        list: Option<String>,
        options: &CountArgs,
        quiet: bool,
    ) -> Result<Countable> {
        let family = &brought.family;
        // The type that was asked for, or that the reader's kernel is of, or the family's first.
        let own = brought.own.as_ref().and_then(Rung::own_dtype);
        let dtype = bench::dtype(family, options.case.dtype.or(own))?;
        let rungs = brought.rungs(list.as_deref())?;
        bench::check_sources(&rungs, options.given.cl_dir.as_deref(), quiet)?;
        let target = Target::with_everything(true);
        let items = rungs.iter().filter_map(|rung| {
            let case = Case {
                wg: options.case.wg.or(rung.work_group()).unwrap_or(WORK_GROUP),
                ..Case::of(&family.name, rung.variant(), dtype, Shape { n: 1, m: 1 })
            };
            fixed_items(family, rung, &case, &target)
        });
        // A grid that does not grow has two elements for each item.
        let usual = usual_size(family.form).max(2 * items.max().unwrap_or(0));
        let usual = family.usual_shape(usual, true);
        let shape = bench::shape(family, options.case.n, options.case.m, usual)?;
        if shape.n == 0 || shape.m == 0 {
            return usage_error("no elements, so no launch to count: choose a larger --n");
        }
        let params = Params::new();
        if options.lines
            && is_large(
                family.form,
                shape,
                options.machine.unwrap_or(LockstepModel::USUAL),
            )
        {
            let why = "--lines needs cases that the simulator runs whole; choose a smaller --n";
            return usage_error(why);
        }
        let input = Input {
            family,
            shape,
            dtype,
            params: &params,
        };
        input.check_host(input.bytes()?)?;
        let case = Case {
            params: bench::single_settings(family, &rungs, &options.case.set)?,
            seed: options.given.seed,
            ..Case::of(&family.name, "", dtype, shape)
        };
        Ok(Countable::Ladder(brought.into(), list, case))
    }

    fn cases<'a>(
        &'a self,
        options: &CountArgs,
        registry: &'a Registry,
        target: &Target,
        quiet: bool,
    ) -> Result<Vec<CountedTrial<'a>>> {
        match self {
            Countable::Measured(rows) => Ok(small(registry, rows, target)),
            Countable::Ladder(brought, list, case) => {
                ladder(brought, list.as_deref(), options, case, target)
            }
            Countable::Trials(experiment) => {
                let all = trials(experiment, options.case.n, options.given.seed, target)?;
                let rungs: Vec<&Rung> = all.iter().map(|one| one.rung).collect();
                bench::check_sources(&rungs, options.given.cl_dir.as_deref(), quiet)?;
                Ok(all)
            }
        }
    }
}

fn measured(path: &Path) -> Result<Vec<Row>> {
    let name = path.display().to_string();
    match records::read(&name)?.0 {
        Recorded::Rows(rows)
            if rows
                .iter()
                .any(|row| why::case_of(&Registry::default(), row).is_some()) =>
        {
            Ok(rows)
        }
        _ => usage_error(format!(
            "--of {name}: it holds no rows of a ladder, as --csv writes them"
        )),
    }
}

fn ladder<'a>(
    brought: &'a Brought,
    list: Option<&str>,
    options: &CountArgs,
    case: &Case,
    target: &Target,
) -> Result<Vec<CountedTrial<'a>>> {
    let family = &brought.family;
    let rungs = brought.rungs(list)?;
    let counted = rungs.into_iter().map(|rung| {
        let wg = options.case.wg.or(rung.work_group()).unwrap_or(WORK_GROUP);
        of_rung(
            family,
            rung,
            &Case { wg, ..case.clone() },
            target,
            options.machine.unwrap_or(LockstepModel::USUAL),
        )
    });
    Ok(counted.collect())
}

/// Refuses options that an experiment's trials leave no room for.
fn check_trials(options: &CountArgs) -> Result<()> {
    let refused = [
        ("--variant", options.rungs.variant.is_some()),
        ("--m", options.case.m.is_some()),
        ("--dtype", options.case.dtype.is_some()),
        ("--wg", options.case.wg.is_some()),
        ("--set", !options.case.set.is_empty()),
    ];
    refused
        .iter()
        .find(|(_, is_given)| *is_given)
        .map_or(Ok(()), |(option, _)| {
            usage_error(format!(
                "{option}: an experiment's trials set this themselves; --n limits their size"
            ))
        })
}

/// Earlier counts, and where the verdict on new ones goes.
struct Baseline {
    rows: Vec<CountRow>,
    output: TextOrJson,
}

/// What `--against` names, read before anything is counted.
fn baseline(options: &CountArgs) -> Result<Option<Baseline>> {
    let Some(path) = &options.against else {
        return Ok(None);
    };
    Ok(Some(Baseline {
        rows: read(path)?,
        output: TextOrJson::open(options.rows.json.as_deref())?,
    }))
}

/// Where rows go. JSON is the verdict's, if there is one.
fn paths(options: &CountArgs) -> Paths<'_> {
    let json = options.rows.json.as_deref();
    Paths {
        json: json.filter(|_| options.against.is_none()),
        ..Paths::from(&options.rows)
    }
}

fn read(path: &Path) -> Result<Vec<CountRow>> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|e| Error::Usage(format!("cannot read {name}: {e}")))?;
    let rows = of_csv(&text, &name);
    Ok(rows
        .map_err(|why| {
            Error::Usage(format!(
                "{why}: --against takes what gpulab count --csv FILE wrote"
            ))
        })?
        .0)
}

/// Holds counts against earlier ones. Of a `whole`, each case of the file must be there; else those that were asked for.
fn compare(
    color: Color,
    options: &CountArgs,
    Baseline {
        rows: before,
        output,
    }: Baseline,
    now: &[CountRow],
    whole: bool,
) -> Result<()> {
    let Some(path) = &options.against else {
        return Ok(());
    };
    let name = path.display();
    let cases = counted_cases(now);
    if cases.is_empty() {
        return Err(Error::Failed(
            "nothing was counted, so there is nothing to compare".into(),
        ));
    }
    if let (Some(old), Some(new)) = (before.first().map(machine_of), now.first().map(machine_of))
        && old != new
    {
        return usage_error(format!("{name}: it was counted for {old}, this for {new}"));
    }
    let known = counted_cases(&before);
    let missing: Vec<&str> = cases
        .iter()
        .filter(|case| !known.contains(case))
        .map(String::as_str)
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        return usage_error(format!(
            "{name}: it has no counts of {missing}: write them with --csv"
        ));
    }
    let allowed = options.fail_on.clone().unwrap_or_default();
    let growths = growths(&before, now);
    let name = name.to_string();
    let told = text(&growths, &allowed, cases.len(), &name, screen(color));
    let mut worse: Vec<String> = growths
        .iter()
        .filter(|growth| growth.is_refused(&allowed))
        .map(|growth| sentence(growth, &allowed))
        .collect();
    let mut gone = known;
    gone.retain(|case| {
        !cases.contains(case)
            && (whole
                || now
                    .iter()
                    .any(|row| row.status != Status::Ok && case_of(row) == *case))
    });
    if !gone.is_empty() {
        worse.push(format!(
            "{name} has counts of {}, which did not run now: --csv keeps the new state, if that is right",
            gone.join(", ")
        ));
    }
    let mut verdict = Verdict::new("count", &cases.join(", "));
    verdict.reference = Some(name);
    verdict.verdict = Word::Same;
    let findings = worse.iter().cloned();
    verdict.findings = findings
        .map(|worse| Finding::new("more_work", worse, "Oclgrind"))
        .collect();
    let refused = (!worse.is_empty()).then(|| Error::Worse(worse.join("\n")));
    if let Some(error) = &refused {
        verdict.verdict = Word::Found;
        verdict.exit_code = error.exit_code();
    }
    output.tell(&verdict, || told)?;
    refused.map_or(Ok(()), Err)
}
