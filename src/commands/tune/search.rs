//! A search for the fastest settings: what is asked for, what is measured and measured again, what is told and remembered.

use crate::bench::{self, Jobs};
use crate::brought::Brought;
use crate::ceilings::{self, LimitNeeded};
use crate::cli::{Global, TuneArgs};
use crate::console::{note, worst_of};
use crate::data::{Dtype, Params, Shape};
use crate::kernels::{Family, Rung, Sources};
use crate::outcome::{Candidate, Executor, Job, Outcome, Settings, Status};
use crate::outputs::{Outputs, Paths};
use crate::plan::Case;
use crate::record::{Row, Scene};
use crate::report::format::Screen;
use crate::report::progress::StatusLine;
use crate::report::sweep::{latest, wrapped};
use crate::report::tune::{TuningTold, explanation};
use crate::runner::FOR_LIMITS;
use crate::sweep::{self, Bench, Configuration, Identity, Narrowing, ROUNDS, Setting, Shard};
use crate::tune::{
    Ended, Halt, SizeClass, Strategy, TunedEntry, TunedFile, TuningSpace, choices, fastest,
    is_faster, least_of, search, source_hash, time_of,
};
use crate::values::SearchBudget;
use crate::{Error, Result, usage_error};
use gpulab_model::Joined;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// Seconds of a search by default.
const BUDGET_S: f64 = 60.0;

/// Share of a time budget that is kept for the last rounds at most.
const MOST_LAST: f64 = 0.4;

/// The best so many candidates are measured again.
const FINALISTS: usize = 5;

/// How many times slower than the best a candidate is after its first samples if it is dropped.
const SLOWER: f64 = 1.5;

/// How many times the samples are taken to decide what is undecided, one after the other where the budget allows it.
const TIMES: [u32; 4] = [2, 4, 8, 16];

/// Per cent of the device's limit that are good enough.
const GOOD_ENOUGH_PCT: f64 = 95.0;

/// What a search is asked for.
pub struct AskedTuning<'a> {
    pub family: &'a Family,
    /// The file that describes the family, from the root.
    file: Option<String>,
    pub rungs: Vec<&'a Rung>,
    pub shape: Shape,
    pub dtype: Dtype,
    /// Settings that the answer depends on.
    pub choices: Params,
    /// Values to try in place of tunables' own.
    settings: Vec<Setting>,
}

impl<'a> AskedTuning<'a> {
    pub fn new(options: &TuneArgs, brought: &'a Brought) -> Result<AskedTuning<'a>> {
        let family = &brought.family;
        let rungs = brought.rungs(options.rungs.variant.as_deref())?;
        let dtype = bench::dtype(family, options.dtype)?;
        let usual = family.usual_shape(family.form.ladder_size(options.quick), options.quick);
        let shape = bench::shape(family, options.n, options.m, usual)?;
        if shape.elements() == 0 {
            return usage_error("--n 0: no elements, so no launch to tune");
        }
        let mut choices = Params::new();
        let mut settings = sweep::settings(family, &rungs, &options.set).map_err(Error::Usage)?;
        let wgs = options.wg.as_ref().map_or(&[][..], |list| &list.0);
        let asked = sweep::Asked {
            family,
            rungs: &rungs,
            dtypes: &[dtype],
            wgs,
        };
        sweep::check_settings(&asked, &settings).map_err(Error::Usage)?;
        for choice in family.choices {
            let Some(at) = settings
                .iter()
                .position(|setting| setting.name == choice.name)
            else {
                continue;
            };
            let Setting { name, mut values } = settings.remove(at);
            if values.len() > 1 {
                let why = "each value is a different problem with its own optimum: give one";
                return usage_error(format!("--set {name}: {why}"));
            }
            choices.extend(values.pop().map(|value| (name, value)));
        }
        let file = options
            .subject
            .name()
            .map(Path::new)
            .filter(|_| family.described().is_some());
        let file = file.and_then(|file| Some(file.canonicalize().ok()?.display().to_string()));
        Ok(AskedTuning {
            family,
            file,
            rungs,
            shape,
            dtype,
            choices,
            settings,
        })
    }

    pub fn space(&self, options: &TuneArgs, executor: &dyn Executor) -> Result<TuningSpace<'a>> {
        let base = Case {
            params: self.choices.clone(),
            seed: options.given.seed,
            ..Case::of(&self.family.name, "", self.dtype, self.shape)
        };
        let wgs = options.wg.as_ref().map(|list| list.0.as_slice());
        let target = &executor.info().target;
        let space = TuningSpace::new(self.family, &self.rungs, &base, wgs, &self.settings, target);
        if !space.candidates.is_empty() {
            return Ok(space);
        }
        let narrowed = space.narrowings.iter().filter_map(narrowed);
        let refused = space
            .refused
            .iter()
            .map(|(rung, why)| format!("{}: {why}", rung.label()));
        let why = narrowed.chain(refused).next().unwrap_or_default();
        usage_error(format!("no configuration can run here; {why}"))
    }
}

/// What the settings of a rung came to, if they are fewer than its file spans.
pub fn narrowed((rung, narrowing): &(&Rung, Narrowing)) -> Option<String> {
    Some(format!("{}: {}", rung.label(), narrowing.text()?))
}

/// A search under way.
pub struct Tuning<'a> {
    asked: &'a AskedTuning<'a>,
    options: &'a TuneArgs,
    space: &'a TuningSpace<'a>,
    identity: Identity,
    scene: Scene,
    jobs: Jobs,
    /// All rows, in the order in which they came.
    rows: Vec<Row>,
    outputs: Outputs<Row>,
    /// Configurations that were measured, each once and again.
    measured: usize,
    /// How many times the usual samples the last rounds take.
    times: u32,
    began: Instant,
}

impl<'a> Tuning<'a> {
    /// Opens the files.
    pub fn open(
        asked: &'a AskedTuning<'a>,
        options: &'a TuneArgs,
        global: &Global,
        space: &'a TuningSpace<'a>,
        executor: Box<dyn Executor>,
    ) -> Result<Tuning<'a>> {
        let settings = options.settings();
        let texts = bench::texts(&asked.rungs, options.given.cl_dir.as_deref())?;
        let identity = Identity::new(
            &space.candidates,
            Shard::ALL,
            executor.info(),
            &settings,
            None,
            &texts,
        );
        let outputs = Outputs::open(&Paths::from(&options.rows))?;
        let is_own = options.given.cl_dir.is_some();
        let jobs = Jobs::new(global, executor, settings, options.quick, is_own);
        Ok(Tuning {
            scene: jobs.scene(options.quick, Some(asked.family.ceiling)),
            jobs,
            asked,
            options,
            space,
            identity,
            rows: Vec::new(),
            outputs,
            measured: 0,
            times: 1,
            began: Instant::now(),
        })
    }

    /// Searches, measures the best again, explains, and remembers them.
    pub fn run(mut self, global: &Global) -> Result<()> {
        let went = self.measure();
        self.jobs.observer = StatusLine::new(true);
        let rows = self.latest();
        let told = self.told(&rows, went.as_ref().ok());
        self.outputs
            .tell(global, &|screen| explanation(&told, screen));
        self.jobs.say_times(global, self.began);
        let kept = if went.is_ok() {
            self.remember(global)
        } else {
            Ok(())
        };
        let worst = bench::worst(&self.rows, false);
        let probes = bench::gone_wrong(|status| self.jobs.limits.broken(status));
        rows.iter().for_each(|row| self.outputs.json_only(row));
        let finished = self.outputs.finish(went.is_ok(), !rows.is_empty());
        worst_of([went.map(drop), worst, probes, kept, finished])
    }

    /// The search, then the last rounds; why it ended, and how many came into these.
    fn measure(&mut self) -> Result<(Ended, usize)> {
        self.find_limit()?;
        let space = self.space;
        let ended = search(
            self.options.strategy,
            &space.regions,
            self.options.given.seed,
            &mut |index| self.evaluate(index),
        )?;
        let finalists = self.finalists();
        if finalists.len() > 1 {
            let mut began = Instant::now();
            self.last_rounds(&finalists, 1)?;
            for times in TIMES {
                let open = self.undecided();
                let ends = self.began.elapsed() + 2 * began.elapsed();
                if open.is_empty()
                    || self
                        .seconds()
                        .is_some_and(|whole| ends.as_secs_f64() > whole)
                {
                    break;
                }
                began = Instant::now();
                self.last_rounds(&open, times)?;
            }
        }
        if self.asked.family.described().is_some() {
            self.check_winners()?;
        }
        Ok((
            ended,
            if finalists.len() > 1 {
                finalists.len()
            } else {
                0
            },
        ))
    }

    /// Checks the best of each rung thoroughly. In place of one that is wrong comes the next.
    fn check_winners(&mut self) -> Result<()> {
        let mut checked = BTreeSet::new();
        loop {
            let rows = self.latest();
            let mut winners = self.space.rungs.iter().filter_map(|rung| {
                let own = of_rung(&rows, rung);
                self.winner(&own).and_then(|(best, _)| best.case_index)
            });
            let Some(index) = winners.find(|index| !checked.contains(index)) else {
                return Ok(());
            };
            checked.insert(index);
            let configuration = &self.space.candidates[index as usize];
            let job = Job::new(configuration.case.clone(), self.bounded(configuration));
            self.jobs.steps = self.jobs.step + 1;
            let outcome = self.jobs.run(&configuration.label(), &job)?;
            if outcome.status() != Status::Ok {
                self.add(configuration, outcome);
            }
        }
    }

    /// Looks the device's limit up or measures it. Of data that fit a cache it says nothing.
    fn find_limit(&mut self) -> Result<()> {
        let case = &self.space.candidates[0].case;
        if ceilings::is_in_cache(
            self.asked.family,
            case,
            self.jobs.settings.cache,
            self.jobs.executor.info(),
        ) {
            return Ok(());
        }
        let need = LimitNeeded::of(self.asked.family, self.asked.dtype, &self.asked.choices);
        self.jobs.limits.end_by(
            self.seconds()
                .map(|whole| self.began + Duration::from_secs_f64(FOR_LIMITS * whole)),
        );
        self.jobs.probe(self.asked.family, need)?;
        self.scene.ceiling = self.jobs.limits.get(need);
        Ok(())
    }

    /// Seconds for all of it; none where configurations are counted.
    fn seconds(&self) -> Option<f64> {
        match self.options.budget {
            None => Some(BUDGET_S),
            Some(SearchBudget::Seconds(seconds)) => Some(seconds),
            Some(SearchBudget::Evaluations(_)) => None,
        }
    }

    /// Whether nothing more may be tried: what is left of the time is needed for the last rounds, which take as long as so many
    /// configurations took to measure.
    fn is_over(&self) -> bool {
        if let Some(SearchBudget::Evaluations(most)) = self.options.budget {
            return self.latest().len() >= most;
        }
        let last = (FINALISTS + 1) as f64 * self.jobs.spent.measure / self.measured.max(1) as f64;
        self.measured > 0
            && self.seconds().is_some_and(|whole| {
                self.began.elapsed().as_secs_f64() + last.min(MOST_LAST * whole) > whole
            })
    }

    /// The time of a configuration, measured once; one that is clearly slower than the best is
    /// sampled no further.
    fn evaluate(&mut self, index: usize) -> Result<Option<f64>, Halt> {
        let configuration = &self.space.candidates[index];
        if self.row_of(configuration.index).is_none() {
            if self.is_over() {
                return Err(Halt::Ended(Ended::Budget));
            }
            let best = fastest(&self.rows).and_then(time_of);
            let candidate = Some(Candidate {
                give_up_above: best.map(|best| SLOWER * best),
                is_preliminary: true,
            });
            let settings = Settings {
                candidate,
                ..self.bounded(configuration)
            };
            let most = match self.options.budget {
                Some(SearchBudget::Evaluations(most)) => most.min(self.space.candidates.len()),
                _ => self.space.candidates.len(),
            };
            (self.jobs.step, self.jobs.steps) = (self.latest().len(), most);
            let job = Job::new(configuration.case.clone(), settings);
            let outcome = self.jobs.run(&configuration.label(), &job)?;
            self.measured += 1;
            self.add(configuration, outcome);
        }
        let Some(row) = self.row_of(configuration.index) else {
            return Ok(None);
        };
        let time = least_of(row);
        // Who asks for everything gets it.
        let is_near = row
            .ceiling_pct
            .is_some_and(|share| share >= GOOD_ENOUGH_PCT)
            && time.is_some();
        if is_near && self.options.strategy != Strategy::Exhaustive {
            return Err(Halt::Ended(Ended::NearLimit));
        }
        Ok(time)
    }

    fn bounded(&self, configuration: &Configuration) -> Settings {
        self.jobs.settings(self.asked.family, &configuration.case)
    }

    /// The last row of each configuration.
    fn latest(&self) -> Vec<Row> {
        latest(&self.rows).into_owned()
    }

    /// The last row of a configuration.
    fn row_of(&self, index: u64) -> Option<&Row> {
        self.rows
            .iter()
            .rev()
            .find(|row| row.case_index == Some(index))
    }

    /// The fastest configurations, and the default of the fastest one's rung, also where the search had no time for it.
    fn finalists(&self) -> Vec<&'a Configuration> {
        let space = self.space;
        let mut timed: Vec<(f64, u64)> = self
            .latest()
            .iter()
            .filter_map(|row| Some((least_of(row)?, row.case_index?)))
            .collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ranked = timed
            .iter()
            .map(|(_, index)| &space.candidates[*index as usize]);
        let default = ranked
            .clone()
            .next()
            .and_then(|best| space.default_of(&best.case.variant));
        let mut finalists: Vec<&Configuration> = ranked.take(FINALISTS).collect();
        finalists.extend(default.filter(|default| {
            let is_able = self
                .row_of(default.index)
                .is_none_or(|row| time_of(row).is_some());
            is_able
                && finalists
                    .iter()
                    .all(|finalist| finalist.index != default.index)
        }));
        finalists
    }

    /// Measures configurations again, in rounds, with so many times the samples, and takes these times.
    fn last_rounds(&mut self, finalists: &[&Configuration], times: u32) -> Result<()> {
        let rounds = times * ROUNDS;
        (self.jobs.step, self.jobs.steps) = (0, finalists.len() * rounds as usize);
        self.times = times;
        sweep::in_rounds(finalists, rounds, self)
    }

    fn add(&mut self, configuration: &Configuration, outcome: Outcome) {
        let row = self.identity.row(&self.scene, configuration, outcome);
        self.outputs.csv_only(&row);
        self.rows.push(row);
    }

    fn told<'r>(&self, rows: &'r [Row], ended: Option<&(Ended, usize)>) -> TuningTold<'r> {
        let best = fastest(rows);
        let default = best
            .and_then(|best| self.space.default_of(&best.variant))
            .map(|default| default.index);
        TuningTold {
            rows,
            best,
            default: rows
                .iter()
                .find(|row| default.is_some() && row.case_index == default),
            space: self.space.candidates.len(),
            strategy: self.options.strategy.resolved(self.space.candidates.len()),
            ended: ended.map(|(ended, _)| *ended),
            seconds: self.began.elapsed().as_secs_f64(),
            finalists: ended.map_or(0, |(_, finalists)| *finalists),
        }
    }

    /// Remembers what was found, and says for what.
    fn remember(&self, global: &Global) -> Result<()> {
        let entries = self.entries()?;
        if entries.is_empty() {
            if !self.undecided().is_empty() {
                global.note(
                    "nothing is remembered: nothing is shown to be faster than its rung's default",
                );
            }
            return Ok(());
        }
        let rungs = entries.iter().map(|entry| {
            let same = if entry.default_x == Some(1.0) {
                " (its default)"
            } else {
                ""
            };
            format!("{}{same}", entry.rung.as_deref().unwrap_or("the best rung"))
        });
        let rungs = rungs.joined(", ");
        let AskedTuning {
            family,
            dtype,
            shape,
            ..
        } = self.asked;
        let size = SizeClass::of(*shape).text(family.form);
        let user = self
            .asked
            .file
            .as_ref()
            .map_or_else(|| family.name.to_string(), |file| format!("try {file}"));
        let found = TunedFile {
            entries,
            ..TunedFile::empty(self.jobs.executor.info())
        };
        found
            .remember(&ceilings::folder()?)?
            .iter()
            .for_each(|why| note(why));
        let text = format!(
            "remembered for {} {rungs}, {dtype}, {size}: gpulab {user} uses it, unless --no-tuned is given",
            family.name
        );
        global.say(&wrapped(&text, Screen::stderr()));
        Ok(())
    }

    /// Of each rung that was searched, and of all rungs where all were, what is to be remembered.
    fn entries(&self) -> Result<Vec<TunedEntry>> {
        let rows = self.latest();
        let family = self.asked.family;
        let mut entries = Vec::new();
        for rung in self
            .space
            .rungs
            .iter()
            .filter(|rung| is_lasting(family, rung))
        {
            let own = of_rung(&rows, rung);
            // Of one configuration nothing is known to be best, unless there is no other.
            let has_others = self
                .space
                .candidates
                .iter()
                .filter(|c| c.case.variant == rung.variant())
                .count()
                > 1;
            if own.len() > 1 || !has_others {
                entries.extend(self.entry(Some(rung), &own)?);
            }
        }
        if self.asked.rungs.iter().all(|rung| is_lasting(family, rung))
            && self.asked.rungs.len() == family.ladder.len()
            && self
                .space
                .rungs
                .iter()
                .all(|rung| rows.iter().any(|row| row.variant == rung.variant()))
        {
            entries.extend(self.entry(None, &rows)?);
        }
        Ok(entries)
    }

    fn entry(&self, rung: Option<&Rung>, rows: &[Row]) -> Result<Option<TunedEntry>> {
        let Some((best, default)) = self.winner(rows) else {
            return Ok(None);
        };
        let AskedTuning {
            family,
            file,
            shape,
            dtype,
            ..
        } = self.asked;
        let Configuration { case, wg, .. } =
            &self.space.candidates[best.case_index.unwrap_or_default() as usize];
        let (Some(own), Some(seconds)) = (family.rung(&best.variant), time_of(best)) else {
            return Ok(None);
        };
        let Ok(plan) = family.plan(own, case, &self.jobs.executor.info().target) else {
            return Ok(None);
        };
        let rungs = rung.map_or_else(|| family.ladder.iter().collect(), |rung| vec![rung]);
        let mut params = case.params.clone();
        params.retain(|name, _| family.choices.iter().all(|choice| choice.name != name));
        Ok(Some(TunedEntry {
            source: source_hash(
                &rungs,
                &Sources {
                    dir: self.options.given.cl_dir.clone(),
                },
            )?,
            family: family.name.to_string(),
            file: file.clone(),
            rung: rung.map(|rung| rung.variant().to_owned()),
            dtype: *dtype,
            choices: choices(family, &plan),
            size: SizeClass::of(*shape),
            variant: best.variant.clone(),
            wg: case.wg,
            ran_wg: Some(*wg),
            params,
            n: shape.n,
            m: shape.m,
            t_median_s: seconds,
            ceiling_pct: best.ceiling_pct,
            default_x: default
                .and_then(least_of)
                .zip(least_of(best))
                .map(|(default, best)| default / best),
            tried: rows.len(),
            time_utc: self.scene.run.time_utc.clone(),
            gpulab: env!("CARGO_PKG_VERSION").into(),
        }))
    }

    /// The fastest row, and that of its rung's default; none where it is undecided whether it is faster than that.
    fn winner<'r>(&self, rows: &'r [Row]) -> Option<(&'r Row, Option<&'r Row>)> {
        self.rivals(rows)
            .filter(|(best, default)| !is_undecided(best, *default))
    }

    fn rivals<'r>(&self, rows: &'r [Row]) -> Option<(&'r Row, Option<&'r Row>)> {
        let best = fastest(rows)?;
        let index = self
            .space
            .default_of(&best.variant)
            .map(|default| default.index);
        Some((
            best,
            rows.iter()
                .find(|row| row.case_index == index && time_of(row).is_some()),
        ))
    }

    /// Of the rungs of which it is undecided, the best configuration and the default.
    fn undecided(&self) -> Vec<&'a Configuration> {
        let rows = self.latest();
        let space = self.space;
        let mut open = Vec::new();
        for rung in &space.rungs {
            let own = of_rung(&rows, rung);
            if let Some((best, Some(default))) = self.rivals(&own)
                && is_undecided(best, Some(default))
            {
                let indices = [best, default].into_iter().filter_map(|row| row.case_index);
                open.extend(indices.filter_map(|index| space.candidates.get(index as usize)));
            }
        }
        open
    }
}

fn of_rung(rows: &[Row], rung: &Rung) -> Vec<Row> {
    rows.iter()
        .filter(|row| row.variant == rung.variant())
        .cloned()
        .collect()
}

/// A reader's single kernel may be another one tomorrow.
fn is_lasting(family: &Family, rung: &Rung) -> bool {
    family.described().is_some() || !rung.is_own()
}

fn is_undecided(best: &Row, default: Option<&Row>) -> bool {
    default
        .is_some_and(|default| default.case_index != best.case_index && !is_faster(best, default))
}

/// The last rounds, between the best candidates.
impl Bench for Tuning<'_> {
    fn settings(&self, configuration: &Configuration) -> Settings {
        let usual = self.bounded(configuration);
        Settings {
            min_runs: self.times * usual.min_runs,
            max_runs: self.times.saturating_mul(usual.max_runs),
            min_time: f64::from(self.times) * usual.min_time,
            timeout: f64::from(self.times) * usual.timeout,
            ..usual
        }
    }

    /// What was checked a moment ago is checked again only where the worker has forgotten it.
    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome> {
        let job = Job {
            again: true,
            ..job.clone()
        };
        let label = format!("again: {}", configuration.label());
        self.jobs.run(&label, &job)
    }

    fn finished(
        &mut self,
        configuration: &Configuration,
        outcome: Outcome,
        _sampled: f64,
    ) -> Result<()> {
        self.add(configuration, outcome);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
