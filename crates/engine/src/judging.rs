//! A kernel that nobody trusts, judged: is it right at the sizes where kernels go wrong, and if not, what does it do?
//!
//! Nothing is timed for its own sake. Every case runs in a worker process with a deadline, so that a kernel that crashes or
//! never ends is an answer, too.

use crate::worker::{Lost, WorkerProcess};
use gpulab_kernels::{Family, Form, Rung, built_in, tile_of_a_group};
use gpulab_model::Result;
use gpulab_model::data::Shape;
use gpulab_model::outcome::{Executor, Job, Outcome, Settings, Status, Stop};
use gpulab_model::plan::{Case, Target, WorkGroup};
use gpulab_study::judgement::{Judgement, Ruling, TriedCase};
use std::time::Duration;

/// Judges the rung of a case: at edge sizes, then at the case's own. One that is wrong is looked at more closely.
/// A small case may take as long as `short`, its compilation included, and the case asked for as long as `limit`. A kernel's own
/// faults are no error.
pub fn judge(
    worker: &mut WorkerProcess,
    (family, rung): (&Family, &Rung),
    asked: &Case,
    short: Duration,
    limit: Duration,
    observe: &mut dyn FnMut(&str),
) -> Result<Judgement> {
    let target = worker.info().target.clone();
    // A kernel that cannot have some groups and a rest is tried at its own size.
    let [wide, high, _] = asked.wg.0.map(|side| side as u64);
    let tile = tile_of_a_group(family, rung, asked, &target).unwrap_or([wide, high]);
    let mut tried = Vec::new();
    for shape in edges(family.form, tile, rung.multiple(), asked) {
        observe(&words(shape));
        let case = small(
            worker,
            Case {
                shape,
                ..asked.clone()
            },
            short,
        )?;
        let is_last = matches!(
            case.ruling,
            Ruling::NotBuilt | Ruling::Crashed | Ruling::Endless | Ruling::Failed
        );
        tried.push(case);
        if is_last {
            break;
        }
    }
    let worst = |tried: &[TriedCase]| {
        let mut rulings = tried.iter().map(|tried| tried.ruling);
        rulings.find(|ruling| !matches!(ruling, Ruling::Right | Ruling::Refused))
    };
    if worst(&tried).is_none() {
        observe(&words(asked.shape));
        // With a single sample.
        let job = Job::new(asked.clone(), Settings::once());
        tried.push(self::tried(asked, worker.run_within(&job, limit)?));
    }
    // A size that no device could run says nothing of the kernel, unless it is the one asked for.
    let ruling = worst(&tried)
        .or(tried.last().map(|tried| tried.ruling))
        .unwrap_or(Ruling::Refused);
    // Symptoms are told by what the built-in families compute.
    let symptoms = if ruling == Ruling::Wrong && built_in(&family.name).is_some() {
        observe("what is wrong");
        worker.diagnose(asked, short)?.ok().and_then(Result::ok)
    } else {
        None
    };
    let mut elsewhere = Vec::new();
    for wg in other_groups(asked.wg, &target, ruling == Ruling::Wrong) {
        if matches!(ruling, Ruling::Right | Ruling::Wrong) {
            observe(&format!("work-group {wg}"));
            let shape = rounded(family.form, ragged(family.form, tile), rung.multiple());
            elsewhere.push(small(
                worker,
                Case {
                    shape,
                    wg,
                    ..asked.clone()
                },
                short,
            )?);
        }
    }
    tried.retain(|tried| tried.ruling != Ruling::Refused || ruling == Ruling::Refused);
    let (traits, parameters) = rung.own_traits();
    Ok(Judgement {
        ruling,
        asked: asked.clone(),
        tile,
        tried,
        elsewhere,
        symptoms,
        traits,
        parameters,
    })
}

fn around(n: u64) -> [u64; 3] {
    [n.saturating_sub(1), n, n + 1]
}

fn words(Shape { n, m }: Shape) -> String {
    if m == 1 {
        format!("n={n}")
    } else {
        format!("{n}x{m}")
    }
}

fn small(worker: &mut WorkerProcess, case: Case, limit: Duration) -> Result<TriedCase> {
    let verified = worker.verify(&case, limit)?;
    Ok(tried(&case, verified))
}

/// What Rust, LLVM and C++ say last where there is no memory left.
const OUT_OF_MEMORY: [&str; 4] = [
    "memory allocation of",
    "out of memory",
    "bad_alloc",
    "foreign exception",
];

fn tried(case: &Case, came: Result<Outcome, Lost>) -> TriedCase {
    let (wg, ruling, reason) = match came {
        Ok(outcome) => {
            let (ruling, reason) = ruling_of(&outcome);
            (outcome.wg, ruling, reason)
        }
        Err(lost) => {
            let mut reason = lost.to_string();
            if OUT_OF_MEMORY.iter().any(|said| reason.contains(said)) {
                reason += "; it may have reached its memory limit, which --memory changes";
            }
            let ruling = match lost {
                Lost::Late(_) => Ruling::Endless,
                Lost::Died(_) => Ruling::Crashed,
            };
            (case.wg, ruling, reason)
        }
    };
    TriedCase {
        shape: case.shape,
        wg,
        ruling,
        reason,
    }
}

fn ruling_of(outcome: &Outcome) -> (Ruling, String) {
    let Err(Stop { status, reason, .. }) = &outcome.end else {
        return (Ruling::Right, String::new());
    };
    let is_argument =
        reason.contains("clSetKernelArg") || reason.contains("CL_INVALID_KERNEL_ARGS");
    let ruling = match status {
        // A time that cannot be believed is none of the result's.
        Status::Ok | Status::Suspect => Ruling::Right,
        Status::WrongResult => Ruling::Wrong,
        Status::BuildFailed => Ruling::NotBuilt,
        _ if is_argument => Ruling::NotBuilt,
        Status::Skipped => Ruling::Refused,
        Status::Timeout => Ruling::Endless,
        Status::Failed => Ruling::Failed,
    };
    (ruling, reason.clone())
}

/// Elements beyond the last whole group.
const REST: u64 = 5;

/// Most elements of a case that is verified thoroughly: a kernel with more for each group is tried at fewer sizes.
const MOST: u64 = 1 << 22;

/// Edge sizes, smallest first: one element; about a group's items and a group's elements; some groups and a rest; of
/// matrices also such as are wider than high, and higher than wide.
fn edges(form: Form, [wide, high]: [u64; 2], multiple: u64, asked: &Case) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = match form {
        Form::Vector => {
            let wg = asked.wg.size() as u64;
            let sizes = [&[1], &around(wg)[..], &around(wide)].concat();
            sizes.into_iter().map(Shape::vector).collect()
        }
        Form::Square => {
            let side = wide.max(high);
            let sizes = [&[1], &around(side)[..]].concat();
            sizes.into_iter().map(|n| Shape { n, m: n }).collect()
        }
        Form::Matrix => {
            let sides = [
                [1, 1],
                [wide - 1, high - 1],
                [wide, high],
                [wide + 1, high + 1],
                [1, high + 1],
                [wide + 1, 1],
                [3 * wide + REST, high],
                [wide, 3 * high + 1],
            ];
            sides.into_iter().map(|[n, m]| Shape { n, m }).collect()
        }
    };
    shapes.push(ragged(form, [wide, high]));
    for shape in &mut shapes {
        *shape = rounded(form, *shape, multiple);
    }
    shapes.retain(|shape| shape.n > 0 && shape.m > 0 && shape.elements() <= MOST);
    shapes.sort_by_key(|shape| (shape.elements(), shape.n));
    shapes.dedup();
    shapes
}

fn rounded(form: Form, shape: Shape, multiple: u64) -> Shape {
    form.shape(
        shape.n.next_multiple_of(multiple),
        (form == Form::Matrix).then(|| shape.m.next_multiple_of(multiple)),
    )
}

/// A shape of some groups and a rest.
pub fn ragged(form: Form, [wide, high]: [u64; 2]) -> Shape {
    match form {
        Form::Vector => Shape::vector((3 * wide + REST).min(MOST)),
        Form::Square => form.shape(2 * wide.max(high) + REST, None),
        Form::Matrix => Shape {
            n: 2 * wide + 3,
            m: 3 * high + 1,
        },
    }
}

/// Other work-groups to try: of a wrong kernel several, as they tell mistakes apart; of a right one a single one.
fn other_groups(wg: WorkGroup, target: &Target, is_wrong: bool) -> Vec<WorkGroup> {
    let all = match wg.0[1] {
        1 => [[1, 1], [64, 1], [256, 1], [512, 1]],
        _ => [[1, 1], [8, 8], [16, 16], [32, 8]],
    };
    let others = all
        .into_iter()
        .skip(usize::from(!is_wrong))
        .map(|[wide, high]| WorkGroup([wide, high, 1]))
        .filter(|other| *other != wg && other.size() <= target.max_wg);
    others.take(if is_wrong { 3 } else { 1 }).collect()
}
