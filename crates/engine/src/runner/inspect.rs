//! What a rung's kernels need, by a build of their own.

use super::prelude::*;
use crate::device::generation;
use gpulab_kernels::occupancy::{self, GroupNeeds};
use gpulab_model::outcome::{BuildTold, Inspected, ProgramBinary};
use gpulab_model::plan::TOLD;

impl Session {
    /// What the driver tells of a case's last kernel, if the case asks for it.
    pub(super) fn build_told(&mut self, case: &Case) -> Result<Option<BuildTold>, Stop> {
        if !case.params.contains_key(TOLD) {
            return Ok(None);
        }
        let Some(kernel) = self.inspect(case)?.pop() else { return Ok(None) };
        let registers = kernel.told.registers;
        let unit = registers.and_then(|_| generation(self.device.info())).and_then(|name| occupancy::unit(&name).ok());
        let resident = unit.zip(registers).and_then(|(unit, registers)| {
            unit.resident(GroupNeeds { registers, local: kernel.local, wg: kernel.wg }).ok()
        });
        let occupancy = resident.map(|resident| 100.0 * resident.warps as f64 / resident.most_warps as f64);
        let spilled = kernel.told.spills.map(|[stores, loads]| stores.saturating_add(loads));
        Ok(Some(BuildTold { registers, spilled, occupancy }))
    }

    /// Plans and builds a rung: the program as the driver gives it. Nothing runs.
    pub fn binary(&mut self, case: &Case) -> Result<ProgramBinary, Stop> {
        let registry = self.registry.clone();
        let (rung, plan) = self.plan(registry.find(&case.family)?, case)?;
        let unit = self.unit(rung, &plan)?;
        let mut binary = self.device.binary(&unit)?;
        let bytes = binary.len() as u64;
        binary.truncate(binary.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
        let text = String::from_utf8(binary).ok().filter(|text| !text.contains('\0'));
        Ok(ProgramBinary { text, bytes })
    }

    /// Plans and builds a rung, and looks at each of its kernels. Nothing runs, and later runs are built as ever.
    pub fn inspect(&mut self, case: &Case) -> Result<Vec<Inspected>, Stop> {
        let registry = self.registry.clone();
        let (rung, plan) = self.plan(registry.find(&case.family)?, case)?;
        let unit = self.unit(rung, &plan)?;
        let told = self.device.inspect(&unit)?;
        let mut all: Vec<Inspected> = Vec::new();
        for pass in &plan.passes {
            let found = unit.kernels.iter().zip(&told).find(|(name, _)| **name == pass.kernel);
            let told = found.map(|(_, told)| told.clone()).unwrap_or_default();
            let given = pass.args.iter().map(|arg| if let Arg::Local(bytes) = arg { *bytes as u64 } else { 0 });
            let given = given.fold(0, u64::saturating_add);
            let local = told.local.map_or(plan.local_bytes, |own| own.saturating_add(given));
            let wg = pass.local.iter().product::<usize>() as u64;
            let inspected = Inspected { kernel: pass.kernel.clone(), told, local, wg };
            if !all.contains(&inspected) {
                all.push(inspected);
            }
        }
        Ok(all)
    }
}
