//! What kernels take on a GPU that was recorded and is not here: as they were measured there, or by the model, from their counts
//! and that device's measured limits.

use super::count::counter::{PATIENCE, counts, shipped_counts};
use super::show::records;
use crate::bench::WORK_GROUP;
use crate::ceilings::{CeilingRow, LimitNeeded};
use crate::count::{CountRow, counted_settings};
use crate::data::{Dtype, Shape};
use crate::kernels::remarks::has_doubles;
use crate::kernels::{Bound, Family, Registry, Rung};
use crate::outcome::{Cache, Status};
use crate::plan::{Case, Target};
use crate::record::Row;
use crate::report::elsewhere::TimeElsewhere;
use crate::why::{
    DeviceRates, ModelTime, Payoffs, StepReason, Tally, is_counted_of, reasons, tally,
};
use crate::{Result, report, usage_error};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::slice::from_ref;
use std::time::Duration;

/// The device that is asked where nothing else is said.
pub const USUAL: &str = "h200";

/// How long a case may be counted, and whether nothing is said of it: nobody waits for what was not asked for.
fn patience(quiet: bool) -> (Duration, bool) {
    let limit = if quiet {
        Duration::from_secs(3)
    } else {
        PATIENCE
    };
    (limit, quiet)
}

/// A GPU whose limits come with gpulab.
pub struct RecordedGpu {
    pub name: String,
    ceilings: Vec<CeilingRow>,
    rates: DeviceRates,
    /// What was measured of a family's rungs there.
    rows: Vec<Row>,
    /// What was counted so far.
    counted: RefCell<Vec<CountRow>>,
}

impl RecordedGpu {
    /// The device whose name has this part, for the rungs of a family.
    ///
    /// Errors: `Usage` if there is none, or if its limits are not recorded.
    pub fn of(asked: &str, family: &Family) -> Result<RecordedGpu> {
        let all = records::all_of(asked, &family.name)?;
        let device = all
            .ceilings
            .first()
            .map(|row| row.device.clone())
            .unwrap_or_default();
        let of_device = Row {
            device: device.clone(),
            ..Row::default()
        };
        let Some(rates) = DeviceRates::new(&all.ceilings, true)
            .ok()
            .filter(|_| !of_device.is_on_cpu_device())
        else {
            return usage_error(format!(
                "--on {asked}: no limits of a GPU are recorded; there is {USUAL}"
            ));
        };
        Ok(RecordedGpu {
            name: device,
            rates,
            rows: all.rows,
            ceilings: all.ceilings,
            counted: RefCell::default(),
        })
    }

    /// A case's row there but for its time; `None` for what cannot be planned, for launches whose number the data decide, for doubles in a
    /// kernel of floats, and for what has a limit that was not measured.
    pub fn row(&self, family: &Family, case: &Case) -> Option<Row> {
        let rung = family.rung(&case.variant)?;
        if case.dtype != Dtype::F64 && rung.own_text().is_some_and(has_doubles) {
            return None;
        }
        let plan = family
            .plan(rung, case, &Target::with_everything(true))
            .ok()
            .filter(|plan| plan.passes.iter().all(|pass| pass.check.is_none()))?;
        let cost = family.problem.cost(case);
        let need = LimitNeeded::of(family, case.dtype, &case.params);
        let limit = need.among(&self.ceilings)?;
        let rate = |is_memory| (limit.bound.is_memory() == is_memory).then_some(limit.rate);
        Some(Row {
            device: self.name.clone(),
            family: case.family.clone(),
            rung: rung.number(),
            variant: case.variant.clone(),
            dtype: case.dtype,
            n: case.shape.n,
            m: case.shape.m,
            wg: Some(plan.wg),
            params: case
                .params
                .clone()
                .into_iter()
                .chain(plan.params.clone())
                .collect(),
            cache: Cache::Warm,
            status: Status::Ok,
            bytes: Some(cost.bytes as u64),
            ops: Some(cost.ops as u64),
            ceiling: limit.bound.name().to_owned(),
            ceiling_gbps: rate(true),
            ceiling_gops: rate(false),
            launches: Some(plan.passes.iter().filter(|pass| pass.timed).count() as u64),
            ..Row::default()
        })
    }

    /// The time of each case there: as it was recorded, or else by the model where its kernels are counted.
    pub fn times(
        &self,
        registry: &Registry,
        family: &Family,
        cases: &[Case],
        quiet: bool,
    ) -> Result<Vec<Option<TimeElsewhere>>> {
        let rows = cases.iter().map(|case| self.recorded(family, case));
        let rows: Vec<Option<Row>> = rows.collect();
        let mut unknown: Vec<Row> = rows.iter().flatten().cloned().collect();
        unknown.retain(|row| row.t_median_s.is_none());
        let counts = self.counted(registry, &unknown, quiet)?;
        let times = rows.iter().map(|row| {
            let row = row.as_ref()?;
            let seconds = match row.t_median_s {
                Some(seconds) => seconds,
                None => self
                    .model(row, &tally(registry, row, &counts, true)?)?
                    .whole(),
            };
            Some(TimeElsewhere {
                seconds,
                is_recorded: row.t_median_s.is_some(),
            })
        });
        Ok(times.collect())
    }

    /// Counts of these rows, each made once.
    fn counted(&self, registry: &Registry, rows: &[Row], quiet: bool) -> Result<Vec<CountRow>> {
        let mut known = self.counted.borrow_mut();
        let mut missing = rows.to_vec();
        missing.retain(|row| !known.iter().any(|count| is_counted_of(count, row)));
        if !missing.is_empty() {
            let mut more = counts(registry, &missing, None, patience(quiet))?;
            more.retain(|count| missing.iter().any(|row| is_counted_of(count, row)));
            known.append(&mut more);
        }
        Ok(known.clone())
    }

    /// None of what the model does not know: many atomic operations that meet in global memory, where their rates were not measured,
    /// and arrays that lie in private memory, if the problem does not say what it computes.
    fn model(&self, row: &Row, tally: &Tally) -> Option<ModelTime> {
        /// A share of the instructions.
        const MEETING: u64 = 20;
        let meeting = &tally.counts.memory.global_atomic;
        let is_measured = self.rates.meeting(meeting).is_some();
        let is_known = is_measured || MEETING * meeting.passes < tally.counts.issued;
        let is_memory = row.bound().is_none_or(Bound::is_memory);
        let is_known = is_known && (tally.private == 0 || !is_memory);
        is_known.then(|| ModelTime::of(row, tally, &self.rates))?
    }

    /// What would pay most of a kernel there, by the model.
    pub fn payoffs(
        &self,
        registry: &Registry,
        family: &Family,
        case: &Case,
        quiet: bool,
    ) -> Result<Option<Payoffs>> {
        let Some(row) = self.row(family, case) else {
            return Ok(None);
        };
        let counts = self.counted(registry, from_ref(&row), quiet)?;
        let Some(tally) = tally(registry, &row, &counts, true) else {
            return Ok(None);
        };
        let model = self.model(&row, &tally);
        Ok(Payoffs::of_rung(
            &row,
            &tally,
            model.as_ref(),
            &counts,
            &self.rates,
        ))
    }

    /// Where the step from one rung to another was recorded, at the largest size; what it gained if that is decided, and why.
    pub fn step(
        &self,
        family: &Family,
        rungs: [&Rung; 2],
    ) -> Result<Option<(String, Option<f64>, String)>> {
        let dtype = family.dtypes[0];
        let Some(shape) = self.largest(dtype) else {
            return Ok(None);
        };
        let rows = rungs.into_iter().filter_map(|rung| {
            let case = Case {
                wg: rung.work_group().unwrap_or(WORK_GROUP),
                ..Case::of(&family.name, rung.variant(), dtype, shape)
            };
            let row = self.recorded(family, &case);
            row.filter(|row| row.t_median_s.is_some())
        });
        let rows: Vec<Row> = rows.collect();
        let why = reasons(&Registry::default(), &rows, &shipped_counts()?, &self.rates);
        Ok(why.steps.first().map(|(gain, reason)| {
            let [before, after] = [0, 1].map(|at| &why.rungs[at].row);
            let why = report::why::sentence(before, after, *gain, reason);
            let is_decided = !matches!(reason, StepReason::Undecided(_));
            let size = report::format::size(shape.n, shape.m);
            let at = format!("{}, n = {size}", self.name);
            let why = format!("{at}: {why}");
            (at, is_decided.then_some(*gain), why)
        }))
    }

    /// What the step from one case to another gains there by the model, and why; nothing of less than this share, nor of what the
    /// model does not know.
    pub fn pair(
        &self,
        (registry, family): (&Registry, &Family),
        cases: &[Case; 2],
        least: f64,
    ) -> Result<String> {
        let times = self.times(registry, family, cases, true)?;
        let rows = cases.iter().zip(times).filter_map(|(case, time)| {
            Some(Row {
                t_median_s: Some(time?.seconds),
                ..self.row(family, case)?
            })
        });
        let rows: Vec<Row> = rows.collect();
        let why = reasons(registry, &rows, &self.counted.borrow(), &self.rates);
        let Some((gain, reason)) = why.steps.first() else {
            return Ok(String::new());
        };
        if gain.ln().abs() < least.ln_1p() {
            return Ok(String::new());
        }
        let why = report::why::of_pair(*gain, reason);
        Ok(format!("On an {}, by the model, it is {why}", self.name))
    }

    /// As [`RecordedGpu::row`], with the time of the case where that was recorded: with the same settings but for the number of
    /// work-items, or else with others for what was left to the rung.
    pub fn recorded(&self, family: &Family, case: &Case) -> Option<Row> {
        let row = self.row(family, case)?;
        let is_same = |own: &&Row| {
            own.is_believed()
                && own.is_plain()
                && (own.dtype, own.n, own.m, own.wg) == (row.dtype, row.n, row.m, row.wg)
                && own.variant == row.variant
                && own.params.keys().eq(row.params.keys())
                && case
                    .params
                    .iter()
                    .all(|(name, value)| own.params.get(name) == Some(value))
        };
        let settings = |own: &Row| counted_settings(&own.params) == counted_settings(&row.params);
        let own = self.rows.iter().filter(is_same);
        let best = own.max_by_key(|own| (settings(own), own.cache == row.cache));
        Some(best.cloned().unwrap_or(row))
    }

    /// The largest of the sizes at which the most rungs were recorded; launches take the least part there.
    pub fn largest(&self, dtype: Dtype) -> Option<Shape> {
        let own = self
            .rows
            .iter()
            .filter(|row| row.dtype == dtype && row.is_plain() && row.rung.is_some());
        let mut rungs: BTreeMap<(u64, u64), BTreeSet<&str>> = BTreeMap::new();
        for row in own {
            rungs
                .entry((row.n, row.m))
                .or_default()
                .insert(&row.variant);
        }
        let most = rungs
            .into_iter()
            .max_by_key(|(size, rungs)| (rungs.len(), *size));
        most.map(|((n, m), _)| Shape { n, m })
    }
}
