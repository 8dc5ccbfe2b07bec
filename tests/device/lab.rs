//! The kernels that are experiments' own, on real drivers: every setting that a plan asks for, at small sizes.

use crate::drivers::{on_every_driver, session};
use crate::skips::verify;
use gpulab::experiments::{EXPERIMENTS, Scope, experiment};
use gpulab::kernels::LAB;
use gpulab::plan::{Case, REPEATS, Target, WorkGroup};
use std::collections::BTreeSet;

const SMALL: u64 = 1024;
const FEW: u64 = 2;

/// The plans' cases of the experiments' own families for this device and for one of the other shape, cut down, each once.
fn all_cases(target: &Target) -> Vec<Case> {
    let shapes = [true, false].map(|gpu| Target {
        gpu,
        ..target.clone()
    });
    let scopes = shapes.iter().map(|target| Scope {
        target,
        quick: true,
        seed: 1,
    });
    let plans = scopes.flat_map(|scope| EXPERIMENTS.iter().flat_map(move |e| e.plan(&scope)));
    let families = || LAB.iter();
    let is_own = |case: &Case| families().any(|f| f.name == case.family);
    cut_down(plans.map(|trial| trial.case).filter(is_own))
}

fn cut_down(cases: impl Iterator<Item = Case>) -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    for mut case in cases {
        case.shape.n = case.shape.n.min(SMALL);
        // On two cores no more items than that share so few elements.
        let most = if case.family == "lockstep" { 64 } else { 16 };
        case.wg = WorkGroup::linear(case.wg.size().min(most));
        if let Some(rounds) = case.params.get_mut(REPEATS) {
            *rounds = rounds.parse::<u64>().unwrap().min(FEW).to_string();
        }
        if !all.contains(&case) {
            all.push(case);
        }
    }
    all
}

fn reads_images(case: &Case) -> bool {
    case.family == "sampled" || (case.family == "texels" && case.variant != "buffer")
}

fn cases(target: &Target) -> Vec<Case> {
    all_cases(target)
        .into_iter()
        .filter(|case| !reads_images(case))
        .collect()
}

fn images(target: &Target) -> Vec<Case> {
    all_cases(target).into_iter().filter(reads_images).collect()
}

/// PoCL has all of them, the other drivers, whose compilers take long, the first of each kernel.
fn all_are_right(driver: &str, cases: fn(&Target) -> Vec<Case>) -> usize {
    let mut session = session(driver, None);
    let mut cases = cases(&session.device().info().target.clone());
    if !["pocl", "default"].contains(&driver) {
        let mut seen = BTreeSet::new();
        cases.retain(|case| seen.insert((case.family.clone(), case.variant.clone())));
    }
    if driver == "oclgrind" {
        cases
            .iter_mut()
            .for_each(|case| case.shape.n = case.shape.n.min(smallest(&case.family)));
    }
    cases
        .iter()
        .map(|case| verify(&mut session, driver, case))
        .sum()
}

/// Elements of a family that fill some groups, for a simulator, which interprets each instruction.
fn smallest(family: &str) -> u64 {
    match family {
        // Each item loads several vectors of up to 16.
        "loads" => SMALL,
        // Their items do much each.
        "banks" | "chains" | "instructions" | "steps" => 64,
        _ => 256,
    }
}

#[test]
fn every_kernel_of_the_experiments_is_right() {
    on_every_driver(|driver| all_are_right(driver, cases));
}

#[test]
fn every_image_is_right() {
    on_every_driver(|driver| all_are_right(driver, images));
}

/// Each operation and each form of a function, of which a short answer has few, with one chain.
fn operations(target: &Target) -> Vec<Case> {
    let plan = experiment("instructions").unwrap().plan(&Scope {
        target,
        quick: false,
        seed: 1,
    });
    cut_down(
        plan.into_iter()
            .filter(|trial| trial.x <= 1.0)
            .map(|trial| trial.case),
    )
}

#[test]
fn every_instruction_is_right() {
    on_every_driver(|driver| all_are_right(driver, operations));
}
