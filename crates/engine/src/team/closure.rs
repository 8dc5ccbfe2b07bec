//! All shortest distances over a matrix in the host's memory, whose tiles go through one device or several, each on a thread of
//! its own.
//!
//! A step is two rounds: the tiles of the pivot's row and column; all others, and the next pivot among them. Each device owns
//! tiles by its speed, and keeps those for which it has room. When a device fails, the others begin with the first step again,
//! from the tiles that they and the host have: a tile is right whether it was lowered or not, in parts or twice.

use super::split::owners;
use crate::device::SharedHost;
use crate::runner::{TileGrid, TilePlace, TileWorker};
use gpulab_cpu::minplus::Semiring;
use gpulab_model::data::Array;
use gpulab_model::outcome::{Status, Stop};
use gpulab_model::plan::Refusal;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Instant;

/// A device that may take part: who it is, and what opens it, on its own thread.
pub struct Hand<'a> {
    pub name: String,
    pub open: Box<dyn FnOnce() -> Result<TileWorker, Stop> + Send + 'a>,
}

/// Distances that were found in tiles.
pub struct TiledClosure {
    pub distances: Array,
    pub grid: TileGrid,
    /// Seconds from the first copy of a tile to the end of the last.
    pub seconds: f64,
    /// Of these, seconds of the first pivot, of pivots' rows and columns, and of all other tiles.
    pub rounds: [f64; 3],
    /// With the tiles' allocation, and the matrix cut and joined.
    pub whole: f64,
    /// Bytes of tiles that went to devices, and back.
    pub moved: [u64; 2],
    pub done: Vec<TilesDone>,
    /// Those that did not do their share, and why.
    pub lost: Vec<String>,
}

/// What a device did.
pub struct TilesDone {
    pub name: String,
    pub rung: String,
    /// Tiles that it lowered.
    pub tiles: usize,
    /// Seconds in which it did not wait for others.
    pub busy: f64,
}

enum TileOrder {
    /// To open: the first.
    Open,
    /// How much tiles of this grid need, alone or not.
    Needs(TileGrid, bool),
    Hold(TileGrid),
    /// Alone or not, in so many bytes.
    Join(TileGrid, Vec<SharedHost>, bool, u64),
    Own(Vec<TilePlace>),
    Lower(usize, Vec<TilePlace>),
    /// Whether all was written where it belongs.
    Finish,
}

enum TileAnswer {
    Opened(u64, String),
    Needs([u64; 2]),
    Held(Vec<SharedHost>),
    Done,
    Lowered(f64),
    Finished([u64; 2]),
}

struct TileMember<'s> {
    name: String,
    rung: String,
    orders: Option<Sender<TileOrder>>,
    answers: Receiver<Result<TileAnswer, Stop>>,
    thread: Option<ScopedJoinHandle<'s, ()>>,
    is_able: bool,
    block: u64,
    /// Tiles of the last round a second.
    speed: f64,
    done: usize,
    busy: f64,
}

/// Finds the distances of a matrix, with at most so many bytes of each device.
/// The error is what the last device that could work said.
pub fn close(
    hands: Vec<Hand<'_>>,
    n: usize,
    weights: &Array,
    semiring: Semiring,
    memory: u64,
) -> Result<TiledClosure, Stop> {
    let started = Instant::now();
    thread::scope(|scope| {
        let members = hands.into_iter().map(|hand| TileMember::start(scope, hand)).collect();
        let last = Stop::failed("there is no device");
        let mut team = TileTeam { members, owners: Vec::new(), rounds: [0.0; 3], lost: Vec::new(), last };
        let found = team.find(n, weights, semiring, memory);
        let Found { grid, tiles, seconds, moved } = team.end(found)?;
        let distances = grid.join(tiles);
        let done =
            |TileMember { name, rung, done: tiles, busy, .. }: TileMember<'_>| TilesDone { name, rung, tiles, busy };
        let done = team.members.into_iter().filter(|member| member.is_able).map(done).collect();
        let rounds = team.rounds;
        let lost = team.lost;
        let whole = started.elapsed().as_secs_f64();
        Ok(TiledClosure { distances, grid, seconds, rounds, whole, moved, done, lost })
    })
}

struct TileTeam<'s> {
    members: Vec<TileMember<'s>>,
    /// Of each tile, row after row.
    owners: Vec<usize>,
    rounds: [f64; 3],
    lost: Vec<String>,
    /// Why the last that was lost was.
    last: Stop,
}

struct Found {
    grid: TileGrid,
    tiles: Vec<SharedHost>,
    seconds: f64,
    moved: [u64; 2],
}

impl TileTeam<'_> {
    fn find(&mut self, n: usize, weights: &Array, semiring: Semiring, memory: u64) -> Result<Found, Stop> {
        // One after the other: drivers' loaders are not made for several threads at once.
        for index in 0..self.members.len() {
            self.members[index].ask(TileOrder::Open);
            for (index, answer) in self.answers(vec![index])? {
                if let TileAnswer::Opened(block, rung) = answer {
                    (self.members[index].block, self.members[index].rung) = (block, rung);
                }
            }
        }
        let grid = self.grid(n, weights, memory)?;
        let tiles = self.hold(grid)?;
        grid.cut(weights, semiring, &tiles);
        let is_alone = self.able().len() == 1;
        self.ask_all(|_| TileOrder::Join(grid, tiles.clone(), is_alone, memory))?;
        self.share(grid.rows())?;
        let started = Instant::now();
        let mut pivot = 0;
        while pivot < grid.rows() {
            pivot = if self.step(grid.rows(), pivot)? { pivot + 1 } else { 0 };
        }
        let seconds = started.elapsed().as_secs_f64();
        let finished = self.ask_all(|_| TileOrder::Finish)?;
        let mut moved = [0, 0];
        for (_, answer) in finished {
            if let TileAnswer::Finished(of_one) = answer {
                moved = [moved[0] + of_one[0], moved[1] + of_one[1]];
            }
        }
        Ok(Found { grid, tiles, seconds, moved })
    }

    fn grid(&mut self, n: usize, weights: &Array, memory: u64) -> Result<TileGrid, Stop> {
        let able = self.able();
        let grain = able
            .iter()
            .map(|&index| self.members[index].block)
            .fold(1, |a: u64, b: u64| (1..=b).map(|times| a * times).find(|m| m.is_multiple_of(b)).unwrap_or(a * b));
        // Several devices need enough tiles to share out.
        let rows = if able.len() > 1 { 2 * able.len() as u64 + 2 } else { 1 };
        let needs = |index: usize, grid: &TileGrid| {
            self.members[index].ask(TileOrder::Needs(*grid, able.len() == 1));
            match self.members[index].answers.recv() {
                Ok(Ok(TileAnswer::Needs(bytes))) => bytes,
                _ => [u64::MAX, 0],
            }
        };
        TileGrid::choose(n, weights.dtype(), grain, rows, |grid: &TileGrid| {
            able.iter().map(|&index| needs(index, grid)).all(|[needed, has]| needed <= memory.min(has))
        })
        .ok_or_else(|| {
            let least = TileGrid { n, side: grain as usize, dtype: weights.dtype() };
            let [needed, has] = needs(able[0], &least);
            let why = format!("tiles of {grain} nodes a side need {needed} bytes of the device, and are the smallest");
            Refusal::Memory(format!("{why}: it may take {}; give more with --memory", memory.min(has))).into()
        })
    }

    /// Has the first that can allocate the tiles.
    fn hold(&mut self, grid: TileGrid) -> Result<Vec<SharedHost>, Stop> {
        while let Some(&first) = self.able().first() {
            self.members[first].ask(TileOrder::Hold(grid));
            if let Some((_, TileAnswer::Held(tiles))) = self.answers(vec![first])?.pop() {
                return Ok(tiles);
            }
        }
        Err(self.last.clone())
    }

    /// Lets paths pass a pivot's nodes; whether no device was lost.
    fn step(&mut self, rows: usize, pivot: usize) -> Result<bool, Stop> {
        let others = || (0..rows).filter(|&at| at != pivot);
        // The pivot of each other step is closed in the step before.
        if pivot == 0 && !self.lower(rows, 0, 0, &[[0, 0]])? {
            return Ok(false);
        }
        let cross: Vec<TilePlace> = others().flat_map(|at| [[pivot, at], [at, pivot]]).collect();
        // The next pivot takes longest.
        let mut rest: Vec<TilePlace> = others().flat_map(|row| others().map(move |column| [row, column])).collect();
        rest.sort_by_key(|tile| *tile != [pivot + 1; 2]);
        Ok(self.lower(rows, 1, pivot, &cross)? && self.lower(rows, 2, pivot, &rest)?)
    }

    /// Has tiles lowered by their owners in a round of this kind; whether no device was lost.
    fn lower(&mut self, rows: usize, round: usize, pivot: usize, tiles: &[TilePlace]) -> Result<bool, Stop> {
        let started = Instant::now();
        let of = |owners: &[usize], index: usize| -> Vec<TilePlace> {
            tiles.iter().filter(|[row, column]| owners[row * rows + column] == index).copied().collect()
        };
        let shares = self.able().into_iter().map(|index| (index, of(&self.owners, index)));
        let shares: Vec<(usize, Vec<TilePlace>)> = shares.filter(|(_, share)| !share.is_empty()).collect();
        // The next pivot is closed, too.
        let count = |share: &[TilePlace]| share.len() + usize::from(share.contains(&[pivot + 1; 2]));
        let counts: Vec<usize> = shares.iter().map(|(_, share)| count(share)).collect();
        let asked = shares.iter().map(|(index, _)| *index).collect();
        for (index, share) in shares {
            self.members[index].ask(TileOrder::Lower(pivot, share));
        }
        let answers = self.answers(asked)?;
        self.rounds[round] += started.elapsed().as_secs_f64();
        if answers.len() < counts.len() {
            self.share(rows)?;
            return Ok(false);
        }
        for ((index, answer), count) in answers.into_iter().zip(counts) {
            let member = &mut self.members[index];
            if let TileAnswer::Lowered(seconds) = answer {
                (member.done, member.busy) = (member.done + count, member.busy + seconds);
                // A pivot is no measure of other tiles.
                if round > 0 {
                    member.speed = count as f64 / seconds;
                }
            }
        }
        self.share_again(rows).map(|()| true)
    }

    /// Gives tiles to others where that clearly saves time.
    fn share_again(&mut self, rows: usize) -> Result<(), Stop> {
        let able = self.able();
        let seconds = |owners: &[usize]| {
            let of = |index: &usize| owners.iter().filter(|owner| *owner == index).count() as f64;
            able.iter().map(|index| of(index) / self.members[*index].speed).fold(0.0, f64::max)
        };
        match seconds(&self.owners) > 1.25 * seconds(&self.by_speed(rows)) {
            true => self.share(rows),
            false => Ok(()),
        }
    }

    fn by_speed(&self, rows: usize) -> Vec<usize> {
        let able = self.able();
        let speeds: Vec<f64> = able.iter().map(|&index| self.members[index].speed).collect();
        owners(rows, &speeds).into_iter().map(|at| able[at]).collect()
    }

    /// Gives tiles to those that can lower them. What stayed on a device that is lost is as the host has it.
    fn share(&mut self, rows: usize) -> Result<(), Stop> {
        loop {
            self.owners = self.by_speed(rows);
            let able = self.able().len();
            let owned = self.owners.iter().enumerate();
            let owned: Vec<(usize, TilePlace)> = owned.map(|(at, &owner)| (owner, [at / rows, at % rows])).collect();
            let of = |index: usize| owned.iter().filter(move |(owner, _)| *owner == index).map(|(_, tile)| *tile);
            if self.ask_all(|index| TileOrder::Own(of(index).collect()))?.len() == able {
                return Ok(());
            }
        }
    }

    fn able(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|&index| self.members[index].is_able).collect()
    }

    fn ask_all(&mut self, order: impl Fn(usize) -> TileOrder) -> Result<Vec<(usize, TileAnswer)>, Stop> {
        let able = self.able();
        able.iter().for_each(|&index| self.members[index].ask(order(index)));
        self.answers(able)
    }

    /// What these answer. One that fails takes no further part; a wrong result is everyone's.
    fn answers(&mut self, asked: Vec<usize>) -> Result<Vec<(usize, TileAnswer)>, Stop> {
        let mut answers = Vec::new();
        for index in asked {
            let member = &mut self.members[index];
            match member.answers.recv().unwrap_or_else(|_| Err(Stop::failed("its thread has ended"))) {
                Ok(answer) => answers.push((index, answer)),
                Err(stop) if stop.status == Status::WrongResult => return Err(stop),
                Err(stop) => {
                    member.is_able = false;
                    self.lost.push(format!("{} did not do its share: {}", member.name, stop.reason));
                    self.last = stop;
                }
            }
        }
        match self.members.iter().any(|member| member.is_able) {
            true => Ok(answers),
            // One device is known by name.
            false if self.lost.len() == 1 => Err(self.last.clone()),
            false => Err(Stop { reason: self.lost.join("; "), ..self.last.clone() }),
        }
    }

    /// Ends all devices; the one whose driver holds the tiles goes last.
    fn end<T>(&mut self, found: Result<T, Stop>) -> Result<T, Stop> {
        for member in self.members.iter_mut().rev() {
            member.orders = None;
            if let Some(thread) = member.thread.take() {
                // What it died of was its answer.
                let _ = thread.join();
            }
        }
        found
    }
}

impl<'s> TileMember<'s> {
    /// Opens a device on a thread of its own, which does what it is asked until there is nobody to ask.
    fn start<'e: 's>(scope: &'s Scope<'s, 'e>, hand: Hand<'e>) -> TileMember<'s> {
        let (orders, asked) = channel();
        let (answer, answers) = channel();
        let Hand { name, open } = hand;
        let thread = scope.spawn(move || {
            // The other end waits for each answer.
            let Ok(TileOrder::Open) = asked.recv() else { return };
            let mut worker = match open() {
                Ok(worker) => worker,
                Err(stop) => return drop(answer.send(Err(stop))),
            };
            let _ = answer.send(Ok(TileAnswer::Opened(worker.block, worker.rung().variant().into())));
            for order in asked {
                let _ = answer.send(obey(&mut worker, order));
            }
        });
        TileMember {
            name,
            rung: String::new(),
            orders: Some(orders),
            answers,
            thread: Some(thread),
            is_able: true,
            block: 1,
            speed: 1.0,
            done: 0,
            busy: 0.0,
        }
    }

    fn ask(&self, order: TileOrder) {
        // Of one that has gone, the missing answer tells.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
    }
}

fn obey(worker: &mut TileWorker, order: TileOrder) -> Result<TileAnswer, Stop> {
    Ok(match order {
        TileOrder::Open => return Err(Stop::failed("it is open")),
        TileOrder::Needs(grid, is_alone) => TileAnswer::Needs(worker.needs(&grid, is_alone)),
        TileOrder::Hold(grid) => TileAnswer::Held(worker.hold(&grid)?),
        TileOrder::Join(grid, tiles, is_alone, memory) => {
            worker.join(grid, &tiles, is_alone, memory).map(|()| TileAnswer::Done)?
        }
        TileOrder::Own(tiles) => worker.own(&tiles).map(|()| TileAnswer::Done)?,
        TileOrder::Lower(pivot, tiles) => TileAnswer::Lowered(worker.lower(pivot, &tiles)?),
        TileOrder::Finish => TileAnswer::Finished(worker.finish()?),
    })
}
