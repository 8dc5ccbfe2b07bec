//! Every family there is, in three lists: ladders, probes, and kernels of experiments.

use super::{Family, described, dot, lab, minplus, own, probes, reduce, transpose};

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
