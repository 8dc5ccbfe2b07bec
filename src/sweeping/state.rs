//! A sweep under way.

use crate::bench::{self, Jobs};
use crate::ceilings::LimitNeeded;
use crate::cli::Sweep;
use crate::outcome::Job;
use crate::prelude::*;
use crate::report::progress::StatusLine;
use crate::report::sweep::{self as report, SweepTime};
use crate::store::{CsvFile, Pool, Rounds};
use crate::sweep::{self, BLOCK, Bench, Configuration, Identity};
use std::collections::BTreeSet;

pub(crate) struct SweepState<'a> {
    pub(crate) family: &'a Family,
    pub(crate) scene: Scene,
    pub(crate) identity: Identity,
    pub(crate) jobs: Jobs,
    /// Those of the file, then the new ones.
    pub(crate) rows: Vec<Row>,
    /// Where rows go; nowhere on a terminal.
    pub(crate) csv: Option<CsvFile<Row>>,
    pub(crate) quiet: bool,
    /// What rounds of an earlier run gave, by places in the plan.
    pub(crate) earlier: BTreeMap<u64, Pool>,
    /// Where rounds are noted; nowhere if rows go to standard output.
    pub(crate) rounds: Option<Rounds>,
    pub(crate) time: SweepTime,
}

impl SweepState<'_> {
    pub(crate) fn run(
        mut self,
        out: &mut Out,
        todo: &[&Configuration],
        options: &Sweep,
        global: &Global,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let measured = self.measure(todo, options);
        self.jobs.observer = StatusLine::new(true);
        let told = self.tell(out, global);
        if !global.quiet && matches!(measured, Err(Error::Interrupted)) {
            self.tell_missing(todo);
        }
        if !global.quiet && !todo.is_empty() {
            self.time.total = started.elapsed().as_secs_f64();
            say(&report::wrapped(&report::time_split(&self.time), Screen::stderr()));
            self.jobs.pace.overrun().into_iter().for_each(|told| note(&told));
        }
        let worst = bench::worst(&self.rows, options.measure.strict);
        let csv = self.csv.take().filter(|_| measured.is_ok());
        let finished = csv.map_or(Ok(()), CsvFile::finish);
        let probes = bench::gone_wrong(|status| self.jobs.limits.broken(status));
        worst_of([measured, worst, probes, finished, told])
    }

    /// Sums up what was measured: where there is no file it is the sweep's only result.
    fn tell(&self, out: &mut Out, global: &Global) -> Result<(), Error> {
        match self.csv {
            Some(_) if global.quiet => {}
            Some(_) => say(report::summary(&report::swept(&self.rows), Screen::stderr()).trim_end()),
            None => return out.text(&report::summary(&report::swept(&self.rows), screen(global.color))),
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
                self.jobs.limits.note(LimitNeeded::of(self.family, row.dtype, &row.params), rate);
            }
        }
        let needed = todo.iter().filter(|c| c.refusal.is_none() && c.case.shape.elements() > 0);
        for configuration in needed {
            let started = Instant::now();
            let measured = self.jobs.probe(self.family, self.limit_of(configuration));
            self.time.ceiling += started.elapsed().as_secs_f64();
            measured?;
        }
        sweep::measure(todo, options.order, self)
    }

    fn limit_of(&self, configuration: &Configuration) -> LimitNeeded {
        LimitNeeded::of(self.family, configuration.case.dtype, &configuration.case.params)
    }
}

impl Bench for SweepState<'_> {
    fn settings(&self, configuration: &Configuration) -> Settings {
        self.jobs.settings(self.family, &configuration.case)
    }

    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome, Error> {
        let began = Instant::now();
        let ran = self.jobs.run(&configuration.label(), job);
        self.time.note(began.elapsed().as_secs_f64(), ran.as_ref().ok().map(|outcome| outcome.spent));
        ran
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
        self.scene.ceiling = self.jobs.limits.get(self.limit_of(configuration));
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
