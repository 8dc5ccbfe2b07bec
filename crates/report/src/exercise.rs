//! What is said of exercises, in words.

use crate::format::{paragraphs, reason, widest, wrap};
use crate::wrap::{hung, wrapped};
use gpulab_study::exercise::{Demand, Exercise, ExerciseVerdict, Grade, Progress, Standing};
use std::fmt::Write as _;
use std::path::Path;

/// All exercises, and how far each has come, in lines of so many characters.
pub fn list(all: &[Exercise], progress: &Progress, width: usize) -> String {
    let names = widest(all.iter().map(|exercise| exercise.name));
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
    let solved = all
        .iter()
        .filter(|exercise| progress.of(exercise.name).passed)
        .count();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "\n{solved} of {} solved. gpulab exercise start NAME writes the starting file.",
        all.len()
    );
    text
}

/// What an exercise asks for, in lines of so many characters.
pub fn exercise(exercise: &Exercise, standing: &Standing, width: usize) -> String {
    let Exercise {
        name,
        title,
        source,
        goal,
        text,
        hints,
        ..
    } = exercise;
    let source = wrap(&format!("From: {source}"), width, "  ");
    let goal = wrap(&format!("Goal: {goal}"), width, "  ");
    let mut said = format!(
        "{name}: {title}\n{source}\n{goal}\n{}",
        paragraphs(text.trim(), width)
    );
    said.push_str("\nChecked: the result at many sizes, then in a simulator:\n");
    for check in &exercise.checks {
        let wanted = match check.wanted {
            Demand::Most(most) => format!("at most {most}"),
            Demand::Least(least) => format!("at least {least}"),
            Demand::MostOfStarter(share) => format!("at most {share} times the starter's"),
        };
        let _ = writeln!(said, "  {}: {wanted}", check.metric.name());
    }
    for (number, hint) in (1..).zip(hints.iter().take(standing.hints)) {
        let _ = write!(
            said,
            "\n{}",
            wrap(
                &format!("Hint {number} of {}: {hint}", hints.len()),
                width,
                "  "
            )
        );
    }
    said + &format!(
        "\ngpulab draw exercise:{name} --line worst --film {name}.html   plays the starting file's worst moment\n\
         gpulab exercise start {name}             writes {name}.cl\n\
         gpulab exercise check {name}             checks it\n\
         gpulab exercise show {name} --hint       the next hint\n\
         gpulab exercise show {name} --solution   a solution\n"
    )
}

/// A hint, by its number from 1, in lines of so many characters.
pub fn hint(exercise: &Exercise, number: usize, width: usize) -> String {
    let Exercise { name, hints, .. } = exercise;
    let all = hints.len();
    let more = match number < all {
        true => format!("gpulab exercise show {name} --hint says more."),
        false => format!(
            "That was the last hint; gpulab exercise show {name} --solution prints a solution."
        ),
    };
    let text = hints.get(number - 1).map_or("", String::as_str);
    wrap(&format!("Hint {number} of {all}: {text}"), width, "  ") + &wrap(&more, width, "  ")
}

/// That a file was written, and what to do with it, in lines of so many characters.
pub fn started(exercise: &Exercise, path: &Path, width: usize) -> String {
    let name = exercise.name;
    let path = path.display();
    let written = wrap(
        &format!("{path} is written: {}.", exercise.title),
        width,
        "  ",
    );
    let goal = wrap(&format!("Goal: {}", exercise.goal), width, "  ");
    let about = format!("What it is about:  gpulab exercise show {name}\n");
    format!(
        "{written}{goal}{about}Read it and change it, then:  gpulab exercise check {name} {path}\n"
    )
}

/// What a check found, in lines of so many characters.
pub fn grade(exercise: &Exercise, grade: &Grade, width: usize) -> String {
    let mut text = format!("{}: {}\n", grade.exercise, grade.verdict.name());
    if !grade.right_at.is_empty() {
        text += &wrap(
            &format!("  right at n = {}", grade.right_at.join(", ")),
            width,
            "    ",
        );
    }
    if let Some(size) = grade
        .counted_at
        .as_ref()
        .filter(|_| !grade.checks.is_empty())
    {
        let how = format!(
            "  counted in the simulator at n = {size} (--seed {} draws these sizes again):",
            grade.seed
        );
        text += &wrap(&how, width, "    ");
    }
    let column = widest(grade.checks.iter().map(|check| &check.what));
    for check in &grade.checks {
        let mark = if check.ok { "ok  " } else { "not yet" };
        let value = check
            .value
            .map_or("none".to_owned(), |value| format!("{value:.3}"));
        let first = format!("  {mark:<7}  {:<column$}  {value:>9}  ", check.what);
        text += &wrapped(&check.wanted, &first, &" ".repeat(20), width);
    }
    if grade.verdict != ExerciseVerdict::Passed && grade.checks.iter().all(|check| check.ok) {
        text += &reason(&grade.reason, "  ", width);
    }
    if !grade.hint.is_empty() {
        text += &wrap(&format!("Think about: {}", grade.hint), width, "  ");
    }
    if let Some(elsewhere) = &grade.elsewhere {
        text += &wrap(&format!("  {elsewhere}"), width, "    ");
    }
    if let Some(film) = &grade.film {
        let _ = writeln!(text, "See the moment: {film}");
    }
    if grade.verdict != ExerciseVerdict::Passed && !grade.hint.is_empty() {
        let _ = writeln!(
            text,
            "More help: gpulab exercise show {} --hint",
            exercise.name
        );
    }
    text
}
