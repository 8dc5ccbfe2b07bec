//! A pipeline: words go to the device, are worked on and come back, in chunks on one queue or several.
//!
//! The classic form is that of staged concurrent copy and execute: NVIDIA, "CUDA C++ Best Practices Guide", and M. Harris,
//! "How to Overlap Data Transfers in CUDA C/C++" (2012).

use super::*;
use rayon::prelude::*;

/// The exchange's entry in the list: n words of 4 bytes, from and to pinned memory.
pub const EXCHANGE: Exchange = Exchange {
    name: "pipeline",
    variants: &[
        Variant::by_wall(CHUNKS),
        Variant::by_wall(COPY_IN),
        Variant::by_wall(KERNEL),
        Variant::by_wall(COPY_OUT),
        Variant::by_wall(WORK),
        Variant::by_wall(BESIDE),
        Variant::by_wall(BESIDE_IN),
        Variant::by_wall(BESIDE_OUT),
    ],
    sources: &[PATH],
    script,
};

/// All of it, in [`CHUNKS_SET`] chunks on [`QUEUES_SET`] queues.
pub const CHUNKS: &str = "chunks";
/// The first stage alone, in one piece.
pub const COPY_IN: &str = "copy_in";
pub const KERNEL: &str = "kernel";
pub const COPY_OUT: &str = "copy_out";
/// The host's own work alone, without a device.
pub const WORK: &str = "work";
/// The second stage, and the host's own work while it runs.
pub const BESIDE: &str = "beside";

/// The first stage, and the host's own work while it goes on.
pub const BESIDE_IN: &str = "beside_in";
/// The third stage, and the host's own work while it goes on.
pub const BESIDE_OUT: &str = "beside_out";

/// Setting: chunks of the words, on queues in turn.
pub const CHUNKS_SET: &str = "chunks";
pub const QUEUES_SET: &str = "queues";
/// Setting: steps of the kernel for each word.
pub const STEPS_SET: &str = "steps";
/// Setting: steps of the host's own work.
pub const WORK_SET: &str = "work";

const PATH: &str = "exchange/pipeline/mix.cl";
/// Values that the kernel distinguishes.
const TABLE: u32 = 4096;

fn script(case: &Case, target: &Target) -> Result<Script, Refusal> {
    let bytes = bytes(case)?;
    let n = bytes / 4;
    if u32::try_from(n).is_err() {
        return Err(Refusal::Size(format!("n = {n}: the kernel counts words in 32 bits")));
    }
    let stage = KernelStage { wg: target.max_wg.min(256), steps: setting(case, STEPS_SET, 16)? as u32 };
    let variant = case.variant.as_str();
    let work = Action::Work(setting(case, WORK_SET, 1)?);
    let alone = |action| QueuedCommand { queue: 0, action };
    let all = Chunk { first: 0, n };
    let copy = Cost { bytes: bytes as f64, ops: 0.0 };
    // Each word is read and written.
    let mix = Cost { bytes: 2.0 * bytes as f64, ops: 6.0 * n as f64 * f64::from(stage.steps) };
    let (commands, cost) = match variant {
        COPY_IN => (vec![alone(all.copy_in())], copy),
        KERNEL => (vec![alone(all.mix(&stage))], mix),
        COPY_OUT => (vec![alone(all.copy_out())], copy),
        WORK => (vec![alone(work)], Cost { bytes: 0.0, ops: 0.0 }),
        BESIDE => (vec![alone(all.mix(&stage)), alone(work)], mix),
        BESIDE_IN => (vec![alone(all.copy_in()), alone(work)], copy),
        BESIDE_OUT => (vec![alone(all.copy_out()), alone(work)], copy),
        _ => {
            let chunks = setting(case, CHUNKS_SET, 1)? as usize;
            let queues = setting(case, QUEUES_SET, 1)? as usize;
            if chunks > n || queues > 16 {
                return Err(Refusal::Size(format!("{chunks} chunks of {n} words on {queues} queues: too many")));
            }
            (pipeline(n, chunks, queues, &stage), Cost { bytes: 2.0 * copy.bytes + mix.bytes, ops: mix.ops })
        }
    };
    let mixed = || mixed(case.seed, n, stage.steps);
    let (place, expect) = match variant {
        COPY_IN | BESIDE_IN => (AnswerPlace::Buffer(0), Expected::Pattern),
        KERNEL | BESIDE => (AnswerPlace::Buffer(1), Expected::Words(mixed())),
        COPY_OUT | BESIDE_OUT => (AnswerPlace::Host(1), Expected::Pattern),
        WORK => (AnswerPlace::Host(0), Expected::Nothing),
        _ => (AnswerPlace::Host(1), Expected::Words(mixed())),
    };
    let host = |contents| HostSpec { bytes, is_pinned: true, contents };
    let buffer = |contents| DeviceSpec { bytes, place: MemoryKind::Device, contents };
    let is_copied = [COPY_OUT, BESIDE_OUT].contains(&variant);
    let of_output = if is_copied { Contents::Pattern } else { Contents::Undefined };
    Ok(Script {
        host: vec![host(Contents::Pattern), host(Contents::Undefined)],
        buffers: vec![buffer(Contents::Pattern), buffer(of_output)],
        program: Some(Program {
            path: PATH,
            defines: vec![("TABLE".into(), TABLE.to_string())],
            kernels: vec!["pipeline_mix".into()],
        }),
        commands,
        repeat: 1,
        reading: Reading::Span,
        answer: Answer::new(place, expect),
        cost,
        timeline: variant == CHUNKS,
    })
}

struct KernelStage {
    wg: usize,
    steps: u32,
}

/// Words that go through a stage together.
#[derive(Clone, Copy)]
struct Chunk {
    first: usize,
    n: usize,
}

impl Chunk {
    fn copy_in(self) -> Action {
        Action::Write(self.transfer(0))
    }

    fn copy_out(self) -> Action {
        Action::Read(self.transfer(1))
    }

    /// Between the host's memory and the buffer of this place.
    fn transfer(self, place: u32) -> Transfer {
        let [from, bytes] = [4 * self.first, 4 * self.n];
        Transfer { host: BufferId(place), from, buffer: BufferId(place), at: from, bytes }
    }

    fn mix(self, stage: &KernelStage) -> Action {
        let numbers = [self.first as u32, self.n as u32, stage.steps].map(Arg::Uint);
        let args = [0, 1].map(BufferId).map(Arg::Buffer).into_iter().chain(numbers).collect();
        Action::Launch(Launch::linear("pipeline_mix", self.n.next_multiple_of(stage.wg), stage.wg, args))
    }
}

/// Each chunk's three stages on one queue, which keeps them in order; chunks take the queues in turn.
fn pipeline(n: usize, chunks: usize, queues: usize, stage: &KernelStage) -> Vec<QueuedCommand> {
    let cut = |k: usize| (n as u128 * k as u128 / chunks as u128) as usize;
    let part = |k: usize| Chunk { first: cut(k), n: cut(k + 1) - cut(k) };
    (0..chunks)
        .flat_map(|k: usize| [part(k).copy_in(), part(k).mix(stage), part(k).copy_out()].map(|action| (k, action)))
        .map(|(k, action)| QueuedCommand { queue: k % queues, action })
        .collect()
}

/// What the kernel makes of the pattern.
fn mixed(seed: u64, n: usize, steps: u32) -> Vec<u32> {
    let step = |x: u32| {
        let x = x ^ (x << 13);
        let x = x ^ (x >> 17);
        x ^ (x << 5)
    };
    let table: Vec<u32> = (0..TABLE).into_par_iter().map(|x| (0..steps).fold(x + 1, |x, _| step(x))).collect();
    (0..n)
        .into_par_iter()
        .map(|i: usize| {
            let word = pattern(seed, i);
            word ^ table[(word % TABLE) as usize]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::case;
    use gpulab_model::outcome::fake_info;

    #[test]
    fn each_part_costs_what_it_moves_and_does() {
        let cost = |variant: &str| {
            let case = case(&EXCHANGE, variant, 1000, &[(STEPS_SET, 5)], 1);
            let cost = script(&case, &fake_info().target).unwrap().cost;
            (cost.bytes, cost.ops)
        };
        assert_eq!(cost(COPY_IN), (4e3, 0.0));
        assert_eq!(cost(COPY_OUT), (4e3, 0.0));
        assert_eq!(cost(KERNEL), (8e3, 3e4));
        assert_eq!(cost(BESIDE), (8e3, 3e4));
        assert_eq!((cost(BESIDE_IN), cost(BESIDE_OUT)), (cost(COPY_IN), cost(COPY_OUT)));
        assert_eq!(cost(WORK), (0.0, 0.0));
        assert_eq!(cost(CHUNKS), (16e3, 3e4));
    }
}
