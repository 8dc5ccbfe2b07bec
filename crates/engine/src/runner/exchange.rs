//! Carries out scripts: what goes on between host and device, checked and timed as rungs are.

use super::buffers::{Fence, Fenced};
use super::clock::{self, Gauge};
use super::inputs::wrong;
use super::session::Session;
use crate::device::{BuildUnit, Device, Hold, ProgramId, Timing};
use crate::processes;
use gpulab_kernels::Sources;
use gpulab_kernels::exchange::{
    Answer, AnswerPlace, Contents, Exchange, Expected, Script, pattern,
};
use gpulab_model::check;
use gpulab_model::data::{self, Dtype};
use gpulab_model::outcome::{Clock, Measured, Outcome, Sample, Settings, Spent, Stop};
use gpulab_model::plan::{Action, Arg, BufferId, Case, MemoryKind, QueuedCommand, Refusal, Target};
use rayon::prelude::*;
use std::ops::Range;
use std::rc::Rc;
use std::time::Instant;

impl Session {
    /// Plays a case's script and checks it, times it, and checks it once more.
    pub fn exchange(&mut self, exchange: &Exchange, case: &Case, settings: &Settings) -> Outcome {
        let mut outcome = Outcome::pending(case, settings.clock);
        // What has run is not refused any more.
        let has_run = self.has_verified(case);
        let end = self.carry_out(exchange, case, settings, &mut outcome);
        if end.is_ok() && !has_run {
            self.remember(case, Measured::equal());
        }
        outcome.ended(end.map_err(|stop| stop.after(has_run)))
    }

    fn carry_out(
        &mut self,
        exchange: &Exchange,
        case: &Case,
        settings: &Settings,
        outcome: &mut Outcome,
    ) -> Result<Measured, Stop> {
        let Some(clock) = exchange.clock(&case.variant) else {
            return Err(Stop::failed(format!(
                "{} has no rung {}",
                exchange.name, case.variant
            )));
        };
        outcome.params = case.params.clone();
        let started = Instant::now();
        let script = (exchange.script)(case, &self.device.info().target)?;
        check_room(&script, &self.device.info().target)?;
        outcome.spent.data = started.elapsed().as_secs_f64();
        (outcome.bytes, outcome.ops, outcome.working_set) =
            (script.cost.bytes, script.cost.ops, script.bytes());
        outcome.launches = script
            .commands
            .iter()
            .filter(|c: &&QueuedCommand| matches!(c.action, Action::Launch(_)))
            .count() as u64;
        let program = build(&mut *self.device, &self.sources, &script)?;
        outcome.spent.build = started.elapsed().as_secs_f64() - outcome.spent.data;
        self.ready_gauge(settings)?;
        // Of another seed: what kernels make of other data.
        let other = (exchange.script)(
            &Case {
                seed: !case.seed,
                ..case.clone()
            },
            &self.device.info().target,
        )?;
        let mut stage = ScriptMemory::new(&*self.device, program);
        let device = &mut *self.device;
        let gauge = self.gauge.as_mut();
        stage.check(device, &script, &mut outcome.spent)?;
        let measured = stage.measure(
            device,
            [&script, &other],
            clock == Clock::Event,
            settings,
            gauge,
            &mut outcome.spent,
        );
        measured.map_err(|stop| stop.after(true))
    }
}

/// Refuses what cannot be held, with the sum.
fn check_room(script: &Script, target: &Target) -> Result<(), Stop> {
    let largest = script
        .buffers
        .iter()
        .map(|b| b.bytes as u64)
        .max()
        .unwrap_or(0);
    let device: u64 = script.buffers.iter().map(|b| b.bytes as u64).sum();
    if largest > target.max_alloc || device > target.global_mem {
        return Err(Refusal::Memory(format!(
            "needs {device} bytes on the device, {largest} in one buffer: it has {}, and allows {} in one buffer",
            target.global_mem, target.max_alloc
        ))
        .into());
    }
    let on_host: u64 = script.host.iter().map(|h| h.bytes as u64).sum();
    // A buffer at a time is filled from a copy and compared with one.
    let beside = script
        .host
        .iter()
        .map(|h| h.bytes as u64)
        .fold(largest, u64::max);
    let needed = on_host + beside + if target.gpu { 0 } else { device };
    match processes::available_memory() {
        Some(available) if needed > available => Err(Refusal::Memory(format!(
            "needs {needed} bytes of this machine's memory, {available} are available"
        ))
        .into()),
        _ => Ok(()),
    }
}

fn build(
    device: &mut dyn Device,
    sources: &Sources,
    script: &Script,
) -> Result<Option<ProgramId>, Stop> {
    let Some(program) = &script.program else {
        return Ok(None);
    };
    let text = sources.assemble(program.path)?;
    let unit = BuildUnit {
        path: program.path.into(),
        text,
        defines: program.defines.clone(),
        kernels: program.kernels.clone(),
    };
    Ok(Some(device.build(&unit)?))
}

struct ScriptMemory {
    program: Option<ProgramId>,
    fence: Fence,
    /// To a simulator nothing is initialised but what was written last: it is given whole results.
    is_simulated: bool,
    hosts: Vec<BufferId>,
    kept: Vec<Rc<Hold>>,
    buffers: Vec<Fenced>,
}

impl ScriptMemory {
    fn new(device: &dyn Device, program: Option<ProgramId>) -> ScriptMemory {
        // Where there is no kernel nothing strays.
        let fence = if program.is_some() {
            Fence::of_words(device)
        } else {
            Fence::NONE
        };
        ScriptMemory {
            program,
            fence,
            is_simulated: device.info().is_simulator(),
            hosts: Vec::new(),
            kept: Vec::new(),
            buffers: Vec::new(),
        }
    }

    /// Allocates and fills what the script works on, and plays it once.
    fn check(
        &mut self,
        device: &mut dyn Device,
        script: &Script,
        spent: &mut Spent,
    ) -> Result<(), Stop> {
        let started = Instant::now();
        self.set(device, script)?;
        self.play_checked(
            device,
            script,
            &self.bind(&script.commands),
            "before timing",
        )?;
        spent.verify = started.elapsed().as_secs_f64();
        Ok(())
    }

    /// Times and checks again. After the first few runs the data change, so that no kernel can remember an answer.
    fn measure(
        &self,
        device: &mut dyn Device,
        [script, other]: [&Script; 2],
        by_events: bool,
        settings: &Settings,
        gauge: Option<&mut Gauge>,
        spent: &mut Spent,
    ) -> Result<Measured, Stop> {
        let mut current = script;
        let commands = self.bind(&script.commands);
        let started = Instant::now();
        let change_at = 1 + data::draw(current.seed, 1) % FIRST_FEW;
        let mut runs = 0;
        let mut parts = Vec::new();
        let mut measured = Measured {
            clock: Clock::Wall,
            ..Measured::equal()
        };
        clock::watch(settings, device, gauge, &mut measured, &mut |device, _| {
            self.compare(device, current, &parts, "while it was timed")?;
            runs += 1;
            if runs == change_at {
                current = other;
                // What began as zeros stays as kernels left it.
                self.fill(device, current, |contents| contents == Contents::Pattern)?;
            }
            // Once, what was there before is the right answer to other data: a kernel that works only where it finds poison
            // leaves some of it.
            let is_unpoisoned = runs == change_at && !current.answer.adds;
            parts = if is_unpoisoned {
                vec![whole(current)]
            } else {
                self.parts(current, runs)
            };
            if !is_unpoisoned {
                self.put(device, current, &parts)?;
            }
            let timing = device.play(self.program, &commands, script.repeat, by_events)?;
            Ok(sample(&timing, script, by_events))
        })?;
        self.compare(device, current, &parts, "while it was timed")?;
        if by_events {
            measured.clock_note = measured.objection(None);
            measured.clock = if measured.clock_note.is_some() {
                Clock::Wall
            } else {
                Clock::Event
            };
        }
        spent.measure = started.elapsed().as_secs_f64();
        self.play_checked(device, current, &commands, "after timing")?;
        self.demand_untouched(device, current)?;
        Ok(measured)
    }

    /// Allocates and fills what the script works on.
    fn set(&mut self, device: &mut dyn Device, script: &Script) -> Result<(), Stop> {
        for spec in &script.host {
            let host = device.hold(spec.is_shared, spec.bytes)?;
            self.hosts.push(host);
            self.kept.push(device.keep(host.0));
        }
        for spec in &script.buffers {
            let place = if spec.is_shared {
                MemoryKind::Host
            } else {
                MemoryKind::Device
            };
            self.buffers
                .push(self.fence.alloc(device, place, Dtype::I32, spec.bytes)?);
        }
        self.fill(device, script, |_| true)
    }

    fn fill(
        &self,
        device: &mut dyn Device,
        script: &Script,
        is_meant: fn(Contents) -> bool,
    ) -> Result<(), Stop> {
        for (spec, &id) in script.host.iter().zip(&self.hosts) {
            if is_meant(spec.contents) {
                fill(device.held(id)?, spec.contents, script.seed);
            }
        }
        for (spec, fenced) in script.buffers.iter().zip(&self.buffers) {
            if is_meant(spec.contents) {
                let mut bytes = vec![0; spec.bytes];
                fill(&mut bytes, spec.contents, script.seed);
                device.write(fenced.id, 0, &bytes)?;
            }
        }
        Ok(())
    }

    /// The script's commands, with what was allocated in place of places.
    fn bind(&self, commands: &[QueuedCommand]) -> Vec<QueuedCommand> {
        commands
            .iter()
            .map(|command: &QueuedCommand| {
                let mut command = command.clone();
                match &mut command.action {
                    Action::Launch(launch) => launch.args.iter_mut().for_each(|arg| {
                        if let Arg::Buffer(place) = arg {
                            *place = self.buffers[place.0 as usize].id;
                        }
                    }),
                    Action::Write(t) | Action::Read(t) | Action::Fill(t) | Action::Fetch(t) => {
                        t.host = self.hosts[t.host.0 as usize];
                        t.buffer = self.buffers[t.buffer.0 as usize].id;
                    }
                    Action::Work(_) => {}
                }
                command
            })
            .collect()
    }

    /// Plays once into a result that is poisoned all over, and compares all of it.
    fn play_checked(
        &self,
        device: &mut dyn Device,
        script: &Script,
        commands: &[QueuedCommand],
        when: &str,
    ) -> Result<(), Stop> {
        let all = [whole(script)];
        self.put(device, script, &all)?;
        // On the queue that copies go through: some drivers let one queue see late what another has done.
        device.play(self.program, commands, script.repeat, true)?;
        self.compare(device, script, &all, when)
            .map_err(|stop| stop.after(true))
    }

    /// Parts of the answer, in bytes, that are poisoned before a run and looked at afterwards, never the same; all of a small one.
    fn parts(&self, script: &Script, run: u64) -> Vec<Range<usize>> {
        const SMALL: usize = 64 << 10;
        const PARTS: u64 = 4;
        const WORDS: usize = 1024;
        if self.is_simulated {
            return vec![whole(script)];
        }
        let bytes = match &script.answer.expect {
            Expected::Words(words) => 4 * words.len(),
            Expected::Pattern | Expected::Nothing => answer_bytes(script),
        };
        if bytes <= SMALL {
            return vec![Range {
                start: 0,
                end: bytes,
            }];
        }
        let places = bytes / 4 - WORDS + 1;
        (0..PARTS)
            .map(|part| {
                4 * (data::draw(data::draw(script.seed, run), part) % places as u64) as usize
            })
            .map(|start| Range {
                start,
                end: start + 4 * WORDS,
            })
            .collect()
    }

    fn put(
        &self,
        device: &mut dyn Device,
        script: &Script,
        parts: &[Range<usize>],
    ) -> Result<(), Stop> {
        let Answer {
            place,
            before,
            expect,
            ..
        } = &script.answer;
        for part in parts.iter().filter(|_| *expect != Expected::Nothing) {
            match *place {
                AnswerPlace::Host(place) => {
                    device.held(self.hosts[place])?[part.clone()].fill(*before)
                }
                AnswerPlace::Buffer(place) => {
                    device.write(
                        self.buffers[place].id,
                        part.start,
                        &vec![*before; part.len()],
                    )?;
                }
            }
        }
        Ok(())
    }

    fn compare(
        &self,
        device: &mut dyn Device,
        script: &Script,
        parts: &[Range<usize>],
        when: &str,
    ) -> Result<(), Stop> {
        for part in parts {
            let got = self.get(device, script, part)?;
            let first = part.start / 4;
            let is_as_expected = match &script.answer.expect {
                Expected::Nothing => Ok(()),
                Expected::Pattern => compare(&got, first, &|i| pattern(script.seed, i)),
                Expected::Words(words) => {
                    let end = (4 * words.len()).clamp(part.start, part.end);
                    compare(&got[..end - part.start], first, &|i| words[i])
                }
            };
            is_as_expected.map_err(|what| wrong(format!("{when}: {what}")))?;
        }
        Ok(())
    }

    fn get(
        &self,
        device: &mut dyn Device,
        script: &Script,
        part: &Range<usize>,
    ) -> Result<Vec<u8>, Stop> {
        match script.answer.place {
            AnswerPlace::Host(place) => Ok(device.held(self.hosts[place])?[part.clone()].to_vec()),
            AnswerPlace::Buffer(place) => {
                let mut read = vec![0; part.len()];
                device.read(self.buffers[place].id, part.start, &mut read)?;
                Ok(read)
            }
        }
    }

    /// What kernels read, and what lies beside their buffers, must be as it was.
    fn demand_untouched(&self, device: &mut dyn Device, script: &Script) -> Result<(), Stop> {
        let buffers = script.buffers.iter().zip(&self.buffers).enumerate();
        for (place, (spec, fenced)) in buffers.filter(|_| self.program.is_some()) {
            if let Some(what) = fenced.overrun(device)? {
                return Err(wrong(format!("writes outside buffer {place}: {what}")));
            }
            if spec.contents == Contents::Pattern
                && script.answer.place != AnswerPlace::Buffer(place)
            {
                let mut bytes = vec![0; spec.bytes];
                fill(&mut bytes, spec.contents, script.seed);
                if !fenced.is_unchanged(device, check::fingerprint(&bytes))? {
                    return Err(wrong(format!(
                        "the kernel changed its input, buffer {place}"
                    )));
                }
            }
        }
        Ok(())
    }
}

/// All of the answer's memory, in bytes.
fn whole(script: &Script) -> Range<usize> {
    Range {
        start: 0,
        end: answer_bytes(script),
    }
}

fn answer_bytes(script: &Script) -> usize {
    match script.answer.place {
        AnswerPlace::Host(place) => script.host[place].bytes,
        AnswerPlace::Buffer(place) => script.buffers[place].bytes,
    }
}

/// The data change before one of so many first runs.
const FIRST_FEW: u64 = 4;

/// The seconds that one time of a script took.
fn sample(timing: &Timing, script: &Script, by_events: bool) -> Sample {
    let event = if script.is_delay {
        clock::delay(timing)
    } else {
        clock::sample(timing, &vec![true; script.commands.len()]).event
    };
    let times = script.repeat.max(1) as f64;
    Sample {
        event: event.filter(|_| by_events).map(|e| e / times),
        wall: timing.wall_s / times,
    }
}

/// Words that a thread fills or compares together.
const PIECE: usize = 1 << 16;

fn fill(bytes: &mut [u8], contents: Contents, seed: u64) {
    match contents {
        Contents::Pattern => {
            bytes
                .par_chunks_mut(4 * PIECE)
                .enumerate()
                .for_each(|(piece, bytes)| {
                    for (i, word) in (piece * PIECE..).zip(bytes.chunks_exact_mut(4)) {
                        word.copy_from_slice(&pattern(seed, i).to_le_bytes());
                    }
                });
        }
        Contents::Zeros => bytes.fill(0),
        Contents::Undefined => {}
    }
}

/// Says which word, counted from `first`, is not what it must be, if any.
fn compare(
    bytes: &[u8],
    first: usize,
    want: &(impl Fn(usize) -> u32 + Sync),
) -> Result<(), String> {
    let differs = bytes
        .par_chunks(4 * PIECE)
        .enumerate()
        .find_map_first(|(piece, bytes)| {
            let words = bytes
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
            (first + piece * PIECE..)
                .zip(words)
                .find(|&(at, is)| is != want(at))
        });
    differs.map_or(Ok(()), |(at, is)| {
        Err(format!("word {at} is {is:#x} and must be {:#x}", want(at)))
    })
}
