//! Settings that no device could take: found by asking the planners, which alone know what they take.

use super::space::reads;
use gpulab_kernels::{Family, Rung};
use gpulab_model::data::{Dtype, Params};
use gpulab_model::plan::{Case, Refusal, Target, WorkGroup};

pub struct Asked<'a> {
    pub family: &'a Family,
    pub rungs: &'a [&'a Rung],
    pub dtypes: &'a [Dtype],
    /// Work-groups; none for what devices usually take.
    pub wgs: &'a [WorkGroup],
}

impl Asked<'_> {
    /// Why none of the rungs that read the setting `name` can be planned with any of these sets of settings on any device,
    /// though they can without; none if one can.
    pub fn refusal(&self, name: &str, sets: &[Params]) -> Option<String> {
        let mut first: Option<Refusal> = None;
        for rung in self
            .rungs
            .iter()
            .filter(|rung| reads(self.family, rung, name))
        {
            for (dtype, wg, target) in self.places() {
                let case = self.case(rung, dtype, wg);
                let plan = |case: &Case| self.family.plan(rung, case, &target);
                if plan(&case).is_err() {
                    continue;
                }
                for params in sets {
                    match plan(&Case {
                        params: params.clone(),
                        ..case.clone()
                    }) {
                        Ok(_) => return None,
                        Err(refusal) => first = first.or(Some(refusal)),
                    }
                }
            }
        }
        let mut tunables = self
            .family
            .choices
            .iter()
            .copied()
            .chain(self.rungs.iter().flat_map(|rung| rung.tunables()));
        let listed = tunables
            .find(|tunable| tunable.name == name)
            .map(|tunable| tunable.values.replace(' ', ", "));
        first.map(|why| {
            format!(
                "no device could take it: {why} ({name} may be {})",
                listed.unwrap_or_default()
            )
        })
    }

    fn places(&self) -> impl Iterator<Item = (Dtype, WorkGroup, Target)> {
        const USUAL: [WorkGroup; 3] = [
            WorkGroup([256, 1, 1]),
            WorkGroup([64, 1, 1]),
            WorkGroup([1024, 1, 1]),
        ];
        let wgs = if self.wgs.is_empty() {
            &USUAL
        } else {
            self.wgs
        };
        let of = move |dtype: Dtype| {
            wgs.iter()
                .flat_map(move |&wg| targets().map(move |target| (dtype, wg, target)))
        };
        self.dtypes.iter().flat_map(move |&dtype| of(dtype))
    }

    fn case(&self, rung: &Rung, dtype: Dtype, wg: WorkGroup) -> Case {
        let shape = self
            .family
            .usual_shape(self.family.form.default_size(), false);
        Case {
            wg,
            ..Case::of(&self.family.name, rung.variant(), dtype, shape)
        }
    }
}

/// Every kind of device that planners tell apart, with as much of everything as any has.
fn targets() -> impl Iterator<Item = Target> {
    let kinds = [
        (true, true, 0),
        (true, false, 0),
        (false, false, 4),
        (false, false, 8),
        (false, false, 16),
    ];
    kinds.into_iter().map(|(gpu, nvidia, float_lanes)| Target {
        float_lanes,
        nvidia,
        async_copy: nvidia,
        register_caps: nvidia,
        ..Target::without_limits(gpu)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_kernels::FAMILIES;

    fn asked(family: &Family, rungs: &[&Rung], name: &str, value: &str) -> Option<String> {
        let asked = Asked {
            family,
            rungs,
            dtypes: &family.dtypes,
            wgs: &[],
        };
        asked.refusal(name, &[Params::from([(name.to_owned(), value.to_owned())])])
    }

    #[test]
    fn every_listed_value_can_be_taken() {
        for family in FAMILIES {
            let rungs: Vec<&Rung> = family.kernels().collect();
            for tunable in family
                .choices
                .iter()
                .copied()
                .chain(rungs.iter().flat_map(|rung| rung.tunables()))
            {
                for value in tunable.values() {
                    let why = asked(family, &rungs, tunable.name, value);
                    assert_eq!(why, None, "{} {}={value}", family.name, tunable.name);
                }
            }
        }
    }

    #[test]
    fn what_no_planner_takes_is_refused_with_what_there_is() {
        for family in FAMILIES {
            let rungs: Vec<&Rung> = family.kernels().collect();
            for tunable in family
                .choices
                .iter()
                .copied()
                .chain(rungs.iter().flat_map(|rung| rung.tunables()))
            {
                for value in ["0x0", "-1", "x", "99999999999999999999999"] {
                    let why = asked(family, &rungs, tunable.name, value);
                    let why = why.unwrap_or_else(|| {
                        panic!("{} takes {}={value}", family.name, tunable.name)
                    });
                    assert!(
                        why.contains(tunable.values().next().unwrap_or_default()),
                        "{why}"
                    );
                }
            }
        }
    }
}
