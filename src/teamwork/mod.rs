//! One rung over several devices: each alone, then all together, and what that gains.

mod options;
mod player;
mod rows;

use crate::bench::{self, Input};
use crate::cli::Ladder;
use crate::data::Array;
use crate::device::{doctor, select};
use crate::input;
use crate::ladder::{self, LadderRun};
use crate::outputs::{Outputs, Paths};
use crate::prelude::*;
use crate::record::SampleRow;
use crate::report::progress::{Observer, StatusLine};
use crate::report::{Medium, RateUnit, team as tables};
use crate::runner::Portion;
use crate::team::{Failure, Goal, measure, split};
use crate::worker::usual_deadline;
use options::asked;
use player::Player;
use rows::TeamRecords;

/// Climbs the ladder on one device; over several, has them share the work of one rung.
pub(crate) fn run(out: &mut Out, global: &Global, options: &Ladder, study: &LadderRun<'_>) -> Result<(), Error> {
    let Some(list) = global.device.as_deref().filter(|list| select::is_several(list)) else {
        return ladder::run(out, global, options, study);
    };
    let asked = asked(options, study, global.quiet)?;
    let platforms = doctor::platforms()?;
    let infos: Vec<DeviceInfo> = select::several(&platforms, list)?.into_iter().cloned().collect();
    let data = Input { family: study.family, shape: study.shape, dtype: asked.dtype, params: &study.params };
    let bytes = data.bytes()?;
    data.check_host(bytes)?;
    let outputs = Outputs::open(&Paths::from(&options.output))?;
    interrupt::watch();
    let deadline = options.measure.deadline.unwrap_or_else(|| usual_deadline(bytes, data.ops()));
    let mut status = StatusLine::new(global.quiet);
    let steps = infos.len() + if infos.len() > 1 { 2 } else { 1 };
    status.case_started(0, steps, "the CPU's result");
    let files =
        study.inputs.iter().map(|file| input::read(file, Some(asked.dtype))).collect::<Result<Vec<Array>, _>>()?;
    let whole = asked.case(study, options, None);
    let goal = Goal::new(study.family, &whole, (!files.is_empty()).then_some(&files))?;
    let mut run = TeamRun {
        players: Vec::new(),
        goal,
        n: study.shape.n,
        settings: options.measure.settings(),
        records: TeamRecords::new(study, options),
        outputs,
    };
    let shared = (|| {
        for (step, info) in (1..).zip(infos) {
            bench::announce(global, &info);
            status.case_started(step, steps, &format!("{} alone", info.selector));
            let fits = data.check_device(bytes, &info);
            let mut player = Player::open(info, study, options, &asked, deadline, global.quiet)?;
            fits.unwrap_or_else(|error| player.refuse(error));
            run.alone(player)?;
        }
        match run.players.len() {
            1 => {
                note(&format!("`{list}` is one device here, so there is nothing to share"));
                Ok(())
            }
            _ => {
                status.case_started(steps - 1, steps, "all together");
                run.together()
            }
        }
    })();
    drop(status);
    let TeamRun { records, mut outputs, .. } = run;
    let rows = records.rows;
    let unit = if options.output.gib { RateUnit::GiB } else { RateUnit::GB };
    if !rows.is_empty() {
        outputs.md(&tables::text(&rows, unit, Medium::Markdown));
        let table = |screen| tables::text(&rows, unit, Medium::Screen(screen));
        outputs.tell(out, &table, screen(global.color), global.quiet);
    }
    let finished = outputs.finish(shared.is_ok(), !rows.is_empty());
    let named: Vec<(String, &Row)> = rows.iter().map(|row| (tables::name(row), row)).collect();
    let worst = bench::worst_named(&named, options.measure.strict);
    worst_of([shared, worst, finished])
}

/// A run over several devices under way.
struct TeamRun<'a> {
    players: Vec<Player<'a>>,
    goal: Goal<'a>,
    n: u64,
    settings: Settings,
    records: TeamRecords,
    outputs: Outputs<Row>,
}

impl<'a> TeamRun<'a> {
    /// Has a device do the whole by itself.
    fn alone(&mut self, mut player: Player<'a>) -> Result<(), Error> {
        let whole = Portion { from: 0, len: self.n };
        let outcome = match player.member(whole) {
            Err(stop) => player.failed(stop),
            Ok(member) => {
                let mut members = if self.n == 0 { Vec::new() } else { vec![member] };
                match measure(&self.goal, &mut members, &self.settings) {
                    Ok(outcome) => Outcome { case: player.case.clone(), ..outcome },
                    Err(Failure::Lost(mut lost)) => {
                        player.failed(lost.pop().map_or_else(|| Stop::failed("no answer came"), |(_, stop)| stop))
                    }
                    Err(Failure::Wrong(stop)) => player.failed(stop),
                    Err(Failure::Ended(error)) => return Err(error),
                }
            }
        };
        let record = self.records.add_alone(&player, outcome, whole);
        player.took(&record);
        self.records.rows.last().into_iter().for_each(|row| self.outputs.row(row));
        self.outputs.samples(SampleRow::of(&record));
        self.players.push(player);
        Ok(())
    }

    /// Has all devices share the work that did it alone. What one of them does not do, the others do.
    fn together(&mut self) -> Result<(), Error> {
        let grain = self.players.iter().map(|player| player.grain).max().unwrap_or(1);
        let without = |player: &Player<'_>| format!("{} did not do its share, so others did it", player.info.selector);
        let mut lost: Vec<String> = self.players.iter().filter(|player| !player.is_able).map(without).collect();
        loop {
            let speeds: Vec<f64> = self.players.iter().map(Player::speed).collect();
            if self.players.iter().all(|player| !player.is_able) {
                return Err(Error::Failed("no device did the work: the reasons are above".into()));
            }
            let portions = split(self.n, &speeds, grain);
            let mut members = Vec::new();
            let mut at = Vec::new();
            for (index, (player, portion)) in self.players.iter_mut().zip(&portions).enumerate() {
                if let (1.., Ok(member)) = (portion.len, player.member(*portion)) {
                    members.push(member);
                    at.push(index);
                }
            }
            let mut outcome = match measure(&self.goal, &mut members, &self.settings) {
                Ok(outcome) => outcome,
                Err(Failure::Wrong(stop)) => self.players[0].failed(stop),
                Err(Failure::Ended(error)) => return Err(error),
                Err(Failure::Lost(stops)) => {
                    for (index, stop) in stops {
                        let player = &mut self.players[at[index]];
                        let portion = portions[at[index]];
                        player.is_able = false;
                        lost.push(without(player));
                        let outcome = player.failed(stop);
                        self.records.add_alone(player, outcome, portion);
                        self.records.rows.last().into_iter().for_each(|row| self.outputs.row(row));
                    }
                    continue;
                }
            };
            match &mut outcome.end {
                Ok(measured) => measured.note = lost.join("; "),
                Err(stop) => stop.reason = [lost, vec![stop.reason.clone()]].concat().join("; "),
            }
            let team: Vec<(&Player<'_>, Portion)> = self.players.iter().zip(portions).collect();
            let record = self.records.add_together(&team, outcome);
            self.records.rows.last().into_iter().for_each(|row| self.outputs.row(row));
            self.outputs.samples(SampleRow::of(&record));
            return Ok(());
        }
    }
}
