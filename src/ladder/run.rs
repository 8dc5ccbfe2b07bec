//! A ladder that is to be climbed.

use crate::prelude::*;

pub(crate) struct LadderRun<'a> {
    pub(crate) registry: Registry,
    pub(crate) family: &'a Family,
    pub(crate) shape: Shape,
    /// The element type asked for, or that of the inputs.
    pub(crate) dtype: Option<Dtype>,
    pub(crate) params: Params,
    /// Further settings, with each of which every kernel runs once.
    pub(crate) series: Vec<Params>,
    /// The source whose set-up this is, if any.
    pub(crate) source: Option<AsSource>,
    /// Files of real inputs; empty for random ones.
    pub(crate) inputs: Vec<String>,
    /// The reader's own kernel; the table says where it lands.
    pub(crate) own: Option<&'a Rung>,
    /// Cases of rungs that have a group and settings of their own.
    pub(crate) own_cases: Vec<Case>,
    /// Memory limit of the worker in bytes, without the driver's share, for untrusted kernels.
    pub(crate) memory: Option<u64>,
    /// Print the table to standard error, because an output file takes standard output.
    pub(crate) to_stderr: bool,
}

impl<'a> LadderRun<'a> {
    /// The ladder of one of gpulab's families over random inputs with the default set-up; each kernel runs once.
    pub(crate) fn new(family: &'a Family, shape: Shape, dtype: Option<Dtype>, params: &Params) -> LadderRun<'a> {
        LadderRun {
            registry: Registry::default(),
            family,
            shape,
            dtype,
            params: params.clone(),
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

impl LadderRun<'_> {
    /// A rung's case; one without a name for what needs no rung.
    pub(crate) fn case(&self, variant: &str, dtype: Dtype, wg: WorkGroup, seed: u64) -> Case {
        Case { wg, params: self.params.clone(), seed, ..Case::of(&self.family.name, variant, dtype, self.shape) }
    }

    /// Whether a rung has a fault that its source printed.
    pub(crate) fn is_faulty(&self, variant: &str) -> bool {
        self.source.as_ref().is_some_and(|source| source.faulty.iter().any(|name| name == variant))
    }
}

/// What a source says beside rows that were measured on a device of so many compute units.
pub(crate) type SourceClaim = Box<dyn Fn(&[Row], u32) -> String>;

/// Extra options of a ladder that reproduces a source.
pub(crate) struct AsSource {
    /// Its rungs, as `--variant` names them, unless others are asked for; all of the family's if none.
    pub(crate) variants: Option<&'static str>,
    /// Rungs with a fault that the source printed: a wrong result is what is to be seen.
    pub(crate) faulty: Vec<String>,
    pub(crate) claim: SourceClaim,
}
