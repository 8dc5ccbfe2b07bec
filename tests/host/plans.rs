//! Every plan of every rung, on made-up devices: what the host asks of a device changes only where somebody means it to.
//! After a change that is meant, `INSTA_UPDATE=always cargo test --test host plans` writes the new digests.

use gpulab::data::{Params, Shape};
use gpulab::experiments::{EXPERIMENTS, Scope};
use gpulab::kernels::{self, Family, Form, Rung, Tunable};
use gpulab::outcome::fake_info;
use gpulab::plan::{Case, Plan, Refusal, Target, WorkGroup};
use std::fmt::Write as _;
use xxhash_rust::xxh3::Xxh3;

/// A device of each shape for which planners choose differently.
fn targets() -> [(&'static str, Target); 3] {
    let cpu = Target {
        compute_units: 8,
        subgroups: true,
        prefetch: true,
        ..fake_info().target
    };
    let gpu = Target {
        gpu: true,
        prefetch: false,
        compute_units: 60,
        max_wg: 1024,
        max_wg_dims: [1024; 3],
        ..cpu.clone()
    };
    let nvidia = Target {
        nvidia: true,
        async_copy: true,
        register_caps: true,
        subgroups: false,
        compute_units: 132,
        ..gpu.clone()
    };
    [("cpu", cpu), ("gpu", gpu), ("nvidia", nvidia)]
}

fn shapes(form: Form) -> Vec<Shape> {
    match form {
        Form::Vector => [1, 1000, 65_536, 10_000_019].map(Shape::vector).into(),
        Form::Matrix => [(1, 1), (130, 67), (1024, 1024), (4096, 8191)]
            .map(|(n, m)| Shape { n, m })
            .into(),
        Form::Square => [1, 67, 1024].map(|n| Shape { n, m: n }).into(),
    }
}

/// No setting, and each value of each by itself.
fn settings(family: &Family, rung: &Rung) -> Vec<Params> {
    let each = |tunable: Tunable<'_>| {
        let with = |value: &str| Params::from([(tunable.name.to_owned(), value.to_owned())]);
        tunable.values().map(with).collect::<Vec<_>>()
    };
    let tunables = family.choices.iter().copied().chain(rung.tunables());
    std::iter::once(Params::new())
        .chain(tunables.flat_map(each))
        .collect()
}

fn cases(family: &Family, rung: &Rung) -> impl Iterator<Item = Case> {
    let groups = [1, 64, 96, 256]
        .map(WorkGroup::linear)
        .into_iter()
        .chain([WorkGroup([16, 16, 1])]);
    let dtypes = family.dtypes.iter().copied();
    let all = dtypes.flat_map(move |dtype| {
        shapes(family.form)
            .into_iter()
            .map(move |shape| (dtype, shape))
    });
    let all = all.flat_map(move |(dtype, shape)| groups.clone().map(move |wg| (dtype, shape, wg)));
    all.flat_map(move |(dtype, shape, wg)| {
        settings(family, rung).into_iter().map(move |params| {
            let (family, variant) = (family.name.to_string(), rung.variant().to_owned());
            Case {
                family,
                variant,
                dtype,
                shape,
                wg,
                params,
                seed: 1,
            }
        })
    })
}

/// In what order macros are defined is nobody's business.
fn sorted(plan: Result<Plan, Refusal>) -> Result<Plan, Refusal> {
    plan.map(|mut plan| {
        plan.defines.sort();
        plan
    })
}

/// A line for each rung and device: the number of plans, that of refusals, and a digest of both.
#[test]
fn plans_are_what_they_were() {
    let mut lines = String::new();
    for family in kernels::everything() {
        for rung in family.kernels() {
            for (name, target) in targets() {
                let (mut plans, mut refusals, mut digest) = (0, 0, Xxh3::new());
                for case in cases(family, rung) {
                    let plan = sorted(family.plan(rung, &case, &target));
                    if plan.is_ok() {
                        plans += 1
                    } else {
                        refusals += 1
                    }
                    digest.update(shown(&plan).as_bytes());
                }
                let path = &rung.path;
                writeln!(
                    lines,
                    "{path} {name} {plans} + {refusals} {:016x}",
                    digest.digest()
                )
                .unwrap();
            }
        }
    }
    golden("plans", &lines);
}

/// A line for each experiment and device: the number of trials, and a digest.
#[test]
fn trials_are_what_they_were() {
    let mut lines = String::new();
    for experiment in EXPERIMENTS {
        for (name, target) in targets() {
            for quick in [false, true] {
                let plan = experiment.plan(&Scope {
                    target: &target,
                    quick,
                    seed: 1,
                });
                let (count, mut digest) = (plan.len(), Xxh3::new());
                for trial in plan {
                    let metric = (trial.metric.name, trial.metric.unit);
                    let plan = kernels::built_in(&trial.case.family).and_then(|f| {
                        Some(sorted(f.plan(
                            f.rung(&trial.case.variant)?,
                            &trial.case,
                            &target,
                        )))
                    });
                    digest.update(
                        format!(
                            "{} {} {metric:?} {:?} {}",
                            trial.series,
                            trial.x,
                            trial.case,
                            shown(&plan)
                        )
                        .as_bytes(),
                    );
                }
                let amount = if quick { "quick" } else { "full" };
                writeln!(
                    lines,
                    "{} {name} {amount} {count} {:016x}",
                    experiment.name,
                    digest.digest()
                )
                .unwrap();
            }
        }
    }
    golden("trials", &lines);
}

fn golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// A plan in words; what only readers' families have is left out where it is not there.
fn shown(plan: &impl std::fmt::Debug) -> String {
    format!("{plan:?}")
        .replace(", restored: false", "")
        .replace(", check: None", "")
}
