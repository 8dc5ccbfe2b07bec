//! Which ceiling bounds a case, as it is kept or measured before what runs on the device; and the times that it rules out.

use super::kept::find;
use super::quantity::launch_cost;
use super::{CeilingRow, Effort, Kept, Quantity, Rate, bounding, folder, measure};
use gpulab_kernels::{Bound, Family, PROBES, minplus};
use gpulab_model::Result;
use gpulab_model::data::{Dtype, Params};
use gpulab_model::outcome::{Cache, Clock, DeviceInfo, Executor, Outcome, Settings, Status};
use gpulab_model::plan::{Case, Target};
use gpulab_record::{Ceiling, LaunchCost, REPEATS, Run};
use std::path::PathBuf;
use std::time::Instant;

/// Which ceiling bounds a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitNeeded {
    bound: Bound,
    /// None for memory limits: the type is irrelevant.
    dtype: Option<Dtype>,
    /// Whether the bound is one of such cases: floats of either sign are lowered in forms of their own.
    is_limited: bool,
}

impl LimitNeeded {
    /// Of a case of this family with these settings.
    pub fn of(family: &Family, dtype: Dtype, params: &Params) -> LimitNeeded {
        let bound = family.ceiling;
        let is_signed = minplus::heeds_signs(dtype) && minplus::is_signed(params);
        let is_limited = bound != Bound::AddMin || !is_signed;
        LimitNeeded {
            bound,
            dtype: (!bound.is_memory()).then_some(dtype),
            is_limited,
        }
    }

    /// The ceiling among the lines that were recorded of a device.
    pub fn among(self, rows: &[CeilingRow]) -> Option<Ceiling> {
        let quantity = self.quantity(&Target::with_everything(true))?;
        let row = find(rows, quantity.what, quantity.place, quantity.element)?;
        self.ceiling(&quantity, row)
    }

    /// A quantity's line as a ceiling: of pairs, in operations.
    fn ceiling(self, quantity: &Quantity, row: &CeilingRow) -> Option<Ceiling> {
        let per = if quantity.measure == Rate::Pairs {
            2.0
        } else {
            1.0
        };
        Some(Ceiling {
            bound: self.bound,
            rate: per * row.value?,
        })
    }

    fn quantity(self, target: &Target) -> Option<Quantity> {
        // A ladder's own search is brief.
        self.is_limited.then_some(())?;
        bounding(self.bound, self.dtype.unwrap_or(Dtype::I32), target, true)
    }
}

/// The ceilings that a run needed so far, each looked up or measured once.
pub struct Limits {
    effort: Effort,
    kept: Kept,
    /// Where they are kept, if anywhere.
    folder: Option<PathBuf>,
    /// Whether it was said that kept ones are used.
    told: bool,
    quiet: bool,
    say: fn(&str),
    /// When searches are to be over, if they have a deadline.
    deadline: Option<Instant>,
    /// None where no probe gave a rate, or one broke: the best of the others may be too low.
    known: Vec<(LimitNeeded, Option<Ceiling>)>,
    /// The probes that broke, with what they ended in.
    broken: Vec<(Status, String)>,
}

impl Limits {
    /// Those that are kept for this device and driver, if there are any; others will be measured and kept, with less effort
    /// for a quick run. A damaged file is put aside, which is said. Of kernels in the user's own folder (`is_own`) none is
    /// kept.
    pub fn load(
        info: &DeviceInfo,
        quick: bool,
        is_own: bool,
        quiet: bool,
        say: fn(&str),
    ) -> Limits {
        // Without a folder for data nothing can be kept.
        let folder = folder().ok();
        let empty = Kept::empty(info);
        let (kept, damage) = match &folder {
            Some(folder) => empty.load_or_put_aside(folder),
            None => (empty, None),
        };
        if let Some(why) = damage.filter(|_| !quiet) {
            say(&format!("{why}; continuing without kept ceilings"));
        }
        // What edited kernels reach is no ceiling of the device.
        let folder = folder.filter(|_| !is_own);
        let effort = if quick {
            Effort::quick(&info.target)
        } else {
            Effort::BRIEF
        };
        Limits::of(effort, kept, folder, quiet, say)
    }

    fn of(
        effort: Effort,
        kept: Kept,
        folder: Option<PathBuf>,
        quiet: bool,
        say: fn(&str),
    ) -> Limits {
        Limits {
            effort,
            kept,
            folder,
            told: quiet,
            quiet,
            say,
            deadline: None,
            known: Vec::new(),
            broken: Vec::new(),
        }
    }

    pub fn get(&self, need: LimitNeeded) -> Option<Ceiling> {
        self.find(need).flatten()
    }

    /// From now on, searches end by then where that is possible.
    pub fn end_by(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    pub fn note(&mut self, need: LimitNeeded, rate: f64) {
        if !self.has(need) {
            self.known.push((
                need,
                Some(Ceiling {
                    bound: need.bound,
                    rate,
                }),
            ));
        }
    }

    /// Whether it was measured, even in vain.
    pub fn has(&self, need: LimitNeeded) -> bool {
        self.find(need).is_some()
    }

    fn find(&self, need: LimitNeeded) -> Option<Option<Ceiling>> {
        self.known
            .iter()
            .find(|known| known.0 == need)
            .map(|(_, ceiling)| *ceiling)
    }

    pub fn broken(&self, status: Status) -> Option<String> {
        self.broken
            .iter()
            .find(|(ended, _)| *ended == status)
            .map(|(_, probe)| probe.clone())
    }

    /// As [`Kept::cached`] of those that are kept.
    pub fn cached(&self) -> u64 {
        self.kept.cached()
    }

    /// Whether [`Limits::measure`] would measure nothing: the ceiling is known or kept, or there is none of this kind.
    pub fn is_at_hand(&self, need: LimitNeeded, target: &Target) -> bool {
        self.has(need)
            || need
                .quantity(target)
                .is_none_or(|quantity| self.is_kept(&quantity))
    }

    /// Whether [`Limits::launch_cost`] would measure nothing.
    pub fn has_launch_cost(&self, clock: Clock) -> bool {
        let (one, several) = launch_cost(clock);
        self.is_kept(&one) && several.is_none_or(|(several, _)| self.is_kept(&several))
    }

    fn is_kept(&self, quantity: &Quantity) -> bool {
        self.kept
            .find(quantity.what, quantity.place, quantity.element)
            .is_some()
    }

    /// Looks a ceiling up that is not known yet, or measures it: the best rate of its probes that gave a right result.
    pub fn measure(&mut self, executor: &mut dyn Executor, need: LimitNeeded) -> Result<()> {
        if self.has(need) {
            return Ok(());
        }
        let ceiling = match need.quantity(&executor.info().target) {
            None => None,
            Some(quantity) => {
                let row = self.row(&quantity, executor)?;
                row.and_then(|row| need.ceiling(&quantity, &row))
            }
        };
        self.known.push((need, ceiling));
        Ok(())
    }

    /// What launches cost by this clock, looked up or measured; none where the device gave no such time.
    pub fn launch_cost(
        &mut self,
        executor: &mut dyn Executor,
        clock: Clock,
    ) -> Result<Option<LaunchCost>> {
        let (one, several) = launch_cost(clock);
        let Some(first) = self.seconds(&one, clock, executor)? else {
            return Ok(None);
        };
        let next = match several {
            None => Some(first),
            Some((each, 1)) => self.seconds(&each, clock, executor)?,
            Some((all, launches)) => {
                let all = self.seconds(&all, clock, executor)?;
                all.map(|all| (all - first).max(0.0) / (launches - 1) as f64)
            }
        };
        Ok(next.map(|next| LaunchCost { clock, first, next }))
    }

    /// The seconds of a quantity, if they are by this clock; of launches back to back the host's clock counts.
    fn seconds(
        &mut self,
        quantity: &Quantity,
        clock: Clock,
        executor: &mut dyn Executor,
    ) -> Result<Option<f64>> {
        let row = self.row(quantity, executor)?;
        Ok(row
            .filter(|row: &CeilingRow| (row.clock == Clock::Event) == (clock == Clock::Event))
            .and_then(|row| row.value)
            .map(|us| us * 1e-6))
    }

    /// The lines of these quantities, each looked up or measured; without those of which a probe broke.
    pub fn rows(
        &mut self,
        quantities: &[Quantity],
        executor: &mut dyn Executor,
    ) -> Result<Vec<CeilingRow>> {
        quantities
            .iter()
            .filter_map(|quantity| self.row(quantity, executor).transpose())
            .collect()
    }

    /// The line of a quantity, as it is kept or measured now; none if a probe broke.
    fn row(
        &mut self,
        quantity: &Quantity,
        executor: &mut dyn Executor,
    ) -> Result<Option<CeilingRow>> {
        if let Some(row) = self
            .kept
            .find(quantity.what, quantity.place, quantity.element)
            .cloned()
        {
            if !std::mem::replace(&mut self.told, true) {
                let how = if row.quick {
                    ", quickly, so perhaps low"
                } else {
                    ""
                };
                let busy = if row.is_unquiet() {
                    ", on a busy machine, so perhaps off"
                } else {
                    ""
                };
                (self.say)(&format!(
                    "ceilings measured at {}{how}{busy} (gpulab ceiling renews them)",
                    row.time_utc
                ));
            }
            return Ok(Some(row));
        }
        let quiet = self.quiet;
        let say = self.say;
        let before = self.broken.len();
        let broken = &mut self.broken;
        let run = Run::begin();
        let measured = measure(
            quantity,
            self.effort,
            self.deadline,
            &run,
            executor,
            &mut |outcome| {
                let status = outcome.status();
                if !quiet || status.is_broken() {
                    say(&gone_wrong(outcome));
                }
                if status.is_broken() {
                    broken.push((status, probe_name(outcome)));
                }
            },
        );
        let (row, is_whole) = measured?;
        if self.broken.len() > before {
            say(
                "no ceiling: the best of the other probes may be too low; run gpulab ceiling to measure all of them",
            );
            return Ok(None);
        }
        if !is_whole {
            if !quiet {
                say(
                    "no time was left to search for the limit: run gpulab ceiling, or give a longer --budget",
                );
            }
            return Ok(None);
        }
        self.keep(&row);
        Ok(Some(row))
    }

    /// Keeps a ceiling for the next run, where there is a folder that can be written to.
    fn keep(&mut self, row: &CeilingRow) {
        let Some(folder) = self.folder.as_ref().filter(|_| row.value.is_some()) else {
            return;
        };
        // Another run may have kept more meanwhile.
        let now = self.kept.load(folder).ok();
        if let Some(now) = now.filter(|now| !now.entries.is_empty()) {
            self.kept = now;
        }
        if self.kept.add(row.clone()) {
            // If that fails, the next run measures it again, and no more is lost.
            let _ = self.kept.save(folder);
        }
    }
}

/// What there is to say of a probe that went wrong.
pub fn gone_wrong(outcome: &Outcome) -> String {
    format!(
        "the probe {} gave no rate ({}): {}",
        probe_name(outcome),
        outcome.status().name(),
        outcome.reason()
    )
}

pub fn probe_name(outcome: &Outcome) -> String {
    format!("{}/{}", outcome.case.family, outcome.case.variant)
}

/// The settings, with the time that no event time of the case may fall below.
pub fn bounded(
    settings: &Settings,
    family: &Family,
    case: &Case,
    limit: Option<Ceiling>,
    info: &DeviceInfo,
) -> Settings {
    let limit = limit.filter(|_| is_bounded(family, case, info));
    let amount = family.ceiling.limited(family.problem.cost(case));
    Settings {
        least_time: limit.map(|limit| amount / (1.5e9 * limit.rate)),
        ..settings.clone()
    }
}

/// Whether memory's ceiling says nothing of a case, since its data fit a cache that runs find them in.
pub fn is_in_cache(family: &Family, case: &Case, cache: Cache, info: &DeviceInfo) -> bool {
    let fits = family.problem.cost(case).bytes <= info.target.cache as f64;
    family.ceiling.is_memory() && cache == Cache::Warm && fits
}

/// Whether a case does so much that the ceiling holds for it: of memory's, that no cache can lift it above. A probe's own
/// rate is what ceilings are made of: held against one, it would only be compared with itself in a busier moment.
pub fn is_bounded(family: &Family, case: &Case, info: &DeviceInfo) -> bool {
    let is_probe = PROBES.iter().any(|probe| probe.name == family.name);
    // What is repeated inside a kernel comes from the cache. Drivers tend to report a part of their last-level cache.
    let cache = (16 * info.target.cache).max(256 << 20) as f64;
    let fits = family.ceiling.is_memory() && family.problem.cost(case).bytes <= cache;
    !is_probe && !case.params.contains_key(REPEATS) && !fits
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::{Slow, gpu};
    use super::*;
    use gpulab_kernels::{self as kernels, reduce, transpose};
    use gpulab_model::outcome::fake_info;
    use gpulab_model::plan::WorkGroup;

    fn case(family: &Family, n: u64, params: &[(&str, &str)]) -> Case {
        Case {
            wg: WorkGroup::linear(64),
            params: params
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            ..Case::of(
                &family.name,
                family.ladder[0].variant(),
                Dtype::F32,
                family.form.shape(n, None),
            )
        }
    }

    fn least_time(family: &Family, case: &Case, limit: Option<Ceiling>) -> Option<f64> {
        bounded(&Settings::default(), family, case, limit, &fake_info()).least_time
    }

    #[test]
    fn event_times_are_disbelieved_from_two_thirds_of_what_the_ceiling_allows() {
        let limit = Some(Ceiling {
            bound: Bound::Read,
            rate: 10.0,
        });
        let large = case(&reduce::FAMILY, 1 << 30, &[]);
        let bytes = reduce::FAMILY.problem.cost(&large).bytes;
        assert_eq!(
            least_time(&reduce::FAMILY, &large, limit),
            Some(bytes / 15e9)
        );
        assert_eq!(least_time(&reduce::FAMILY, &large, None), None);
    }

    #[test]
    fn memory_bounds_nothing_that_a_cache_may_hold_or_a_kernel_repeats() {
        let limit = Some(Ceiling {
            bound: Bound::Copy,
            rate: 10.0,
        });
        let large = case(&transpose::FAMILY, 1 << 15, &[]);
        assert!(least_time(&transpose::FAMILY, &large, limit).is_some());
        assert_eq!(
            least_time(
                &transpose::FAMILY,
                &case(&transpose::FAMILY, 1 << 10, &[]),
                limit
            ),
            None
        );
        assert_eq!(
            least_time(
                &transpose::FAMILY,
                &case(&transpose::FAMILY, 1 << 15, &[(REPEATS, "10")]),
                limit
            ),
            None
        );
    }

    #[test]
    fn memory_says_nothing_of_warm_data_that_fit_a_cache() {
        let info = DeviceInfo {
            target: Target {
                cache: 1 << 20,
                ..fake_info().target
            },
            ..fake_info()
        };
        let in_cache =
            |family: &Family, n, cache| is_in_cache(family, &case(family, n, &[]), cache, &info);
        assert!(in_cache(&reduce::FAMILY, 1 << 17, Cache::Warm));
        assert!(!in_cache(&reduce::FAMILY, 1 << 17, Cache::Cold));
        assert!(!in_cache(&reduce::FAMILY, 1 << 19, Cache::Warm));
        assert!(
            !in_cache(&minplus::FAMILY, 16, Cache::Warm),
            "arithmetic bounds it, wherever its data are"
        );
    }

    #[test]
    fn no_ceiling_bounds_what_it_is_made_of() {
        for family in ["addmin", "lanes", "read"].map(|name| kernels::built_in(name).unwrap()) {
            let limit = Some(Ceiling {
                bound: family.ceiling,
                rate: 10.0,
            });
            assert_eq!(
                least_time(family, &case(family, 1 << 30, &[]), limit),
                None,
                "{}",
                family.name
            );
        }
    }

    #[test]
    fn what_a_search_without_time_found_is_neither_used_nor_kept() {
        let mut slow = Slow(gpu(), Vec::new());
        let folder = tempfile::tempdir().unwrap();
        let need = LimitNeeded::of(&reduce::FAMILY, Dtype::F32, &Params::new());
        let mut searched = |deadline| {
            let mut limits = Limits::of(
                Effort::BRIEF,
                Kept::empty(&slow.0),
                Some(folder.path().into()),
                true,
                |_| (),
            );
            limits.end_by(deadline);
            limits.measure(&mut slow, need).unwrap();
            (
                limits.get(need).is_some(),
                folder.path().read_dir().unwrap().count(),
            )
        };
        assert_eq!(searched(Some(Instant::now())), (false, 0));
        assert_eq!(searched(None), (true, 1));
    }
}
