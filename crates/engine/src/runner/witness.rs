//! Proof that every timed run has worked: each begins with changed inputs and with poisoned outputs, or now and then with
//! those of the run before, and is looked at afterwards; some, of which no kernel can know, are judged as a whole, as the
//! last one is. Launches back to back are one run.
//!
//! A *set* is one copy of all buffers, over which runs rotate. To *arm* sets is to make them ready for a run: the run before is
//! looked at, its changes are undone, outputs are poisoned, and elements of the inputs are changed so that the result must be
//! another. To *look* is to read parts of the outputs for poison that is still there; to *judge*, to compare all of them with the
//! right result over the changed data.

use super::buffers::BoundPlan;
use super::inputs::{Data, ReadyCase, wrong};
use super::verify;
use crate::device::Device;
use gpulab_kernels::{Changed, Spot};
use gpulab_model::check;
use gpulab_model::data::{self, Change};
use gpulab_model::outcome::Stop;
use std::time::{Duration, Instant};

/// Elements that are changed before a run.
const CHANGES: u64 = 3;

/// Runs after which the changes are the same again where a reader's reference, which may be slow, says what is right: its
/// answers are kept.
const REPEATS: u64 = 4;

/// Parts of the output that are looked at after a run, and elements of each; a smaller output is looked at as a whole.
const PARTS: u64 = 4;
const PART: usize = 1024;

/// Of the time since the first run, what judging runs may take; the last run and one of the first few are judged anyway.
const SHARE: f64 = 0.2;
const FIRST_FEW: u64 = 4;

/// A set of buffers, and the case that runs over it.
pub type Watched<'a> = (&'a ReadyCase<'a>, &'a BoundPlan);

/// Watches the runs of a case over its sets of buffers, or of cases that have one set each.
pub struct Witness<'a> {
    data: &'a mut Data,
    sets: &'a [Watched<'a>],
    /// Changes that the inputs hold, and what undoes them.
    changes: Vec<Change>,
    undo: Vec<Change>,
    /// Sets that the last run used, unless it was looked at.
    pending: Vec<usize>,
    runs: u64,
    /// Whether the next run finds its outputs poisoned, or as a run over other data left them.
    poisoned: bool,
    began: Instant,
    judging: Duration,
}

impl<'a> Witness<'a> {
    /// Poisons the outputs of all sets.
    pub fn new(
        device: &mut dyn Device,
        data: &'a mut Data,
        sets: &'a [Watched<'a>],
    ) -> Result<Witness<'a>, Stop> {
        sets.iter().try_for_each(|set| set.1.poison(device))?;
        let began = Instant::now();
        let judging = Duration::ZERO;
        let changes = Vec::new();
        let undo = Vec::new();
        let pending = Vec::new();
        Ok(Witness {
            data,
            sets,
            changes,
            undo,
            pending,
            runs: 0,
            poisoned: true,
            began,
            judging,
        })
    }

    /// Looks at what the last run left, and makes these sets ready for the next.
    pub fn arm(&mut self, device: &mut dyn Device, sets: Vec<usize>) -> Result<(), Stop> {
        self.look_back(device)?;
        self.runs += 1;
        self.changes.clear();
        self.undo.clear();
        let run = if self.sets[0].0.family.described().is_some() {
            self.runs % REPEATS
        } else {
            self.runs
        };
        for change in 0..CHANGES {
            self.add_change(device, sets[0], self.draw_of(run, change));
        }
        for &set in &sets {
            self.sets[set].1.change(device, &self.changes)?;
        }
        self.pending = sets;
        Ok(())
    }

    /// Judges what the last run left, and that no run changed anything but outputs.
    pub fn end(mut self, device: &mut dyn Device) -> Result<(), Stop> {
        let Some(&last) = self.pending.last() else {
            return Err(Stop::failed("nothing was run"));
        };
        self.judge(device, last, "after timing")?;
        self.undo_changes(device)?;
        for (index, set) in self.sets.iter().enumerate() {
            // Those of the last one were judged with it.
            if index != last {
                verify::demand_guards(device, set.1)?;
            }
            verify::demand_inputs(device, set.1, self.data)?;
        }
        Ok(())
    }

    /// Draws an element of the inputs and a value that decides the result of this set's case, and notes both, and what the element
    /// was.
    fn add_change(&mut self, device: &dyn Device, set: usize, draw: u64) {
        let len = self.data.first_len() as u64;
        if len == 0 {
            return;
        }
        let spot = Spot {
            at: (draw % len) as usize,
            draw: data::draw(draw, 1),
        };
        // A second change to one element would have to be undone before the first.
        let more = self.data.deciding(device, self.sets[set].0, spot);
        if !more.iter().all(|change: &Change| {
            self.changes
                .iter()
                .all(|c| (c.input, c.index) != (change.input, change.index))
        }) {
            return;
        }
        for change in more {
            let mut old = change.clone();
            if let Some(value) = self
                .data
                .host
                .get(change.input)
                .and_then(|input| input.at(change.index))
            {
                old.value = value;
                self.undo.push(old);
                self.changes.push(change);
            }
        }
    }

    /// Looks at the last run, if there was one, and takes its changes back.
    fn look_back(&mut self, device: &mut dyn Device) -> Result<(), Stop> {
        let Some(&last) = self.pending.last() else {
            return Ok(());
        };
        self.look(device, last)?;
        if self.is_due() {
            let started = Instant::now();
            self.judge(device, last, "while it was timed")?;
            self.judging += started.elapsed();
        }
        self.undo_changes(device)?;
        // A kernel that works only where it finds poison leaves what was right before. Without a change nobody would see it.
        // Several sets share small outputs, and the next run takes another.
        let keeps_outputs =
            self.sets.len() == 1 && self.draw(400).is_multiple_of(4) && self.is_in_time();
        self.poisoned = self.changes.is_empty() || !keeps_outputs;
        for set in std::mem::take(&mut self.pending) {
            if self.poisoned {
                self.sets[set].1.poison(device)?;
            }
        }
        Ok(())
    }

    fn undo_changes(&mut self, device: &mut dyn Device) -> Result<(), Stop> {
        for &set in &self.pending {
            self.sets[set].1.change(device, &self.undo)?;
        }
        Ok(())
    }

    /// Whether this run is one that is judged.
    fn is_due(&self) -> bool {
        let first = 1 + data::draw(!self.second_seed(), 0) % FIRST_FEW;
        // What is put back before a run holds no poison that would show an idle one.
        let is_more = self.runs > first
            && self.is_in_time()
            && (self.sets.iter().any(|set| set.0.plan.restored)
                || self.draw(100).is_multiple_of(2));
        self.runs == first || is_more || !self.poisoned
    }

    fn is_in_time(&self) -> bool {
        self.judging.as_secs_f64() <= SHARE * self.began.elapsed().as_secs_f64()
    }

    fn judge(&mut self, device: &mut dyn Device, set: usize, when: &str) -> Result<(), Stop> {
        let (job, bound) = self.sets[set];
        let when = &job.repeatable(when);
        self.data
            .changed(
                &self.changes,
                |data: &Data, made: &[Changed]| data.amended(job, made),
                |data| verify::judge(device, job, bound, data, when),
            )
            .0
            .map(drop)
    }

    /// Whether some parts of each output, never the same, were written.
    fn look(&self, device: &mut dyn Device, set: usize) -> Result<(), Stop> {
        let (job, bound) = self.sets[set];
        let plan = &job.plan;
        let movement = job.family.problem.movement(job.case);
        for buffer in plan.outputs() {
            let output = &plan.buffers[buffer];
            // Between the rows of a matrix nothing is written.
            let row = movement.map_or(output.len, |m| m.to_pitch);
            let written = movement.map_or(output.len, |m| m.output_columns());
            let rows = (output.len / row.max(1)).max(1) as u64;
            let parts = if output.len <= PART { 1 } else { PARTS };
            for part in 0..parts {
                let in_row = self.draw(200 + part) % rows;
                let along = self.draw(300 + part);
                let len = written.min(PART);
                let column = along as usize % (written - len + 1);
                let start = in_row as usize * row + column;
                let got = bound.part(device, buffer, start, len)?;
                if let Some(index) = check::still_poisoned(&got)
                    && let Some(what) =
                        verify::unwritten(device, job, bound, (buffer, start + index))?
                {
                    return Err(wrong(format!("{what} (while it was timed)")));
                }
            }
        }
        Ok(())
    }

    /// A random number of this run, which no kernel can know.
    fn draw(&self, number: u64) -> u64 {
        self.draw_of(self.runs, number)
    }

    fn draw_of(&self, run: u64, number: u64) -> u64 {
        data::draw(data::draw(!self.second_seed(), run), number)
    }

    fn second_seed(&self) -> u64 {
        self.sets[0].0.second_seed
    }
}
