//! The registry: every family, its ladder of rungs, and the problem it solves, as plain data.
//!
//! Help texts, `list`, ladders, sweeps and tests all walk [`FAMILIES`]; nothing is listed twice.

pub mod ceiling;
pub mod dot;
mod draft;
mod plan;
pub mod reduce;
#[cfg(test)]
mod reduce_tests;
mod shape;
mod source;

pub use crate::cpu::{Baseline, Reference};
pub use plan::*;
pub use source::{Assembled, COMMON, EMBEDDED, assemble};

pub use crate::data::Params;
use crate::data::{Array, Dtype, Fill};

/// Every family with a ladder, in teaching order.
pub const FAMILIES: &[&Family] = &[&reduce::FAMILY, &dot::FAMILY];

/// A problem and its ladder.
pub struct Family {
    /// As on the command line.
    pub name: &'static str,
    /// One line for the help.
    pub about: &'static str,
    /// How inputs, answers and costs are made.
    pub problem: &'static dyn Problem,
    /// The rungs, in teaching order; numbers run from 1 without a gap.
    pub ladder: &'static [Rung],
    /// Settings that change the answer, and not only how it is found.
    pub choices: &'static [Tunable],
    /// Element types that the kernels are written for; the first is the default.
    pub dtypes: &'static [Dtype],
    /// The measured ceiling that bounds the family.
    pub ceiling: Bound,
}

/// Which of the device's measured limits bounds a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Reading global memory.
    Read,
    /// Reading and writing global memory at once.
    Copy,
}

impl Bound {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Read => "read",
            Bound::Copy => "copy",
        }
    }
}

/// A setting that a rung reads from [`Case::params`].
pub struct Tunable {
    /// Key in the parameters.
    pub name: &'static str,
    /// What it sets, and its unit.
    pub about: &'static str,
    /// Values worth trying, in order.
    pub values: &'static [&'static str],
}

/// One step of a ladder: one kernel file, one idea.
pub struct Rung {
    /// Path below `cl/`, as in `dot/v1_naive.cl`.
    pub path: &'static str,
    /// The file's text as built into the binary.
    pub text: &'static str,
    /// Settings that it reads.
    pub tunables: &'static [Tunable],
    /// Turns a case into a plan, or says why this device cannot run it.
    pub plan: fn(&Ask<'_>) -> Result<Plan, Refusal>,
}

/// What a rung's planner is given.
pub struct Ask<'a> {
    /// The rung.
    pub rung: &'a Rung,
    /// What to run; never of size 0.
    pub case: &'a Case,
    /// Where to run it.
    pub target: &'a Target,
}

/// Declares a rung from its path; number, idea and source all come from there.
#[macro_export]
macro_rules! rung {
    ($path:literal, $plan:expr, $tunables:expr) => {
        $crate::kernels::Rung {
            path: concat!($path, ".cl"),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/cl/", $path, ".cl")),
            tunables: $tunables,
            plan: $plan,
        }
    };
}

impl Rung {
    /// The file's name without folder and ending: `v3_local`.
    pub fn stem(&self) -> &'static str {
        let file = self.path.rsplit('/').next().unwrap_or(self.path);
        file.strip_suffix(".cl").unwrap_or(file)
    }

    /// Place in the ladder, from 1; 0 if the file's name has none.
    pub fn number(&self) -> u32 {
        let digits = self.stem().strip_prefix('v').and_then(|s| s.split('_').next());
        digits.and_then(|d| d.parse().ok()).unwrap_or(0)
    }

    /// The idea's name: `local`.
    pub fn variant(&self) -> &'static str {
        self.stem().split_once('_').map_or(self.stem(), |(_, idea)| idea)
    }

    /// The main kernel's name: `dot_v3_local`.
    pub fn kernel(&self) -> String {
        self.path.trim_end_matches(".cl").replace('/', "_")
    }

    /// A line of the file's header: `Idea`, `Removes` or `Remains`, without its label.
    pub fn header(&self, label: &str) -> Option<&'static str> {
        self.text.lines().take(8).find_map(|line| {
            let text = line.strip_prefix("// ")?.strip_prefix(label)?.strip_prefix(':')?;
            Some(text.trim())
        })
    }
}

impl Family {
    /// The rung with this idea.
    pub fn rung(&self, variant: &str) -> Option<&'static Rung> {
        self.ladder.iter().find(|r| r.variant() == variant)
    }
}

/// Every family, and the internal ones that measure ceilings.
pub fn everything() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().chain(ceiling::PROBES).copied()
}

/// The family of this name, internal ones included.
pub fn family(name: &str) -> Option<&'static Family> {
    everything().find(|f| f.name == name)
}

/// How to make a family's inputs and right answers, and what they cost.
pub trait Problem: Sync {
    /// Lengths of the inputs, in elements.
    fn inputs(&self, shape: Shape) -> Vec<usize>;

    /// The data that makes results exact in the case's element type and size.
    fn exact_fill(&self, case: &Case) -> Fill;

    /// Bytes moved and operations done, from the one formula of the family.
    fn cost(&self, case: &Case) -> Cost;

    /// The right answer for these inputs, all of one type and of the lengths that `inputs` gave.
    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference;

    /// Completes on the host what the device left: `output` is the output buffer, `tails` the inputs
    /// from [`Plan::host_tail`] on (empty without one).
    fn finish(&self, case: &Case, output: Array, tails: &[Array]) -> Array;

    /// The CPU baselines, timed beside the rungs.
    fn baselines(&self) -> &'static [Baseline];
}
