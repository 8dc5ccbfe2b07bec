//! How planners make plans: inputs first, then settings, macros, buffers and launches, one by one.

use super::Ask;
use super::shape::{self, Grid, ITEMS};
use gpulab_model::data::{Dtype, NumberValue, Params, Scalar};
use gpulab_model::plan::{Arg, ArgValue, BufferSpec, Pass, Plan, Role, WorkGroup};
use std::ops::{Deref, DerefMut};

/// The file of the kernels that put back what a run changes.
pub(crate) const RESTORE: &str = "common/restore.cl";

/// A plan in the making, of whatever rung.
pub(crate) struct PlanDraft {
    pub(crate) plan: Plan,
}

impl PlanDraft {
    /// Without buffers and launches; with the macros that every kernel has: its element type in OpenCL C, `element`, and an
    /// index type for so many elements.
    pub(crate) fn new(element: &str, elements: u64, wg: WorkGroup) -> PlanDraft {
        let plan = Plan {
            defines: shape::defines(element, elements),
            buffers: Vec::new(),
            passes: Vec::new(),
            wg,
            params: Params::new(),
            local_bytes: 0,
            depth: 0,
            host_tail: None,
            restored: false,
        };
        PlanDraft { plan }
    }

    /// Notes a setting that is used.
    pub(crate) fn note(&mut self, name: &str, value: impl ToString) {
        self.plan.params.insert(name.into(), value.to_string());
    }

    /// Defines a macro, or defines it anew.
    pub(crate) fn define(&mut self, name: &str, value: impl ToString) {
        self.plan.defines.retain(|(defined, _)| defined != name);
        self.plan.defines.push((name.into(), value.to_string()));
    }

    /// Notes a setting, and defines the macro that bears its name.
    pub(crate) fn set(&mut self, name: &str, value: impl ToString) {
        let value = value.to_string();
        self.define(&name.to_uppercase(), &value);
        self.note(name, value);
    }

    pub(crate) fn buffer(&mut self, role: Role, dtype: Dtype, len: usize) -> Arg {
        self.plan.buffers.push(BufferSpec { role, dtype, len });
        Arg::Buffer(self.plan.buffers.len() - 1)
    }

    /// Adds a launch of a kernel that the rung has beside its main one.
    pub(crate) fn launch_of(&mut self, kernel: &str, groups: [u64; 3], wg: WorkGroup, args: Vec<Arg>) {
        let global = [0, 1, 2].map(|d| groups[d] as usize * wg.0[d]);
        self.plan.passes.push(Pass { kernel: kernel.into(), global, local: wg.0, args, timed: true, check: None });
    }

    /// Adds a launch that prepares the data, and whose time does not count.
    pub(crate) fn prepare(&mut self, kernel: &str, groups: [u64; 3], wg: WorkGroup, args: Vec<Arg>) {
        self.launch_of(kernel, groups, wg, args);
        if let Some(pass) = self.plan.passes.last_mut() {
            pass.timed = false;
        }
    }

    /// Adds an untimed launch that puts zeros into a buffer, in groups of at most so many work-items.
    pub(crate) fn zero(&mut self, max_wg: usize, to: Arg) {
        self.restore(max_wg, "gpulab_zero", to, vec![to]);
    }

    /// Adds an untimed launch that puts what a buffer holds into another one of its size.
    pub(crate) fn copy(&mut self, max_wg: usize, from: Arg, to: Arg) {
        self.restore(max_wg, "gpulab_copy", to, vec![from, to]);
    }

    fn restore(&mut self, max_wg: usize, kernel: &str, to: Arg, mut args: Vec<Arg>) {
        /// Work-items, each of which takes every so many-th byte.
        const ITEMS: usize = 1 << 16;
        let Arg::Buffer(index) = to else { return };
        let bytes = self.plan.buffers[index].bytes();
        let wg = 64.min(max_wg).max(1);
        args.extend(ArgValue::of(Scalar::U64, NumberValue::Whole(bytes as i128)).map(Arg::Value));
        self.prepare(kernel, [bytes.min(ITEMS).div_ceil(wg) as u64, 1, 1], WorkGroup::linear(wg), args);
    }

    /// Notes the group that all launches have.
    pub(crate) fn grouped(&mut self, wg: WorkGroup) {
        self.plan.wg = wg;
    }

    /// The plan, with so many bytes in local memory, and results of so many roundings.
    pub(crate) fn plan_with(self, local_bytes: u64, depth: u64) -> Plan {
        Plan { local_bytes, depth, ..self.plan }
    }
}

/// A plan in the making, of a rung that was asked for.
pub(crate) struct Builder<'a> {
    pub(crate) ask: &'a Ask<'a>,
    draft: PlanDraft,
}

impl Deref for Builder<'_> {
    type Target = PlanDraft;

    fn deref(&self) -> &PlanDraft {
        &self.draft
    }
}

impl DerefMut for Builder<'_> {
    fn deref_mut(&mut self) -> &mut PlanDraft {
        &mut self.draft
    }
}

impl<'a> Builder<'a> {
    /// With the problem's inputs, and the macros that every kernel has: its element type in OpenCL C, `element`, and an index
    /// type for so many elements.
    pub(crate) fn new(ask: &'a Ask<'a>, element: &str, elements: u64) -> Builder<'a> {
        let case = ask.case;
        let mut builder = Builder { ask, draft: PlanDraft::new(element, elements, case.wg) };
        for (index, len) in ask.family.problem.inputs(case.shape, &case.params).into_iter().enumerate() {
            builder.buffer(Role::Input(index), case.dtype, len);
        }
        builder
    }

    /// Of vectors of the case's size, for launches of groups as large as those of `grid`.
    pub(crate) fn linear(ask: &'a Ask<'a>, element: &str, grid: Grid) -> Builder<'a> {
        let mut builder = Builder::new(ask, element, ask.case.shape.n);
        builder.define("WG", grid.wg);
        builder.plan.wg = WorkGroup::linear(grid.wg);
        if ask.reads(&ITEMS) {
            builder.note(ITEMS.name, grid.items());
        }
        builder
    }

    pub(crate) fn n(&self) -> u64 {
        self.ask.case.shape.n
    }

    /// Notes all settings that were asked for.
    pub(crate) fn note_all(&mut self) {
        self.draft.plan.params.clone_from(&self.ask.case.params);
    }

    pub(crate) fn inputs(&self) -> Vec<Arg> {
        let inputs = self.plan.buffers.iter().enumerate().filter(|(_, spec)| matches!(spec.role, Role::Input(_)));
        inputs.map(|(index, _)| Arg::Buffer(index)).collect()
    }

    /// Adds the output, of the case's element type.
    pub(crate) fn output(&mut self, len: usize) -> Arg {
        self.draft.buffer(Role::Output, self.ask.case.dtype, len)
    }

    /// Adds a buffer for intermediate results, of the case's element type.
    pub(crate) fn scratch(&mut self, len: usize) -> Arg {
        self.draft.buffer(Role::Scratch, self.ask.case.dtype, len)
    }

    pub(crate) fn launch(&mut self, groups: [u64; 3], wg: WorkGroup, args: Vec<Arg>) {
        self.draft.launch_of(&self.ask.rung.kernel(), groups, wg, args);
        self.plan.wg = wg;
    }

    /// Adds a launch of the rung's main kernel over a grid.
    pub(crate) fn pass(&mut self, grid: Grid, args: Vec<Arg>) {
        let kernel = self.ask.rung.kernel();
        self.pass_of(&kernel, grid, args);
    }

    /// Adds a launch of another of its kernels over a grid.
    pub(crate) fn pass_of(&mut self, kernel: &str, grid: Grid, args: Vec<Arg>) {
        self.launch_of(kernel, [grid.groups as u64, 1, 1], WorkGroup::linear(grid.wg), args);
    }

    /// Adds the buffers of a rung whose last group finishes: partial results in 32-bit words, a ticket, the result.
    pub(crate) fn single_pass(&mut self, grid: Grid) -> [Arg; 3] {
        let words = grid.groups * self.ask.case.dtype.size() / 4;
        [self.buffer(Role::Scratch, Dtype::I32, words), self.buffer(Role::Zeroed, Dtype::I32, 1), self.output(1)]
    }

    /// Leaves the elements from this one on to the host.
    pub(crate) fn leave_to_host(&mut self, from: u64) {
        self.plan.host_tail = Some(from);
    }

    /// The plan, of a main kernel with so many elements in local memory, and results of so many roundings.
    pub(crate) fn plan(self, local_elements: u64, depth: u64) -> Plan {
        let size = self.ask.case.dtype.size() as u64;
        self.plan_with(local_elements * size, depth)
    }

    /// As [`Builder::plan`], with so many bytes in local memory.
    pub(crate) fn plan_with(self, local_bytes: u64, depth: u64) -> Plan {
        self.draft.plan_with(local_bytes, depth)
    }
}
