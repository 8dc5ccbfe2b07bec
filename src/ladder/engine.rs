//! What every family's command does: check what is asked, climb the ladder, tell.

use super::baseline::Baselines;
use super::climb::{Climb, Study};
use super::run::LadderRun;
use crate::bench::{self, Input, tuning};
use crate::ceilings::Limits;
use crate::cli::Ladder;
use crate::compare::runs;
use crate::counting::counts;
use crate::outputs::{Outputs, Paths};
use crate::prelude::*;
use crate::record::Peaks;
use crate::report::live::Live;
use crate::report::shown::reasons;
use crate::report::{self, RateUnit, ladder, landing, markdown, rates};
use crate::sweep::Asked;
use crate::terminal::Stdout;
use crate::values::Peak;

/// Climbs the ladder and prints what came of it. What was measured before an error or an interrupt is
/// printed all the same.
pub(crate) fn run(out: &mut Out, global: &Global, options: &Ladder, study: &LadderRun<'_>) -> Result<(), Error> {
    run_into(out, global, options, study, &mut Vec::new())
}

/// As [`run`]; gives the rows that were measured, too.
pub(crate) fn run_into(
    out: &mut Out,
    global: &Global,
    options: &Ladder,
    study: &LadderRun<'_>,
    measured: &mut Vec<Row>,
) -> Result<(), Error> {
    let began = Instant::now();
    let variants = options.variant.as_deref().or(study.source.as_ref().and_then(|source| source.variants));
    let mut rungs = match variants {
        Some(list) => values::variants(study.family, list).map_err(Error::Usage)?,
        None => study.family.kernels().collect(),
    };
    let is_missing = |own: &&Rung| rungs.iter().all(|rung| rung.path != own.path);
    if let Some(own) = study.own.filter(is_missing) {
        rungs.push(own);
    }
    let peaks = peaks(study.family, &options.peak)?;
    let dtype = checked_dtype(study, &rungs, options, global.quiet)?;
    let baselines = Baselines::open(&study.family.name, &options.output, options.rounds())?;
    let outputs = open(study, options)?;
    let data = Input { family: study.family, shape: study.shape, dtype, params: &study.params };
    let bytes = data.bytes()?;
    data.check_host(bytes)?;
    interrupt::watch();
    let setup = Setup {
        device: global.device.clone(),
        cl_dir: options.kernels.cl_dir.clone(),
        inputs: study.inputs.clone(),
        dtype: study.dtype,
        memory: study.memory,
        ..Setup::of(&study.registry)
    };
    let mut executor = bench::open(setup, &options.measure, bytes, data.ops())?;
    let info = executor.info().clone();
    data.check_device(bytes, &info)?;
    check_work_group(options.wg, &info)?;
    bench::announce(global, &info);
    let asked = AskedLadder { global, options, study };
    asked.ask_reference(dtype, &mut *executor)?;
    let mut limits = Limits::load(&info, options.measure.quick, options.kernels.cl_dir.is_some(), global.quiet, note);
    let mut tuned = asked.tuned(&rungs, &info, dtype);
    for case in &study.own_cases {
        tuned.entry(case.variant.clone()).or_insert_with(|| case.clone());
    }
    let study = Study {
        ladder: study,
        dtype,
        tuned,
        wg: options.wg.unwrap_or_else(|| tuning::default_work_group(&info)),
        rungs,
        settings: options.measure.settings(),
        budget: options.budget(),
        seed: options.seed,
        quick: options.measure.quick,
        rounds: options.rounds(),
        peaks,
        verbose: global.verbose,
    };
    let ends = study.budget.map(|budget| began + Duration::from_secs_f64(budget.whole * study.rounds as f64));
    let live = Live::new(global.quiet, Stdout.is_terminal()).until(ends);
    let mut climb = Climb::new(study, executor, outputs, live, began);
    let climbed = climb.climb(&mut limits);
    let rows = climb.median_rows();
    let all = climb.rows();
    let faulty: Vec<String> = climb.ladder().source.as_ref().map_or_else(Vec::new, |source| source.faulty.clone());
    measured.clone_from(&rows);
    let mut finished = tell(&mut climb, out, global, options, &baselines, &rows, climbed.is_ok());
    if options.why && climbed.is_ok() && finished.is_ok() && climb.ladder().shape.elements() > 0 {
        let ladder = climb.ladder();
        let placed = |own| landing::placed(landing::landing(ladder.family, own, &rows).as_ref(), own, &rows);
        let rows = ladder.own.map_or_else(|| rows.clone(), placed);
        finished = asked.reasons(&mut climb, out, &mut limits, &rows);
    }
    if matches!(climbed, Err(Error::Interrupted)) && !climb.missing().is_empty() {
        note(&format!("not measured: {}", climb.missing().join(", ")));
    }
    let probes = bench::gone_wrong(|status| limits.broken(status));
    let kept = baselines.keep(&all, climbed.is_ok(), global.quiet);
    let against = baselines.compared(&runs(&all)).map_or(Ok(()), |held| held.demand(&options.output.fail_on));
    let rungs = bench::worst(
        &all.iter()
            .filter(|row: &&Row| !faulty.contains(&row.variant) || row.status == Status::BuildFailed)
            .cloned()
            .collect::<Vec<_>>(),
        options.measure.strict,
    );
    worst_of([climbed, rungs, probes, finished, kept, against])
}

/// The elements' type, if it, the settings and the files are ones that these rungs can have.
fn checked_dtype(study: &LadderRun<'_>, rungs: &[&Rung], options: &Ladder, quiet: bool) -> Result<Dtype, Error> {
    check_settings(study, rungs)?;
    let dtype = bench::dtype(study.family, study.dtype)?;
    check_values(study, rungs, dtype, options.wg)?;
    bench::check_sources(rungs, options.kernels.cl_dir.as_deref(), quiet)?;
    Ok(dtype)
}

/// A ladder with the options of its command.
#[derive(Clone, Copy)]
struct AskedLadder<'a> {
    global: &'a Global,
    options: &'a Ladder,
    study: &'a LadderRun<'a>,
}

impl AskedLadder<'_> {
    /// Asks whoever says what is right in a reader's own family, before a rung is blamed for want of an answer; says who it is.
    fn ask_reference(self, dtype: Dtype, executor: &mut dyn Executor) -> Result<(), Error> {
        let AskedLadder { global, options, study } = self;
        if study.family.described().is_none() || study.shape.elements() == 0 {
            return Ok(());
        }
        let who = executor.ask_reference(&study.case("", dtype, WorkGroup::linear(1), options.seed))?;
        who.iter().filter(|_| !global.quiet).for_each(|who| note(&format!("the reference is {who}")));
        Ok(())
    }

    /// Says why each step pays or does not; beside the table, on standard error where files go to standard output.
    fn reasons(self, climb: &mut Climb<'_>, out: &mut Out, limits: &mut Limits, rows: &[Row]) -> Result<(), Error> {
        let AskedLadder { global, options, .. } = self;
        let ceilings = climb.model_limits(limits)?;
        climb.end_progress();
        let registry = &climb.ladder().registry;
        let counts = counts(registry, rows, options.kernels.cl_dir.as_deref(), global.quiet)?;
        let model = reasons::model_of(rows, &ceilings);
        let text = |screen| {
            let model =
                model.map_or_else(String::new, |is_gpu| format!("\n{}", report::why::model_text(is_gpu, screen)));
            format!("\n{}{model}", reasons::text(registry, rows, &counts, &ceilings, screen))
        };
        climb.outputs.tell(out, &text, screen(global.color), global.quiet);
        Ok(())
    }

    /// The rungs that were given no settings as they were tuned for this case, by their names; says which these are.
    fn tuned(self, rungs: &[&Rung], info: &DeviceInfo, dtype: Dtype) -> BTreeMap<String, Case> {
        let AskedLadder { global, options, study } = self;
        let is_set_up =
            options.no_tuned || options.wg.is_some() || study.source.is_some() || study.shape.elements() == 0;
        let known =
            (!is_set_up).then(|| tuning::load(study.family, info, options.kernels.cl_dir.as_deref(), global.quiet));
        let Some(known) = known.flatten() else { return BTreeMap::new() };
        let case = |rung: &Rung| study.case(rung.variant(), dtype, tuning::default_work_group(info), options.seed);
        let found: Vec<Case> = rungs.iter().filter_map(|rung| tuning::tuned(&known, rung, &case(rung))).collect();
        let variants: Vec<&str> = found.iter().map(|case| case.variant.as_str()).collect();
        tuning::announce(study.family, &variants, global.quiet);
        found.into_iter().map(|case| (case.variant.clone(), case)).collect()
    }
}

fn open(study: &LadderRun<'_>, options: &Ladder) -> Result<Outputs<Row>, Error> {
    let mut outputs = Outputs::open(&Paths::from(&options.output))?;
    if study.to_stderr {
        outputs.leave_stdout();
    }
    Ok(outputs)
}

/// Refuses a setting that none of the rungs reads.
fn check_settings(study: &LadderRun<'_>, rungs: &[&Rung]) -> Result<(), Error> {
    let read = || study.family.choices.iter().copied().chain(rungs.iter().flat_map(|r| r.tunables()));
    let unread = study.params.keys().find(|name| read().all(|t| t.name != name.as_str()));
    unread.map_or(Ok(()), |name| Err(Error::Usage(format!("--{name}: none of the chosen rungs has this setting"))))
}

/// Refuses settings that no device could take, each alone or as they are given together.
fn check_values(study: &LadderRun<'_>, rungs: &[&Rung], dtype: Dtype, wg: Option<WorkGroup>) -> Result<(), Error> {
    let wgs: Vec<WorkGroup> = wg.into_iter().collect();
    let asked = Asked { family: study.family, rungs, dtypes: &[dtype], wgs: &wgs };
    for (name, value) in &study.params {
        let alone = Params::from([(name.clone(), value.clone())]);
        let together = asked.refusal(name, std::slice::from_ref(&study.params));
        if let Some(why) = together.and_then(|_| asked.refusal(name, &[alone])) {
            return Err(Error::Usage(format!("--{name} {value}: {why}")));
        }
    }
    Ok(())
}

/// The theoretical rates that were given; one of them must be what bounds the family.
fn peaks(family: &Family, given: &[Peak]) -> Result<Peaks, Error> {
    let mut peaks = Peaks::default();
    for peak in given {
        let (place, rate) = match *peak {
            Peak::Bytes(rate) => (&mut peaks.gbps, rate),
            Peak::Ops(rate) => (&mut peaks.gops, rate),
        };
        if place.replace(rate).is_some() {
            return Err(Error::Usage("--peak: give at most one rate of bytes and one of operations".into()));
        }
    }
    let (what, example, bounding) = match family.ceiling.is_memory() {
        true => ("bytes", "4800GB/s", peaks.gbps),
        false => ("operations", "60TFLOP/s", peaks.gops),
    };
    if !given.is_empty() && bounding.is_none() {
        return Err(Error::Usage(format!("--peak: {} is measured in {what} a second: write {example}", family.name)));
    }
    Ok(peaks)
}

fn check_work_group(wg: Option<WorkGroup>, info: &DeviceInfo) -> Result<(), Error> {
    match wg {
        Some(wg) if wg.size() > info.target.max_wg => Err(Error::Usage(format!(
            "work-group {wg} is too large: {} allows at most {} work-items",
            info.name, info.target.max_wg
        ))),
        _ => Ok(()),
    }
}

/// Ends the progress, prints the table and completes the files.
fn tell(
    climb: &mut Climb<'_>,
    out: &mut Out,
    global: &Global,
    options: &Ladder,
    baselines: &Baselines,
    rows: &[Row],
    is_whole: bool,
) -> Result<(), Error> {
    climb.end_progress();
    let unit = if options.output.gib { RateUnit::GiB } else { RateUnit::GB };
    let units = climb.info().target.compute_units;
    let claim = climb.ladder().source.as_ref().map_or_else(String::new, |s| format!("\n{}", (s.claim)(rows, units)));
    if is_whole || !rows.is_empty() {
        climb.outputs.md(&(markdown::ladder(rows, unit) + &claim));
    }
    let all = runs(&climb.rows());
    let own = climb.ladder().own.and_then(|own| Some((own, landing::landing(climb.ladder().family, own, rows)?)));
    let rates = Some(rates::text(rows, climb.ladder().family.problem.counted()))
        .filter(|text| global.verbose && !text.is_empty());
    let rates = rates.map_or_else(String::new, |text| format!("\n{text}"));
    let table = |screen| {
        let rounds = report::compare::rounds(&all, screen);
        let against = baselines.beside(&all, global.verbose, screen);
        let lands = own.as_ref().map_or_else(String::new, |(own, at)| format!("\n{}", landing::text(own, at, screen)));
        ladder::table(rows, unit, screen, global.verbose) + &rounds + &claim + &rates + &against + &lands
    };
    climb.outputs.tell(out, &table, screen(global.color), global.quiet);
    climb.beyond_cache().iter().filter(|_| !global.quiet).for_each(|text| note(text));
    climb.outputs.finish(is_whole, !rows.is_empty())
}
