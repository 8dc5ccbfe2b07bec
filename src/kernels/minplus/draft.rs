//! A plan of the min-plus step in the making.

use super::super::shape;
use super::super::*;
use super::{WEIGHTS, element_macros};

/// Side of the tiles in which the preparation pads and transposes.
pub(super) const STRIP: u64 = 32;
/// Rows of items in a group of the preparation.
const STRIP_HEIGHT: usize = 8;

/// A plan in the making.
pub(super) struct Draft<'a> {
    pub(super) ask: &'a Ask<'a>,
    pub(super) defines: Vec<(String, String)>,
    pub(super) params: Params,
}

impl<'a> Draft<'a> {
    /// For matrices whose rows are at most `pitch` elements apart.
    pub(super) fn new(ask: &'a Ask<'a>, pitch: u64) -> Result<Draft<'a>, Refusal> {
        let (dtype, params) = (ask.case.dtype, &ask.case.params);
        let mut draft = Draft {
            ask,
            defines: shape::defines(shape::signed(dtype), pitch.saturating_mul(pitch)),
            params: Params::new(),
        };
        match params.get(WEIGHTS.name).map(String::as_str) {
            None | Some("non_negative") => {}
            Some("signed") => _ = draft.params.insert(WEIGHTS.name.into(), "signed".into()),
            Some(other) => {
                return Err(Refusal::Setting(format!("weights={other}: {} is needed", WEIGHTS.values.join(" or "))));
            }
        }
        for (name, value) in element_macros(dtype, ask.target) {
            draft.define(name, value);
        }
        Ok(draft)
    }

    pub(super) fn define(&mut self, name: &str, value: impl ToString) {
        self.defines.push((name.into(), value.to_string()));
    }

    /// Notes a setting, and defines the macro that bears its name.
    pub(super) fn set(&mut self, name: &str, value: u64) {
        self.params.insert(name.into(), value.to_string());
        self.define(&name.to_uppercase(), value);
    }

    fn n(&self) -> u64 {
        self.ask.case.shape.n
    }

    /// The plan of one launch that reads the matrix itself.
    pub(super) fn direct(self, groups: [u64; 3], wg: WorkGroup) -> Result<Plan, Refusal> {
        let args = [Arg::Buffer(0), Arg::Buffer(1), Arg::Index(self.n())];
        let pass = pass(self.ask.rung.kernel(), groups, wg, args.to_vec());
        self.plan(Vec::new(), vec![pass], wg, 0)
    }

    /// The plan of a launch whose items read strips of rows and of columns, which a launch before it makes.
    pub(super) fn stripped(self, strip_rows: u64, strip_columns: u64) -> Result<Plan, Refusal> {
        /// Rows of an item: their strips stay in a core's own cache while those of columns pass.
        const ROWS: u64 = 48;
        let (n, dtype, units) = (self.n(), self.ask.case.dtype, u64::from(self.ask.target.compute_units.max(1)));
        let [down, across] = [n.div_ceil(strip_rows), n.div_ceil(strip_columns)];
        let high = ROWS.div_ceil(strip_rows);
        // Enough items for all to end at about the same time.
        let wide = across.div_ceil((64 * units).div_ceil(down.div_ceil(high)));
        let items_across = across.div_ceil(wide);
        let [d, ys, xs, r] = [0, 1, 2, 3].map(Arg::Buffer);
        let one = WorkGroup::linear(1);
        let prepare = pass("strips".into(), [down + across, 1, 1], one, vec![d, ys, xs, Arg::Index(n)]);
        let args = [ys, xs, r].into_iter().chain([n, items_across, high, wide].map(Arg::Index)).collect();
        let main = pass(self.ask.rung.kernel(), [down.div_ceil(high) * items_across, 1, 1], one, args);
        let strips = [across * strip_columns, down * strip_rows];
        let strips = strips.map(|side| BufferSpec { role: Role::Scratch, dtype, len: (side * n) as usize });
        self.plan(strips.to_vec(), vec![Pass { timed: false, ..prepare }, main], one, 0)
    }

    /// The plan of a launch that reads panels, padded copies of the matrix, which a launch before it makes.
    pub(super) fn panelled(self, panels: Panels, wg: WorkGroup, local_elements: u64) -> Result<Plan, Refusal> {
        let (n, dtype, Panels { pitch, tile, .. }) = (self.n(), self.ask.case.dtype, panels);
        let [d, rows, columns, r] = [0, 1, 2, 3].map(Arg::Buffer);
        let sizes = [Arg::Index(n), Arg::Index(pitch)];
        let strips = WorkGroup([STRIP as usize, STRIP_HEIGHT, 1]);
        let output = if panels.paired { Some(r) } else { None };
        let args = [d, rows, columns].into_iter().chain(output).chain(sizes).collect();
        let kernel = if panels.paired { "pairs" } else { "panels" };
        let prepare = pass(kernel.into(), [pitch / STRIP, pitch / STRIP, 1], strips, args);
        let groups = [n.div_ceil(tile[1]), n.div_ceil(tile[0]), panels.split];
        let one = if panels.paired { Some(Arg::Int(1)) } else { None };
        let args = [rows, columns, r].into_iter().chain(sizes).chain(one).collect();
        let main = pass(self.ask.rung.kernel(), groups, wg, args);
        let panel = BufferSpec { role: Role::Scratch, dtype, len: (pitch * pitch) as usize };
        self.plan(vec![panel; 2], vec![Pass { timed: false, ..prepare }, main], wg, local_elements)
    }

    fn plan(
        self,
        panels: Vec<BufferSpec>,
        passes: Vec<Pass>,
        wg: WorkGroup,
        local_elements: u64,
    ) -> Result<Plan, Refusal> {
        shape::check_wg(wg, self.ask.target)?;
        let dtype = self.ask.case.dtype;
        let matrix = |role| BufferSpec { role, dtype, len: self.ask.case.shape.elements() as usize };
        let buffers = [matrix(Role::Input(0))].into_iter().chain(panels).chain([matrix(Role::Output)]);
        Ok(Plan {
            defines: self.defines,
            buffers: buffers.collect(),
            passes,
            wg,
            params: self.params,
            local_bytes: local_elements * dtype.size() as u64,
            depth: 0,
            host_tail: None,
        })
    }
}

/// The panels that a launch reads, and how its groups share them.
#[derive(Clone, Copy)]
pub(super) struct Panels {
    /// From a row to the next, and number of rows: a multiple of what any stage or tile takes.
    pub(super) pitch: u64,
    /// Rows and columns of a tile of results.
    pub(super) tile: [u64; 2],
    /// Whether two rows are interleaved.
    pub(super) paired: bool,
    /// Groups that share the rows of a tile's panels.
    pub(super) split: u64,
}

fn pass(kernel: String, groups: [u64; 3], wg: WorkGroup, args: Vec<Arg>) -> Pass {
    Pass { kernel, global: [0, 1, 2].map(|d| groups[d] as usize * wg.0[d]), local: wg.0, args, timed: true }
}
