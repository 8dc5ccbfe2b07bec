//! Every experiment: names, plans and findings; and made-up points for the tests of each.

use super::*;
use gpulab_model::outcome::{Status, fake_info};

/// The points of an experiment's plan on a made-up device on which a trial has the value that `value` gives for its
/// series and x; trials that it gives none are skipped.
pub(super) fn points_of(
    experiment: &Experiment,
    gpu: bool,
    noise: f64,
    value: impl Fn(&str, f64) -> f64,
) -> Vec<Point> {
    points_on(experiment, &Target { gpu, ..fake_info().target }, noise, value)
}

/// What is found on a GPU on which a series has `value(series, x)`, a sentence a line.
pub(super) fn sentences(experiment: &Experiment, noise: f64, value: impl Fn(&str, f64) -> f64) -> String {
    experiment.finding(&points_of(experiment, true, noise, value)).replace(". ", ".\n")
}

pub(super) fn points_on(
    experiment: &Experiment,
    target: &Target,
    noise: f64,
    value: impl Fn(&str, f64) -> f64,
) -> Vec<Point> {
    let plan = experiment.plan(&Scope { target, quick: false, seed: 1 });
    let point = |t: &Trial| {
        let value = value(&t.series, t.x);
        let mut point = gpulab_record::point(&t.series, 1, value, noise);
        (point.x, point.metric, point.unit) = (t.x, t.metric.name.into(), t.metric.unit.into());
        if !value.is_finite() {
            (point.status, point.value) = (Status::Skipped, None);
        }
        point
    };
    plan.iter().map(point).collect()
}

fn targets() -> [Target; 2] {
    let target = fake_info().target;
    [Target { gpu: true, ..target.clone() }, target]
}

#[test]
fn names_are_single_words_in_order_and_questions_are_questions() {
    let names: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for experiment in EXPERIMENTS {
        let name = experiment.name;
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && name != "all", "{name}");
        assert!(experiment.question.ends_with('?') && !experiment.question.contains('\n'), "{name}");
        assert!(!experiment.x_name.is_empty(), "{name}");
    }
}

#[test]
fn plans_have_each_point_once_and_run_what_there_is() {
    for experiment in EXPERIMENTS {
        for (target, quick) in targets().iter().flat_map(|t| [(t, false), (t, true)]) {
            let plan = experiment.plan(&Scope { target, quick, seed: 7 });
            assert!(!plan.is_empty(), "{}", experiment.name);
            for (i, trial) in plan.iter().enumerate() {
                let place = |t: &Trial| (t.series.clone(), t.x.to_bits());
                assert!(plan[..i].iter().all(|t| place(t) != place(trial)), "{}: {trial:?}", experiment.name);
                let Case { family, variant, .. } = &trial.case;
                let is_exchange = exchange(family).is_some_and(|e| e.variant(variant).is_some());
                let is_kernel = kernels::built_in(family).is_some_and(|f| f.rung(variant).is_some());
                assert!(is_exchange || is_kernel, "{}: {trial:?}", experiment.name);
                assert_eq!(trial.case.seed, 7);
            }
        }
    }
}

#[test]
fn sources_are_those_that_plans_run() {
    let of = |name: &str| experiment(name).unwrap().sources();
    assert_eq!(of("stride"), ["lab/gather/walk.cl", "lab/scatter/walk.cl"]);
    assert_eq!(of("pitch"), ["transpose/diagonal.cl", "transpose/naive.cl"]);
    assert!(of("image").contains(&"lab/texels/volume.cl"));
    for (target, experiment) in targets().iter().flat_map(|t| EXPERIMENTS.iter().map(move |e| (t, e))) {
        let all = experiment.sources();
        let plan = experiment.plan(&Scope { target, quick: true, seed: 7 });
        assert!(plan.iter().flat_map(|t| files_of(&t.case)).all(|path| all.contains(&path)), "{}", experiment.name);
        assert!(all.iter().all(|path| kernels::text(path).is_some()), "{}", experiment.name);
    }
}

/// What heads the columns of a table: a series, or, where some series holds several kinds of values, an x and a metric.
#[test]
fn no_column_and_no_metric_has_two_units() {
    for experiment in EXPERIMENTS {
        for (target, quick) in targets().iter().flat_map(|t| [(t, false), (t, true)]) {
            let target = Target { register_caps: target.gpu, ..target.clone() };
            let plan = experiment.plan(&Scope { target: &target, quick, seed: 7 });
            let name = experiment.name;
            let alike = |is_alike: &dyn Fn(&Trial, &Trial) -> bool| {
                let pairs = plan.iter().flat_map(|a| plan.iter().map(move |b| (a, b)));
                pairs.filter(|(a, b)| is_alike(a, b)).all(|(a, b)| a.metric.unit == b.metric.unit)
            };
            assert!(alike(&|a, b| a.metric.name == b.metric.name), "{name}: a metric has two units");
            let by_series = alike(&|a, b| a.series == b.series);
            let by_x = alike(&|a, b| a.x == b.x && a.metric.name == b.metric.name);
            assert!(by_series || by_x, "{name}: neither its series nor its x are columns of one unit");
        }
    }
}

#[test]
fn every_unit_is_known_in_the_si() {
    for trial in EXPERIMENTS.iter().flat_map(|e| e.plan(&Scope { target: &targets()[0], quick: false, seed: 7 })) {
        assert!(gpulab_record::si(trial.metric.unit).is_some(), "{}", trial.metric.unit);
    }
}

#[test]
fn findings_are_sentences_even_of_nothing() {
    for experiment in EXPERIMENTS {
        let finding = experiment.finding(&[]);
        assert!(finding.ends_with('.') && !finding.contains('\n'), "{}: {finding}", experiment.name);
    }
}
