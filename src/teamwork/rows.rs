//! The records of a run over several devices.

use super::player::Player;
use crate::cli::Ladder;
use crate::kernels::Bound;
use crate::ladder::LadderRun;
use crate::prelude::*;
use crate::runner::Portion;
use crate::stats::ratio;

pub(super) struct TeamRecords {
    run: Run,
    settings: Settings,
    bound: Bound,
    pub(super) rows: Vec<Row>,
}

impl TeamRecords {
    pub(super) fn new(study: &LadderRun<'_>, options: &Ladder) -> TeamRecords {
        let run = Run { quick: options.measure.quick, ..Run::begin() };
        TeamRecords { run, settings: options.measure.settings(), bound: study.family.ceiling, rows: Vec::new() }
    }

    /// Adds what one device did of a case.
    pub(super) fn add_alone(&mut self, player: &Player<'_>, outcome: Outcome, portion: Portion) -> Record {
        let scene = Scene::on_device(&self.run, &player.info, &self.settings, None);
        let scene = Scene { bound: Some(self.bound), tuned: player.tuned, ..scene };
        let record = Record::from_outcome(&scene, player.rung.and_then(Rung::number), outcome);
        self.rows.push(Row { shares: share(player, portion), ..Row::from(&record) });
        record
    }

    /// Adds what several devices did together, beside the sum of their speeds alone.
    pub(super) fn add_together(&mut self, team: &[(&Player<'_>, Portion)], outcome: Outcome) -> Record {
        let all =
            |text: fn(&DeviceInfo) -> &String| team.iter().map(|(player, _)| text(&player.info).as_str()).joined(" + ");
        let cache = team.iter().map(|(player, _)| player.info.target.cache).sum();
        let scene = Scene {
            platform: all(|info| &info.platform),
            device: all(|info| &info.name),
            driver: all(|info| &info.driver),
            cl_version: all(|info| &info.cl_version),
            cache_bytes: cache,
            cache_reach: cache,
            bound: Some(self.bound),
            tuned: team.iter().any(|(player, _)| player.tuned),
            ..Scene::on_host(&self.run, 0, &self.settings)
        };
        let mut variants: Vec<&str> = working(team).map(|player| player.case.variant.as_str()).collect();
        variants.dedup();
        let rung = working(team).next().filter(|_| variants.len() == 1).and_then(|player| player.rung?.number());
        let mut outcome = outcome;
        outcome.case.variant = variants.join("+");
        let record = Record::from_outcome(&scene, rung, outcome);
        let measured = record.outcome.measured();
        let time = record.times.map(|times| times.median);
        let clock = measured.map(|measured| measured.clock);
        let alone =
            |player: &Player<'_>| player.seconds.filter(|(_, own)| Some(*own) == clock).map(|(seconds, _)| seconds);
        let ideal_pct = of_ideal(team, time, alone);
        let ideal_end_to_end_pct = of_ideal(team, measured.and_then(|m| m.end_to_end), |player| player.end_to_end);
        let shares: Vec<String> = team.iter().map(|(player, portion)| share(player, *portion)).collect();
        self.rows.push(Row { shares: shares.join(" "), ideal_pct, ideal_end_to_end_pct, ..Row::from(&record) });
        record
    }
}

/// `0:0=5120`.
fn share(player: &Player<'_>, portion: Portion) -> String {
    format!("{}={}", player.info.selector, portion.len)
}

/// Those that have something to do; all of them where there is nothing.
fn working<'t>(team: &'t [(&'t Player<'_>, Portion)]) -> impl Iterator<Item = &'t Player<'t>> {
    let is_nothing = team.iter().all(|(_, portion)| portion.len == 0);
    team.iter().filter(move |(_, portion)| is_nothing || portion.len > 0).map(|(player, _)| *player)
}

/// The speed of so many seconds in per cent of the sum of the able players' speeds alone, if all have one.
fn of_ideal(
    team: &[(&Player<'_>, Portion)],
    seconds: Option<f64>,
    alone: impl Fn(&Player<'_>) -> Option<f64>,
) -> Option<f64> {
    let able = team.iter().filter(|(player, _)| player.is_able);
    let speeds: Option<Vec<f64>> = able.map(|(player, _)| ratio(1.0, alone(player)?)).collect();
    ratio(100.0, seconds? * speeds?.iter().sum::<f64>())
}
