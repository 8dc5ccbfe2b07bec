//! Reads, and chains of steps, in groups that hold `__local` memory as ballast, so that fewer of them are resident.

use super::chains::{self, CHAINS};
use super::walk::GATHERING;
use super::*;

/// Reads n words, a power of two, each as often as the rounds say.
pub static STREAMS: Family = BuiltInFamily {
    name: "streams",
    about: "read every word of an array in groups with ballast",
    problem: &GATHERING,
    ladder: const { &ladder([rung("lab/streams/laden.cl", read, &[BALLAST, TOGETHER])]) },
    choices: &[ROUNDS],
    ..READS
}
.family();

/// n items with chains, in groups with ballast.
pub static STEPS: Family = BuiltInFamily {
    name: "steps",
    about: "chains of multiplications with an addition in groups with ballast",
    problem: &chains::SUMS,
    ladder: const { &ladder([rung("lab/steps/laden.cl", step, &[BALLAST])]) },
    choices: &[CHAINS, ROUNDS],
    ..FLOAT_STEPS
}
.family();

pub const BALLAST: Tunable = setting("ballast", "bytes of local memory that a group holds");
pub const TOGETHER: Tunable = setting("together", "reads of an item that are under way at once");

/// The ballast and the place of its last word.
fn ballast(ask: &Ask<'_>) -> Result<[Arg; 2], Refusal> {
    let bytes = get(&ask.case.params, BALLAST.name);
    let wg = ask.case.wg;
    match u32::try_from(bytes / 4) {
        Ok(words) if words as usize >= wg.size() => Ok([Arg::Local(4 * words as usize), Arg::Uint(words - 1)]),
        _ => Err(Refusal::Setting(format!("ballast={bytes}: from 4 bytes for each of {wg} items to 2^34 are needed"))),
    }
}

fn read(ask: &Ask<'_>) -> Planned {
    let n = ask.case.shape.n;
    let wg = ask.case.wg.size();
    let together = get(&ask.case.params, TOGETHER.name).max(1);
    let total = n * get(&ask.case.params, ROUNDS.name);
    if [n, total, together].iter().any(|number| !number.is_power_of_two()) || total > u64::from(u32::MAX) {
        return Err(Refusal::Size(format!("{total} reads: powers of two below 2^32 are needed")));
    }

    // A power of two, too, so that every item has the same share.
    let items = (1 << items(ask.target).ilog2()).min(total / together);
    if items == 0 || !items.is_multiple_of(wg as u64) {
        return Err(Refusal::Group(format!("work-group {wg}: a divisor of {items} is needed")));
    }
    let step = step_over(items, total / n);
    let numbers = [n - 1, step, total / items, 0].map(|number| Arg::Uint(number as u32));
    let args: Vec<Arg> = ballast(ask)?.into_iter().chain(numbers).collect();
    laden(ask, Grid::covering(wg, items), items as usize, (TOGETHER.name, together), &args)
}

/// From a read of one of so many items to its next, powers of two both: no item comes back to a word before it has read
/// all that are a multiple of the step away, and what is read in another round is read by items far behind in the grid.
/// However few groups are resident, no cache serves them.
fn step_over(items: u64, rounds: u64) -> u64 {
    if rounds > 1 { items + items / rounds } else { items }
}

fn step(ask: &Ask<'_>) -> Planned {
    let items = whole_groups(ask)?;
    let chains = get(&ask.case.params, CHAINS.name);
    let step = chains::ChainStep::of(ask.case).args();
    let args: Vec<Arg> = ballast(ask)?.into_iter().chain([arg(ask, ROUNDS.name)]).chain(step).collect();
    laden(ask, Grid::covering(ask.case.wg.size(), items), items as usize, (CHAINS.name, chains), &args)
}

/// One launch, with the number that says how much of its work an item does at once.
fn laden(ask: &Ask<'_>, grid: Grid, output: usize, at_once: (&str, u64), args: &[Arg]) -> Planned {
    let defines = [(at_once.0.to_uppercase(), at_once.1.to_string())];
    let defines = defines.each_ref().map(|(name, value)| (name.as_str(), value.clone()));
    let local = get(&ask.case.params, BALLAST.name);
    OneLaunch { grid, output, defines: &defines, args, local }.plan(ask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_reads_no_word_twice_and_all_are_read_as_often() {
        for (n, items, rounds) in [(1 << 12, 64, 4), (1 << 12, 256, 2), (1 << 10, 1 << 10, 2), (1 << 10, 128, 1)] {
            let step = step_over(items, rounds);
            let count = n * rounds / items;
            let mut reads = vec![0; n as usize];
            for item in 0..items {
                let mut own: Vec<u64> = (0..count).map(|turn| (item + turn * step) % n).collect();
                own.iter().for_each(|&word| reads[word as usize] += 1);
                own.sort_unstable();
                own.dedup();
                assert_eq!(own.len() as u64, count, "{n} words, {items} items, {rounds} rounds: item {item}");
            }
            assert!(reads.iter().all(|&times| times == rounds), "{n} words, {items} items, {rounds} rounds");
        }
    }
}
