//! `gpulab noise`: how small a difference this machine can see now.

use crate::adopt::Brought;
use crate::bench::{self, Input};
use crate::cli::NoiseArgs;
use crate::compare::{CaseRun, Noise, Turns};
use crate::outcome::Job;
use crate::prelude::*;
use crate::report;
use crate::report::progress::StatusLine;
use crate::runner::Pace;

/// Measures a kernel as two sides in turn, each run in a fresh process, and says which differences could be seen.
pub fn run(out: &mut Out, global: &Global, options: &NoiseArgs) -> Result<(), Error> {
    let Brought { registry, family, .. } = &Brought::new(&options.family)?;
    let rungs = values::variants(family, &options.variant).map_err(Error::Usage)?;
    let [rung] = rungs.as_slice() else {
        return Err(Error::Usage(format!("--variant {}: name one rung", options.variant)));
    };
    let dtype = bench::dtype(family, options.element.dtype)?;
    let form = family.form;
    let shape = form.shape(options.n.unwrap_or_else(|| form.ladder_size(options.measure.quick)), None);
    let params = Params::new();
    let input = Input { family, shape, dtype, params: &params };
    let bytes = input.bytes()?;
    input.check_host(bytes)?;
    interrupt::watch();
    let setup = Setup { device: global.device.clone(), ..Setup::of(registry) };
    let mut executor = bench::open(setup, &options.measure, bytes, input.ops())?;
    input.check_device(bytes, executor.info())?;
    bench::announce(global, executor.info());
    let wg = options.wg.unwrap_or_else(|| bench::tuning::default_work_group(executor.info()));
    let case = Case { wg, ..Case::of(&family.name, rung.variant(), dtype, shape) };
    let began = Instant::now();
    let (last, [first, second]) = sides(&mut *executor, &case, rung, options, global)?;
    let (Some(noise), Some(row)) = (Noise::of(&first, &second), last) else {
        return Err(Error::Interrupted);
    };
    let each = began.elapsed().as_secs_f64() / noise.rounds as f64;
    out.text(&report::compare::noise(&noise, &CaseRun::from(&row), each, screen(global.color)))?;
    bench::go_on()
}

/// The last row, and the median times in seconds of both sides, one of each round, until all are there or somebody interrupts.
fn sides(
    executor: &mut dyn Executor,
    case: &Case,
    rung: &Rung,
    options: &NoiseArgs,
    global: &Global,
) -> Result<(Option<Row>, [Vec<f64>; 2]), Error> {
    let settings = options.measure.settings();
    let run = Run { quick: options.measure.quick, ..Run::begin() };
    let jobs = 2 * options.rounds as usize;
    let mut pace = Pace::new(options.measure.whole_budget(), Instant::now(), jobs);
    let mut observer = StatusLine::new(global.quiet);
    let mut last = None;
    let mut sides = [Vec::new(), Vec::new()];
    for at in 0..jobs {
        // The side that comes first changes from round to round.
        let side = usize::from(Turns::InTurn.is_second(at, options.rounds as usize));
        let settings = pace.settings(&settings, 1, 0.0);
        let job = Job { baseline: false, case: case.clone(), settings, again: false };
        if at > 0 {
            executor.renew();
        }
        observer.case_started(at, jobs, &format!("round {}, side {}", at / 2 + 1, ["A", "B"][side]));
        let started = Instant::now();
        let outcome = match executor.run(&job) {
            Err(Error::Interrupted) => break,
            outcome => outcome?,
        };
        pace.job_done(started, job.settings.timeout);
        if outcome.status() != Status::Ok {
            return Err(bench::stopped(case, Stop::new(outcome.status(), outcome.reason())));
        }
        let scene = Scene::on_device(&run, executor.info(), &job.settings, None);
        let row = Row::from(&Record::from_outcome(&scene, rung.number(), outcome));
        sides[side].extend(row.t_median_s);
        last = Some(row);
        if interrupt::interrupted() {
            break;
        }
    }
    drop(observer);
    pace.overrun().into_iter().for_each(|told| global.note(&told));
    Ok((last, sides))
}
