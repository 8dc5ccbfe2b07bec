//! What is said of exercises, in words.

use crate::format::{paragraphs, reason, significant, wrap};
use crate::moment::FilmLine;
use crate::prelude::*;
use crate::why::faster;
use gpulab_kernels::{Family, Rung};
use gpulab_study::exercise::{
    Bets, CountCheck, Demand, Exercise, ExerciseVerdict, Grade, NEAR_BET, Progress, Standing, StepBet,
};
use std::fmt::Write as _;
use std::path::Path;

/// All exercises, and how far each has come, in lines of so many characters.
pub fn list(all: &[Exercise], progress: &Progress, width: usize) -> String {
    let names = all.iter().map(|exercise| exercise.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for exercise in all {
        let standing = progress.of(exercise.name);
        let state = match (standing.passed, standing.checks + standing.hints as u32) {
            (true, _) => "solved",
            (false, 0) => "",
            (false, _) => "begun",
        };
        let first = format!("{:<names$}  {state:<6}  ", exercise.name);
        text += &hung(&exercise.title, &first, width);
    }
    let solved = all.iter().filter(|exercise| progress.of(exercise.name).passed).count();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n{solved} of {} solved. gpulab exercise start NAME writes the starting file.", all.len());
    text
}

/// What an exercise asks for, in lines of so many characters.
pub fn exercise(exercise: &Exercise, standing: &Standing, width: usize) -> String {
    let Exercise { name, title, source, goal, text, hints, .. } = exercise;
    let source = wrap(&format!("From: {source}"), width, "  ");
    let goal = wrap(&format!("Goal: {goal}"), width, "  ");
    let mut said = format!("{name}: {title}\n{source}\n{goal}\n{}", paragraphs(text.trim(), width));
    if !exercise.checks.is_empty() {
        said.push_str("\nChecked: the result at many sizes, then in a simulator:\n");
        for check in &exercise.checks {
            let _ = writeln!(said, "  {}", wanted(check));
        }
    }
    for (number, hint) in (1..).zip(hints.iter().take(standing.hints)) {
        let _ = write!(said, "\n{}", wrap(&format!("Hint {number} of {}: {hint}", hints.len()), width, "  "));
    }
    let more = if standing.hints < hints.len() {
        format!("gpulab exercise show {name} --hint       the next hint\n")
    } else {
        String::new()
    };
    let solved =
        if standing.passed { format!("gpulab exercise show {name} --solution   a solution\n") } else { String::new() };
    let film = film(exercise).map_or_else(String::new, |film| format!("{film}\n"));
    let _ = write!(
        said,
        "\n{film}gpulab exercise start {name}             writes {}\ngpulab exercise check {name}             checks it\n{more}{solved}",
        exercise.file_name()
    );
    said
}

fn wanted(check: &CountCheck) -> String {
    let label = check.metric.name();
    match check.wanted {
        Demand::Most(most) => format!("{label}: at most {most}"),
        Demand::Least(least) => format!("{label}: at least {least}"),
        Demand::MostOfStarter(share) => format!("{label}: at most {share} times the starter's"),
    }
}

/// A hint, in lines of so many characters.
pub fn hint(text: &str, (number, all): (usize, usize), exercise: &Exercise, width: usize) -> String {
    let more = match number < all {
        true => format!("gpulab exercise show {} --hint says more.", exercise.name),
        false => {
            format!("That was the last hint; gpulab exercise show {} --solution prints a solution.", exercise.name)
        }
    };
    let film =
        film(exercise).map_or_else(String::new, |film| format!("See the starting file's worst moment:\n  {film}\n"));
    wrap(&format!("Hint {number} of {all}: {text}"), width, "  ") + &wrap(&more, width, "  ") + &film
}

/// The command that plays the starting file where it costs most; none of a question.
fn film(exercise: &Exercise) -> Option<String> {
    exercise.family.as_ref()?;
    let name = exercise.name;
    let line = FilmLine::Worst;
    Some(format!("gpulab film exercise:{name} --line {line} -o {name}.html"))
}

/// That a file was written, and what to do with it, in lines of so many characters.
pub fn started(exercise: &Exercise, path: &Path, width: usize) -> String {
    let name = exercise.name;
    let path = path.display();
    let written = wrap(&format!("{path} is written: {}.", exercise.title), width, "  ");
    let goal = wrap(&format!("Goal: {}", exercise.goal), width, "  ");
    let about = format!("What it is about:  gpulab exercise show {name}\n");
    format!("{written}{goal}{about}Read it and change it, then:  gpulab exercise check {name} {path}\n")
}

/// What a check found, in lines of so many characters.
pub fn grade(exercise: &Exercise, grade: &Grade, width: usize) -> String {
    let mut text = format!("{}: {}\n", grade.exercise, grade.verdict.name());
    if !grade.right_at.is_empty() {
        text += &wrap(&format!("  right at n = {}", grade.right_at.join(", ")), width, "    ");
    }
    if let Some(size) = grade.counted_at.as_ref().filter(|_| !grade.checks.is_empty()) {
        let how = format!("  counted in the simulator at n = {size} (--seed {} draws these sizes again):", grade.seed);
        text += &wrap(&how, width, "    ");
    }
    let column = grade.checks.iter().map(|check| check.what.chars().count()).max().unwrap_or(0);
    for check in &grade.checks {
        let mark = if check.ok { "ok  " } else { "not yet" };
        let value = check.value.map_or("none".to_owned(), |value| format!("{value:.3}"));
        let first = format!("  {mark:<7}  {:<column$}  {value:>9}  ", check.what);
        text += &wrapped(&check.wanted, &first, &" ".repeat(20), width);
    }
    if grade.verdict != ExerciseVerdict::Passed && grade.checks.iter().all(|check| check.ok) {
        text += &reason(&grade.reason, "  ", width);
    }
    if !grade.hint.is_empty() {
        text += &wrap(&format!("Think about: {}", grade.hint), width, "  ");
    }
    if let Some(film) = &grade.film {
        let _ = writeln!(text, "See the moment: {film}");
    }
    if grade.verdict != ExerciseVerdict::Passed && !grade.hint.is_empty() {
        let _ = writeln!(text, "More help: gpulab exercise show {} --hint", exercise.name);
    }
    text
}

/// What is bet on, before it is measured.
pub fn question(family: &Family, from: &Rung, to: &Rung, width: usize) -> String {
    let ideas = [from, to].map(|rung| format!("{}: {}", rung.label(), rung.header("Idea").unwrap_or_default()));
    let ask = "How many times faster is the second? Below 1 if it is slower.";
    let said = ideas.iter().map(String::as_str).chain([ask]).map(|line| wrap(line, width, "  "));
    format!("{}\n{}", family.name, said.collect::<String>())
}

/// A bet beside what was measured and what the model says, and the score of all bets.
pub fn settled(bet: &StepBet, model: &str, all: &Bets, width: usize) -> String {
    let off = match (bet.bet > bet.measured, bet.is_near()) {
        _ if bet.is_undecided => "not scored: this run is too noisy to decide the step".to_owned(),
        (_, true) => format!("near: within {NEAR_BET} times"),
        (true, false) => format!("{} times too high", significant(bet.factor(), 3)),
        (false, false) => format!("{} times too low", significant(bet.factor(), 3)),
    };
    let scored = all.scored();
    let mut factors: Vec<f64> = scored.iter().map(|bet| bet.factor()).collect();
    factors.sort_by(f64::total_cmp);
    let near = scored.iter().filter(|bet| bet.is_near()).count();
    let is_counted = bet.is_undecided || scored.contains(&bet);
    let again = if is_counted { "" } else { " (the first on each step, which this is not)" };
    let middle = factors.get(factors.len() / 2).copied().unwrap_or(1.0);
    let score = match factors.is_empty() {
        true => "score: no bet on a step that was decided yet".to_owned(),
        false => format!(
            "score: {near} of {} within {NEAR_BET} times{again}; your median bet is {} times off",
            crate::format::counted(factors.len(), "bet"),
            significant(middle, 3)
        ),
    };
    format!(
        "\n{}: {} to {}\n{}{}{}{}",
        bet.family,
        bet.from,
        bet.to,
        hung(&format!("{}, {off}", faster(bet.bet)), "  your bet  ", width),
        hung(&faster(bet.measured), "  measured  ", width),
        hung(&crate::format::terminal(model), "  why       ", width),
        wrap(&score, width, "  ")
    )
}
