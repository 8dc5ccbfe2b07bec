//! The launches of a described rung.

use super::description::{DescribedArg, DescribedLaunch, DescribedRung, Extent, MOST};
use super::formula::Formula;
use super::problem::DescribedProblem;
use crate::{Ask, Builder, Problem, shape};
use gpulab_model::plan::{Arg, Plan, Refusal, Role, WorkGroup};
use std::collections::BTreeMap;

/// The plan of a case: buffers, macros and launches as the file says.
pub(super) fn plan(problem: &DescribedProblem, rung: &DescribedRung, ask: &Ask<'_>) -> Result<Plan, Refusal> {
    problem.check(ask.case.shape, ask.case.dtype)?;
    let wg = work_group(rung, ask)?;
    shape::check_wg(wg, ask.target)?;
    DescribedPlan { problem, rung, ask, wg }.plan()
}

/// The group asked for, or the rung's own if that has more dimensions; 16 wide where the rung has more and says nothing.
fn work_group(rung: &DescribedRung, ask: &Ask<'_>) -> Result<WorkGroup, Refusal> {
    let asked = ask.case.wg;
    let is_flat = |wg: WorkGroup| wg.0[1] == 1 && wg.0[2] == 1;
    let dimensions = |launch: &DescribedLaunch| match launch.extent() {
        Ok(Extent::Items(sides) | Extent::Groups(sides)) => sides.len(),
        Err(_) => 1,
    };
    let is_deep = rung.launch.iter().any(|launch| dimensions(launch) > 1);
    Ok(match rung.work_group().map_err(Refusal::Setting)? {
        Some(declared) if is_flat(asked) && !is_flat(declared) => declared,
        None if is_flat(asked) && is_deep => WorkGroup([16, asked.size().div_ceil(16).min(16), 1]),
        _ => asked,
    })
}

struct DescribedPlan<'a> {
    problem: &'a DescribedProblem,
    rung: &'a DescribedRung,
    ask: &'a Ask<'a>,
    wg: WorkGroup,
}

impl DescribedPlan<'_> {
    fn plan(&self) -> Result<Plan, Refusal> {
        let (case, description) = (self.ask.case, &self.problem.description);
        let lens = self.problem.lens(case.shape, case.dtype).map_err(Refusal::Size)?;
        let longest = lens.iter().copied().max().unwrap_or(1).max(case.shape.elements());
        let mut plan = Builder::new(self.ask, shape::signed(case.dtype), longest);
        plan.grouped(self.wg);
        let [x, y, _] = self.wg.0;
        for (name, value) in [("WG", self.wg.size()), ("WG_X", x), ("WG_Y", y)] {
            plan.define(name, value);
        }
        for (name, value) in &description.constants {
            plan.define(name, value);
        }
        for tunable in self.ask.rung.tunables() {
            tunable.given(&case.params)?;
            plan.set(tunable.name, self.number(&tunable.name.to_uppercase()).unwrap_or_default());
        }
        let inputs = description.input.iter().map(|input| input.name.as_str()).zip(plan.inputs());
        let mut buffers: BTreeMap<&str, Arg> = inputs.collect();
        let results = description.output.length.count((1, MOST), &|name| self.number(name)).map_err(Refusal::Size)?;
        buffers.insert(&description.output.name, plan.output(results as usize));
        for (name, length) in &self.rung.scratch {
            let len = length.count((1, MOST), &|name| self.number(name)).map_err(Refusal::Size)?;
            buffers.insert(name, plan.buffer(Role::Scratch, case.dtype, len as usize));
        }
        let mut local = self.rung.local.as_ref().map_or(Ok(0), |elements| self.local(elements))?;
        for launch in &self.rung.launch {
            local = local.max(self.launch(&mut plan, launch, &buffers)?);
        }
        Ok(plan.plan_with(local, 0))
    }

    /// Adds a launch; the bytes of local memory that it hands over.
    fn launch(
        &self,
        plan: &mut Builder<'_>,
        launch: &DescribedLaunch,
        buffers: &BTreeMap<&str, Arg>,
    ) -> Result<u64, Refusal> {
        let extent = launch.extent().map_err(Refusal::Setting)?;
        let (Extent::Items(sides) | Extent::Groups(sides)) = extent;
        let own = launch.work_group().map_err(Refusal::Setting)?;
        // A launch of one dimension has the work-items of the group in a row.
        let wg = own.unwrap_or(if sides.len() == 1 { WorkGroup::linear(self.wg.size()) } else { self.wg });
        shape::check_wg(wg, self.ask.target)?;
        let mut groups = [1; 3];
        for (d, side) in sides.iter().enumerate() {
            let count = side.count((1, MOST), &|name| self.number(name)).map_err(Refusal::Size)?;
            groups[d] = if matches!(extent, Extent::Items(_)) { count.div_ceil(wg.0[d] as u64) } else { count };
        }
        let items = groups.iter().try_fold(wg.size() as u64, |items, groups| items.checked_mul(*groups));
        if items.is_none_or(|items| items > MOST) {
            return Err(Refusal::Size(format!("the launch of {} has more than {MOST} work-items", launch.kernel)));
        }
        let (mut args, mut local) = (Vec::new(), 0u64);
        for arg in self.problem.description.args(self.rung, launch).map_err(Refusal::Setting)? {
            args.push(match arg {
                DescribedArg::Buffer(name) => match buffers.get(name.as_str()) {
                    Some(buffer) => *buffer,
                    None => return Err(Refusal::Setting(format!("there is no buffer {name}"))),
                },
                DescribedArg::Number(formula) => {
                    Arg::Index(formula.count((0, u64::MAX), &|name| self.number(name)).map_err(Refusal::Size)?)
                }
                DescribedArg::Local(elements) => {
                    let bytes = self.local(&elements)?;
                    local += bytes;
                    Arg::Local(bytes as usize)
                }
            });
        }
        plan.launch_of(&launch.kernel, groups, wg, args);
        Ok(local)
    }

    /// The bytes of so many elements in local memory, which a device has at most a few KiB of.
    fn local(&self, elements: &Formula) -> Result<u64, Refusal> {
        let elements = elements.count((1, 1 << 24), &|name| self.number(name)).map_err(Refusal::Size)?;
        Ok(elements * self.ask.case.dtype.size() as u64)
    }

    /// What a name stands for in this rung.
    fn number(&self, name: &str) -> Option<u64> {
        let [x, y, _] = self.wg.0;
        match name {
            "WG" => return Some(self.wg.size() as u64),
            "WG_X" => return Some(x as u64),
            "WG_Y" => return Some(y as u64),
            _ => {}
        }
        match self.rung.tune.get(name) {
            Some(values) => match self.ask.case.params.get(&name.to_lowercase()) {
                Some(given) => given.parse().ok(),
                None => values.first().copied(),
            },
            None => self.problem.size(name, self.ask.case.shape, self.ask.case.dtype),
        }
    }
}
