//! How planners make plans: inputs first, then settings, macros, buffers and launches, one by one.

use super::Ask;
use super::shape::{self, Grid, ITEMS};
use gpulab_model::data::{Dtype, Params};
use gpulab_model::plan::{Arg, Plan, Role, WorkGroup};
use std::ops::{Deref, DerefMut};

/// The file of the kernels that put back what a run changes.
pub const RESTORE: &str = "common/restore.cl";

/// A plan without buffers and launches; with the macros that every kernel has: its element type in OpenCL C, `element`, and an
/// index type for so many elements.
pub fn new_plan(element: &str, elements: u64, wg: WorkGroup) -> Plan {
    Plan {
        defines: shape::defines(element, elements),
        buffers: Vec::new(),
        passes: Vec::new(),
        wg,
        params: Params::new(),
        local_bytes: 0,
        depth: 0,
        host_tail: None,
        restored: false,
    }
}

/// A plan in the making, of a rung that was asked for.
pub struct Builder<'a> {
    pub ask: &'a Ask<'a>,
    plan: Plan,
}

impl Deref for Builder<'_> {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

impl DerefMut for Builder<'_> {
    fn deref_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }
}

impl<'a> Builder<'a> {
    /// With the problem's inputs, and the macros that every kernel has: its element type in OpenCL C, `element`, and an index
    /// type for so many elements.
    pub fn new(ask: &'a Ask<'a>, element: &str, elements: u64) -> Builder<'a> {
        let case = ask.case;
        let mut builder = Builder {
            ask,
            plan: new_plan(element, elements, case.wg),
        };
        for (index, len) in ask
            .family
            .problem
            .inputs(case.shape, &case.params)
            .into_iter()
            .enumerate()
        {
            builder.buffer(Role::Input(index), case.dtype, len);
        }
        builder
    }

    /// Of vectors of the case's size, for launches of groups as large as those of `grid`.
    pub fn linear(ask: &'a Ask<'a>, element: &str, grid: Grid) -> Builder<'a> {
        let mut builder = Builder::new(ask, element, ask.n());
        builder.define("WG", grid.wg);
        builder.plan.wg = WorkGroup::linear(grid.wg);
        if ask.reads(&ITEMS) {
            builder.note(ITEMS.name, grid.items());
        }
        builder
    }

    pub fn n(&self) -> u64 {
        self.ask.n()
    }

    /// Notes all settings that were asked for.
    pub fn note_all(&mut self) {
        self.plan.params.clone_from(&self.ask.case.params);
    }

    pub fn inputs(&self) -> Vec<Arg> {
        let inputs = self
            .plan
            .buffers
            .iter()
            .enumerate()
            .filter(|(_, spec)| matches!(spec.role, Role::Input(_)));
        inputs.map(|(index, _)| Arg::Buffer(index)).collect()
    }

    /// The inputs, and these behind them.
    pub fn args(&self, more: impl IntoIterator<Item = Arg>) -> Vec<Arg> {
        self.inputs().into_iter().chain(more).collect()
    }

    /// Adds the output, of the case's element type.
    pub fn output(&mut self, len: usize) -> Arg {
        self.plan.buffer(Role::Output, self.ask.case.dtype, len)
    }

    /// Adds a buffer for intermediate results, of the case's element type.
    pub fn scratch(&mut self, len: usize) -> Arg {
        self.plan.buffer(Role::Scratch, self.ask.case.dtype, len)
    }

    pub fn launch(&mut self, groups: [u64; 3], wg: WorkGroup, args: Vec<Arg>) {
        self.plan
            .launch_of(&self.ask.rung.kernel(), groups, wg, args);
        self.plan.wg = wg;
    }

    /// Adds a launch of the rung's main kernel over a grid.
    pub fn pass(&mut self, grid: Grid, args: Vec<Arg>) {
        let kernel = self.ask.rung.kernel();
        self.pass_of(&kernel, grid, args);
    }

    /// Adds a launch of another of its kernels over a grid.
    pub fn pass_of(&mut self, kernel: &str, grid: Grid, args: Vec<Arg>) {
        self.launch_of(
            kernel,
            [grid.groups as u64, 1, 1],
            WorkGroup::linear(grid.wg),
            args,
        );
    }

    /// Adds the buffers of a rung whose last group finishes: partial results in 32-bit words, a ticket, the result.
    pub fn single_pass(&mut self, grid: Grid) -> [Arg; 3] {
        let words = grid.groups * self.ask.case.dtype.size() / 4;
        [
            self.buffer(Role::Scratch, Dtype::I32, words),
            self.buffer(Role::Zeroed, Dtype::I32, 1),
            self.output(1),
        ]
    }

    /// Leaves the elements from this one on to the host.
    pub fn leave_to_host(&mut self, from: u64) {
        self.plan.host_tail = Some(from);
    }

    /// The plan, of a main kernel with so many elements in local memory, and results of so many roundings.
    pub fn plan(self, local_elements: u64, depth: u64) -> Plan {
        let size = self.ask.case.dtype.size() as u64;
        self.plan_with(local_elements * size, depth)
    }

    /// As [`Builder::plan`], with so many bytes in local memory.
    pub fn plan_with(self, local_bytes: u64, depth: u64) -> Plan {
        Plan {
            local_bytes,
            depth,
            ..self.plan
        }
    }
}
