//! Carries out scripts: what goes on between host and device, checked and timed as rungs are.

use super::canary::{self, Gauge};
use super::clock;
use super::outcome::{Clock, Outcome, Sample, Settings, Status, Stop};
use super::session::{Session, Sources};
use super::timeline::{Bar, bars};
use crate::device::{Action, BufferId, Command, Device, HostId, Place, ProgramId, Timing, Unit};
use crate::exchange::{AnswerPlace, Contents, Exchange, Expected, Reading, Script, Variant, pattern};
use crate::kernels::{Arg, Case, Target};
use crate::memory;
use rayon::prelude::*;
use std::time::Instant;

impl Session {
    /// Plays a case's script and checks it, times it, and checks it once more.
    pub(super) fn exchange(&mut self, exchange: &Exchange, case: &Case, settings: &Settings) -> Outcome {
        let mut outcome = Outcome::pending(case, settings.clock);
        let done = self.carry_out(exchange, case, settings, &mut outcome);
        outcome.ended(done)
    }

    fn carry_out(
        &mut self,
        exchange: &Exchange,
        case: &Case,
        settings: &Settings,
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        let Some(variant) = exchange.variant(&case.variant) else {
            return Err(Stop::failed(format!("{} has no variant {}", exchange.name, case.variant)));
        };
        outcome.params = case.params.clone();
        let started = Instant::now();
        let script = (exchange.script)(case, &self.device.info().target)?;
        check_room(&script, &self.device.info().target)?;
        outcome.spent.data = started.elapsed().as_secs_f64();
        (outcome.bytes, outcome.ops, outcome.working_set) = (script.cost.bytes, script.cost.ops, script.bytes());
        let is_launch = |c: &&Command| matches!(c.action, Action::Launch(_));
        outcome.launches = script.commands.iter().filter(is_launch).count() as u64;
        let program = build(&mut *self.device, &self.sources, &script)?;
        outcome.spent.build = started.elapsed().as_secs_f64() - outcome.spent.data;
        self.ready_gauge()?;
        let mut stage = Stage { device: &mut *self.device, program, hosts: Vec::new(), buffers: Vec::new() };
        let checked = stage.check(&script, case.seed, outcome);
        let done = checked.and_then(|()| {
            let measured = stage.measure(&script, variant, case.seed, settings, self.gauge.as_mut(), outcome);
            measured.map_err(|stop| stop.after(true))
        });
        stage.strike();
        done
    }
}

/// Refuses what cannot be held, with the sum.
fn check_room(script: &Script, target: &Target) -> Result<(), Stop> {
    let largest = script.buffers.iter().map(|b| b.bytes as u64).max().unwrap_or(0);
    let device: u64 = script.buffers.iter().map(|b| b.bytes as u64).sum();
    if largest > target.max_alloc || device > target.global_mem {
        return Err(Stop::skipped(format!(
            "needs {device} bytes on the device, {largest} in one buffer: it has {}, and allows {} in one buffer",
            target.global_mem, target.max_alloc
        )));
    }
    let on_host: u64 = script.host.iter().map(|h| h.bytes as u64).sum();
    // A buffer at a time is filled from a copy and compared with one.
    let beside = script.host.iter().map(|h| h.bytes as u64).fold(largest, u64::max);
    let needed = on_host + beside + if target.gpu { 0 } else { device };
    match memory::available() {
        Some(available) if needed > available => {
            Err(Stop::skipped(format!("needs {needed} bytes of this machine's memory, {available} are available")))
        }
        _ => Ok(()),
    }
}

fn build(device: &mut dyn Device, sources: &Sources, script: &Script) -> Result<Option<ProgramId>, Stop> {
    let Some(program) = &script.program else { return Ok(None) };
    let text = sources.assemble(program.path)?;
    let unit =
        Unit { path: program.path.into(), text, defines: program.defines.clone(), kernels: program.kernels.clone() };
    Ok(Some(device.build(&unit)?))
}

/// A script's memory on a device.
struct Stage<'a> {
    device: &'a mut dyn Device,
    program: Option<ProgramId>,
    hosts: Vec<HostId>,
    buffers: Vec<BufferId>,
}

impl Stage<'_> {
    /// Allocates and fills what the script works on, and plays it once.
    fn check(&mut self, script: &Script, seed: u64, outcome: &mut Outcome) -> Result<(), Stop> {
        let started = Instant::now();
        self.set(script, seed)?;
        self.play_checked(script, &self.bind(&script.commands), seed, "before timing")?;
        outcome.spent.verify = started.elapsed().as_secs_f64();
        Ok(())
    }

    fn measure(
        &mut self,
        script: &Script,
        variant: &Variant,
        seed: u64,
        settings: &Settings,
        gauge: Option<&mut Gauge>,
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        let commands = self.bind(&script.commands);
        let started = Instant::now();
        let program = self.program;
        outcome.watched(canary::sample(settings, self.device, gauge, &mut |device, _| {
            let timing = device.play(program, &commands, script.repeat, variant.by_events)?;
            Ok(sample(&timing, script, variant))
        })?);
        (outcome.clock, outcome.clock_note) = (Clock::Wall, None);
        if variant.by_events {
            outcome.clock_note = outcome.objection(None);
            outcome.clock = if outcome.clock_note.is_some() { Clock::Wall } else { Clock::Event };
        }
        if script.timeline && outcome.distrust.is_none() {
            outcome.timeline = self.timeline(&commands)?;
        }
        outcome.spent.measure = started.elapsed().as_secs_f64();
        self.play_checked(script, &commands, seed, "after timing")?;
        outcome.status = Status::Ok;
        Ok(())
    }

    /// Allocates and fills what the script works on.
    fn set(&mut self, script: &Script, seed: u64) -> Result<(), Stop> {
        for spec in &script.host {
            let id = self.device.hold(spec.holding, spec.bytes)?;
            self.hosts.push(id);
            fill(self.device.held(id)?, spec.contents, seed);
        }
        for spec in &script.buffers {
            let id = match spec.place {
                Place::Device => self.device.alloc(spec.bytes)?,
                Place::Host => self.device.alloc_on_host(spec.bytes)?,
            };
            self.buffers.push(id);
            let mut bytes = vec![0; spec.bytes];
            fill(&mut bytes, spec.contents, seed);
            self.device.write(id, 0, &bytes)?;
        }
        Ok(())
    }

    /// Gives everything back.
    fn strike(self) {
        self.buffers.iter().for_each(|&id| self.device.free(id));
        self.hosts.iter().for_each(|&id| self.device.let_go(id));
    }

    /// The script's commands, with what was allocated in place of places.
    fn bind(&self, commands: &[Command]) -> Vec<Command> {
        let buffer = |place: usize| self.buffers[place];
        let bound = |command: &Command| {
            let mut command = command.clone();
            match &mut command.action {
                Action::Launch(launch) => launch.args.iter_mut().for_each(|arg| {
                    if let Arg::Buffer(place) = arg {
                        *place = buffer(*place).0 as usize;
                    }
                }),
                Action::Write(t) | Action::Read(t) | Action::Fill(t) | Action::Fetch(t) => {
                    t.host = self.hosts[t.host.0 as usize];
                    t.buffer = buffer(t.buffer.0 as usize);
                }
                Action::Work(_) => {}
            }
            command
        };
        commands.iter().map(bound).collect()
    }

    /// Plays once into poisoned memory, and compares.
    fn play_checked(&mut self, script: &Script, commands: &[Command], seed: u64, when: &str) -> Result<(), Stop> {
        let answer = &script.answer;
        let bytes = match answer.place {
            AnswerPlace::Host(place) => script.host[place].bytes,
            AnswerPlace::Buffer(place) => script.buffers[place].bytes,
        };
        if answer.expect != Expected::Nothing {
            self.put(answer.place, &vec![answer.before; bytes])?;
        }
        // On the queue that copies go through: some drivers let one queue see late what another has done.
        self.device.play(self.program, commands, script.repeat, true)?;
        let wrong = match &answer.expect {
            Expected::Nothing => None,
            Expected::Pattern => differs(&self.get(answer.place, bytes)?, &|i| pattern(seed, i)),
            Expected::Words(words) => differs(&self.get(answer.place, 4 * words.len())?, &|i| words[i]),
        };
        let said = |Wrong { at, is, must }| format!("{when}: word {at} is {is:#x} and must be {must:#x}");
        wrong.map_or(Ok(()), |wrong| Err(Stop { status: Status::WrongResult, reason: said(wrong) }))
    }

    fn put(&mut self, place: AnswerPlace, bytes: &[u8]) -> Result<(), Stop> {
        match place {
            AnswerPlace::Host(place) => self.device.held(self.hosts[place])?.copy_from_slice(bytes),
            AnswerPlace::Buffer(place) => self.device.write(self.buffers[place], 0, bytes)?,
        }
        Ok(())
    }

    fn get(&mut self, place: AnswerPlace, bytes: usize) -> Result<Vec<u8>, Stop> {
        match place {
            AnswerPlace::Host(place) => Ok(self.device.held(self.hosts[place])?[..bytes].to_vec()),
            AnswerPlace::Buffer(place) => {
                let mut read = vec![0; bytes];
                self.device.read(self.buffers[place], 0, &mut read)?;
                Ok(read)
            }
        }
    }

    /// When each command began and ended in the shortest of a few runs; empty where the driver does not tell.
    fn timeline(&mut self, commands: &[Command]) -> Result<Vec<Bar>, Stop> {
        let end = |bars: &[Bar]| bars.iter().map(|bar| bar.end).fold(0.0, f64::max);
        let mut shortest: Vec<Bar> = Vec::new();
        for _ in 0..DRAWN_FROM {
            let bars = bars(commands, &self.device.play(self.program, commands, 1, true)?.stamps);
            if shortest.is_empty() || end(&bars) < end(&shortest) {
                shortest = bars;
            }
        }
        Ok(shortest)
    }
}

/// Runs of which the shortest is drawn.
const DRAWN_FROM: usize = 5;

/// The seconds that one time of a script took.
fn sample(timing: &Timing, script: &Script, variant: &Variant) -> Sample {
    let event = match script.reading {
        Reading::Span => clock::sample(timing, &vec![true; script.commands.len()]).event,
        Reading::Delay => clock::delay(timing),
    };
    let times = script.repeat.max(1) as f64;
    Sample { event: event.filter(|_| variant.by_events).map(|e| e / times), wall: timing.wall_s / times }
}

fn fill(bytes: &mut [u8], contents: Contents, seed: u64) {
    match contents {
        Contents::Pattern => {
            let word = |(i, word): (usize, &mut [u8])| word.copy_from_slice(&pattern(seed, i).to_le_bytes());
            bytes.par_chunks_exact_mut(4).enumerate().for_each(word);
        }
        Contents::Zeros => bytes.fill(0),
        Contents::Undefined => {}
    }
}

/// A word of a result that is not what it must be.
struct Wrong {
    at: usize,
    is: u32,
    must: u32,
}

/// The first wrong word.
fn differs(bytes: &[u8], want: &(dyn Fn(usize) -> u32 + Sync)) -> Option<Wrong> {
    let word = |(at, word): (usize, &[u8])| {
        let (is, must) = (word.iter().rev().fold(0, |w, &byte| w << 8 | u32::from(byte)), want(at));
        (is != must).then_some(Wrong { at, is, must })
    };
    bytes.par_chunks_exact(4).enumerate().filter_map(word).min_by_key(|wrong| wrong.at)
}
