//! `gpulab try new.cl --against old.cl`: a kernel judged by an older one, and timed with it in turn.

use super::judge::judge_rung;
use crate::bench::{self, Input};
use crate::brought::{family_of_text, parted, read};
use crate::cli::{Global, TryArgs};
use crate::compare::{FEWEST, RatioInterval, SpeedVerdict};
use crate::console::{print, screen};
use crate::data::Params;
use crate::judgement::Ruling;
use crate::kernels::{Registry, draft_pair, is_alike};
use crate::outcome::{Candidate, Settings};
use crate::plan::Case;
use crate::report::format::Screen;
use crate::report::progress::StatusLine;
use crate::report::{against, judged};
use crate::terminal::say;
use crate::{Error, Result, usage_error};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Seconds for which both kernels are timed at most, unless a budget is given.
const BUDGET_S: f64 = 10.0;

/// Share of a time by which kernels that are the same may differ.
const SAME: f64 = 0.02;

/// The two kernels: the old one is right, and the new one is what is judged.
pub fn run(global: &Global, options: &TryArgs, kernels: [&str; 2]) -> Result<()> {
    let mut registry = Registry::default();
    let [(old, old_kernel), (new, new_kernel)] = kernels.map(parted);
    let path = Path::new(old);
    let text = read(path)?;
    let named = |file: &str, kernel: Option<&str>| {
        let path = Path::new(file).canonicalize().unwrap_or_default();
        let file = path.to_string_lossy().into_owned();
        kernel.map_or(file.clone(), |kernel| format!("{file}:{kernel}"))
    };
    read(Path::new(new))?;
    let names = [named(old, old_kernel), named(new, new_kernel)];
    let described = draft_pair(&text, old, old_kernel, names.each_ref().map(String::as_str))
        .map_err(Error::Usage)?;
    let family = &family_of_text(
        &mut registry,
        (described, "pair".to_owned(), PathBuf::from("/")),
        Path::new(new),
        global.device.as_deref(),
    )?;
    let rungs: Vec<_> = family.kernels().collect();
    let [old_rung, rung] = rungs[..] else {
        return usage_error("two kernels make no pair");
    };
    let measure = &options.ladder.measure;
    let usual = family.usual_shape(family.form.ladder_size(measure.quick), measure.quick);
    let shape = bench::shape(family, options.n, options.m, usual)?;
    let dtype = bench::dtype(family, options.ladder.dtype)?;
    let case = |variant: &str| Case {
        wg: options
            .ladder
            .wg
            .or(rung.work_group())
            .unwrap_or(bench::WORK_GROUP),
        seed: options.ladder.given.seed,
        ..Case::of(&family.name, variant, dtype, shape)
    };
    let judgement = judge_rung(global, &registry, (family, rung), &case(rung.variant()))?;
    let told = judged::text(new, &judgement, false, Screen::stderr());
    let (word, code) = match judgement.ruling {
        Ruling::Right => ("", 0),
        Ruling::NotBuilt => ("NOT BUILT\n", 5),
        Ruling::Wrong | Ruling::Crashed | Ruling::Endless => ("INCORRECT\n", 4),
        Ruling::Refused => return usage_error(told.trim_end()),
        // Of the driver, or of data over which a wrong kernel would pass: no verdict on the kernel.
        Ruling::Failed => return Err(Error::Failed(told.trim_end().to_owned())),
    };
    print(word)?;
    if code > 0 {
        say(told.trim_end());
        return Err(Error::Told(code));
    }
    let texts = [old_rung, rung].map(|rung| rung.text().unwrap_or_default());
    if old_kernel == new_kernel && is_alike(texts[0], texts[1]) {
        return print("SAME: both texts are one, but for blanks and comments\n");
    }
    let input = Input {
        family,
        shape,
        dtype,
        params: &Params::new(),
    };
    let cases = [case("old"), case("new")];
    let times = times(global, (&registry, &input), cases, measure.budget)?;
    let Some(interval) = RatioInterval::of_runs(&times[0], &times[1], true) else {
        return usage_error("too few runs of each kernel: give it a larger --budget");
    };
    let verdict = SpeedVerdict::of(&interval, SAME);
    print(&against::text(
        (kernels, &times),
        &interval,
        verdict,
        SAME,
        screen(global.color),
    ))?;
    match verdict {
        SpeedVerdict::Faster | SpeedVerdict::Same => Ok(()),
        SpeedVerdict::Slower => Err(Error::Told(6)),
        SpeedVerdict::Undecided => Err(Error::Undecided(format!(
            "{new}: the noise hides whether it is faster"
        ))),
    }
}

/// Times of the runs of both cases in seconds, in turn, until they decide or the time is over.
fn times(
    global: &Global,
    (registry, input): (&Registry, &Input<'_>),
    cases: [Case; 2],
    budget: Option<f64>,
) -> Result<[Vec<f64>; 2]> {
    let settings = Settings {
        timeout: 0.1,
        candidate: Some(Candidate {
            give_up_above: None,
            is_preliminary: true,
        }),
        ..Settings::default()
    };
    let limit = Duration::from_secs_f64(budget.unwrap_or(BUDGET_S));
    let mut executor = input.open(global.setup(None, registry), false, None)?;
    bench::announce(global, executor.info());
    let mut observer = StatusLine::new(global.quiet);
    let began = Instant::now();
    let mut sides = [Vec::new(), Vec::new()];
    for at in 0.. {
        bench::go_on()?;
        let rounds = at / 2;
        if at % 2 == 0 && rounds >= FEWEST {
            // Each look at the times may mislead: after 6 rounds, 12, 24 and so on, and at the end.
            let is_over = began.elapsed() > limit;
            let is_look = rounds.is_multiple_of(FEWEST) && (rounds / FEWEST).is_power_of_two();
            let interval = RatioInterval::of_runs(&sides[0], &sides[1], true);
            let verdict = interval.map(|interval| SpeedVerdict::of(&interval, SAME));
            if is_over || (is_look && verdict != Some(SpeedVerdict::Undecided)) {
                break;
            }
        }
        let side = bench::side_in_turn(at);
        observer.case_started(at, 2 * FEWEST.max(at / 2 + 1), ["old", "new"][side]);
        let outcome = bench::measured(&mut *executor, &cases[side], &settings)?;
        sides[side].extend(outcome.median());
    }
    Ok(sides)
}
