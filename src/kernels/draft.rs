//! A plan in the making: what all rungs of all families put into theirs.

use super::shape::{self, Grid};
use super::{Arg, Ask, BufferSpec, Params, Pass, Plan, Role, WorkGroup};
use crate::data::Dtype;

pub(super) struct Draft<'a> {
    pub(super) ask: &'a Ask<'a>,
    pub(super) grid: Grid,
    pub(super) params: Params,
    pub(super) defines: Vec<(String, String)>,
}

impl<'a> Draft<'a> {
    /// For a launch of `grid`, with elements of the OpenCL C type `element`.
    pub(super) fn new(ask: &'a Ask<'a>, grid: Grid, element: &str) -> Draft<'a> {
        let mut draft = Draft { ask, grid, params: Params::new(), defines: shape::defines(element, ask.case.shape.n) };
        draft.define("WG", grid.wg);
        if ask.rung.tunables.iter().any(|t| t.name == shape::ITEMS.name) {
            draft.set(shape::ITEMS.name, grid.items());
        }
        draft
    }

    pub(super) fn n(&self) -> u64 {
        self.ask.case.shape.n
    }

    /// Notes a setting that is used.
    pub(super) fn set(&mut self, name: &str, value: impl ToString) {
        self.params.insert(name.into(), value.to_string());
    }

    /// Defines a macro, or defines it anew.
    pub(super) fn define(&mut self, name: &str, value: impl ToString) {
        self.defines.retain(|(defined, _)| defined != name);
        self.defines.push((name.into(), value.to_string()));
    }

    /// A launch of the rung's main kernel, or of the one whose name ends in `suffix`.
    pub(super) fn pass(&self, suffix: &str, grid: Grid, args: Vec<Arg>) -> Pass {
        shape::pass(&format!("{}{suffix}", self.ask.rung.kernel()), grid, args)
    }

    /// Completes the plan: `inputs` inputs come first among the buffers, `rest` after them.
    pub(super) fn plan(self, inputs: usize, rest: &[(Role, Dtype, usize)], passes: Vec<Pass>, depth: u64) -> Plan {
        let n = self.n() as usize;
        let dtype = self.ask.case.dtype;
        let inputs = (0..inputs).map(|i| BufferSpec { role: Role::Input(i), dtype, len: n });
        let rest = rest.iter().map(|&(role, dtype, len)| BufferSpec { role, dtype, len });
        Plan {
            defines: self.defines,
            buffers: inputs.chain(rest).collect(),
            passes,
            wg: WorkGroup::linear(self.grid.wg),
            params: self.params,
            local_bytes: (self.grid.wg * dtype.size()) as u64,
            depth,
            host_tail: None,
        }
    }
}
