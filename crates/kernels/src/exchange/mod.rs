//! What goes on between host and device: transfers, launches and pipelines of both, as plain data.
//!
//! An [`Exchange`] is for the host what a family is for kernels: it turns a case into a [`Script`], which the runner
//! carries out, checks and times. Ceilings and experiments are made of its cases.

pub mod launch;
pub mod pipeline;
mod script;
pub mod transfer;
pub mod zerocopy;

pub use script::*;

use gpulab_model::data::{Dtype, Params, Shape};
use gpulab_model::plan::{
    Action, Arg, BufferId, Case, Cost, Launch, MemoryKind, QueuedCommand, Refusal, Target, Transfer,
};

pub const EXCHANGES: &[&Exchange] = &[&launch::EXCHANGE, &pipeline::EXCHANGE, &transfer::EXCHANGE, &zerocopy::EXCHANGE];

pub struct Exchange {
    /// The family's name in cases and rows.
    pub name: &'static str,
    pub variants: &'static [Variant],
    /// Kernel files that its scripts run, as paths below `cl/`.
    pub sources: &'static [&'static str],
    /// Turns a case of one of the variants into what is done, or says why this device cannot.
    pub script: fn(&Case, &Target) -> Result<Script, Refusal>,
}

pub struct Variant {
    pub name: &'static str,
    /// Whether the driver's events time it, and not the host's clock: the other one would leave out what it is about.
    pub by_events: bool,
}

impl Variant {
    const fn by_wall(name: &'static str) -> Variant {
        Variant { name, by_events: false }
    }

    const fn by_events(name: &'static str) -> Variant {
        Variant { name, by_events: true }
    }
}

impl Exchange {
    pub fn variant(&self, name: &str) -> Option<&'static Variant> {
        self.variants.iter().find(|v| v.name == name)
    }
}

pub fn exchange(name: &str) -> Option<&'static Exchange> {
    EXCHANGES.iter().copied().find(|e| e.name == name)
}

/// A case of an exchange over so many 4-byte words.
pub fn case(exchange: &Exchange, variant: &str, words: u64, params: &[(&str, u64)], seed: u64) -> Case {
    Case {
        params: params.iter().map(|(name, value)| ((*name).into(), value.to_string())).collect::<Params>(),
        seed,
        ..Case::of(exchange.name, variant, Dtype::I32, Shape::vector(words))
    }
}

fn setting(case: &Case, name: &str, default: u64) -> Result<u64, Refusal> {
    let Some(text) = case.params.get(name) else { return Ok(default) };
    let number = text.parse().ok().filter(|n| *n > 0);
    number.ok_or_else(|| Refusal::Setting(format!("{name}={text}: a whole number above 0 is needed")))
}

fn bytes(case: &Case) -> Result<usize, Refusal> {
    let bytes = case.shape.n.checked_mul(4).and_then(|bytes| usize::try_from(bytes).ok());
    bytes.filter(|&b| b > 0).ok_or_else(|| Refusal::Size(format!("{} words cannot be moved", case.shape.n)))
}
