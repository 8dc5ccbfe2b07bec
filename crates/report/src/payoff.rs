//! What would pay most, in words: the line, what is wasted there, what that could save, and where the cure is shown.

use super::explain::short_name;
use super::moment::{FilmLine, FilmMoment};
use super::rungs::{short_label, who};
use crate::prelude::*;
use gpulab_kernels::built_in;
use gpulab_study::why::{Payoff, Payoffs, RungTime, ShareBasis, WORTH, Waste};

fn nothing() -> String {
    format!("nothing that the counts show would save {:.0}%", 100.0 * WORTH)
}

/// What shares are of, or why there are none.
fn basis(basis: ShareBasis) -> String {
    match basis {
        ShareBasis::Model => "by the model".to_owned(),
        ShareBasis::Misfit(over) if over > 1.0 => {
            format!("by counts alone, as the time is {} times the model's", format::significant(over, 2))
        }
        ShareBasis::Misfit(over) => {
            format!("by counts alone, as it is {} times as fast as the model", format::significant(1.0 / over, 2))
        }
        ShareBasis::Counts => "by counts alone".to_owned(),
    }
}

/// What would pay, in a sentence, and the line that it is about.
pub struct PayoffSentence {
    pub text: String,
    pub line: Option<FilmLine>,
}

impl PayoffSentence {
    /// Where the film of a rung shows it.
    pub fn moment(&self, row: &Row) -> Option<FilmMoment> {
        let family = built_in(&row.family)?;
        Some(FilmMoment::new(short_name(family, family.rung(&row.variant)?), self.line.clone()?))
    }
}

/// A sentence for each thing that would pay; the kernel is that of a rung, or of nobody's with none.
pub fn sentences(payoffs: &Payoffs, family: &str, rung: Option<u32>) -> Vec<PayoffSentence> {
    payoffs
        .best()
        .map(|one: &Payoff| PayoffSentence {
            text: sentence(one, payoffs.basis, &cure(one.waste, family, rung)),
            line: one.place.as_ref().map(|(file, line)| FilmLine::At { file: last(file).into(), line: *line }),
        })
        .collect()
}

pub(super) fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub fn text(payoffs: &Payoffs, family: &str, rung: Option<u32>, screen: Screen) -> String {
    let where_to = if payoffs.basis == ShareBasis::Counts { " on a GPU" } else { "" };
    let said: Vec<String> = sentences(payoffs, family, rung).into_iter().map(|one| one.text).collect();
    let said = if said.is_empty() { vec![nothing()] } else { said };
    let lines = said.iter().map(|text| format::wrap(&format!("  {}", format::terminal(text)), screen.width, "    "));
    let head = format::wrap(&format!("what would pay most{where_to}, {}", basis(payoffs.basis)), screen.width, "  ");
    format::on_screen(&(head + &lines.collect::<String>()), screen)
}

/// For a ladder of several rungs the one thing of each that would pay most, and for one rung all; each with the moment of a film
/// that shows it.
pub fn of_ladder(rungs: &[RungTime]) -> Vec<(String, Option<FilmMoment>)> {
    let known: Vec<(&RungTime, &Payoffs)> =
        rungs.iter().filter_map(|rung| Some((rung, rung.payoffs.as_ref()?))).collect();
    let most = if known.len() > 1 { 1 } else { usize::MAX };
    let mut all = Vec::new();
    for (rung, payoffs) in &known {
        let said = sentences(payoffs, &rung.row.family, rung.row.rung);
        let told =
            if payoffs.basis == ShareBasis::Model { String::new() } else { format!(" ({})", basis(payoffs.basis)) };
        let one =
            |one: PayoffSentence| (format!("{}{told}: {}", short_label(&rung.row), one.text), one.moment(&rung.row));
        all.extend(said.into_iter().take(most).map(one));
    }
    let poor: Vec<&Row> =
        known.iter().filter(|(_, payoffs)| payoffs.best().next().is_none()).map(|(rung, _)| &rung.row).collect();
    if !poor.is_empty() {
        all.push((format!("{}: {}", who(&poor, &[]), nothing()), None));
    }
    all
}

fn sentence(one: &Payoff, basis: ShareBasis, cure: &str) -> String {
    let number = |x: f64| if (x - x.round()).abs() < 0.05 { format!("{x:.0}") } else { format!("{x:.1}") };
    let counted = number(one.counted);
    let enough = number(one.enough);
    let share = format::percent(one.counted);
    let unused = format::percent(1.0 - one.enough / one.counted);
    let (wasted, cured) = match one.waste {
        Waste::BankConflicts => (format!("{counted} passes a request of local memory"), enough),
        Waste::ScatteredReads => (format!("{counted} segments a load, {unused} of the bytes unused"), enough),
        Waste::ScatteredWrites => (format!("{counted} segments a store, {unused} of the bytes unused"), enough),
        Waste::MaskedLanes => (format!("{share} of the lanes are busy"), "full warps".to_owned()),
        Waste::UnfilledWarps => (format!("groups fill {counted} of 32 lanes of a warp"), "full warps".to_owned()),
        Waste::Rereads => {
            (format!("a group reads global memory {counted} times over"), "tiles in local memory".to_owned())
        }
        Waste::Divisions => (
            "integers are divided by a number that the compiler does not know".to_owned(),
            "a shift or a mask".to_owned(),
        ),
        Waste::Bookkeeping => {
            let what = format!("{share} of the instructions are integer arithmetic, addresses and branches");
            (what, "two elements for each".to_owned())
        }
        Waste::Launches => (format!("{counted} launches"), enough),
        Waste::Barriers => (format!("{counted} barriers a group"), enough),
    };
    let place = one.place.as_ref().map_or_else(String::new, |(file, line)| format!("{}:{line}: ", last(file)));
    let saved = match basis {
        ShareBasis::Model => format!("would save up to {}", format::percent(one.saves)),
        _ => "would do".to_owned(),
    };
    format!("{place}{wasted}; {cured} {saved} ({cure})")
}

/// Rungs that cure a waste, in the order of their ladders.
const CURES: &[(Waste, &str, &[&str])] = &[
    (Waste::BankConflicts, "reduce", &["sequential"]),
    (Waste::BankConflicts, "transpose", &["conflict_free"]),
    (Waste::ScatteredReads, "dot", &["coalesced"]),
    (Waste::ScatteredReads, "minplus", &["coalesced"]),
    (Waste::ScatteredWrites, "transpose", &["coalesced"]),
    (Waste::ScatteredWrites, "minplus", &["coalesced"]),
    (Waste::MaskedLanes, "reduce", &["strided"]),
    (Waste::Rereads, "minplus", &["registers", "local", "tiled"]),
    (Waste::Divisions, "reduce", &["strided"]),
    (Waste::Bookkeeping, "reduce", &["first_add", "unrolled", "raking", "vectorised"]),
    (Waste::Bookkeeping, "dot", &["vectorised", "accumulators"]),
    (Waste::Bookkeeping, "transpose", &["vectorised", "registers"]),
    (Waste::Bookkeeping, "minplus", &["registers"]),
    (Waste::Launches, "reduce", &["single_pass"]),
    (Waste::Launches, "dot", &["single_pass"]),
    (Waste::Barriers, "reduce", &["last_warp", "raking"]),
];

/// The command that shows a cure: of a rung further up the same ladder, or elsewhere.
fn cure(waste: Waste, family: &str, rung: Option<u32>) -> String {
    let rungs = CURES.iter().filter(|(of, name, _)| *of == waste && *name == family);
    let ideas = rungs.flat_map(|(.., ideas)| ideas.iter());
    let numbers = ideas.filter_map(|idea| built_in(family)?.rung(idea)?.number());
    match numbers.filter(|number| rung.is_none_or(|own| own < *number)).min() {
        Some(number) => format!("gpulab explain {family}:{number}"),
        None => elsewhere(waste).to_owned(),
    }
}

fn elsewhere(waste: Waste) -> &'static str {
    match waste {
        Waste::BankConflicts => "gpulab exercise show banks",
        Waste::ScatteredReads | Waste::ScatteredWrites => "gpulab exercise show strides",
        Waste::MaskedLanes => "gpulab exercise show branches",
        Waste::UnfilledWarps => "gpulab lab group",
        Waste::Rereads => "gpulab explain minplus:3",
        Waste::Divisions => "gpulab lab instructions",
        Waste::Bookkeeping => "gpulab exercise show reduce-7",
        Waste::Launches => "gpulab lab launch",
        Waste::Barriers => "gpulab exercise show reduce-5",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_study::exercise::NAMES;
    use gpulab_study::experiments::experiment;

    #[test]
    fn cures_exist() {
        for (_, family, ideas) in CURES {
            for idea in *ideas {
                assert!(built_in(family).unwrap().rung(idea).is_some(), "{family}: {idea}");
            }
        }
        for waste in Waste::ALL {
            let command = elsewhere(waste);
            let (how, what) = command.rsplit_once(' ').unwrap();
            let is_known = match how {
                "gpulab exercise show" => NAMES.contains(&what),
                "gpulab lab" => experiment(what).is_some(),
                _ => what == "minplus:3",
            };
            assert!(is_known, "{command}");
        }
        assert_eq!(cure(Waste::Bookkeeping, "reduce", Some(4)), "gpulab explain reduce:6");
        assert_eq!(cure(Waste::Bookkeeping, "reduce", Some(8)), elsewhere(Waste::Bookkeeping));
    }
}
