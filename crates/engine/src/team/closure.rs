//! All shortest distances over a matrix in the host's memory, whose tiles go through one device or several, each on a thread of
//! its own.
//!
//! A step is three rounds: the pivot; its row and column; all other tiles. In a round each device gets tiles by the speed that
//! it showed in the step before. What a device that fails has begun, the others do again: a tile is right whether it was lowered
//! or not, in parts or twice.

use super::split;
use crate::device::SharedHost;
use crate::runner::{TileGrid, TilePlace, TileWorker};
use gpulab_kernels::cpu::minplus::Semiring;
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
    /// With the tiles' allocation, and the matrix cut and joined.
    pub whole: f64,
    /// Of each device its name, its rung, and tiles that it lowered.
    pub done: Vec<(String, String, usize)>,
    /// Those that did not do their share, and why.
    pub lost: Vec<String>,
}

impl TiledClosure {
    /// Bytes that went to devices as tiles to be lowered, and came back.
    pub fn moved(&self) -> u64 {
        self.done.iter().map(|(_, _, tiles)| *tiles as u64).sum::<u64>() * self.grid.bytes() as u64
    }
}

enum TileOrder {
    /// To open: the first.
    Open,
    /// How much tiles of this grid need.
    Needs(TileGrid),
    Hold(TileGrid),
    Join(TileGrid, Vec<SharedHost>),
    Lower(usize, Vec<TilePlace>),
    /// Whether all was written where it belongs.
    Check,
}

enum TileAnswer {
    Opened(u64, String),
    Needs([u64; 2]),
    Held(Vec<SharedHost>),
    Joined,
    Lowered(f64),
    Checked,
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
        let mut team = TileTeam { members, lost: Vec::new(), last: Stop::failed("there is no device") };
        let found = team.find(n, weights, semiring, memory);
        let (grid, tiles, seconds) = team.end(found)?;
        let distances = grid.join(&tiles);
        let done = |member: &TileMember<'_>| (member.name.clone(), member.rung.clone(), member.done);
        let done = team.members.iter().filter(|member| member.is_able).map(done).collect();
        Ok(TiledClosure { distances, grid, seconds, whole: started.elapsed().as_secs_f64(), done, lost: team.lost })
    })
}

struct TileTeam<'s> {
    members: Vec<TileMember<'s>>,
    lost: Vec<String>,
    /// Why the last that was lost was.
    last: Stop,
}

type Found = (TileGrid, Vec<SharedHost>, f64);

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
        self.ask_all(|_| TileOrder::Join(grid, tiles.clone()))?;
        let started = Instant::now();
        let rows = grid.rows();
        let others = |pivot: usize| (0..rows).filter(move |&at| at != pivot);
        for pivot in 0..rows {
            self.lower(pivot, vec![[pivot, pivot]])?;
            self.lower(pivot, others(pivot).flat_map(|at| [[pivot, at], [at, pivot]]).collect())?;
            self.lower(pivot, others(pivot).flat_map(|row| others(pivot).map(move |column| [row, column])).collect())?;
        }
        let seconds = started.elapsed().as_secs_f64();
        self.ask_all(|_| TileOrder::Check)?;
        Ok((grid, tiles, seconds))
    }

    fn grid(&mut self, n: usize, weights: &Array, memory: u64) -> Result<TileGrid, Stop> {
        let lcm = |a: u64, b: u64| (1..=b).map(|times| a * times).find(|m| m.is_multiple_of(b)).unwrap_or(a * b);
        let able = self.able();
        let grain = able.iter().map(|&index| self.members[index].block).fold(1, lcm);
        // Several devices need enough tiles to share out.
        let rows = if able.len() > 1 { 2 * able.len() as u64 + 2 } else { 1 };
        let needs = |index: usize, grid: &TileGrid| {
            self.members[index].ask(TileOrder::Needs(*grid));
            match self.members[index].answers.recv() {
                Ok(Ok(TileAnswer::Needs(bytes))) => bytes,
                _ => [u64::MAX, 0],
            }
        };
        let fits = |grid: &TileGrid| {
            able.iter().map(|&index| needs(index, grid)).all(|[needed, has]| needed <= memory.min(has))
        };
        TileGrid::choose(n, weights.dtype(), grain, rows, fits).ok_or_else(|| {
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

    /// Has tiles lowered by those that can, in shares by their speeds, until all are.
    fn lower(&mut self, pivot: usize, mut tiles: Vec<TilePlace>) -> Result<(), Stop> {
        while !tiles.is_empty() {
            let able = self.able();
            let speeds: Vec<f64> = able.iter().map(|&index| self.members[index].speed).collect();
            let shares = split(tiles.len() as u64, &speeds, 1);
            let share = |at: usize| tiles[shares[at].from as usize..][..shares[at].len as usize].to_vec();
            let shares: Vec<(usize, Vec<TilePlace>)> =
                able.iter().enumerate().map(|(at, &index)| (index, share(at))).collect();
            let asked = shares.iter().filter(|(_, share)| !share.is_empty());
            let asked: Vec<usize> = asked
                .map(|(index, share)| {
                    self.members[*index].ask(TileOrder::Lower(pivot, share.clone()));
                    *index
                })
                .collect();
            let answers = self.answers(asked)?;
            for (index, answer) in &answers {
                let share = shares.iter().find(|(of, _)| of == index).map_or(0, |(_, share)| share.len());
                self.members[*index].done += share;
                // A tile of the pivot's is no measure of others.
                if let (TileAnswer::Lowered(seconds), 2..) = (answer, tiles.len()) {
                    self.members[*index].speed = share as f64 / seconds;
                }
            }
            let left = shares.into_iter().filter(|(index, _)| answers.iter().all(|(of, _)| of != index));
            tiles = left.flat_map(|(_, share)| share).collect();
        }
        Ok(())
    }

    fn able(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|&index| self.members[index].is_able).collect()
    }

    fn ask_all(&mut self, order: impl Fn(usize) -> TileOrder) -> Result<(), Stop> {
        let able = self.able();
        able.iter().for_each(|&index| self.members[index].ask(order(index)));
        self.answers(able).map(drop)
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
        let rung = String::new();
        let orders = Some(orders);
        TileMember { name, rung, orders, answers, thread: Some(thread), is_able: true, block: 1, speed: 1.0, done: 0 }
    }

    fn ask(&self, order: TileOrder) {
        // Of one that has gone, the missing answer tells.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
    }
}

fn obey(worker: &mut TileWorker, order: TileOrder) -> Result<TileAnswer, Stop> {
    Ok(match order {
        TileOrder::Open => return Err(Stop::failed("it is open")),
        TileOrder::Needs(grid) => TileAnswer::Needs(worker.needs(&grid)),
        TileOrder::Hold(grid) => TileAnswer::Held(worker.hold(&grid)?),
        TileOrder::Join(grid, tiles) => worker.join(grid, &tiles).map(|()| TileAnswer::Joined)?,
        TileOrder::Lower(pivot, tiles) => TileAnswer::Lowered(worker.lower(pivot, &tiles)?),
        TileOrder::Check => worker.demand_kept_inside().map(|()| TileAnswer::Checked)?,
    })
}
