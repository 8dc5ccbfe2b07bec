//! Reads of a small table in constant or global memory, by neighbouring items at one address or at several.

use super::*;

/// n items that read a table.
pub static FAMILY: Family = BuiltInFamily {
    name: "constant",
    about: "read a small table in constant or global memory",
    problem: &Exact { inputs: |_, _| vec![TABLE + READ_AT_ONCE], ..Exact::of_each(Fill::Real, cost, answer) },
    ladder: const {
        &ladder([rung("lab/constant/table.cl", table, &[GLOBAL]), rung("lab/constant/program.cl", program, &[])])
    },
    choices: &[PLACES, PROGRAM, ROUNDS],
    ..READS
}
.family();

pub const PLACES: Tunable = setting("places", "different addresses that neighbouring items read");
pub const GLOBAL: Tunable = setting("global", "whether the table is in global memory");
pub const PROGRAM: Tunable = setting("program", "whether the table stands in the program, as the second rung's does");

/// Where the table is: in memory of either kind that is an argument, or in the program itself.
pub const IN_CONSTANT: &str = "__constant";
pub const IN_PROGRAM: &str = "__constant in program";
pub const IN_GLOBAL: &str = "__global";

/// Words of the table, and those that an item reads in a round, as in the kernel.
const TABLE: usize = 1024;
const READ_AT_ONCE: usize = 8;

fn cost(case: &Case) -> Cost {
    let reads = (case.shape.n * get(&case.params, ROUNDS.name)) as f64 * READ_AT_ONCE as f64;
    Cost { bytes: 4.0 * reads, ops: reads }
}

fn answer(case: &Case, inputs: &[Array]) -> Array {
    let get = |name: &str| get(&case.params, name) as usize;
    let table = if get(PROGRAM.name) == 1 { words_of_program() } else { words(&inputs[0]) };
    let read = |at: usize| table[at & (TABLE - 1)..][..READ_AT_ONCE].iter().fold(0u32, |a, &b| a.wrapping_add(b));
    let item = |item: usize| (0..get(ROUNDS.name)).map(|round| read(33 * item + 17 * round)).fold(0, u32::wrapping_add);
    let kinds: Vec<u32> = (0..get(PLACES.name)).map(item).collect();
    let wg = case.wg.size();
    array((0..case.shape.n as usize).map(|id| kinds[id % wg % kinds.len()]))
}

/// The table of the program, as its file says.
fn words_of_program() -> Vec<u32> {
    (0..(TABLE + READ_AT_ONCE) as u32).map(|i| i.wrapping_mul(2_654_435_761) ^ (i * i) << 9).collect()
}

fn table(ask: &Ask<'_>) -> Planned {
    let is_global = get(&ask.case.params, GLOBAL.name) == 1;
    plan(ask, &[("SPACE", if is_global { IN_GLOBAL } else { IN_CONSTANT }.to_owned())])
}

fn program(ask: &Ask<'_>) -> Planned {
    match get(&ask.case.params, PROGRAM.name) {
        1 => plan(ask, &[]),
        other => Err(Refusal::Setting(format!("program={other}: 1 is needed, as the table stands in the program"))),
    }
}

fn plan(ask: &Ask<'_>, defines: &[(&str, String)]) -> Planned {
    of_each_item(ask, defines, &[ROUNDS.name, PLACES.name].map(|name| arg(ask, name)), 0)
}
