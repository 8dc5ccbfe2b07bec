//! What is known of a kernel that was judged.

use gpulab_kernels::SourceTraits;
use gpulab_model::data::Shape;
use gpulab_model::outcome::Symptoms;
use gpulab_model::plan::{Case, WorkGroup};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// Right wherever it was tried.
    Right,
    /// Its result, or memory that it left changed, is wrong.
    Wrong,
    /// It does not compile, or does not take the arguments that it is given.
    NotBuilt,
    Crashed,
    /// It did not end within its deadline.
    Endless,
    /// The device, or a declared number, leaves no way to run it.
    Refused,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriedCase {
    pub shape: Shape,
    pub wg: WorkGroup,
    pub ruling: Ruling,
    pub reason: String,
}

/// What is known of a kernel that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// What it is, by the first case that is not right.
    pub ruling: Ruling,
    pub asked: Case,
    /// Elements that a work-group has: of vectors in a row and 1, of matrices columns and rows.
    pub tile: [u64; 2],
    /// The sizes that were tried, smallest first and the one asked for last, up to one that leaves no use for more.
    pub tried: Vec<TriedCase>,
    /// The same kernel in work-groups of other sizes, which do not count.
    pub elsewhere: Vec<TriedCase>,
    /// What a wrong kernel does; none if it could not be found out.
    pub symptoms: Option<Symptoms>,
    pub traits: SourceTraits,
    pub parameters: Vec<String>,
}

impl Judgement {
    pub fn failed(&self) -> Option<&TriedCase> {
        self.tried
            .iter()
            .find(|tried| tried.ruling != Ruling::Right)
    }
}
