//! What every family's command does: probe the ceiling, time the CPU, climb the ladder, tell.

use super::bench::{self, Input};
use super::outputs::{self, Outputs, Paths};
use super::{Out, interrupt, say, screen};
use crate::ceilings::{self, LimitNeeded, Limits};
use crate::cli::{Global, Ladder, Output};
use crate::data::{Dtype, Params, Shape};
use crate::device::DeviceInfo;
use crate::kernels::{Baseline, Family, Rung};
use crate::plan::{Case, WorkGroup};
use crate::record::{CPU_DOUBLE, Peaks, REPEATS, Record, Row, Run, SampleRow, Scene, relate};
use crate::report::progress::{Observer, Silent, StatusLine};
use crate::report::{RateUnit, chapter, ladder, markdown, rates};
use crate::runner::Settings;
use crate::sweep::Asked;
use crate::values::Peak;
use crate::worker::{Executor, Job, Setup};
use crate::{Error, stats, values};

/// A ladder to climb.
pub(super) struct LadderRun {
    pub(super) family: &'static Family,
    pub(super) shape: Shape,
    /// The element type asked for, or that of the inputs.
    pub(super) dtype: Option<Dtype>,
    pub(super) params: Params,
    /// Further settings, with each of which every kernel runs once.
    pub(super) series: Vec<Params>,
    /// Whose set-up it is, if a source's.
    pub(super) source: Option<AsSource>,
    /// Files of real inputs; empty for random ones.
    pub(super) inputs: Vec<String>,
}

impl LadderRun {
    /// A ladder over random inputs, in nobody's set-up, each kernel once.
    pub(super) fn new(family: &'static Family, shape: Shape, options: &Ladder, params: &Params) -> LadderRun {
        let (dtype, params) = (options.dtype, params.clone());
        LadderRun { family, shape, dtype, params, series: vec![Params::new()], source: None, inputs: Vec::new() }
    }
}

/// What a ladder in the set-up of a source has besides.
pub(super) struct AsSource {
    /// Its rungs, as `--variant` names them, unless others are asked for.
    pub(super) variants: &'static str,
    /// What it claims, beside what came of these rows.
    pub(super) claim: fn(&[Row]) -> String,
}

/// A climb under way.
struct Climb<'a> {
    study: &'a LadderRun,
    options: &'a Ladder,
    settings: Settings,
    dtype: Dtype,
    wg: WorkGroup,
    run: Run,
    peaks: Peaks,
    executor: Box<dyn Executor>,
    observer: Box<dyn Observer>,
    records: Vec<Record>,
    outputs: Outputs<Row>,
}

/// Climbs the ladder and prints what came of it. What was measured before an error or an interrupt is
/// printed all the same.
///
/// # Errors
/// Bad options, no device, outputs that cannot be written, and the worst thing that happened to a rung.
pub(super) fn run(out: &mut Out, global: &Global, options: &Ladder, study: &LadderRun) -> Result<(), Error> {
    let variants = options.variant.as_deref().or(study.source.as_ref().map(|source| source.variants));
    let rungs = match variants {
        Some(list) => values::variants(study.family, list).map_err(Error::Usage)?,
        None => study.family.kernels().collect(),
    };
    let peaks = peaks(study.family, &options.peak)?;
    check_settings(study, &rungs)?;
    let dtype = study.dtype.unwrap_or_else(|| study.family.dtypes.first().copied().unwrap_or(Dtype::F32));
    bench::check_dtype(study.family, dtype)?;
    check_values(study, &rungs, dtype, options.wg)?;
    bench::check_sources(&rungs, options.cl_dir.as_deref())?;
    let outputs = open(study, options)?;
    let data = Input { family: study.family, shape: study.shape, dtype, params: &study.params };
    let bytes = data.bytes()?;
    data.check_host(bytes)?;
    interrupt::watch();
    let setup = Setup {
        device: global.device.clone(),
        cl_dir: options.cl_dir.clone(),
        inputs: study.inputs.clone(),
        dtype: study.dtype,
    };
    let executor = bench::open(setup, &options.measure, bytes, data.ops())?;
    let info = executor.info().clone();
    data.check_device(bytes, &info)?;
    check_work_group(options.wg, &info)?;
    bench::announce(global, &info);
    let mut climb = Climb {
        study,
        options,
        settings: options.measure.settings(),
        dtype,
        wg: options.wg.unwrap_or_else(|| WorkGroup::linear(info.target.max_wg.min(256))),
        run: Run::begin(),
        executor,
        peaks,
        observer: Box::new(StatusLine::new(global.quiet)),
        records: Vec::new(),
        outputs,
    };
    let quick = options.measure.quick;
    let mut limits = Limits::load(&info, quick, options.cl_dir.is_some(), global.quiet, say);
    let climbed = climb.climb(&rungs, &info, &mut limits);
    let rows: Vec<Row> = climb.records.iter().map(Row::from).collect();
    let finished = climb.tell(out, global, &rows, climbed.is_ok());
    let probes = bench::gone_wrong(|status| limits.broken(status));
    let rungs = bench::worst(&rows, options.measure.strict);
    bench::worst_of([climbed, rungs, probes, finished].into_iter().filter_map(Result::err))
}

/// Opens the outputs; none may be a file that is read.
fn open(study: &LadderRun, options: &Ladder) -> Result<Outputs<Row>, Error> {
    let Output { csv, json, md, samples, .. } = &options.output;
    let [csv, json, md, samples] = [csv, json, md, samples].map(Option::as_deref);
    let inputs = outputs::inputs(&study.inputs, options.cl_dir.as_deref());
    Outputs::open(&Paths { csv, json, md, samples, svg: None }, &inputs)
}

/// Refuses a setting that none of the rungs reads.
fn check_settings(study: &LadderRun, rungs: &[&'static Rung]) -> Result<(), Error> {
    let read = || study.family.choices.iter().chain(rungs.iter().flat_map(|r| r.tunables));
    let unread = study.params.keys().find(|name| read().all(|t| t.name != name.as_str()));
    unread.map_or(Ok(()), |name| Err(Error::Usage(format!("--{name}: none of the chosen rungs has this setting"))))
}

/// Refuses settings that no device could take, each alone or as they are given together.
fn check_values(study: &LadderRun, rungs: &[&'static Rung], dtype: Dtype, wg: Option<WorkGroup>) -> Result<(), Error> {
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
            return Err(Error::Usage("--peak: give one rate of bytes and one of operations at most".into()));
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

/// The CPU baselines of a study; that of a source only in its set-up.
fn baselines(study: &LadderRun) -> Vec<&'static Baseline> {
    let all = study.family.problem.baselines().iter();
    all.filter(|b| study.source.is_some() || b.name != CPU_DOUBLE).collect()
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

impl Climb<'_> {
    fn climb(&mut self, rungs: &[&'static Rung], info: &DeviceInfo, limits: &mut Limits) -> Result<(), Error> {
        let empty = self.study.shape.elements() == 0;
        let baselines = if empty { Vec::new() } else { baselines(self.study) };
        let probes = if empty { 0 } else { 1 };
        let total = probes + baselines.len() + rungs.len() * self.study.series.len();
        let need = LimitNeeded::of(self.study.family, self.dtype, &self.study.params);
        let mut launch = None;
        if !empty {
            self.observer.case_started(0, total, &format!("{} ceiling", self.study.family.ceiling.name()));
            limits.measure(&mut *self.executor, need)?;
            launch = limits.launch_cost(&mut *self.executor, self.settings.clock)?;
        }
        let limit = limits.get(need);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let host = Scene::on_host(&self.run, threads, &self.settings);
        for (index, baseline) in baselines.iter().enumerate() {
            self.observer.case_started(probes + index, total, baseline.name);
            let case = self.case(baseline.name, &Params::new());
            let job = Job { baseline: true, case, settings: self.settings.clone(), again: false };
            self.measure(&job, &host, None)?;
        }
        let scene = Scene { launch, peaks: self.peaks, ..Scene::on_device(&self.run, info, &self.settings, limit) };
        let cases = rungs.iter().flat_map(|rung| self.study.series.iter().map(move |more| (rung, more)));
        for (index, (rung, more)) in cases.enumerate() {
            self.observer.case_started(probes + baselines.len() + index, total, &rung.label());
            let case = self.case(rung.variant(), more);
            let settings = ceilings::bounded(&self.settings, self.study.family, &case, limit, info);
            self.measure(&Job { baseline: false, case, settings, again: false }, &scene, rung.number())?;
        }
        Ok(())
    }

    fn case(&self, variant: &str, more: &Params) -> Case {
        let params = self.study.params.iter().chain(more).map(|(name, value)| (name.clone(), value.clone()));
        Case {
            family: self.study.family.name.into(),
            variant: variant.into(),
            dtype: self.dtype,
            shape: self.study.shape,
            wg: self.wg,
            params: params.collect(),
            seed: self.options.seed,
        }
    }

    /// Runs one case and writes its row.
    fn measure(&mut self, job: &Job, scene: &Scene, rung: Option<u32>) -> Result<(), Error> {
        let mut outcome = self.executor.run(job)?;
        // Also of one that never got as far as a plan: no two rows of a kernel look the same.
        if let Some(repeats) = job.case.params.get(REPEATS) {
            outcome.params.entry(REPEATS.into()).or_insert_with(|| repeats.clone());
        }
        self.observer.case_done(outcome.status(), stats::summarise(&outcome.times()).map(|s| s.median));
        self.records.push(Record::from_outcome(scene, rung, outcome));
        relate(&mut self.records);
        if let Some(record) = self.records.last() {
            self.outputs.row(&Row::from(record));
            self.outputs.samples(SampleRow::of(record));
        }
        Ok(())
    }

    /// Of the min-plus ladder, at the size of PPC's chapter 4 or where more is asked for: its figures beside the chapter's.
    fn beside_the_chapter(&self, rows: &[Row], verbose: bool) -> String {
        let is_its_own = self.study.family.name == "minplus" && (verbose || self.study.shape.n == chapter::N);
        let units = self.executor.info().target.compute_units;
        if is_its_own { chapter::beside(rows, units).unwrap_or_default() } else { String::new() }
    }

    /// Ends the progress, prints the table and completes the files.
    fn tell(&mut self, out: &mut Out, global: &Global, rows: &[Row], is_whole: bool) -> Result<(), Error> {
        self.observer = Box::new(Silent);
        let unit = if self.options.output.gib { RateUnit::GiB } else { RateUnit::GB };
        let claim = self.study.source.as_ref().map_or_else(String::new, |s| format!("\n{}", (s.claim)(rows)));
        if is_whole || !rows.is_empty() {
            self.outputs.md(&(markdown::ladder(rows, unit) + &claim));
        }
        let beside = self.beside_the_chapter(rows, global.verbose);
        let rates = Some(rates::text(rows)).filter(|text| global.verbose && !text.is_empty());
        let rates = rates.map_or_else(String::new, |text| format!("\n{text}"));
        let table = |screen| ladder::table(rows, unit, screen, global.verbose) + &claim + &beside + &rates;
        self.outputs.tell(out, &table, screen(global.color), global.quiet);
        self.outputs.finish(is_whole, !rows.is_empty())
    }
}
