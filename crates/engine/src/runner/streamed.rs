//! Vectors that stay on the host and are folded: chunks of them go through the device.

use super::flow::{Flow, LONG_CHUNK, QUEUES, last_chunk};
use super::portion::{JOINING, drawn_reference, part_of, portion_fill};
use super::prelude::*;
use super::session::demand_bound;
use super::verdict::{judge_real, wrong};
use gpulab_model::plan::{CHUNK, Holding, HostId, Transfer};

/// Chunks are multiples of so many elements, unless the device may hold fewer.
const GRAIN: u64 = 4096;

impl Session {
    pub(super) fn stream_fold(
        &mut self,
        family: &Family,
        case: &Case,
        settings: &Settings,
        bytes: u64,
        outcome: &mut Outcome,
    ) -> Result<Measured, Stop> {
        let started = Instant::now();
        let chunk = self.chunk(family, case, bytes)?;
        let mut stream = Stream { family, case, chunk, parts: Vec::new(), chunks: Vec::new(), right: None };
        let done = self.set_up(&mut stream, outcome).and_then(|()| {
            outcome.spent.build = started.elapsed().as_secs_f64();
            self.ready_gauge(settings)?;
            self.check_and_time(&mut stream, settings, outcome)
        });
        stream.strike(&mut *self.device);
        done
    }

    /// Elements of a chunk: as many as help, if one for each queue has room in so many bytes. Guard zones come on top.
    fn chunk(&self, family: &Family, case: &Case, bytes: u64) -> Result<u64, Stop> {
        let mut len = case.shape.n.min(LONG_CHUNK / case.dtype.size() as u64);
        loop {
            let part = Case { shape: Shape::vector(len), ..case.clone() };
            let (_, plan) = self.plan(family, &part)?;
            let needed = QUEUES * plan.bytes();
            if needed <= bytes.min(self.device.info().target.global_mem) {
                // All chunks about equally long.
                let even = case.shape.n.div_ceil(case.shape.n.div_ceil(len));
                return Ok(even.next_multiple_of(GRAIN).min(len));
            }
            if len == 1 {
                let what = format!("{needed} bytes of the device are the least that a stream needs");
                return Err(Refusal::Memory(format!("{what}, and it may have {bytes}: give more with --memory")).into());
            }
            len = len.div_ceil(2);
        }
    }

    /// Builds the kernels and allocates: on the device for whole chunks and for a shorter last one, on the host for all data.
    fn set_up(&mut self, stream: &mut Stream<'_>, outcome: &mut Outcome) -> Result<(), Stop> {
        let n = stream.case.shape.n;
        let len = stream.chunk;
        for (first, count, len) in [(0, n / len, len), (n / len, u64::from(n % len > 0), n % len)] {
            if count == 0 {
                continue;
            }
            let case = Case { shape: Shape::vector(len), ..stream.case.clone() };
            let (rung, plan) = self.plan(stream.family, &case)?;
            demand_bound(stream.family, &case, &plan)?;
            let program = self.build(rung, &plan)?;
            (outcome.wg, outcome.params) = (plan.wg, plan.params.clone());
            outcome.launches += count * plan.passes.len() as u64;
            let fence = Fence::of(&*self.device, stream.family, &case);
            stream.parts.push(AlikeChunks { case, plan, program, first, count, lanes: Vec::new() });
            let (Some(part), device) = (stream.parts.last_mut(), &mut *self.device) else { continue };
            let lens = stream.family.problem.inputs(part.case.shape, &part.case.params);
            let output = part.plan.output_len() * part.output_size();
            let inputs: Vec<(Dtype, usize)> = lens.iter().map(|&len| (part.case.dtype, len)).collect();
            for _ in 0..count.min(QUEUES) {
                part.lanes.push(QueueBuffers::new(device, fence, &part.plan, &inputs)?);
            }
            for _ in 0..count {
                let inputs = lens.iter().map(|len| device.hold(Holding::Pinned, len * part.case.dtype.size()));
                // Those that were held are let go with the stream, whatever follows.
                let chunk = stream.chunks.len();
                stream.chunks.push(HeldChunk { inputs: Vec::new(), output: None });
                for held in inputs {
                    stream.chunks[chunk].inputs.push(held?);
                }
                stream.chunks[chunk].output = Some(device.hold(Holding::Pinned, output)?);
            }
        }
        outcome.params.insert(CHUNK.into(), stream.chunk.to_string());
        outcome.working_set = stream.parts.iter().map(|part| part.count * part.plan.bytes()).sum();
        Ok(())
    }

    fn check_and_time(
        &mut self,
        stream: &mut Stream<'_>,
        settings: &Settings,
        outcome: &mut Outcome,
    ) -> Result<Measured, Stop> {
        let started = Instant::now();
        let real = match &self.files {
            Some(files) => stream.family.problem.reference(stream.case, files),
            None => drawn_reference(stream.family, stream.case, false),
        };
        let exact = drawn_reference(stream.family, stream.case, true);
        outcome.spent.data = started.elapsed().as_secs_f64();
        self.fill(stream, true)?;
        self.launched = true;
        stream.right = Some(exact);
        stream.run(&mut *self.device, "over small numbers, whose sums are exact")?;
        self.fill(stream, false)?;
        stream.right = Some(real);
        let (_, judged) = stream.run(&mut *self.device, "before timing")?;
        outcome.spent.verify = started.elapsed().as_secs_f64() - outcome.spent.data;
        self.time_flow(stream, judged, settings, outcome)
    }

    /// Puts the data of all chunks into the host's memory.
    fn fill(&mut self, stream: &Stream<'_>, exact: bool) -> Result<(), Stop> {
        let (fill, seed) = portion_fill(stream.family, stream.case, exact);
        for (at, chunk) in stream.chunks.iter().enumerate() {
            let (from, len) = stream.range(at);
            for (input, &host) in chunk.inputs.iter().enumerate() {
                let array = match self.files.as_ref().filter(|_| !exact) {
                    Some(files) => part_of(&files[input], from, len),
                    None => data::generate(fill, stream.case.dtype, seed, input as u64, from as u64, len),
                };
                self.device.held(host)?.copy_from_slice(array.as_bytes());
            }
        }
        Ok(())
    }
}

/// A case on its way through the device.
struct Stream<'a> {
    family: &'a Family,
    case: &'a Case,
    /// Elements of all chunks but a shorter last one.
    chunk: u64,
    /// Chunks of one length, and a shorter last one, if any.
    parts: Vec<AlikeChunks>,
    chunks: Vec<HeldChunk>,
    /// What is right over the data at hand.
    right: Option<Reference>,
}

struct AlikeChunks {
    case: Case,
    plan: Plan,
    program: ProgramId,
    /// Place of the first among all.
    first: u64,
    count: u64,
    lanes: Vec<QueueBuffers>,
}

/// Buffers that the chunks of a queue use one after the other.
pub(super) struct QueueBuffers {
    pub(super) inputs: Vec<Fenced>,
    pub(super) bound: BoundPlan,
}

impl QueueBuffers {
    /// Buffers for a plan and its inputs, of so many elements.
    pub(super) fn new(
        device: &mut dyn Device,
        fence: Fence,
        plan: &Plan,
        inputs: &[(Dtype, usize)],
    ) -> Result<QueueBuffers, Stop> {
        let inputs = fence.alloc_all(device, inputs.iter().copied())?;
        match BoundPlan::new(device, fence, plan, &inputs) {
            Ok(bound) => Ok(QueueBuffers { inputs, bound }),
            Err(error) => {
                inputs.into_iter().for_each(|input| input.free(device));
                Err(error.into())
            }
        }
    }

    /// Refuses kernels that wrote beside their buffers, or left something where zeros belong.
    pub(super) fn demand_kept_inside(&self, device: &mut dyn Device) -> Result<(), Stop> {
        let beside = self.bound.overrun(device)?;
        match beside.or(self.bound.left_over(device)?) {
            Some(what) => Err(wrong(what)),
            None => Ok(()),
        }
    }

    pub(super) fn free(self, device: &mut dyn Device) {
        self.bound.free(device);
        self.inputs.into_iter().for_each(|input| input.free(device));
    }
}

struct HeldChunk {
    inputs: Vec<HostId>,
    output: Option<HostId>,
}

impl AlikeChunks {
    /// Bytes of an element of what the device leaves.
    fn output_size(&self) -> usize {
        self.output().map_or(0, |index| self.plan.buffers[index].dtype.size())
    }

    fn output(&self) -> Option<usize> {
        self.plan.outputs().next()
    }

    fn commands(&self, chunks: &[HeldChunk]) -> Vec<QueuedCommand> {
        let mut commands = Vec::new();
        for (at, chunk) in chunks.iter().skip(self.first as usize).take(self.count as usize).enumerate() {
            let queue = at % self.lanes.len();
            let lane = &self.lanes[queue];
            let copies = chunk.inputs.iter().zip(&lane.inputs).map(|(&host, input)| {
                Action::Write(Transfer { host, from: 0, buffer: input.id, at: 0, bytes: input.bytes })
            });
            let launches = lane.bound.launches().into_iter().map(Action::Launch);
            let back = chunk.output.zip(self.output()).map(|(host, index)| {
                let bytes = self.plan.buffers[index].bytes();
                Action::Read(Transfer { host, from: 0, buffer: lane.bound.id(index), at: 0, bytes })
            });
            commands.extend(copies.chain(launches).chain(back).map(|action| QueuedCommand { queue, action }));
        }
        commands
    }
}

impl Stream<'_> {
    fn range(&self, chunk: usize) -> (usize, usize) {
        let from = chunk as u64 * self.chunk;
        (from as usize, self.chunk.min(self.case.shape.n - from) as usize)
    }

    /// Makes one result of what the chunks left.
    fn joined(&self, device: &mut dyn Device) -> Result<Array, Stop> {
        let mut results = Vec::new();
        for part in &self.parts {
            let Some(spec) = part.output().map(|index| &part.plan.buffers[index]) else { continue };
            for chunk in self.chunks.iter().skip(part.first as usize).take(part.count as usize) {
                let mut output = Array::zeros(spec.dtype, spec.len);
                if let Some(host) = chunk.output {
                    output.as_bytes_mut().copy_from_slice(device.held(host)?);
                }
                let tails = match part.plan.host_tail {
                    Some(start) => self.tails(device, chunk, start as usize)?,
                    None => Vec::new(),
                };
                results.extend_from_slice(self.family.problem.finish(&part.case, output, &tails).as_bytes());
            }
        }
        let mut joined = Array::zeros(self.case.dtype, results.len() / self.case.dtype.size());
        joined.as_bytes_mut().copy_from_slice(&results);
        Ok(self.family.problem.finish(self.case, joined, &[]))
    }

    /// What the plan leaves of a chunk's inputs to the host: their elements from one on.
    fn tails(&self, device: &mut dyn Device, chunk: &HeldChunk, start: usize) -> Result<Vec<Array>, Stop> {
        let size = self.case.dtype.size();
        chunk
            .inputs
            .iter()
            .map(|&host: &HostId| {
                let bytes = &device.held(host)?[start * size..];
                let mut tail = Array::zeros(self.case.dtype, bytes.len() / size);
                tail.as_bytes_mut().copy_from_slice(bytes);
                Ok(tail)
            })
            .collect()
    }

    /// Gives everything back.
    fn strike(self, device: &mut dyn Device) {
        for lane in self.parts.into_iter().flat_map(|part| part.lanes) {
            lane.free(device);
        }
        for chunk in self.chunks {
            chunk.inputs.into_iter().chain(chunk.output).for_each(|host| device.let_go(host));
        }
    }
}

impl Flow for Stream<'_> {
    fn commands(&self) -> Vec<(ProgramId, Vec<QueuedCommand>)> {
        self.parts.iter().map(|part| (part.program, part.commands(&self.chunks))).collect()
    }

    fn run(&self, device: &mut dyn Device, when: &str) -> Result<(f64, Judged), Stop> {
        for part in &self.parts {
            for lane in &part.lanes {
                lane.bound.poison(device)?;
            }
            let poison = part.output().map(|index| check::poison(part.plan.buffers[index].dtype)).unwrap_or_default();
            for chunk in self.chunks.iter().skip(part.first as usize).take(part.count as usize) {
                let Some(host) = chunk.output else { continue };
                device.held(host)?.chunks_exact_mut(poison.len()).for_each(|element| element.copy_from_slice(&poison));
            }
        }
        let seconds = self.play(device, |_| true)?;
        let started = Instant::now();
        let joined = self.joined(device)?;
        let seconds = seconds + started.elapsed().as_secs_f64();
        let Some(right) = &self.right else { return Err(Stop::failed("there is no reference")) };
        let depth = self.parts.iter().map(|part| part.plan.depth).max().unwrap_or(0);
        Ok((seconds, judge_real(&joined, right, depth + JOINING, when)?))
    }

    fn demand_kept_inside(&self, device: &mut dyn Device) -> Result<(), Stop> {
        for part in &self.parts {
            for (queue, lane) in part.lanes.iter().enumerate() {
                lane.demand_kept_inside(device)?;
                let last = last_chunk(part.count as usize, queue, part.lanes.len());
                let chunk = &self.chunks[part.first as usize + last];
                for (input, (&host, fenced)) in chunk.inputs.iter().zip(&lane.inputs).enumerate() {
                    let print = check::fingerprint(device.held(host)?);
                    if !fenced.is_unchanged(device, print)? {
                        return Err(wrong(format!("the kernel changed its input {input}")));
                    }
                }
            }
        }
        Ok(())
    }
}
