//! `gpulab exercise predict`: how much faster the next rung is, bet before it is measured.

use super::{StepBet, bets, parse_bet};
use crate::adopt::parted;
use crate::cli::{ExercisePredict, Ladder};
use crate::counting::reasons_of;
use crate::kernels::ladders;
use crate::ladder::{self, LadderRun};
use crate::prelude::*;
use crate::record::clear_factor;
use crate::report::exercise as text;
use crate::values::variants;
use crate::{ceilings, suggest};
use std::io::BufRead;

type LadderStep = (&'static Rung, &'static Rung);

/// Asks for a bet, measures both rungs, and keeps the score.
pub(crate) fn run(out: &mut Out, global: &Global, options: &ExercisePredict) -> Result<(), Error> {
    let (family, (from, to)) = step(options.step.as_deref())?;
    let quick = options.quick.then_some("--quick");
    let list = format!("{},{}", from.variant(), to.variant());
    let ladder = Ladder::of(["--variant", &list].into_iter().chain(quick)).map_err(Error::Failed)?;
    let n = options.n.unwrap_or_else(|| ladder.default_size(family.form));
    let mut study = LadderRun::new(family, family.form.shape(n, None), options.dtype, &Default::default());
    study.registry = Registry::default();
    let width = screen(global.color).width;
    let bet = match options.bet {
        Some(bet) => bet,
        None => ask(out, &text::question(family, from, to, width))?,
    };
    let mut rows = Vec::new();
    ladder::run_into(out, global, &ladder, &study, &mut rows)?;
    let row = |rung: &Rung| rows.iter().find(|row| row.variant == rung.variant() && row.t_median_s.is_some());
    let (Some(before), Some(after)) = (row(from), row(to)) else {
        return Err(Error::Failed(format!(
            "{} and {} were not both measured: no bet is kept",
            from.label(),
            to.label()
        )));
    };
    let measured = before.t_median_s.unwrap_or_default() / after.t_median_s.unwrap_or_default();
    let made = StepBet {
        family: family.name.to_string(),
        from: from.variant().into(),
        to: to.variant().into(),
        device: after.device.clone(),
        bet,
        measured,
        is_undecided: measured.max(1.0 / measured) <= clear_factor(Some(before), after),
    };
    let word = model_word(&[before.clone(), after.clone()], global.quiet)?;
    let mut all = bets();
    all.0.push(made.clone());
    if let Err(error) = ceilings::folder().and_then(|folder| all.save(&folder)) {
        note(&format!("note: your bet is not kept: {error}; set GPULAB_DATA to a folder that can be written to"));
    }
    out.text(&text::settled(&made, &word, &all, width))
}

/// What the model says of the step, or what is missing for it.
fn model_word(rows: &[Row; 2], quiet: bool) -> Result<String, Error> {
    Ok(match reasons_of(&Registry::default(), rows, quiet)? {
        Err(missing) => format!("no reason: no limit is kept for {missing}; gpulab ceiling measures it"),
        Ok(why) => match why.steps.first() {
            Some((gain, reason)) => crate::report::why::sentence(&rows[0], &rows[1], *gain, reason),
            None => "no reason: a rung has no time".to_owned(),
        },
    })
}

/// The family and the step that a text names: `reduce:2` is the step from v2 on, `reduce` the first one that was not bet on.
fn step(text: Option<&str>) -> Result<(&'static Family, LadderStep), Error> {
    let Some(text) = text else {
        let open = ladders().find_map(|family| Some((family, first_open(family)?)));
        return Ok(open.unwrap_or((FAMILIES[0], steps(FAMILIES[0])[0])));
    };
    let (name, part) = parted(text);
    let names = || ladders().map(|family| &*family.name).collect::<Vec<_>>();
    let family = ladders().find(|family| family.name == name);
    let family = family.ok_or_else(|| Error::Usage(suggest::unknown("family", name, &names())))?;
    let Some(part) = part else { return Ok((family, first_open(family).unwrap_or(steps(family)[0]))) };
    let chosen = variants(family, part).map_err(Error::Usage)?;
    let step = steps(family).into_iter().find(|(from, _)| chosen.len() == 1 && from.path == chosen[0].path);
    Ok((
        family,
        step.ok_or_else(|| {
            let last = steps(family).last().map_or_else(String::new, |(_, to)| to.label());
            Error::Usage(format!(
                "{text}: name one rung, from which the step goes on, as in {name}:2; {last} is the last"
            ))
        })?,
    ))
}

pub(crate) fn first_open(family: &'static Family) -> Option<LadderStep> {
    let bets = bets();
    steps(family).into_iter().find(|(_, to)| !bets.has(&family.name, to.variant()))
}

fn steps(family: &'static Family) -> Vec<LadderStep> {
    let rungs: Vec<&Rung> = family.ladder.iter().filter(|rung| rung.number().is_some()).collect();
    rungs.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// Reads a bet from standard input; what is no factor is asked for again.
fn ask(out: &mut Out, question: &str) -> Result<f64, Error> {
    out.text(question)?;
    let mut lines = std::io::stdin().lock().lines();
    while let Some(Ok(line)) = lines.next() {
        match parse_bet(&line) {
            Ok(bet) => return Ok(bet),
            Err(why) => out.text(&format!("{why}\n"))?,
        }
    }
    Err(Error::Usage("no bet was given, so nothing is measured: answer with a number, or give --bet 2.5".into()))
}
