//! `gpulab sweep`: every combination of rungs, work-groups, sizes, element types and tunables.

use crate::adopt::Brought;
use crate::bench::pace::{FOR_LIMITS, Pace};
use crate::bench::{self, Input, tuning};
use crate::ceilings::{self, LimitNeeded, Limits};
use crate::cli::{Global, Sweep};
use crate::console::{Out, note, screen, worst_of};
use crate::data::{Dtype, Params, Shape};
use crate::kernels::{Family, Form, Rung, Sources};
use crate::outcome::{Executor, Job, Outcome, Settings};
use crate::plan::{Case, Refusal, WorkGroup};
use crate::record::{Record, Row, Run, Scene};
use crate::report::progress::{Observer, Silent, StatusLine};
use crate::report::sweep::{self as report, SweepTime};
use crate::store::{CsvFile, Mode, Pool, Rounds, read_rows, write_rows};
use crate::sweep::{self, BLOCK, Bench, Configuration, Identity, Order, ROUNDS, Shard, Space};
use crate::terminal::{Screen, Stdout, say};
use crate::values::List;
use crate::worker::Setup;
use crate::{Error, interrupt, stats};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

/// Plans the sweep, measures what has no row yet, and sums it up: on standard output if that is a terminal, which gets no
/// rows, else on standard error.
pub fn run(out: &mut Out, global: &Global, options: &Sweep) -> Result<(), Error> {
    let brought = Brought::new(options.subject.name().unwrap_or_default(), options.rungs.own.as_deref())?;
    let mut space = space(options, &brought)?;
    bench::check_sources(&space.rungs, options.kernels.cl_dir.as_deref(), global.quiet)?;
    let (bytes, ops) = largest_input(&space)?;
    let csv = if options.dry_run { None } else { open_output(options, global.force)? };
    interrupt::watch();
    let setup =
        Setup { device: global.device.clone(), cl_dir: options.kernels.cl_dir.clone(), ..Setup::of(&brought.registry) };
    let executor = bench::open(setup, &options.measure, bytes, ops)?;
    if options.wg.is_none() {
        space.wgs = sweep::default_work_groups(&executor.info().target);
        let declared: Vec<WorkGroup> = space.rungs.iter().filter_map(|rung| rung.work_group()).collect();
        // Those of more dimensions stand in for each of one.
        let is_new = |wg: &WorkGroup| wg.0[1] == 1 && !space.wgs.contains(wg);
        let new: Vec<WorkGroup> = declared.into_iter().filter(is_new).collect();
        space.wgs.extend(new);
    }
    bench::announce(global, executor.info());
    space.remembered = remembered(&space, options, global, &*executor);
    let plan = plan(&space, &*executor)?;
    let shard = options.shard.map_or(Shard::ALL, |(index, of)| Shard { index, of });
    let mine: Vec<&Configuration> = plan.iter().filter(|c| shard.holds(c)).collect();
    if options.dry_run {
        return out.text(&listing(&mine, plan.len()));
    }
    if csv.is_none() && !global.quiet {
        note("the rows appear only in the summary: -o FILE or a pipe keeps them as CSV");
    }
    let settings = options.measure.settings();
    let sources = sources(&space.rungs, options.kernels.cl_dir.as_deref())?;
    let identity =
        Identity::new(&plan, shard, executor.info(), &settings, options.order, options.measure.budget, &sources);
    let rows = earlier_rows(options, global, (&identity, &plan), csv.as_ref())?;
    let (csv, rows) = without_retried(options, global, csv, rows)?;
    let finished = rows.iter().filter_map(|r| r.case_index).collect::<BTreeSet<_>>();
    let (rounds, earlier) = rounds(options, &identity);
    let todo: Vec<&Configuration> = mine.into_iter().filter(|c| !finished.contains(&c.index)).collect();
    let measured = todo.iter().filter(|c| c.refusal.is_none()).count();
    let rounds_of_each = rounds_of(options.order);
    let jobs = measured * rounds_of_each as usize;
    let pace = Pace::new(options.measure.whole_budget(), Instant::now(), jobs);
    let mut limits =
        Limits::load(executor.info(), options.measure.quick, options.kernels.cl_dir.is_some(), global.quiet, note);
    limits.end_by(pace.after(FOR_LIMITS));
    let observer = StatusLine::with_bar(global.quiet).until(pace.after(1.0)).in_rounds(rounds_of_each);
    let run = SweepState {
        family: space.family,
        scene: Scene {
            bound: Some(space.family.ceiling),
            ..Scene::on_device(&Run { quick: options.measure.quick, ..Run::begin() }, executor.info(), &settings, None)
        },
        identity,
        settings,
        limits,
        steps: jobs,
        step: 0,
        pace,
        rounds_of_each,
        executor,
        observer: Box::new(observer),
        rows,
        csv,
        quiet: global.quiet,
        earlier,
        rounds,
        time: SweepTime::default(),
    };
    run.run(out, &todo, options, global)
}

/// Jobs that a configuration has.
fn rounds_of(order: Order) -> u32 {
    if order == Order::Interleave { ROUNDS } else { 1 }
}

/// What the options ask for; the default work-groups are left to the device.
fn space<'a>(options: &Sweep, brought: &'a Brought) -> Result<Space<'a>, Error> {
    let (family, rungs) = (&brought.family, brought.rungs(options.rungs.variant.as_deref())?);
    let settings = sweep::settings(family, &rungs, &options.set).map_err(Error::Usage)?;
    let mut dtypes: Vec<Dtype> = Vec::new();
    for &dtype in &options.dtype {
        bench::check_dtype(family, dtype)?;
        if !dtypes.contains(&dtype) {
            dtypes.push(dtype);
        }
    }
    if dtypes.is_empty() {
        dtypes.extend(family.dtypes.first());
    }
    let usual = family.usual_shape(family.form.default_size(), options.measure.quick);
    let shapes = shapes(family, options.n.as_ref(), options.m.as_ref(), usual)?;
    let wgs = options.wg.as_ref().map(|list| list.0.clone()).unwrap_or_default();
    let space = Space { family, rungs, dtypes, shapes, wgs, settings, seed: options.data.seed, remembered: Vec::new() };
    space.check_settings().map_err(Error::Usage)?;
    Ok(space)
}

/// The usual shape, square matrices, or every combination of columns and rows.
fn shapes(family: &Family, n: Option<&List<u64>>, m: Option<&List<u64>>, usual: Shape) -> Result<Vec<Shape>, Error> {
    if n.is_none() && m.is_none() {
        return Ok(vec![usual]);
    }
    let default = List(vec![usual.n]);
    let n = n.unwrap_or(&default);
    match (family.form, m) {
        (Form::Vector, Some(_)) => {
            Err(Error::Usage(format!("--m: {} works on vectors, which have no rows", family.name)))
        }
        (Form::Square, Some(_)) => {
            Err(Error::Usage(format!("--m: {} works on square matrices: --n is enough", family.name)))
        }
        (form, None) => Ok(n.0.iter().map(|&n| form.shape(n, None)).collect()),
        (form, Some(m)) => Ok(n.0.iter().flat_map(|&n| m.0.iter().map(move |&m| form.shape(n, Some(m)))).collect()),
    }
}

/// The largest data of any size and type, in bytes, before settings that make them larger; and the most operations.
fn largest_input(space: &Space) -> Result<(u64, f64), Error> {
    let (family, params) = (space.family, &Params::new());
    let (mut bytes, mut ops) = (0, 0.0_f64);
    for (&dtype, &shape) in space.dtypes.iter().flat_map(|d| space.shapes.iter().map(move |s| (d, s))) {
        let input = Input { family, shape, dtype, params };
        (bytes, ops) = (bytes.max(input.bytes()?), ops.max(input.ops()));
    }
    Ok((bytes, ops))
}

/// Settings that are remembered of rungs none of whose tunables is swept; says so.
fn remembered(
    space: &Space<'_>,
    options: &Sweep,
    global: &Global,
    executor: &dyn Executor,
) -> Vec<sweep::RememberedSettings> {
    let mut found = Vec::new();
    let loaded = (!options.no_tuned)
        .then(|| tuning::load(space.family, executor.info(), options.kernels.cl_dir.as_deref(), global.quiet))
        .flatten();
    let Some(known) = loaded else { return found };
    let is_swept = |rung: &Rung| rung.tunables().any(|t| space.settings.iter().any(|s| s.name == t.name));
    let is_choice = |name: &str| space.family.choices.iter().any(|choice| choice.name == name);
    let is_other_problem = space.settings.iter().any(|setting| is_choice(&setting.name));
    let rungs = space.rungs.iter().filter(|rung| !is_swept(rung) && !is_other_problem);
    for rung in rungs {
        for (&dtype, &shape) in space.dtypes.iter().flat_map(|d| space.shapes.iter().map(move |s| (d, s))) {
            let case = Case {
                wg: tuning::default_work_group(executor.info()),
                seed: space.seed,
                ..Case::of(&space.family.name, rung.variant(), dtype, shape)
            };
            let tuned = known.tuned(&case).filter(|tuned| !tuned.params.is_empty());
            let variant = rung.variant().to_owned();
            found.extend(tuned.map(|t| sweep::RememberedSettings { variant, dtype, shape, params: t.params }));
        }
    }
    let mut variants: Vec<&str> = found.iter().map(|settings| settings.variant.as_str()).collect();
    variants.dedup();
    tuning::announce(space.family, &variants, global.quiet);
    found
}

/// The plan; configurations whose data do not fit this machine or device are refused in it.
fn plan(space: &Space<'_>, executor: &dyn Executor) -> Result<Vec<Configuration>, Error> {
    let info = executor.info();
    let mut plan = space.expand(&info.target);
    for configuration in &mut plan {
        let Case { dtype, shape, params, .. } = &configuration.case;
        let input = Input { family: space.family, shape: *shape, dtype: *dtype, params };
        if let Err(error) = input.check(info) {
            configuration.refusal = Some(Refusal::Memory(error.to_string()));
        }
    }
    Ok(plan)
}

/// Opens the output before anything runs; none if that is a terminal, which rows would flood. A file with rows in it is only
/// gone on with, never replaced.
fn open_output(options: &Sweep, is_forced: bool) -> Result<Option<CsvFile<Row>>, Error> {
    let path = options.output.as_str();
    if options.resume {
        if path == "-" || std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
            return Err(Error::Usage("--resume needs -o FILE with the file to continue, not a pipe or device".into()));
        }
        return CsvFile::open(path, Mode::Append).map(Some);
    }
    if path == "-" && Stdout.is_terminal() {
        return Out::check().map(|()| None);
    }
    let holds_something = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0);
    if path != "-"
        && holds_something
        && !is_forced
        && !read_rows(Path::new(path)).is_ok_and(|file| file.rows.is_empty())
    {
        let why = "continue it with --resume, give another file, or replace it with --force";
        return Err(Error::Usage(format!("{path} exists already: {why}")));
    }
    CsvFile::open(path, Mode::Create).map(Some)
}

/// The rows that the file to go on with has.
fn earlier_rows(
    options: &Sweep,
    global: &Global,
    (identity, plan): (&Identity, &[Configuration]),
    csv: Option<&CsvFile<Row>>,
) -> Result<Vec<Row>, Error> {
    let path = Path::new(&options.output);
    if !options.resume || !path.is_file() {
        return Ok(Vec::new());
    }
    if let Some(torn) = csv.and_then(CsvFile::torn).filter(|_| !global.quiet) {
        note(torn);
    }
    let rows = read_rows(path)?.rows;
    let refused = |why| Error::Usage(format!("cannot continue {}: {why}", options.output));
    let finished = identity.finished(plan, &rows).map_err(refused)?;
    if !global.quiet {
        say(&format!("continuing {}: it has {} rows", options.output, finished.len()));
    }
    Ok(rows)
}

/// The file and its rows without those that are to be measured again. They are dropped all at once, or not at all.
fn without_retried(
    options: &Sweep,
    global: &Global,
    csv: Option<CsvFile<Row>>,
    rows: Vec<Row>,
) -> Result<(Option<CsvFile<Row>>, Vec<Row>), Error> {
    let is_retried = |row: &Row| options.retry.iter().any(|status| status == row.status.name());
    let (retried, kept): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(is_retried);
    if retried.is_empty() {
        return Ok((csv, kept));
    }
    let failed = |source| Error::Output { what: options.output.clone(), source };
    // A link stays one.
    let path = std::fs::canonicalize(&options.output).map_err(failed)?;
    write_rows(&path.to_string_lossy(), &kept)?;
    drop(csv);
    if !global.quiet {
        say(&format!("{} of them are measured again: {}", retried.len(), options.retry.join(", ")));
    }
    Ok((Some(CsvFile::open(&options.output, Mode::Append)?), kept))
}

/// Where rounds are noted beside the file of rows, and what those of the sweep that is gone on with gave.
fn rounds(options: &Sweep, identity: &Identity) -> (Option<Rounds>, BTreeMap<u64, Pool>) {
    let path = Path::new(&options.output);
    if options.order == Order::Sequential || options.output == "-" || (path.exists() && !path.is_file()) {
        return (None, BTreeMap::new());
    }
    let mut rounds = Rounds::beside(&options.output, &identity.key());
    if !options.resume {
        // Of a sweep whose rows were removed.
        rounds.settle();
    }
    let earlier = rounds.read();
    (Some(rounds), earlier)
}

/// The kernels' texts, fragments included.
fn sources(rungs: &[&Rung], dir: Option<&Path>) -> Result<Vec<String>, Error> {
    let sources = Sources { dir: dir.map(Path::to_owned) };
    rungs.iter().map(|rung| sources.assemble_rung(rung).map_err(|stop| Error::Usage(stop.reason))).collect()
}

fn listing(mine: &[&Configuration], all: usize) -> String {
    let line = |c: &&Configuration| match &c.refusal {
        Some(why) => format!("{}: skipped: {why}\n", c.label()),
        None => c.label() + "\n",
    };
    let refused = mine.iter().filter(|c| c.refusal.is_some()).count();
    let of = if mine.len() == all { String::new() } else { format!(" of {all}") };
    mine.iter().map(line).collect::<String>()
        + &format!("{}{of} configurations; {refused} cannot run here\n", mine.len())
}

/// A sweep under way.
struct SweepState<'a> {
    family: &'a Family,
    scene: Scene,
    identity: Identity,
    settings: Settings,
    limits: Limits,
    /// Jobs that there are at most, and how many have begun.
    steps: usize,
    step: usize,
    pace: Pace,
    rounds_of_each: u32,
    executor: Box<dyn Executor>,
    observer: Box<dyn Observer>,
    /// Those of the file, then the new ones.
    rows: Vec<Row>,
    /// Where rows go; nowhere on a terminal.
    csv: Option<CsvFile<Row>>,
    quiet: bool,
    /// What rounds of an earlier run gave, by places in the plan.
    earlier: BTreeMap<u64, Pool>,
    /// Where rounds are noted; nowhere if rows go to standard output.
    rounds: Option<Rounds>,
    time: SweepTime,
}

impl SweepState<'_> {
    fn run(mut self, out: &mut Out, todo: &[&Configuration], options: &Sweep, global: &Global) -> Result<(), Error> {
        let started = Instant::now();
        let measured = self.measure(todo, options);
        self.observer = Box::new(Silent);
        let told = self.tell(out, global);
        if !global.quiet && matches!(measured, Err(Error::Interrupted)) {
            self.tell_missing(todo);
        }
        if !global.quiet && !todo.is_empty() {
            self.time.total = started.elapsed().as_secs_f64();
            say(&report::wrapped(&report::time_split(&self.time), Screen::stderr()));
            self.pace.overrun().into_iter().for_each(|told| note(&told));
        }
        let worst = bench::worst(&self.rows, options.measure.strict);
        let csv = self.csv.take().filter(|_| measured.is_ok());
        let finished = csv.map_or(Ok(()), CsvFile::finish);
        let probes = bench::gone_wrong(|status| self.limits.broken(status));
        worst_of([measured, worst, probes, finished, told].into_iter().filter_map(Result::err))
    }

    /// Sums up what was measured: where there is no file it is the sweep's only result.
    fn tell(&self, out: &mut Out, global: &Global) -> Result<(), Error> {
        match self.csv {
            Some(_) if global.quiet => {}
            Some(_) => say(report::summary(&self.rows, Screen::stderr()).trim_end()),
            None => return out.painted(&report::summary(&self.rows, screen(global.color))),
        }
        Ok(())
    }

    /// Says how much of the plan an interrupt left out, and how to go on.
    fn tell_missing(&self, todo: &[&Configuration]) {
        let measured: BTreeSet<u64> = self.rows.iter().filter_map(|row| row.case_index).collect();
        let missing = todo.iter().filter(|c| !measured.contains(&c.index)).count();
        let how = match &self.csv {
            Some(_) => "the same command with --resume continues",
            None => "--resume can continue a sweep with -o FILE",
        };
        note(&format!("not measured: {missing} of {} configurations; {how}", todo.len()));
    }

    fn measure(&mut self, todo: &[&Configuration], options: &Sweep) -> Result<(), Error> {
        let bound = self.family.ceiling;
        // A sweep that is gone on with keeps its ceilings, so that its rows compare.
        for row in &self.rows {
            if let Some(rate) = if bound.is_memory() { row.ceiling_gbps } else { row.ceiling_gops } {
                self.limits.note(LimitNeeded::of(self.family, row.dtype, &row.params), rate);
            }
        }
        let needed = todo.iter().filter(|c| c.refusal.is_none() && c.case.shape.elements() > 0);
        for configuration in needed {
            self.probe(LimitNeeded::of(self.family, configuration.case.dtype, &configuration.case.params))?;
        }
        sweep::measure(todo, options.order, self)
    }

    fn probe(&mut self, need: LimitNeeded) -> Result<(), Error> {
        if self.limits.has(need) {
            return Ok(());
        }
        let started = Instant::now();
        // What is kept is told, and no bar may stand where that is written.
        if !self.limits.is_at_hand(need, &self.executor.info().target) {
            self.observer.case_started(0, self.steps, &format!("{} ceiling", self.family.ceiling.name()));
        }
        let measured = self.limits.measure(&mut *self.executor, need);
        self.time.ceiling += started.elapsed().as_secs_f64();
        measured
    }
}

impl Bench for SweepState<'_> {
    fn settings(&self, configuration: &Configuration) -> Settings {
        let limit = self.limits.get(LimitNeeded::of(self.family, configuration.case.dtype, &configuration.case.params));
        let settings = self.pace.settings(&self.settings, self.rounds_of_each, 0.0);
        ceilings::bounded(&settings, self.family, &configuration.case, limit, self.executor.info())
    }

    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome, Error> {
        if interrupt::interrupted() {
            return Err(Error::Interrupted);
        }
        self.observer.round(job.again, job.settings.timeout);
        self.observer.case_started(self.step, self.steps, &configuration.label());
        self.step += 1;
        let began = Instant::now();
        let ran = self.executor.run(job);
        self.time.note(began.elapsed().as_secs_f64(), ran.as_ref().ok().map(|outcome| outcome.spent));
        let outcome = ran?;
        self.pace.job_done(began, job.settings.timeout);
        self.observer.case_done(outcome.status(), stats::summarise(&outcome.times()).map(|s| s.median));
        Ok(outcome)
    }

    fn earlier(&mut self, configuration: &Configuration) -> Option<Pool> {
        self.earlier.remove(&configuration.index)
    }

    fn note(&mut self, configuration: &Configuration, pool: &Pool) {
        let noted = self.rounds.as_mut().map(|rounds| rounds.note(configuration.index, pool));
        if let Some(Err(error)) = noted {
            self.rounds = None;
            if !self.quiet {
                say(&format!("{error}: if this sweep is killed, up to {BLOCK} configurations are measured again"));
            }
        }
    }

    fn settled(&mut self) {
        self.rounds.iter_mut().for_each(Rounds::settle);
    }

    fn finished(&mut self, configuration: &Configuration, mut outcome: Outcome, sampled: f64) -> Result<(), Error> {
        // Also of one that never got as far as a plan: no two rows of a sweep look the same.
        (outcome.wg, outcome.params) = (configuration.wg, configuration.params.clone());
        self.scene.ceiling =
            self.limits.get(LimitNeeded::of(self.family, configuration.case.dtype, &configuration.case.params));
        self.scene.sample_time = sampled;
        let record = Record::from_outcome(&self.scene, configuration.rung, outcome);
        let mut row = Row::from(&record);
        self.identity.stamp(&mut row, configuration);
        // The verdict counts it, even if nobody reads on.
        let written = self.csv.as_mut().map_or(Ok(()), |csv| csv.write(&row));
        self.rows.push(row);
        written
    }
}
