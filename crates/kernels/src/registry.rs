//! gpulab's families, in three lists: ladders, probes, and kernels of experiments; and the families and rungs that a reader
//! brought.

use super::{
    DeclarationError, Family, FamilyFile, Oracle, OwnKernel, closure, described, dot, lab, minplus,
    own, probes, reduce, transpose,
};
use gpulab_model::outcome::Stop;

/// Every family with a ladder, in teaching order.
pub const FAMILIES: &[&Family] = &[
    &reduce::FAMILY,
    &dot::FAMILY,
    &transpose::FAMILY,
    &minplus::FAMILY,
];

/// The same, and the ladder that has no command of its own: `gpulab minplus --closure` takes a rung of it.
pub fn ladders() -> impl Iterator<Item = &'static Family> + Clone {
    FAMILIES.iter().copied().chain([&closure::FAMILY])
}

/// Every probe that measures a ceiling, in the order in which they run; `gpulab list` does not show them.
pub const PROBES: &[&Family] = &[
    &probes::memory::READ,
    &probes::memory::WRITE,
    &probes::memory::COPY,
    &probes::memory::LOCAL,
    &probes::memory::ATOMICS,
    &probes::arithmetic::CHAINS,
    &probes::arithmetic::ADD_MIN,
    &probes::arithmetic::LANES,
];

/// Every family of kernels of experiments, by name; `gpulab list` does not show them.
pub const LAB: &[&Family] = &[
    &lab::sums::ABSORBED,
    &lab::instructions::ONCE,
    &lab::chains::ADDING,
    &lab::memory::BANKS,
    &lab::chains::INDEPENDENT,
    &lab::memory::CHASE,
    &closure::FAMILY,
    &lab::memory::CONSTANT,
    &lab::divergence::FAMILY,
    &lab::memory::GATHER,
    &lab::chains::GROUP,
    &lab::instructions::PAIRS,
    &lab::chains::INTENSITY,
    &lab::chains::LOADING,
    &lab::sums::LOCKSTEP,
    &lab::memory::NEIGHBOURS,
    &lab::sums::ORDERS,
    &lab::sums::PRESUM,
    &lab::chains::RECOMPUTE,
    &lab::chains::REGISTERS,
    &lab::chains::RELOAD,
    &lab::images::SAMPLED,
    &lab::memory::SCATTER,
    &lab::chains::LADEN,
    &lab::chains::STREAMS,
    &lab::images::TEXELS,
];

pub fn everything() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().chain(PROBES).chain(LAB).copied()
}

/// gpulab's family of this name, in any of the lists.
pub fn built_in(name: &str) -> Option<&'static Family> {
    everything().find(|family| family.name == name)
}

/// The families that a command works with: gpulab's, and those that a reader brought or extended.
#[derive(Clone, Default)]
pub struct Registry {
    /// Whatever is not as in gpulab's lists.
    brought: Vec<Family>,
    /// Readers' kernels that are among the rungs.
    pub own: Vec<OwnKernel>,
    pub files: Vec<FamilyFile>,
}

impl Registry {
    pub fn family(&self, name: &str) -> Option<&Family> {
        self.brought
            .iter()
            .find(|family| family.name == name)
            .or_else(|| built_in(name))
    }

    pub fn find(&self, name: &str) -> Result<&Family, Stop> {
        self.family(name)
            .ok_or_else(|| Stop::failed(format!("there is no family {name}")))
    }

    /// Makes a kernel the last rung of its family, in place of an earlier one of its name. The family with it.
    pub fn adopt(&mut self, own: OwnKernel) -> Result<&Family, DeclarationError> {
        let Some(mut family) = self.family(&own.family).cloned() else {
            return Err(DeclarationError {
                line: None,
                why: format!("there is no family {}", own.family),
            });
        };
        let rung = own::rung(&own, &family)?;
        family
            .ladder
            .to_mut()
            .retain(|known| known.path != rung.path);
        family.ladder.to_mut().push(rung);
        self.own
            .retain(|known| (&known.family, &known.name) != (&own.family, &own.name));
        self.own.push(own);
        Ok(self.put(family))
    }

    /// Makes a family of a file. It takes the place of an earlier one of its name.
    pub fn declare(
        &mut self,
        file: &FamilyFile,
        oracle: Box<dyn Oracle>,
    ) -> Result<&Family, DeclarationError> {
        let family = described::family(file, oracle)?;
        if built_in(&family.name).is_some() {
            let why = format!(
                "name: gpulab already has a family {:?}: choose another name",
                family.name
            );
            return Err(DeclarationError { line: None, why });
        }
        self.files.push(file.clone());
        Ok(self.put(family))
    }

    fn put(&mut self, family: Family) -> &Family {
        self.brought.retain(|known| known.name != family.name);
        self.brought.push(family);
        &self.brought[self.brought.len() - 1]
    }
}
