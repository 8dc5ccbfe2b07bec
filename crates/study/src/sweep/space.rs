//! What a sweep goes through: the combinations that make different plans, in a fixed order.

use super::Asked;
use gpulab_kernels::{Family, Kind, Rung, Tunable, values};
use gpulab_model::data::{Dtype, Params, Shape, combinations};
use gpulab_model::plan::{Case, Refusal, Target, WorkGroup};
use gpulab_record::params_text;
use std::collections::{BTreeMap, HashSet};

/// The values to try for each dimension of a sweep.
pub struct Space<'a> {
    pub family: &'a Family,
    pub rungs: Vec<&'a Rung>,
    pub dtypes: Vec<Dtype>,
    pub shapes: Vec<Shape>,
    /// Empty for those of each rung.
    pub wgs: Vec<WorkGroup>,
    pub settings: Vec<Setting>,
    pub seed: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: String,
    pub values: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// Place in the whole plan, from 0.
    pub index: u64,
    /// Number of the rung; references have none.
    pub rung: Option<u32>,
    pub case: Case,
    /// The work-group that the rung makes of the one asked for.
    pub wg: WorkGroup,
    /// The settings that the rung makes of those asked for.
    pub params: Params,
    /// Why it cannot run here, if that is known already.
    pub refusal: Option<Refusal>,
}

impl Configuration {
    /// What tells it from all others of its plan, in words.
    pub fn label(&self) -> String {
        let Case {
            family,
            variant,
            dtype,
            shape,
            ..
        } = &self.case;
        let rows = if shape.m == 1 {
            String::new()
        } else {
            format!(" m={}", shape.m)
        };
        let params = if self.params.is_empty() {
            String::new()
        } else {
            format!(" {}", params_text(&self.params))
        };
        format!(
            "{family}/{variant} {dtype} n={}{rows} wg={}{params}",
            shape.n, self.wg
        )
    }
}

impl Space<'_> {
    /// Every combination that makes a different plan on this device. Element types and sizes come first,
    /// so that neighbours share their data; then rungs, work-groups and tunables.
    pub fn expand(&self, target: &Target) -> Vec<Configuration> {
        let mut plan = Vec::new();
        for &dtype in &self.dtypes {
            for &shape in &self.shapes {
                for &rung in &self.rungs {
                    self.expand_rung(rung, dtype, shape, target, &mut plan);
                }
            }
        }
        plan
    }

    /// A rung's combinations for one input: those whose plan is that of an earlier one are left out, as
    /// when it fixes its own work-group, or when two settings come to the same grid.
    fn expand_rung(
        &self,
        rung: &Rung,
        dtype: Dtype,
        shape: Shape,
        target: &Target,
        plan: &mut Vec<Configuration>,
    ) {
        let mut seen = HashSet::new();
        let wgs = if self.wgs.is_empty() {
            work_groups(rung, target)
        } else {
            self.wgs.clone()
        };
        for wg in wgs {
            for params in self.combinations(rung) {
                let family = self.family.name.to_string();
                let variant = rung.variant().to_owned();
                let case = Case {
                    family,
                    variant,
                    dtype,
                    shape,
                    wg,
                    params,
                    seed: self.seed,
                };
                let (known_by, mut configuration) = self.configuration(rung, case, target);
                if seen.insert(known_by) {
                    configuration.index = plan.len() as u64;
                    plan.push(configuration);
                }
            }
        }
    }

    /// A configuration, and what it would have in common with an equal one.
    fn configuration(&self, rung: &Rung, case: Case, target: &Target) -> (String, Configuration) {
        let choices: Vec<_> = self
            .family
            .choices
            .iter()
            .map(|c| case.params.get(c.name))
            .collect();
        let empty = case.shape.n == 0 || case.shape.m == 0;
        let plan = if empty {
            None
        } else {
            Some(self.family.plan(rung, &case, target))
        };
        let (known_by, wg, params, refusal) = match plan {
            // Without elements nothing is launched, and work-group and settings mean nothing.
            None => (String::new(), case.wg, case.params.clone(), None),
            Some(Ok(plan)) => (format!("{plan:?}"), plan.wg, plan.params, None),
            Some(Err(refusal)) => (
                format!("{} {:?}", case.wg, case.params),
                case.wg,
                case.params.clone(),
                Some(refusal),
            ),
        };
        (
            format!("{choices:?} {known_by}"),
            Configuration {
                index: 0,
                rung: rung.number(),
                case,
                wg,
                params,
                refusal,
            },
        )
    }

    /// Every combination of the settings that a rung reads, and of the values that the file of a described family lists.
    fn combinations(&self, rung: &Rung) -> Vec<Params> {
        let listed = rung
            .tunables()
            .filter(|_| self.family.described().is_some());
        let listed = listed.map(|t| Setting {
            name: t.name.to_owned(),
            values: t.values().map(str::to_owned).collect(),
        });
        let listed: Vec<Setting> = listed
            .filter(|listed| !self.settings.iter().any(|s| s.name == listed.name))
            .collect();
        let read = self
            .settings
            .iter()
            .filter(|s| reads(self.family, rung, &s.name))
            .chain(&listed);
        combinations(read.map(|s| (s.name.as_str(), s.values.as_slice())))
    }
}

/// Refuses a setting of which a value can be taken by no device, whatever goes with it; what only does not go together is skipped
/// when its turn comes.
pub fn check_settings(asked: &Asked<'_>, settings: &[Setting]) -> Result<(), String> {
    /// More combinations are not asked for: a value that goes with none of so many is refused when its turn comes.
    const MOST: usize = 1000;
    for setting in settings {
        let others: Vec<&Setting> = settings
            .iter()
            .filter(|other| other.name != setting.name)
            .collect();
        if others
            .iter()
            .map(|other| other.values.len())
            .product::<usize>()
            > MOST
        {
            continue;
        }
        let mut others = combinations(
            others
                .iter()
                .map(|other| (other.name.as_str(), other.values.as_slice())),
        );
        others.push(Params::new());
        for value in &setting.values {
            let mut sets = others.clone();
            for set in &mut sets {
                set.insert(setting.name.clone(), value.clone());
            }
            if let Some(why) = asked.refusal(&setting.name, &sets) {
                return Err(format!("--set {}={value}: {why}", setting.name));
            }
        }
    }
    Ok(())
}

pub fn reads(family: &Family, rung: &Rung, name: &str) -> bool {
    family
        .choices
        .iter()
        .copied()
        .chain(rung.tunables())
        .any(|t| t.name == name)
}

/// The groups to try of a rung: those that its file lists, or the usual ones and its own.
pub fn work_groups(rung: &Rung, target: &Target) -> Vec<WorkGroup> {
    let mut all = rung.work_groups().to_vec();
    if all.is_empty() {
        all = default_work_groups(target);
        all.extend(rung.work_group().filter(|own| !all.contains(own)));
    }
    all
}

/// Powers of two from 32 up to what the device allows, or that alone if it is smaller.
pub fn default_work_groups(target: &Target) -> Vec<WorkGroup> {
    let most = target.max_wg.min(target.max_wg_dims[0]).max(1);
    let powers =
        std::iter::successors(Some(32usize), |wg| wg.checked_mul(2)).take_while(|&wg| wg <= most);
    let sizes: Vec<WorkGroup> = powers.map(WorkGroup::linear).collect();
    if sizes.is_empty() {
        vec![WorkGroup::linear(most)]
    } else {
        sizes
    }
}

/// What the settings of a rung in a reader's file came to on a device, before anything was built.
#[derive(Clone, Debug, Default)]
pub struct Narrowing {
    /// Settings that can run.
    left: usize,
    /// How many each condition of the file excludes.
    excluded: BTreeMap<String, usize>,
    /// How many the device is too small for, each with the reason.
    unfit: Vec<String>,
}

impl Narrowing {
    /// Takes a setting in: whether it is none that a search or a sweep has to come to.
    pub fn drops(&mut self, refusal: Option<&Refusal>) -> bool {
        match refusal {
            None => self.left += 1,
            Some(Refusal::Excluded(condition)) => {
                *self.excluded.entry(condition.clone()).or_default() += 1
            }
            Some(why @ (Refusal::Group(_) | Refusal::Memory(_))) => {
                self.unfit.push(why.to_string())
            }
            Some(_) => return false,
        }
        refusal.is_some()
    }

    /// How many of how many are left, and why the others are not; nothing where all are.
    pub fn text(&self) -> Option<String> {
        let excluded = self.excluded.values().sum::<usize>();
        if excluded + self.unfit.len() == 0 {
            return None;
        }
        let whole = self.left + excluded + self.unfit.len();
        let mut text = format!("{} of {whole} settings can run here", self.left);
        for (condition, count) in &self.excluded {
            text += &format!("; `where` {condition:?} excludes {count}");
        }
        if let Some(why) = self.unfit.first() {
            text += &format!("; the device is too small for {}: {why}", self.unfit.len());
        }
        Some(text)
    }
}

/// Reads `items=1024,4096`, `presum=host,none`: settings that some of these rungs read.
pub fn settings(
    family: &Family,
    rungs: &[&Rung],
    texts: &[String],
) -> Result<Vec<Setting>, String> {
    let mut all: Vec<Setting> = Vec::new();
    for text in texts {
        let named = text.split_once('=').filter(|(name, _)| !name.is_empty());
        let (name, values) =
            named.ok_or_else(|| format!("--set {text}: write NAME=VALUE,VALUE"))?;
        let mut tunables = family
            .choices
            .iter()
            .copied()
            .chain(rungs.iter().flat_map(|r| r.tunables()));
        let tunable = tunables
            .find(|t| t.name == name)
            .ok_or_else(|| unknown(family, rungs, name))?;
        if all.iter().any(|s| s.name == name) {
            return Err(format!(
                "--set {name} is given twice: list its values with commas"
            ));
        }
        all.push(Setting {
            name: name.to_owned(),
            values: setting_values(&tunable, values)?,
        });
    }
    Ok(all)
}

fn unknown(family: &Family, rungs: &[&Rung], name: &str) -> String {
    let names: Vec<&str> = family
        .tunables()
        .into_iter()
        .filter(|tunable: &Tunable<'_>| rungs.iter().any(|rung| reads(family, rung, tunable.name)))
        .map(|tunable| tunable.name)
        .collect();
    let there_is = if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(", ")
    };
    format!(
        "--set {name}: the chosen rungs of {} have no such tunable; they have {there_is}",
        family.name
    )
}

/// The listed values; of numbers ranges of them as well.
fn setting_values(tunable: &Tunable<'_>, text: &str) -> Result<Vec<String>, String> {
    let mut values: Vec<String> = Vec::new();
    for item in text.split(',') {
        let numbers = match (tunable.kind, values::sizes(item)) {
            (Kind::Number { .. }, Ok(list)) => list.0.iter().map(u64::to_string).collect(),
            _ => vec![item.to_owned()],
        };
        for value in numbers {
            tunable
                .check(&value)
                .map_err(|why| format!("--set {}={item}: {why}", tunable.name))?;
            values.push(value);
        }
    }
    let mut seen = HashSet::new();
    values.retain(|v| seen.insert(v.clone()));
    Ok(values)
}
