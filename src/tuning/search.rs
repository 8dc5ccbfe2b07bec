//! A search under way: what is measured, measured again, and told.

use super::asked::AskedTuning;
use super::rows::{self, TuningRows};
use crate::ceilings::{self, LimitNeeded, Limits};
use crate::cli::TuneArgs;
use crate::outcome::{Job, Spent};
use crate::prelude::*;
use crate::report::progress::StatusLine;
use crate::report::sweep::{SweepTime, time_split, wrapped};
use crate::report::tune::{TuningTold, explanation};
use crate::runner::FOR_LIMITS;
use crate::sweep::{self, Configuration, Identity, ROUNDS};
use crate::tune::{
    Ended, FINALISTS, Finals, Score, StopRule, Strategy, TuningSpace, beyond, fastest, least_of, measure_candidate,
    search, time_of,
};
use crate::values::SearchBudget;
use crate::{bench, stats};
use std::collections::BTreeSet;

/// Seconds of a search by default.
const BUDGET_S: f64 = 60.0;

/// Share of a time budget that is kept for the last rounds at most.
const MOST_LAST: f64 = 0.4;

/// Finalists of each part of a search that workers shared.
const OF_A_PART: usize = 2;

/// How many times the samples are taken to decide what is undecided, one after the other where the budget allows it.
const TIMES: [u32; 4] = [2, 4, 8, 16];

/// Share of the device's limit that is good enough.
const GOOD_ENOUGH: f64 = 0.95;

pub(crate) struct Tuning<'a> {
    pub(crate) asked: &'a AskedTuning<'a>,
    pub(crate) options: &'a TuneArgs,
    pub(crate) settings: Settings,
    pub(crate) space: &'a TuningSpace<'a>,
    pub(crate) identity: Identity,
    pub(crate) scene: Scene,
    pub(crate) limits: Limits,
    pub(crate) executor: Box<dyn Executor>,
    pub(crate) rows: TuningRows,
    /// Whether others search the rest of the space: the last rounds come when all are through.
    pub(crate) is_part: bool,
    /// What such searches have measured, each on its own device, by places in the plan; else nothing.
    pub(crate) found: Vec<BTreeSet<u64>>,
    /// What the steps of each configuration took that was measured in this run.
    pub(crate) spent: BTreeMap<u64, Spent>,
    /// Seconds that measuring the limit took.
    pub(crate) probed: f64,
    pub(crate) observer: StatusLine,
    pub(crate) began: Instant,
}

impl<'a> Tuning<'a> {
    pub(crate) fn run(
        mut self,
        out: &mut Out,
        global: &Global,
        (export, to_stderr): (Option<&str>, bool),
    ) -> Result<(), Error> {
        let went = self.measure();
        self.observer = StatusLine::new(true);
        let (ended, finalists) = went.as_ref().map_or((None, 0), |(ended, finalists)| (Some(*ended), *finalists));
        let told = self.tell(out, global, (ended, finalists), to_stderr);
        if !global.quiet {
            let total = self.began.elapsed().as_secs_f64();
            let mut time = SweepTime { ceiling: self.probed, total, ..SweepTime::default() };
            self.spent.values().for_each(|spent| time.jobs += *spent);
            let split = time_split(&time);
            say(&wrapped(&split, Screen::stderr()));
        }
        let kept = match &went {
            Ok(_) if !self.is_part => self.remember(global),
            _ => Ok(()),
        };
        if let (Err(Error::Interrupted), false) = (&went, global.quiet) {
            note(&self.rows.how_to_go_on());
        }
        let written = export.map_or(Ok(()), |file| rows::write_kernel_tuner(file, &self.with_times_spent()));
        let json = self.options.rows.json.as_deref().map_or(Ok(()), |file| rows::write_json(file, &self.rows.latest()));
        let worst = bench::worst(self.rows.all(), false);
        let probes = bench::gone_wrong(|status| self.limits.broken(status));
        let finished = self.rows.finish(went.is_ok());
        worst_of([went.map(drop), worst, probes, told, kept, written, json, finished])
    }

    /// The search, then the last rounds; why it ended, and how many came into these.
    fn measure(&mut self) -> Result<(Ended, usize), Error> {
        self.find_limit()?;
        let ended = if self.found.is_empty() { self.search()? } else { self.searched() };
        if self.is_part {
            return Ok((ended, 0));
        }
        let finalists = self.finalists();
        if finalists.len() > 1 {
            let mut began = Instant::now();
            self.last_rounds(&finalists, 1)?;
            for times in TIMES {
                let open = self.undecided();
                let took = 2 * began.elapsed();
                if open.is_empty()
                    || self.seconds().is_some_and(|whole: f64| (self.began.elapsed() + took).as_secs_f64() > whole)
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
        Ok((ended, if finalists.len() > 1 { finalists.len() } else { 0 }))
    }

    fn searched(&self) -> Ended {
        if self.rows.len() == self.space.candidates.len() { Ended::Exhausted } else { Ended::Budget }
    }

    fn search(&mut self) -> Result<Ended, Error> {
        let strategy = self.options.strategy;
        let seed = self.options.data.seed;
        let space = self.space;
        // Who asks for everything gets it.
        let of_limit = if strategy == Strategy::Exhaustive { f64::INFINITY } else { GOOD_ENOUGH };
        let stop = StopRule { evaluations: self.evaluations(), of_limit };
        let found = search(strategy, &space.regions, stop, seed, &mut |index| {
            let score = self.evaluate(index)?;
            Ok::<_, Error>((score, self.is_late()))
        })?;
        Ok(found.ended)
    }

    /// Checks the best of each rung thoroughly. In place of one that is wrong comes the next.
    fn check_winners(&mut self) -> Result<(), Error> {
        let mut checked = BTreeSet::new();
        loop {
            let rows = self.rows.latest();
            let of =
                |rung: &&Rung| rows.iter().filter(|row| row.variant == rung.variant()).cloned().collect::<Vec<Row>>();
            let winners =
                self.space.rungs.iter().filter_map(|rung| self.winner(&of(rung)).and_then(|(best, _)| best.case_index));
            let Some(index) = winners.into_iter().find(|index| !checked.contains(index)) else { return Ok(()) };
            checked.insert(index);
            let configuration = &self.space.candidates[index as usize];
            let case = configuration.case.clone();
            let settings = self.bounded(configuration);
            let outcome = run_job(&mut *self.executor, &Job { baseline: false, case, settings, again: false })?;
            *self.spent.entry(index).or_default() += outcome.spent;
            if outcome.status() != Status::Ok {
                self.add(configuration, outcome)?;
            }
        }
    }

    /// Looks the device's limit up or measures it. Of data that fit a cache it says nothing.
    fn find_limit(&mut self) -> Result<(), Error> {
        let case = &self.space.candidates[0].case;
        if ceilings::is_in_cache(self.asked.family, case, self.settings.cache, self.executor.info()) {
            return Ok(());
        }
        let need = LimitNeeded::of(self.asked.family, self.asked.dtype, &self.asked.choices);
        let limit_end = self.seconds().map(|whole| self.began + Duration::from_secs_f64(FOR_LIMITS * whole));
        self.limits.end_by(limit_end);
        if !self.limits.is_at_hand(need, &self.executor.info().target) {
            self.observer.case_started(0, 1, &format!("{} limit", self.asked.family.ceiling.name()));
        }
        let started = Instant::now();
        self.limits.measure(&mut *self.executor, need)?;
        self.probed = started.elapsed().as_secs_f64();
        self.scene.ceiling = self.limits.get(need);
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

    fn evaluations(&self) -> Option<usize> {
        if let Some(SearchBudget::Evaluations(most)) = self.options.budget { Some(most) } else { None }
    }

    /// Whether what is left of the time is needed for the last rounds: as long as so many configurations took to measure.
    fn is_late(&self) -> bool {
        let measured: f64 = self.spent.values().map(|spent| spent.measure).sum();
        let last = (FINALISTS + 1) as f64 * measured / self.spent.len().max(1) as f64;
        self.seconds().is_some_and(|whole| self.began.elapsed().as_secs_f64() + last.min(MOST_LAST * whole) > whole)
    }

    /// The score of a configuration: as an earlier run found it, or measured now.
    fn evaluate(&mut self, index: usize) -> Result<Option<Score>, Error> {
        let space = self.space;
        let configuration = &space.candidates[index];
        if self.rows.of(configuration.index).is_none() {
            let outcome = self.measure_one(configuration)?;
            self.spent.insert(configuration.index, outcome.spent);
            self.add(configuration, outcome)?;
        }
        Ok(self.rows.of(configuration.index).and_then(score))
    }

    fn measure_one(&mut self, configuration: &Configuration) -> Result<Outcome, Error> {
        let best = fastest(self.rows.all()).and_then(time_of);
        let settings = self.bounded(configuration);
        let whole = self.evaluations().unwrap_or(self.space.candidates.len()).min(self.space.candidates.len());
        self.observer.case_started(self.rows.len(), whole, &configuration.label());
        let executor = &mut self.executor;
        let observer = &mut self.observer;
        let outcome = measure_candidate(configuration, &settings, best, &mut |job| run_job(&mut **executor, job))?;
        observer.case_done(outcome.status(), stats::summarise(&outcome.times()).map(|s| s.median));
        Ok(outcome)
    }

    fn bounded(&self, configuration: &Configuration) -> Settings {
        let family = self.asked.family;
        let case = &configuration.case;
        ceilings::bounded(&self.settings, family, case, self.scene.ceiling, self.executor.info())
    }

    /// The fastest configurations, and the default of the fastest one's rung. Devices of parts may differ in speed: of each part the
    /// fastest.
    fn finalists(&self) -> Vec<&'a Configuration> {
        let all = self.rows.latest();
        let space = self.space;
        let mut timed: Vec<(f64, u64)> = all.iter().filter_map(|row| Some((least_of(row)?, row.case_index?))).collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best = timed.first().map(|(_, index)| space.candidates[*index as usize].case.variant.clone());
        let ranked: Vec<u64> = timed.into_iter().map(|(_, index)| index).collect();
        let mut finalists: Vec<u64> = match &self.found[..] {
            [] => ranked.into_iter().take(FINALISTS).collect(),
            parts => {
                let of =
                    |part| ranked.iter().copied().filter(move |index| BTreeSet::contains(part, index)).take(OF_A_PART);
                parts.iter().flat_map(of).collect()
            }
        };
        // Also where the search had no time for it.
        let can_run = |default: &&Configuration| self.rows.of(default.index).is_none_or(|row| time_of(row).is_some());
        let default = best.and_then(|variant| space.default_of(&variant)).filter(can_run);
        if let Some(default) = default
            && !finalists.contains(&default.index)
        {
            finalists.push(default.index);
        }
        finalists.into_iter().map(|index| &space.candidates[index as usize]).collect()
    }

    /// Measures the finalists again, in rounds, with so many times the samples, and takes these times.
    fn last_rounds(&mut self, finalists: &[&Configuration], times: u32) -> Result<(), Error> {
        let rounds = times * ROUNDS;
        let steps = finalists.len() * rounds as usize;
        let family = self.asked.family;
        let ceiling = self.scene.ceiling;
        let base = self.settings.clone();
        let info = self.executor.info().clone();
        let settings = move |c: &Configuration| {
            let usual = ceilings::bounded(&base, family, &c.case, ceiling, &info);
            Settings {
                min_runs: times * usual.min_runs,
                max_runs: times.saturating_mul(usual.max_runs),
                min_time: f64::from(times) * usual.min_time,
                timeout: f64::from(times) * usual.timeout,
                ..usual
            }
        };
        let executor = &mut self.executor;
        let observer = &mut self.observer;
        let mut step = 0;
        let mut run = |configuration: &Configuration, job: &Job| {
            observer.case_started(step, steps, &format!("again: {}", configuration.label()));
            step += 1;
            run_job(&mut **executor, job)
        };
        let mut finals = Finals { settings: &settings, run: &mut run, outcomes: Vec::new() };
        sweep::in_rounds(finalists, rounds, &mut finals)?;
        for (configuration, outcome) in finals.outcomes {
            *self.spent.entry(configuration.index).or_default() += outcome.spent;
            self.add(&configuration, outcome)?;
        }
        Ok(())
    }

    fn add(&mut self, configuration: &Configuration, mut outcome: Outcome) -> Result<(), Error> {
        (outcome.wg, outcome.params) = (configuration.wg, configuration.params.clone());
        let mut row = Row::from(&Record::from_outcome(&self.scene, configuration.rung, outcome));
        self.identity.stamp(&mut row, configuration);
        self.rows.add(row)
    }

    fn tell(
        &self,
        out: &mut Out,
        global: &Global,
        (ended, finalists): (Option<Ended>, usize),
        to_stderr: bool,
    ) -> Result<(), Error> {
        let rows = self.rows.latest();
        let best = fastest(&rows);
        let default =
            best.and_then(|best| self.space.default_of(&best.variant)).and_then(|configuration: &Configuration| {
                rows.iter().find(|row| row.case_index == Some(configuration.index))
            });
        let configuration = best.and_then(|row| self.space.candidates.get(row.case_index? as usize));
        let target = &self.executor.info().target;
        let told = TuningTold {
            rows: &rows,
            best,
            default,
            space: self.space.candidates.len(),
            strategy: self.options.strategy.resolved(self.space.candidates.len()),
            ended,
            seconds: self.began.elapsed().as_secs_f64(),
            finalists,
            beyond: configuration.map_or_else(Vec::new, |best| beyond(self.asked.family, &rows, best, target)),
        };
        match to_stderr {
            true if global.quiet => Ok(()),
            true => {
                say(explanation(&told, Screen::stderr()).trim_end());
                Ok(())
            }
            false => out.text(&explanation(&told, screen(global.color))),
        }
    }

    fn with_times_spent(&self) -> Vec<(Row, Option<Spent>)> {
        let spent = |row: &Row| row.case_index.and_then(|index| self.spent.get(&index).copied());
        self.rows.latest().into_iter().map(|row| (row.clone(), spent(&row))).collect()
    }
}

fn run_job(executor: &mut dyn Executor, job: &Job) -> Result<Outcome, Error> {
    bench::go_on()?;
    executor.run(job)
}

/// What a search makes of a row. Of data that fit a cache memory's limit says nothing.
fn score(row: &Row) -> Option<Score> {
    let share = row.ceiling_pct.filter(|_| !row.flags.contains(crate::record::flag::FITS_CACHE));
    Some(Score { seconds: least_of(row)?, of_limit: share.map(|share| share / 100.0) })
}

#[cfg(test)]
mod tests;
