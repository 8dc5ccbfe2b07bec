//! What the device can do at best: as it is kept, or measured before what runs on it.

use super::say;
use crate::Error;
use crate::ceilings::{self, CeilingRow, Effort, Kept, Measure, Quantity};
use crate::data::{Dtype, Params};
use crate::device::DeviceInfo;
use crate::kernels::{Bound, Family, minplus};
use crate::plan::{Case, Target};
use crate::record::{Ceiling, REPEATS, Run};
use crate::runner::{Outcome, Settings, Status};
use crate::worker::Executor;
use std::path::PathBuf;

/// Which ceiling bounds a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Need {
    bound: Bound,
    /// Of memory's it does not matter.
    dtype: Option<Dtype>,
    /// Whether floats of either sign are lowered, which some forms cannot do.
    signed: bool,
}

impl Need {
    /// Of a case of this family with these settings.
    pub(super) fn of(family: &Family, dtype: Dtype, params: &Params) -> Need {
        let bound = family.ceiling;
        let signed = bound == Bound::AddMin && dtype.is_float() && minplus::is_signed(params);
        Need { bound, dtype: (!bound.is_memory()).then_some(dtype), signed }
    }

    fn quantity(self, target: &Target) -> Option<Quantity> {
        ceilings::bounding(self.bound, self.dtype.unwrap_or(Dtype::I32), self.signed, target)
    }

    /// The ceiling that a line holds: of pairs, in operations.
    fn ceiling(self, quantity: &Quantity, row: &CeilingRow) -> Option<Ceiling> {
        let per = if quantity.measure == Measure::Pairs { 2.0 } else { 1.0 };
        Some(Ceiling { bound: self.bound, rate: per * row.value? })
    }
}

/// The ceilings that a run needed so far, each looked up or measured once.
pub(super) struct Limits {
    effort: Effort,
    kept: Kept,
    /// Where they are kept, if anywhere.
    folder: Option<PathBuf>,
    /// Whether it was said that kept ones are used.
    told: bool,
    quiet: bool,
    /// None where no probe gave a rate.
    known: Vec<(Need, Option<Ceiling>)>,
}

impl Limits {
    /// Those that are kept for this device and driver, if there are any; others will be measured and kept, with less effort
    /// for a quick run. A damaged file is put aside, which is said. Of kernels in the user's own folder (`is_own`) none is
    /// kept.
    pub(super) fn load(info: &DeviceInfo, quick: bool, is_own: bool, quiet: bool) -> Limits {
        // Without a folder for data nothing can be kept.
        let folder = ceilings::folder().ok();
        let (kept, damage) = folder.as_ref().map_or((None, None), |folder| Kept::load_or_put_aside(folder, info));
        if let Some(why) = damage.filter(|_| !quiet) {
            say(&format!("{why}; going on as if none were kept"));
        }
        // What edited kernels reach is no ceiling of the device.
        let folder = folder.filter(|_| !is_own);
        let effort = if quick { Effort::QUICK } else { Effort::BRIEF };
        let kept = kept.unwrap_or_else(|| Kept::empty(info));
        Limits { effort, kept, folder, told: quiet, quiet, known: Vec::new() }
    }

    /// The ceiling, if it was measured and there is one.
    pub(super) fn get(&self, need: Need) -> Option<Ceiling> {
        self.find(need).flatten()
    }

    /// Takes a ceiling over from an earlier run.
    pub(super) fn note(&mut self, need: Need, rate: f64) {
        if !self.has(need) {
            self.known.push((need, Some(Ceiling { bound: need.bound, rate })));
        }
    }

    /// Whether it was measured, even in vain.
    pub(super) fn has(&self, need: Need) -> bool {
        self.find(need).is_some()
    }

    fn find(&self, need: Need) -> Option<Option<Ceiling>> {
        self.known.iter().find(|known| known.0 == need).map(|(_, ceiling)| *ceiling)
    }

    /// Looks a ceiling up that is not known yet, or measures it: the best rate of its probes that gave a right result.
    ///
    /// # Errors
    /// What ends the whole run.
    pub(super) fn measure(&mut self, executor: &mut dyn Executor, need: Need) -> Result<(), Error> {
        if self.has(need) {
            return Ok(());
        }
        let ceiling = match need.quantity(&executor.info().target) {
            None => None,
            Some(quantity) => match self.look_up(&quantity) {
                Some(row) => need.ceiling(&quantity, &row),
                None => {
                    let quiet = self.quiet;
                    let mut tell = |outcome: &Outcome| {
                        if !quiet || outcome.status() == Status::WrongResult {
                            say_gone_wrong(outcome)
                        }
                    };
                    let row = ceilings::measure(&quantity, self.effort, &Run::begin(), executor, &mut tell)?;
                    let ceiling = need.ceiling(&quantity, &row);
                    self.keep(row, executor.info());
                    ceiling
                }
            },
        };
        self.known.push((need, ceiling));
        Ok(())
    }

    /// Keeps a ceiling for the next run, where there is a folder that can be written to.
    fn keep(&mut self, row: CeilingRow, info: &DeviceInfo) {
        let Some(folder) = self.folder.as_ref().filter(|_| row.value.is_some()) else { return };
        // Another run may have kept more meanwhile.
        if let Ok(Some(now)) = Kept::load(folder, info) {
            self.kept = now;
        }
        if self.kept.add(row) {
            // If that fails, the next run measures it again, and no more is lost.
            let _ = self.kept.save(folder);
        }
    }

    /// A kept ceiling; the first time, says so.
    fn look_up(&mut self, quantity: &Quantity) -> Option<CeilingRow> {
        let row = self.kept.find(quantity.what, quantity.place, quantity.element)?.clone();
        if !std::mem::replace(&mut self.told, true) {
            let how = if row.quick { ", quickly, so perhaps low" } else { "" };
            say(&format!("ceilings as measured at {}{how} (gpulab ceiling: anew)", row.time_utc));
        }
        Some(row)
    }
}

/// Says of a probe that went wrong that it gave no rate.
pub(super) fn say_gone_wrong(outcome: &Outcome) {
    let (case, status, reason) = (&outcome.case, outcome.status(), outcome.reason());
    say(&format!("the probe {}/{} gave no rate ({}): {reason}", case.family, case.variant, status.name()));
}

/// The settings, with the time that no event time of the case may fall below.
pub(super) fn bounded(
    settings: &Settings,
    family: &Family,
    case: &Case,
    limit: Option<Ceiling>,
    info: &DeviceInfo,
) -> Settings {
    let limit = limit.filter(|_| is_bounded(family, case, info));
    let amount = family.ceiling.limited(family.problem.cost(case));
    Settings { least_time: limit.map(|limit| amount / (1.5e9 * limit.rate)), ..settings.clone() }
}

/// Whether a case does so much that the ceiling holds for it: of memory's, that no cache can lift it above.
pub(super) fn is_bounded(family: &Family, case: &Case, info: &DeviceInfo) -> bool {
    // What is repeated inside a kernel comes from the cache. Drivers tend to report a part of their last-level cache.
    let beyond_caches = || family.problem.cost(case).bytes > (16 * info.target.cache).max(256 << 20) as f64;
    !case.params.contains_key(REPEATS) && (!family.ceiling.is_memory() || beyond_caches())
}
