//! What there is to try: of each rung every work-group and every value of its tunables, the rung's defaults first.

use super::Region;
use crate::sweep::{Configuration, Narrowing, Setting, work_groups};
use gpulab_kernels::{Family, Rung};
use gpulab_model::plan::{Case, Refusal, Target, WorkGroup};
use std::collections::{BTreeMap, HashMap};
use xxhash_rust::xxh3::xxh3_128;

/// The configurations of some rungs that make different plans on a device.
#[derive(Default)]
pub struct TuningSpace<'a> {
    /// All of them; each one's place is its index.
    pub candidates: Vec<Configuration>,
    /// A region for each rung that can run, in the order of the rungs.
    pub regions: Vec<Region>,
    pub rungs: Vec<&'a Rung>,
    /// Rungs that no configuration of can run here, with the reason of the first.
    pub refused: Vec<(&'a Rung, Refusal)>,
    /// Of rungs that readers brought, what their settings came to.
    pub narrowings: Vec<(&'a Rung, Narrowing)>,
}

impl<'a> TuningSpace<'a> {
    /// The space of these rungs around a case, whose family, type, size, seed and settings all configurations share. What a
    /// rung cannot do here is left out, as its planner says. `wgs` take the place of the usual work-groups, and `settings` of
    /// a tunable's own values.
    pub fn new(
        family: &Family,
        rungs: &[&'a Rung],
        base: &Case,
        wgs: Option<&[WorkGroup]>,
        settings: &[Setting],
        target: &Target,
    ) -> TuningSpace<'a> {
        let mut space = TuningSpace::default();
        for &rung in rungs {
            space.add(family, rung, base, wgs, settings, target);
        }
        space
    }

    fn add(
        &mut self,
        family: &Family,
        rung: &'a Rung,
        base: &Case,
        wgs: Option<&[WorkGroup]>,
        settings: &[Setting],
        target: &Target,
    ) {
        // Its default first, which a reader's file may declare.
        let mut groups = vec![
            rung.work_group()
                .unwrap_or(WorkGroup::linear(target.max_wg.min(256))),
        ];
        groups.extend(
            work_groups(rung, target)
                .into_iter()
                .filter(|wg| *wg != groups[0])
                .collect::<Vec<_>>(),
        );
        let groups = wgs.map_or(groups, <[WorkGroup]>::to_vec);
        let axes = axes(rung, settings);
        let lengths: Vec<usize> = std::iter::once(groups.len())
            .chain(axes.iter().map(|(_, values)| values.len()))
            .collect();
        let mut region = Region {
            places: BTreeMap::new(),
            axes: lengths.clone(),
        };
        let mut seen = HashMap::new();
        let mut refusal = None;
        let mut narrowing = Narrowing::default();
        for number in 0..lengths.iter().product() {
            let place = place(number, &lengths);
            let mut params = base.params.clone();
            for ((name, values), &value) in axes.iter().zip(&place[1..]) {
                params.extend(
                    values[value]
                        .clone()
                        .map(|value| ((*name).to_owned(), value)),
                );
            }
            let case = Case {
                variant: rung.variant().into(),
                wg: groups[place[0]],
                params,
                ..base.clone()
            };
            let plan = match family.plan(rung, &case, target) {
                Ok(plan) => plan,
                Err(why) => {
                    narrowing.drops(Some(&why));
                    refusal.get_or_insert(why);
                    continue;
                }
            };
            let index = *seen
                .entry(xxh3_128(format!("{plan:?}").as_bytes()))
                .or_insert(self.candidates.len());
            if index == self.candidates.len() {
                narrowing.drops(None);
                self.candidates.push(Configuration {
                    index: index as u64,
                    rung: rung.number(),
                    case,
                    wg: plan.wg,
                    params: plan.params,
                    refusal: None,
                });
            }
            region.places.insert(place, index);
        }
        if rung.is_own() {
            self.narrowings.push((rung, narrowing));
        }
        match refusal {
            Some(why) if region.places.is_empty() => self.refused.push((rung, why)),
            _ => {
                self.regions.push(region);
                self.rungs.push(rung);
            }
        }
    }

    /// The configuration that a rung has by default; none if that cannot run here.
    pub fn default_of(&self, variant: &str) -> Option<&Configuration> {
        let at = self
            .rungs
            .iter()
            .position(|rung| rung.variant() == variant)?;
        let region = &self.regions[at];
        region
            .places
            .get(&vec![0; region.axes.len()])
            .map(|&index| &self.candidates[index])
    }
}

/// The axes of a rung behind that of its work-groups, by name with their values: its tunables that searches may change, and
/// those that were given. No value is the rung's default.
fn axes<'a>(rung: &'a Rung, settings: &[Setting]) -> Vec<(&'a str, Vec<Option<String>>)> {
    let mut axes = Vec::new();
    for tunable in rung.tunables() {
        let given = settings.iter().find(|setting| setting.name == tunable.name);
        if let Some(setting) = given {
            axes.push((
                tunable.name,
                setting.values.iter().cloned().map(Some).collect(),
            ));
        } else if tunable.is_searched {
            // The first value of a reader's file is the default.
            let others = tunable
                .values()
                .skip(usize::from(rung.is_own()))
                .map(|value| Some(value.to_owned()));
            axes.push((tunable.name, std::iter::once(None).chain(others).collect()));
        }
    }
    axes
}

/// The place with this number on axes of these lengths; the first is all zeros.
fn place(mut number: usize, lengths: &[usize]) -> Vec<usize> {
    let mut place = vec![0; lengths.len()];
    for (value, &length) in place.iter_mut().zip(lengths).rev() {
        (*value, number) = (number % length, number / length);
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_kernels::{FAMILIES, dot, minplus, transpose};
    use gpulab_model::data::{Dtype, Shape};
    use gpulab_model::outcome::fake_info;
    use std::collections::BTreeSet;

    fn space<'a>(family: &'a Family, settings: &[Setting]) -> TuningSpace<'a> {
        let target = fake_info().target;
        let base = Case::of(
            &family.name,
            "",
            family.dtypes[0],
            family.form.shape(1024, None),
        );
        let rungs: Vec<&Rung> = family.ladder.iter().collect();
        TuningSpace::new(family, &rungs, &base, None, settings, &target)
    }

    #[test]
    fn every_configuration_is_another_plan_and_the_defaults_are_among_them() {
        for family in FAMILIES {
            let space = space(family, &[]);
            let target = fake_info().target;
            let default = WorkGroup::linear(256);
            for (rung, region) in space.rungs.iter().zip(&space.regions) {
                let own: BTreeSet<usize> = region.places.values().copied().collect();
                let of = |index: &usize| &space.candidates[*index];
                assert!(
                    own.iter()
                        .all(|index| of(index).case.variant == rung.variant()),
                    "{}",
                    rung.path
                );
                let labels: BTreeSet<String> = own
                    .iter()
                    .map(|index| {
                        format!("{:?}", family.plan(rung, &of(index).case, &target).unwrap())
                    })
                    .collect();
                assert_eq!(labels.len(), own.len(), "{}", rung.path);
                if let Some(configuration) = space.default_of(rung.variant()) {
                    assert_eq!(
                        (configuration.case.wg, configuration.case.params.len()),
                        (default, 0)
                    );
                }
            }
            for (at, candidate) in space.candidates.iter().enumerate() {
                assert_eq!(candidate.index, at as u64);
            }
        }
    }

    #[test]
    fn what_moves_work_out_of_the_timing_is_not_searched_unless_it_is_asked_for() {
        let named = |space: &TuningSpace, name: &str| {
            space
                .candidates
                .iter()
                .filter(|c| c.case.params.contains_key(name))
                .count()
        };
        assert_eq!(named(&space(&dot::FAMILY, &[]), "presum"), 0);
        assert_eq!(named(&space(&transpose::FAMILY, &[]), "nreps"), 0);
        let presum = Setting {
            name: "presum".into(),
            values: vec!["none".into()],
        };
        let given = space(&dot::FAMILY, &[presum]);
        assert!(named(&given, "presum") > 0);
        assert_eq!(
            given
                .candidates
                .iter()
                .filter(|c: &&Configuration| ["coalesced", "local", "vectorised"]
                    .contains(&c.case.variant.as_str()))
                .count(),
            named(&given, "presum")
        );
    }

    #[test]
    fn what_a_rung_cannot_do_is_left_out() {
        let space = space(&minplus::FAMILY, &[]);
        let target = fake_info().target;
        for candidate in &space.candidates {
            let rung = minplus::FAMILY.rung(&candidate.case.variant).unwrap();
            assert!(minplus::FAMILY.plan(rung, &candidate.case, &target).is_ok());
        }
        let odd = Setting {
            name: "depth".into(),
            values: vec!["3".into()],
        };
        let base = Case {
            shape: Shape { n: 64, m: 64 },
            dtype: Dtype::F32,
            ..space.candidates[0].case.clone()
        };
        let local = [minplus::FAMILY.rung("local").unwrap()];
        let none = TuningSpace::new(&minplus::FAMILY, &local, &base, None, &[odd], &target);
        assert!(none.candidates.is_empty() && none.refused[0].1.to_string().contains("depth=3"));
    }
}
