//! The launches of a reader's kernel, from what its file declares.

use super::args::OwnArg;
use super::declaration::{Declaration, OwnResults, OwnWork};
use crate::described::{macro_value, value_of};
use crate::shape::{self, Grid, HOST_FINISH};
use crate::{Ask, Builder, Form, Planned, minplus, reduce};
use gpulab_model::data::Dtype;
use gpulab_model::plan::{Arg, BufferSpec, Image, ImageKind, PixelFormat, Refusal, Role, WorkGroup};

/// The plan of a case: inputs, results, sizes and, if it is declared, local memory are the kernel's arguments.
///
/// `args` are others than those in gpulab's order.
pub(super) fn plan(own: &Declaration, args: Option<&[OwnArg]>, ask: &Ask<'_>) -> Planned {
    let launch = OwnLaunch { own, args, ask, wg: work_group(own, ask)? };
    let shape = ask.case.shape;
    let sides = if ask.family.form == Form::Vector { vec![shape.n] } else { vec![shape.n, shape.m] };
    if let Some(side) = sides.iter().find(|side| !side.is_multiple_of(own.multiple)) {
        let multiple = own.multiple;
        let next = side.next_multiple_of(own.multiple);
        return Err(Refusal::Size(format!(
            "its sizes must be multiples of {multiple}, as is said of it: {side} is none, {next} is"
        )));
    }
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

struct OwnLaunch<'a> {
    own: &'a Declaration,
    args: Option<&'a [OwnArg]>,
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
        for (name, text) in &self.own.defines {
            plan.define(name, macro_value(text, &|name| self.size(name)));
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

    fn size(&self, name: &str) -> Option<u64> {
        let (shape, [x, y, _]) = (self.ask.case.shape, self.wg.0);
        match name {
            "n" => Some(shape.n),
            "m" => Some(shape.m),
            "size" => Some(self.ask.case.dtype.size() as u64),
            "WG_X" => Some(x as u64),
            "WG_Y" => Some(y as u64),
            other => self.own.number(other, &self.ask.case.params, self.wg),
        }
    }

    /// What the kernel is given: inputs, the result and sizes, and local memory; or what is said of it. With the bytes of local
    /// memory.
    fn arguments(&self, plan: &mut Builder<'a>, result: Arg) -> Result<(Vec<Arg>, u64), Refusal> {
        let shape = self.ask.case.shape;
        let Some(args) = self.args else {
            let (local, bytes) = self.local()?;
            let sizes = if self.ask.family.form == Form::Matrix { vec![shape.n, shape.m] } else { vec![shape.n] };
            let sizes = sizes.into_iter().map(Arg::Index);
            return Ok((plan.inputs().into_iter().chain([result]).chain(sizes).chain(local).collect(), bytes));
        };
        let dtype = self.ask.case.dtype;
        let number = |name: &str| self.size(name);
        let inputs = plan.inputs();
        let mut local = 0;
        let mut all = Vec::new();
        for arg in args {
            all.push(match arg {
                OwnArg::In(index) => inputs[*index],
                OwnArg::Out { is_zeroed: true } => {
                    plan.plan.restored = true;
                    plan.zero(self.ask.target.max_wg, result);
                    result
                }
                OwnArg::Out { is_zeroed: false } => result,
                OwnArg::InImage(index, kind) => self.image(plan, inputs[*index], *kind)?,
                OwnArg::OutImage(kind) => self.image(plan, result, *kind)?,
                OwnArg::Sampler(sampler) => Arg::Sampler(*sampler),
                OwnArg::Number(formula, of) => value_of(formula, of.as_ref(), dtype, &number)?,
                OwnArg::Local(formula, of) => {
                    let elements = formula.count((1, 1 << 24), &number).map_err(Refusal::Size)?;
                    let bytes = elements * of.as_ref().map_or(dtype.size(), |of| of.size(dtype.size())) as u64;
                    local += bytes;
                    Arg::Local(bytes as usize)
                }
            });
        }
        Ok((all, local))
    }

    /// An image of a buffer, with one channel of its elements.
    fn image(&self, plan: &mut Builder<'a>, of: Arg, kind: ImageKind) -> Result<Arg, Refusal> {
        if !self.ask.target.images {
            return Err(Refusal::Feature("this device has no images".into()));
        }
        let (Arg::Buffer(of), shape) = (of, self.ask.case.shape) else { return Ok(of) };
        let BufferSpec { role, dtype, len } = plan.plan.buffers[of];
        if !matches!(dtype, Dtype::F32 | Dtype::I32) {
            return Err(Refusal::Setting(format!("images hold f32 or i32, and not {dtype}: choose another --dtype")));
        }
        let sides = match (kind.dimensions(), role) {
            (1, _) => [len, 1, 1],
            (2, Role::Output) => [shape.m as usize, shape.n as usize, 1],
            _ => [shape.n as usize, shape.m as usize, 1],
        };
        if sides.iter().product::<usize>() != len {
            return Err(Refusal::Setting("an image has no gap between its rows: leave --gap out".into()));
        }
        let format = PixelFormat { channels: 1, scalar: dtype.into(), is_share: false };
        let image = Image { kind, sides, format, is_written: !matches!(role, Role::Input(_)) };
        Ok(plan.buffer(Role::Image { of, image }, dtype, len))
    }

    fn over_vectors(&self) -> Planned {
        let ask = self.ask;
        let wg = self.wg.size();
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
        let (local, _) = self.local()?;
        let (args, local_bytes) = self.arguments(&mut plan, partials)?;
        plan.launch_of(&self.own.kernel, [grid.groups as u64, 1, 1], self.wg, args);
        // However a group's items add up: no sum has more terms than the group has elements.
        let depth = each.saturating_mul(if self.own.results == OwnResults::Item { 1 } else { wg as u64 }) + HOST_FINISH;
        let Some(then) = joined else { return Ok(plan.plan_with(local_bytes, depth)) };
        let result = plan.output(1);
        let args = [partials, result, Arg::Index(results as u64)].into_iter().chain(local).collect();
        plan.launch_of(then, [1; 3], self.wg, args);
        Ok(plan.plan_with(local_bytes, depth + results as u64))
    }

    fn over_matrices(&self) -> Planned {
        let ask = self.ask;
        let shape = self.ask.case.shape;
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
        let (args, local_bytes) = self.arguments(&mut plan, result)?;
        plan.launch_of(&self.own.kernel, [groups[0], groups[1], 1], self.wg, args);
        Ok(plan.plan_with(local_bytes, 0))
    }
}
