//! A ladder that is to be climbed.

use crate::cli::Ladder;
use crate::data::{Dtype, Params, Shape};
use crate::kernels::{Family, Rung};
use crate::plan::Case;
use crate::record::Row;

/// A ladder to climb.
pub(crate) struct LadderRun {
    pub(crate) family: &'static Family,
    pub(crate) shape: Shape,
    /// The element type asked for, or that of the inputs.
    pub(crate) dtype: Option<Dtype>,
    pub(crate) params: Params,
    /// Further settings, with each of which every kernel runs once.
    pub(crate) series: Vec<Params>,
    /// Whose set-up it is, if a source's.
    pub(crate) source: Option<AsSource>,
    /// Files of real inputs; empty for random ones.
    pub(crate) inputs: Vec<String>,
    /// A reader's kernel among the rungs, of which is said where it lands.
    pub(crate) own: Option<&'static Rung>,
    /// Cases of rungs that have a group and settings of their own.
    pub(crate) own_cases: Vec<Case>,
    /// Bytes that a worker may take beside what its driver has, if it runs what nobody trusts.
    pub(crate) memory: Option<u64>,
    /// Whether the table goes to standard error, as somebody else's file takes standard output.
    pub(crate) to_stderr: bool,
}

impl LadderRun {
    /// A ladder over random inputs, in nobody's set-up, each kernel once.
    pub(crate) fn new(family: &'static Family, shape: Shape, options: &Ladder, params: &Params) -> LadderRun {
        let (dtype, params) = (options.dtype, params.clone());
        LadderRun {
            family,
            shape,
            dtype,
            params,
            series: vec![Params::new()],
            source: None,
            inputs: Vec::new(),
            own: None,
            own_cases: Vec::new(),
            memory: None,
            to_stderr: false,
        }
    }
}

/// What a ladder in the set-up of a source has besides.
pub(crate) struct AsSource {
    /// Its rungs, as `--variant` names them, unless others are asked for.
    pub(crate) variants: &'static str,
    /// What it claims, beside what came of these rows.
    pub(crate) claim: fn(&[Row]) -> String,
}
