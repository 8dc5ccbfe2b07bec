//! What would pay most, in words: the line, what is wasted there, what that could save, and where the cure is shown.

use super::explain::short_name;
use super::moment::FilmLine;
use super::rungs::{short_label, who};
use crate::format::{self, Screen};
use gpulab_kernels::built_in;
use gpulab_record::Row;
use gpulab_study::why::{Payoff, Payoffs, RungTime, WORTH, Waste};

fn nothing() -> String {
    format!(
        "nothing that the counts show would save {:.0}%",
        100.0 * WORTH
    )
}

/// What would pay, in a sentence, and the moment of a film that shows it.
pub struct PayoffSentence {
    pub text: String,
    /// The line that it is about, if a film shows it.
    pub line: Option<FilmLine>,
    /// What a command names, as in `reduce:2`.
    pub what: String,
}

/// A sentence for each thing that would pay; the kernel is that of a rung, or of nobody's with none.
pub fn sentences(payoffs: &Payoffs, family: &str, rung: Option<u32>) -> Vec<PayoffSentence> {
    let best = payoffs.best().map(|one| {
        let text = sentence(one, payoffs.is_of_time, &cure(one.waste, family, rung));
        let line = one.place.as_ref().map(|(file, line)| FilmLine::At {
            file: format::file_name(file).into(),
            line: *line,
        });
        PayoffSentence {
            text,
            line,
            what: String::new(),
        }
    });
    best.collect()
}

/// What would pay most of a kernel, in sentences; on the device of this name, if it is another than the one that ran it.
pub fn text(
    payoffs: &Payoffs,
    device: &str,
    (family, rung): (&str, Option<u32>),
    screen: Screen,
) -> String {
    let mut text = match payoffs.is_of_time {
        true if !device.is_empty() => format!("what would pay most on an {device}, by the model\n"),
        true => "what would pay most, by the model\n".to_owned(),
        false => "what would pay most on a GPU, by counts alone\n".to_owned(),
    };
    let mut said: Vec<String> = sentences(payoffs, family, rung)
        .into_iter()
        .map(|one| one.text)
        .collect();
    if said.is_empty() {
        said.push(nothing());
    }
    for sentence in said {
        text += &format::wrap(
            &format!("  {}", format::terminal(&sentence)),
            screen.width,
            "    ",
        );
    }
    format::on_screen(&text, screen)
}

/// For a ladder of several rungs the one thing of each that would pay most, and for one rung all; each with the moment of a film
/// that shows it.
pub fn of_ladder(rungs: &[RungTime]) -> Vec<PayoffSentence> {
    let known: Vec<(&Row, &Payoffs)> = rungs
        .iter()
        .filter_map(|rung| Some((&rung.row, rung.payoffs.as_ref()?)))
        .collect();
    let most = if known.len() > 1 { 1 } else { usize::MAX };
    let mut all = Vec::new();
    let mut poor: Vec<&Row> = Vec::new();
    for (row, payoffs) in known {
        let said = sentences(payoffs, &row.family, row.rung);
        if said.is_empty() {
            poor.push(row);
        }
        let told = if payoffs.is_of_time {
            ""
        } else {
            " (by counts alone)"
        };
        let known = built_in(&row.family)
            .and_then(|family| Some(short_name(family, family.rung(&row.variant)?)));
        for one in said.into_iter().take(most) {
            let text = format!("{}{told}: {}", short_label(row), one.text);
            let line = one.line.filter(|_| known.is_some());
            all.push(PayoffSentence {
                text,
                line,
                what: known.clone().unwrap_or_default(),
            });
        }
    }
    if !poor.is_empty() {
        let text = format!("{}: {}", who(&poor, &[]), nothing());
        all.push(PayoffSentence {
            text,
            line: None,
            what: String::new(),
        });
    }
    all
}

fn sentence(one: &Payoff, is_of_time: bool, cure: &str) -> String {
    let [counted, enough] = [one.counted, one.enough].map(|x| {
        if (x - x.round()).abs() < 0.05 {
            format!("{x:.0}")
        } else {
            format!("{x:.1}")
        }
    });
    let share = format::percent(one.counted);
    let unused = format::percent(1.0 - one.enough / one.counted);
    let (wasted, cured) = match one.waste {
        Waste::BankConflicts => (
            format!("{counted} passes per request of local memory"),
            enough.as_str(),
        ),
        Waste::Scattered => (
            format!(
                "{counted} segments per {}, {unused} of the bytes unused",
                one.access
            ),
            enough.as_str(),
        ),
        Waste::MaskedLanes => (format!("{share} of the lanes are busy"), "full warps"),
        Waste::Rereads => (
            format!("a group reads global memory {counted} times over"),
            "tiles in local memory",
        ),
        Waste::Divisions => (
            "integers are divided by a number that the compiler does not know".to_owned(),
            "a shift or a mask",
        ),
        Waste::Bookkeeping => (
            format!("{share} of the instructions are integer arithmetic, addresses and branches"),
            "two elements for each",
        ),
        Waste::Launches => (format!("{counted} launches"), enough.as_str()),
        Waste::Contention => (
            format!(
                "{counted} atomic operations of a warp meet in one word of global memory and take turns"
            ),
            "counts in local memory, added up once per group,",
        ),
        Waste::FewGroups => (
            match enough.as_str() {
                "1" => {
                    "all work is in one work-group, which a GPU runs on one of its compute units"
                        .to_owned()
                }
                groups => format!(
                    "all work is in {groups} work-groups, which do not fill a GPU's compute units"
                ),
            },
            "more groups (for a sum, with a launch that joins their results)",
        ),
    };
    let place = one.place.as_ref().map_or_else(String::new, |(file, line)| {
        format!("{}:{line}: ", format::file_name(file))
    });
    let saved = match is_of_time {
        true if one.saves > 0.99 => {
            format!(
                "would save up to {:.1}%",
                (1000.0 * one.saves).floor() / 10.0
            )
        }
        true => format!("would save up to {}", format::percent(one.saves)),
        false => "would do".to_owned(),
    };
    format!("{place}{wasted}; {cured} {saved} ({cure})")
}

/// A waste, the command that shows its cure, and the rungs that cure it, in the order of their ladders.
type Cure = (Waste, &'static str, &'static [(&'static str, &'static str)]);

const CURES: [Cure; 9] = [
    (Waste::Contention, "gpulab try histogram", &[]),
    (Waste::FewGroups, "gpulab lab grid", &[]),
    (
        Waste::BankConflicts,
        "gpulab exercise show banks",
        &[("reduce", "sequential"), ("transpose", "conflict_free")],
    ),
    (
        Waste::Scattered,
        "gpulab exercise show strides",
        &[
            ("dot", "coalesced"),
            ("transpose", "coalesced"),
            ("minplus", "coalesced"),
        ],
    ),
    (
        Waste::MaskedLanes,
        "gpulab exercise show branches",
        &[("reduce", "strided")],
    ),
    (
        Waste::Rereads,
        "gpulab explain minplus:3",
        &[("minplus", "registers")],
    ),
    (
        Waste::Divisions,
        "gpulab lab instructions",
        &[("reduce", "strided")],
    ),
    (
        Waste::Bookkeeping,
        "gpulab exercise show reduce-7",
        &[
            ("reduce", "first_add"),
            ("reduce", "unrolled"),
            ("reduce", "raking"),
            ("reduce", "vectorised"),
            ("dot", "vectorised"),
            ("dot", "accumulators"),
            ("transpose", "vectorised"),
            ("transpose", "registers"),
            ("minplus", "registers"),
        ],
    ),
    (
        Waste::Launches,
        "gpulab lab launch",
        &[("reduce", "single_pass"), ("dot", "single_pass")],
    ),
];

/// The command that shows a cure: of a rung further up the same ladder, or elsewhere.
fn cure(waste: Waste, family: &str, rung: Option<u32>) -> String {
    let Some((_, elsewhere, rungs)) = CURES.iter().find(|(of, ..)| *of == waste) else {
        return String::new();
    };
    let own = rungs.iter().filter(|(name, _)| *name == family);
    let numbers = own.filter_map(|(_, idea)| built_in(family)?.rung(idea)?.number());
    match numbers
        .filter(|number| rung.is_none_or(|own| own < *number))
        .min()
    {
        Some(number) => format!("gpulab explain {family}:{number}"),
        None => (*elsewhere).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_study::exercise::NAMES;
    use gpulab_study::experiments::experiment;

    #[test]
    fn cures_exist() {
        assert!(
            Waste::ALL
                .iter()
                .all(|waste| CURES.iter().any(|(of, ..)| of == waste))
        );
        for (_, command, rungs) in CURES {
            for (family, idea) in rungs {
                assert!(
                    built_in(family).unwrap().rung(idea).is_some(),
                    "{family}: {idea}"
                );
            }
            let (how, what) = command.rsplit_once(' ').unwrap();
            let is_known = match how {
                "gpulab exercise show" => NAMES.contains(&what),
                "gpulab lab" => experiment(what).is_some(),
                "gpulab try" => gpulab_kernels::brought(what).is_some(),
                _ => ["minplus:3", "reduce:10"].contains(&what),
            };
            assert!(is_known, "{command}");
        }
        assert_eq!(
            cure(Waste::Bookkeeping, "reduce", Some(4)),
            "gpulab explain reduce:6"
        );
        assert_eq!(
            cure(Waste::Bookkeeping, "reduce", Some(8)),
            "gpulab exercise show reduce-7"
        );
    }
}
