//! Every family there is, in three lists: ladders, probes, and kernels of experiments.

use super::{
    DeclarationError, Family, FamilyFile, Oracle, OwnKernel, Rung, described, dot, lab, minplus, own, probes, reduce,
    transpose,
};
use gpulab_model::data::Shape;
use gpulab_model::plan::WorkGroup;

/// Every family with a ladder, in teaching order.
pub const FAMILIES: &[&Family] = &[&reduce::FAMILY, &dot::FAMILY, &transpose::FAMILY, &minplus::FAMILY];

/// Every probe that measures a ceiling, in the order in which they run; `gpulab list` does not show them.
pub const PROBES: &[&Family] = &[
    &probes::memory::READ,
    &probes::memory::WRITE,
    &probes::memory::COPY,
    &probes::local::LOCAL,
    &probes::chains::CHAINS,
    &probes::arithmetic::ADD_MIN,
    &probes::arithmetic::LANES,
];

/// Every family of kernels of experiments, by name; `gpulab list` does not show them.
pub const LAB: &[&Family] = &[
    &lab::absorbed::FAMILY,
    &lab::instructions::ONCE,
    &lab::vectors::ADDING,
    &lab::banks::FAMILY,
    &lab::chains::FAMILY,
    &lab::chase::FAMILY,
    &lab::columns::FAMILY,
    &lab::constant::FAMILY,
    &lab::divergence::FAMILY,
    &lab::walk::GATHER,
    &lab::group::FAMILY,
    &lab::instructions::PAIRS,
    &lab::intensity::INTENSITY,
    &lab::vectors::LOADING,
    &lab::lockstep::FAMILY,
    &lab::neighbours::FAMILY,
    &lab::orders::FAMILY,
    &lab::presum::FAMILY,
    &lab::intensity::RECOMPUTE,
    &lab::registers::FAMILY,
    &lab::intensity::RELOAD,
    &lab::sampled::FAMILY,
    &lab::walk::SCATTER,
    &lab::laden::STEPS,
    &lab::laden::STREAMS,
    &lab::texels::FAMILY,
];

/// The families of all three lists.
pub fn everything() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().chain(PROBES).chain(LAB).copied()
}

/// The family of this name, in any of the lists; with the kernels that were adopted for it; or one that was declared.
pub fn family(name: &str) -> Option<&'static Family> {
    own::family(name).or_else(|| described::family(name)).or_else(|| everything().find(|f| f.name == name))
}

/// Makes a kernel a rung of its family, the last one, and gives it back.
///
/// # Errors
/// A line of the file that declares nothing known, or a file without a kernel.
pub fn adopt(own: &OwnKernel) -> Result<&'static Rung, DeclarationError> {
    own::adopt(own, family(&own.family))
}

/// Makes a family of a file, and gives it back. It takes the place of an earlier one of its name.
///
/// # Errors
/// A text that describes none, a name that one of gpulab's families has, a kernel that no file has.
pub fn declare(file: &FamilyFile, oracle: Box<dyn Oracle>) -> Result<&'static Family, DeclarationError> {
    described::declare(file, oracle, &|name| everything().any(|family| family.name == name))
}

impl Family {
    /// Whether a reader's file describes it.
    pub fn is_described(&self) -> bool {
        described::family(self.name).is_some()
    }

    /// Its default shape: as a reader's file says, but no more than `usual` where it is to be `small`; of gpulab's own
    /// `usual` elements or columns.
    pub fn usual_shape(&self, usual: u64, small: bool) -> Shape {
        described::usual_shape(self, usual, small).unwrap_or_else(|| self.form.shape(usual, None))
    }
}

/// The work-group that a reader's file declares for a rung; none of gpulab's own.
pub fn declared_work_group(rung: &Rung) -> Option<WorkGroup> {
    own::work_group(rung).or_else(|| described::work_group(rung))
}
