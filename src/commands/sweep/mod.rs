//! `gpulab sweep`: every combination of rungs, work-groups, sizes, element types and tunables.

use super::tune::narrowed;
use crate::bench::{self, Input, Jobs};
use crate::brought::Brought;
use crate::ceilings::LimitNeeded;
use crate::cli::{Global, Sweep};
use crate::console::{check_stdout, print, screen, worst_of};
use crate::data::{Params, Shape};
use crate::kernels::{Family, Form, Rung};
use crate::outcome::{Executor, Job, Outcome, Settings};
use crate::plan::{Case, Refusal};
use crate::record::{Row, Scene};
use crate::report::format::Screen;
use crate::report::progress::StatusLine;
use crate::report::sweep as report;
use crate::store::{CsvFile, read_rows, write_rows};
use crate::sweep::{self, Bench, Configuration, Identity, Narrowing, ROUNDS, Shard, Space};
use crate::terminal::Stdout;
use crate::values::List;
use crate::{Error, Result, interrupt, usage_error};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

/// Plans the sweep, measures what has no row yet, and sums it up: on standard output if that is a terminal, which gets no
/// rows, else on standard error. With --merge joins files of shards.
pub fn run(global: &Global, options: &Sweep) -> Result<()> {
    if !options.merge.is_empty() {
        let mut files = Vec::new();
        for path in &options.merge {
            files.push((path.display().to_string(), read_rows(path)?));
        }
        let rows = sweep::merge(files).map_err(Error::Usage)?;
        return write_rows(&options.output, &rows);
    }
    let brought = Brought::beside(
        options.subject.name().unwrap_or_default(),
        options.rungs.own.as_deref(),
    )?;
    let space = space(options, &brought)?;
    bench::check_sources(&space.rungs, options.given.cl_dir.as_deref(), global.quiet)?;
    // The largest data of any size and type, before settings that make them larger; and the most operations.
    let mut bytes = 0;
    let mut ops = 0.0_f64;
    for (&dtype, &shape) in space
        .dtypes
        .iter()
        .flat_map(|dtype| space.shapes.iter().map(move |shape| (dtype, shape)))
    {
        let input = Input {
            family: space.family,
            shape,
            dtype,
            params: &Params::new(),
        };
        (bytes, ops) = (bytes.max(input.bytes()?), ops.max(input.ops()));
    }
    let csv = if options.dry_run {
        None
    } else {
        open_output(options, global.force)?
    };
    interrupt::watch();
    let executor = bench::open(
        global.setup(options.given.cl_dir.as_ref(), &brought.registry),
        options.measure.in_process,
        options.measure.deadline,
        bytes,
        ops,
    )?;
    bench::announce(global, executor.info());
    let plan = plan(&space, &*executor, global)?;
    let shard = options
        .shard
        .map_or(Shard::ALL, |(index, of)| Shard { index, of });
    let mine: Vec<&Configuration> = plan.iter().filter(|c| shard.holds(c)).collect();
    if options.dry_run {
        return print(&listing(&mine, plan.len()));
    }
    if csv.is_none() {
        global.note("the rows appear only in the summary: -o FILE or a pipe keeps them as CSV");
    }
    let settings = options.measure.settings();
    let texts = bench::texts(&space.rungs, options.given.cl_dir.as_deref())?;
    let budget = options.measure.budget;
    let identity = Identity::new(&plan, shard, executor.info(), &settings, budget, &texts);
    let rows = go_on(options, global, &identity, &plan, csv.as_ref())?;
    let finished = rows
        .iter()
        .filter_map(|r| r.case_index)
        .collect::<BTreeSet<_>>();
    let todo: Vec<&Configuration> = mine
        .into_iter()
        .filter(|c| !finished.contains(&c.index))
        .collect();
    let quick = options.measure.quick;
    let is_own = options.given.cl_dir.is_some();
    let mut jobs = Jobs::new(global, executor, settings, quick, is_own);
    let able = todo.iter().filter(|c| c.refusal.is_none()).count();
    jobs.begin(able, ROUNDS, budget);
    let sweep = SweepState {
        family: space.family,
        scene: jobs.scene(quick, Some(space.family.ceiling)),
        identity,
        jobs,
        rows,
        csv,
    };
    sweep.run(&todo, options, global)
}

/// What the options ask for; the default work-groups are left to the device.
fn space<'a>(options: &Sweep, brought: &'a Brought) -> Result<Space<'a>> {
    let family = &brought.family;
    let rungs = brought.rungs(options.rungs.variant.as_deref())?;
    let settings = sweep::settings(family, &rungs, &options.set).map_err(Error::Usage)?;
    options
        .dtype
        .iter()
        .try_for_each(|&dtype| bench::check_dtype(family, dtype))?;
    let dtypes = if options.dtype.is_empty() {
        &family.dtypes[..1]
    } else {
        &options.dtype
    };
    let usual = family.usual_shape(family.form.default_size(), options.measure.quick);
    let shapes = shapes(family, options, usual)?;
    let wgs = options
        .wg
        .as_ref()
        .map(|list| list.0.clone())
        .unwrap_or_default();
    let dtypes = crate::record::groups::distinct(dtypes.iter().copied());
    let asked = sweep::Asked {
        family,
        rungs: &rungs,
        dtypes: &dtypes,
        wgs: &wgs,
    };
    sweep::check_settings(&asked, &settings).map_err(Error::Usage)?;
    Ok(Space {
        family,
        rungs,
        dtypes,
        shapes,
        wgs,
        settings,
        seed: options.given.seed,
    })
}

/// The usual shape, square matrices, or every combination of columns and rows.
fn shapes(family: &Family, options: &Sweep, usual: Shape) -> Result<Vec<Shape>> {
    let Sweep { n, m, .. } = options;
    if n.is_none() && m.is_none() {
        return Ok(vec![bench::shape(family, None, None, usual)?]);
    }
    if m.is_some() && family.form != Form::Matrix {
        return usage_error(format!(
            "--m: {} has no number of rows of its own: --n is enough",
            family.name
        ));
    }
    let n = n.clone().unwrap_or(List(vec![usual.n])).0;
    let m = m
        .clone()
        .map_or(vec![None], |m| m.0.into_iter().map(Some).collect());
    Ok(n.iter()
        .flat_map(|&n| m.iter().map(move |&m| family.form.shape(n, m)))
        .collect())
}

/// The plan; configurations whose data do not fit this machine or device are refused in it. What a reader's file excludes and,
/// unless work-groups were asked for, what the device is too small for is left out, and it is said how many these are.
fn plan(space: &Space<'_>, executor: &dyn Executor, global: &Global) -> Result<Vec<Configuration>> {
    let info = executor.info();
    let mut plan = space.expand(&info.target);
    if space.family.described().is_some() {
        let mut narrowings: Vec<(&Rung, Narrowing)> = space
            .rungs
            .iter()
            .map(|rung| (*rung, Narrowing::default()))
            .collect();
        plan.retain(|configuration| {
            let of = narrowings
                .iter_mut()
                .find(|(rung, _)| rung.variant() == configuration.case.variant);
            let is_asked = !space.wgs.is_empty()
                && !matches!(configuration.refusal, Some(Refusal::Excluded(_)));
            is_asked
                || !of.is_some_and(|(_, narrowing)| narrowing.drops(configuration.refusal.as_ref()))
        });
        (0..)
            .zip(&mut plan)
            .for_each(|(index, configuration)| configuration.index = index);
        let texts: Vec<String> = narrowings.iter().filter_map(narrowed).collect();
        if plan.is_empty() {
            return usage_error(texts.join("\n"));
        }
        texts.iter().for_each(|text| global.say(text));
    }
    for configuration in &mut plan {
        let Case {
            dtype,
            shape,
            params,
            ..
        } = &configuration.case;
        let input = Input {
            family: space.family,
            shape: *shape,
            dtype: *dtype,
            params,
        };
        if let Err(error) = input.check(info) {
            configuration.refusal = Some(Refusal::Memory(error.to_string()));
        }
    }
    Ok(plan)
}

fn listing(mine: &[&Configuration], all: usize) -> String {
    let mut text = String::new();
    for configuration in mine {
        let why = configuration
            .refusal
            .as_ref()
            .map_or_else(String::new, |why| format!(": skipped: {why}"));
        text += &format!("{}{why}\n", configuration.label());
    }
    let refused = mine.iter().filter(|c| c.refusal.is_some()).count();
    let of = if mine.len() == all {
        String::new()
    } else {
        format!(" of {all}")
    };
    text + &format!(
        "{}{of} configurations; {refused} cannot run here\n",
        mine.len()
    )
}

/// Opens the output before anything runs; none if that is a terminal, which rows would flood. A file that has rows is
/// continued, never replaced.
fn open_output(options: &Sweep, is_forced: bool) -> Result<Option<CsvFile<Row>>> {
    let path = options.output.as_str();
    if options.resume {
        if path == "-" || std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
            return usage_error(
                "--resume needs -o FILE with the file to continue, not a pipe or device",
            );
        }
        return CsvFile::append(path).map(Some);
    }
    if path == "-" && Stdout.is_terminal() {
        return check_stdout().map(|()| None);
    }
    let holds_something = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0);
    let is_kept = path != "-" && holds_something && !is_forced;
    if is_kept && !read_rows(Path::new(path)).is_ok_and(|file| file.rows.is_empty()) {
        let why = "continue it with --resume, give another file, or replace it with --force";
        return usage_error(format!("{path} exists already: {why}"));
    }
    CsvFile::create(path).map(Some)
}

/// The rows of the file to go on with.
fn go_on(
    options: &Sweep,
    global: &Global,
    identity: &Identity,
    plan: &[Configuration],
    csv: Option<&CsvFile<Row>>,
) -> Result<Vec<Row>> {
    let path = Path::new(&options.output);
    if !options.resume || !path.is_file() {
        return Ok(Vec::new());
    }
    csv.and_then(CsvFile::torn)
        .iter()
        .for_each(|torn| global.note(torn));
    let rows = read_rows(path)?.rows;
    let finished = identity
        .finished(plan, &rows)
        .map_err(|why| Error::Usage(format!("cannot continue {}: {why}", options.output)))?;
    global.say(&format!(
        "continuing {}: it has {} rows",
        options.output,
        finished.len()
    ));
    Ok(rows)
}

/// A sweep under way.
struct SweepState<'a> {
    family: &'a Family,
    scene: Scene,
    identity: Identity,
    jobs: Jobs,
    /// Those of the file, then the new ones.
    rows: Vec<Row>,
    /// Where rows go; nowhere on a terminal.
    csv: Option<CsvFile<Row>>,
}

impl SweepState<'_> {
    fn run(mut self, todo: &[&Configuration], options: &Sweep, global: &Global) -> Result<()> {
        let started = Instant::now();
        let measured = self.measure(todo);
        self.jobs.observer = StatusLine::new(true);
        // Where there is no file the summary is the sweep's only result.
        let told = match self.csv {
            Some(_) => {
                global.say(report::summary(&self.rows, Screen::stderr()).trim_end());
                Ok(())
            }
            None => print(&report::summary(&self.rows, screen(global.color))),
        };
        if matches!(measured, Err(Error::Interrupted)) {
            let done: BTreeSet<u64> = self.rows.iter().filter_map(|row| row.case_index).collect();
            let missing = todo.iter().filter(|c| !done.contains(&c.index)).count();
            let how = if self.csv.is_some() {
                "the same command with --resume continues"
            } else {
                "-o FILE keeps rows"
            };
            global.note(&format!(
                "not measured: {missing} of {} configurations; {how}",
                todo.len()
            ));
        }
        if !todo.is_empty() {
            self.jobs.say_times(global, started);
            self.jobs
                .pace
                .overrun()
                .into_iter()
                .for_each(|told| global.note(&told));
        }
        let worst = bench::worst(&self.rows, options.measure.strict);
        let csv = self.csv.take().filter(|_| measured.is_ok());
        let finished = csv.map_or(Ok(()), CsvFile::finish);
        let probes = bench::gone_wrong(|status| self.jobs.limits.broken(status));
        worst_of([measured, worst, probes, finished, told])
    }

    fn measure(&mut self, todo: &[&Configuration]) -> Result<()> {
        let bound = self.family.ceiling;
        // A sweep that is gone on with keeps its ceilings, so that its rows compare.
        for row in &self.rows {
            if let Some(rate) = if bound.is_memory() {
                row.ceiling_gbps
            } else {
                row.ceiling_gops
            } {
                self.jobs
                    .limits
                    .note(LimitNeeded::of(self.family, row.dtype, &row.params), rate);
            }
        }
        for configuration in todo
            .iter()
            .filter(|c| c.refusal.is_none() && c.case.shape.elements() > 0)
        {
            self.jobs.probe(self.family, self.limit_of(configuration))?;
        }
        sweep::measure(todo, self)
    }

    fn limit_of(&self, configuration: &Configuration) -> LimitNeeded {
        LimitNeeded::of(
            self.family,
            configuration.case.dtype,
            &configuration.case.params,
        )
    }
}

impl Bench for SweepState<'_> {
    fn settings(&self, configuration: &Configuration) -> Settings {
        self.jobs.settings(self.family, &configuration.case)
    }

    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome> {
        self.jobs.run(&configuration.label(), job)
    }

    fn finished(
        &mut self,
        configuration: &Configuration,
        outcome: Outcome,
        sampled: f64,
    ) -> Result<()> {
        self.scene.ceiling = self.jobs.limits.get(self.limit_of(configuration));
        self.scene.sample_time = sampled;
        let row = self.identity.row(&self.scene, configuration, outcome);
        // The verdict counts it, even if nobody reads on.
        let written = self.csv.as_mut().map_or(Ok(()), |csv| csv.write(&row));
        self.rows.push(row);
        written
    }
}
