//! `gpulab compare`: recorded runs held against each other, or a kernel against itself.

use crate::bench::{self, Input};
use crate::brought::Brought;
use crate::cli::{Compare, Global};
use crate::commands::show::records::runs_of;
use crate::compare::{ComparisonRow, FileComparison, compare, steps};
use crate::console::{print, screen};
use crate::data::Params;
use crate::outcome::Settings;
use crate::outputs::{Outputs, Paths};
use crate::plan::Case;
use crate::record::{Row, Run, Scene};
use crate::report::progress::StatusLine;
use crate::{Error, Result, report, usage_error, values};
use std::time::Instant;

/// Compares each file with the first, and says what the steps of ladders bring where several devices are in the files.
pub fn run(global: &Global, options: &Compare) -> Result<()> {
    if let Some(kernel) = &options.noise {
        return noise(global, kernel);
    }
    let mut outputs = Outputs::open(&Paths::from(&options.rows))?;
    let sides = options
        .files
        .iter()
        .map(|names| runs_of(names, global.quiet))
        .collect::<Result<Vec<_>>>()?;
    let Some((first, others)) = sides.split_first() else {
        return Ok(());
    };
    let ladders = steps(sides.iter().flatten());
    let comparisons: Vec<FileComparison<'_>> = others
        .iter()
        .map(|rows| compare(first, rows, options.same))
        .collect();
    // Nothing to hold against a limit is no success.
    let is_due = !options.fail_on.is_empty() || ladders.is_empty();
    if is_due
        && comparisons
            .iter()
            .all(|comparison| comparison.pairs.is_empty())
    {
        let why = "the files share no case: both need times of the same rungs, types and sizes by the same clock";
        return usage_error(why);
    }
    for (comparison, name) in comparisons.iter().zip(options.files.iter().skip(1)) {
        let names = [options.files[0].as_str(), name];
        comparison
            .pairs
            .iter()
            .for_each(|case| outputs.row(&ComparisonRow::new(names, case)));
        outputs.tell(global, &|screen| {
            report::compare::text(comparison, names, options.same, global.verbose, screen)
        });
    }
    if !ladders.is_empty() {
        outputs.tell(global, &|screen| {
            format!("\n{}", report::compare::steps(&ladders, screen))
        });
    }
    outputs.finish(true, true)?;
    comparisons
        .iter()
        .try_for_each(|comparison| comparison.demand(&options.fail_on))
}

/// Rounds in each of which both sides are measured once.
const ROUNDS: usize = 10;

/// Measures a kernel as two sides in turn, each run in a fresh process, and says which differences could be seen.
fn noise(global: &Global, kernel: &str) -> Result<()> {
    let wanted = Error::Usage(format!(
        "--noise {kernel}: name a family and one rung, as in reduce:4"
    ));
    let Some((family, variant)) = kernel.rsplit_once(':') else {
        return Err(wanted);
    };
    let Brought {
        registry, family, ..
    } = &Brought::new(family)?;
    let rungs = values::variants(family, variant).map_err(Error::Usage)?;
    let [rung] = rungs[..] else {
        return Err(wanted);
    };
    let dtype = bench::dtype(family, None)?;
    let shape = family.form.shape(family.form.ladder_size(false), None);
    let params = Params::new();
    let input = Input {
        family,
        shape,
        dtype,
        params: &params,
    };
    let mut executor = input.open(global.setup(None, registry), false, None)?;
    bench::announce(global, executor.info());
    let wg = bench::default_work_group(executor.info());
    let case = Case {
        wg,
        ..Case::of(&family.name, rung.variant(), dtype, shape)
    };
    let mut observer = StatusLine::new(global.quiet);
    let began = Instant::now();
    let mut sides = [Vec::new(), Vec::new()];
    for at in 0..2 * ROUNDS {
        bench::go_on()?;
        if at > 0 {
            executor.renew();
        }
        let side = bench::side_in_turn(at);
        observer.case_started(
            at,
            2 * ROUNDS,
            &format!("round {}, side {}", at / 2 + 1, ["A", "B"][side]),
        );
        let settings = Settings::default();
        let outcome = bench::measured(&mut *executor, &case, &settings)?;
        let scene = Scene::on_device(&Run::begin(), executor.info(), &settings, None);
        sides[side].push(Row::of(&scene, rung.number(), &outcome));
    }
    drop(observer);
    let each = began.elapsed().as_secs_f64() / ROUNDS as f64;
    print(&report::compare::noise(&sides, each, screen(global.color)))
}
