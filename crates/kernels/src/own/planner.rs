//! The launches of a reader's kernel, from what its file declares.

use super::declaration::{Declaration, OwnResults, OwnWork};
use crate::shape::{self, Grid, HOST_FINISH};
use crate::{Ask, Builder, Form, minplus, reduce};
use gpulab_model::plan::{Arg, Plan, Refusal, Role, WorkGroup};

/// The plan of a case: inputs, results, sizes and, if it is declared, local memory are the kernel's arguments.
pub(super) fn plan(own: &Declaration, ask: &Ask<'_>) -> Result<Plan, Refusal> {
    let launch = OwnLaunch { own, ask, wg: work_group(own, ask)? };
    match ask.family.form {
        Form::Vector => launch.over_vectors(),
        Form::Matrix | Form::Square => launch.over_matrices(),
    }
}

/// The group asked for, if it has as many dimensions as the declared one.
fn work_group(own: &Declaration, ask: &Ask<'_>) -> Result<WorkGroup, Refusal> {
    let is_flat = |wg: WorkGroup| wg.0[1] == 1;
    let wg = match (own.wg, ask.family.form) {
        (Some(declared), _) if is_flat(ask.case.wg) && !is_flat(declared) => declared,
        (None, Form::Matrix | Form::Square) if is_flat(ask.case.wg) => {
            WorkGroup([16, ask.case.wg.size().div_ceil(16).min(16), 1])
        }
        _ => ask.case.wg,
    };
    shape::check_wg(wg, ask.target)?;
    Ok(wg)
}

/// A kernel that is to be launched for a case.
struct OwnLaunch<'a> {
    own: &'a Declaration,
    ask: &'a Ask<'a>,
    wg: WorkGroup,
}

impl<'a> OwnLaunch<'a> {
    fn value(&self, product: &super::declaration::Product) -> Result<u64, Refusal> {
        let value = product.value(&|name| self.own.number(name, &self.ask.case.params, self.wg));
        value.ok_or_else(|| Refusal::Setting("a declared number is 0 or too large".into()))
    }

    /// The builder's macros: sizes of the group, and the tunables.
    fn set_up(&self, plan: &mut Builder<'a>) -> Result<(), Refusal> {
        plan.grouped(self.wg);
        let [x, y, _] = self.wg.0;
        for (name, value) in [("WG", self.wg.size()), ("WG_X", x), ("WG_Y", y)] {
            plan.define(name, value);
        }
        for tunable in self.ask.rung.tunables() {
            tunable.given(&self.ask.case.params)?;
            let value = self.own.number(tunable.name, &self.ask.case.params, self.wg);
            plan.set(tunable.name, value.unwrap_or_default());
        }
        Ok(())
    }

    /// The last argument, and its bytes.
    fn local(&self) -> Result<(Option<Arg>, u64), Refusal> {
        let size = self.ask.case.dtype.size() as u64;
        let Some(elements) = &self.own.local else { return Ok((None, 0)) };
        let bytes = self.value(elements)?.saturating_mul(size);
        Ok((Some(Arg::Local(bytes as usize)), bytes))
    }

    fn over_vectors(&self) -> Result<Plan, Refusal> {
        let (ask, wg) = (self.ask, self.wg.size());
        let n = ask.case.shape.n;
        let (items, each) = match &self.own.work {
            OwnWork::Elements([each, _]) => {
                let each = self.value(each)?;
                (n.div_ceil(each), each)
            }
            OwnWork::Items(items) => {
                let items = self.value(items)?;
                (items, n.div_ceil(items))
            }
        };
        let grid = Grid::covering(wg, items);
        let mut plan = match &*ask.family.name {
            "reduce" => reduce::begin(ask, grid)?,
            _ => Builder::linear(ask, shape::wrapping(ask.case.dtype), grid),
        };
        self.set_up(&mut plan)?;
        let results = if self.own.results == OwnResults::Item { grid.items() } else { grid.groups };
        let joined = self.own.then.as_ref().filter(|_| results > 1);
        let role = if joined.is_some() { Role::Scratch } else { Role::Output };
        let partials = plan.buffer(role, ask.case.dtype, results);
        let (local, local_bytes) = self.local()?;
        let args = plan.inputs().into_iter().chain([partials, Arg::Index(n)]).chain(local).collect();
        plan.launch_of(&self.own.kernel, [grid.groups as u64, 1, 1], self.wg, args);
        // However a group's items add up: no sum has more terms than the group has elements.
        let depth = each.saturating_mul(if self.own.results == OwnResults::Item { 1 } else { wg as u64 }) + HOST_FINISH;
        let Some(then) = joined else { return Ok(plan.plan_with(local_bytes, depth)) };
        let result = plan.output(1);
        let args = [partials, result, Arg::Index(results as u64)].into_iter().chain(local).collect();
        plan.launch_of(then, [1; 3], self.wg, args);
        Ok(plan.plan_with(local_bytes, depth + results as u64))
    }

    fn over_matrices(&self) -> Result<Plan, Refusal> {
        let (ask, shape) = (self.ask, self.ask.case.shape);
        let OwnWork::Elements([across, down]) = &self.own.work else {
            return Err(Refusal::Setting("items are for vectors".into()));
        };
        let each = [self.value(across)?, self.value(down)?];
        let sides = [shape.n, shape.m];
        let groups = [0, 1].map(|d| sides[d].div_ceil(each[d].saturating_mul(self.wg.0[d] as u64)));
        let mut plan = match ask.family.form {
            Form::Square => minplus::begin(ask, shape.n)?,
            _ => Builder::new(ask, shape::wrapping(ask.case.dtype), shape.elements()),
        };
        self.set_up(&mut plan)?;
        let result = plan.output(ask.family.problem.result(shape, &ask.case.params));
        let (local, local_bytes) = self.local()?;
        let sizes: &[u64] = if ask.family.form == Form::Square { &sides[..1] } else { &sides };
        let sizes = sizes.iter().copied().map(Arg::Index);
        let args = plan.inputs().into_iter().chain([result]).chain(sizes).chain(local).collect();
        plan.launch_of(&self.own.kernel, [groups[0], groups[1], 1], self.wg, args);
        Ok(plan.plan_with(local_bytes, 0))
    }
}
