//! What is said of exercises, in words.

use crate::drawing::{self, DrawnGrids};
use crate::format::{
    Screen, Tint, counted, on_screen, paint, paragraphs, reason, shorten, significant, terminal,
    widest, wrap,
};
use crate::markdown::MARKDOWN_MARK;
use crate::picture::of_grids;
use crate::table::Table;
use crate::why::faster;
use crate::wrap::{hung, wrapped};
use gpulab_kernels::Rung;
use gpulab_model::{Joined, Result};
use gpulab_study::exercise::{
    CountCheck, Demand, Exercise, ExerciseVerdict, Grade, GradedFile, NAMES, Progress, Standing,
};
use maud::{DOCTYPE, PreEscaped, html};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// How a page to print looks.
const STYLE: &str = include_str!("exercise.css");

/// Words of verdicts and standings, and their colours.
const TINTS: [(&str, Tint); 11] = [
    ("passed", Tint::Green),
    ("solved", Tint::Green),
    ("  ok  ", Tint::Green),
    ("begun", Tint::Yellow),
    ("not yet", Tint::Yellow),
    ("uncounted", Tint::Yellow),
    ("WRONG", Tint::Red),
    ("NOT BUILT", Tint::Red),
    ("CRASHED", Tint::Red),
    ("ENDLESS", Tint::Red),
    ("REFUSED", Tint::Red),
];

/// A text with its verdicts in colour, where the screen has colours.
pub fn coloured(text: &str, screen: Screen) -> String {
    let tints = TINTS.iter().filter(|_| screen.color);
    tints.fold(on_screen(text, screen), |text, (word, tint)| {
        text.replace(word, &paint(word, *tint))
    })
}

/// All exercises, and how far each has come.
pub fn list(all: &[Exercise], progress: &Progress, screen: Screen) -> String {
    let names = widest(all.iter().map(|exercise| exercise.name));
    let mut text = String::new();
    for exercise in all {
        let standing = progress.of(exercise.name);
        let state = match (standing.passed, standing.checks + standing.hints as u32) {
            (true, _) => "solved",
            (false, 0) => "",
            (false, _) => "begun",
        };
        let Exercise { name, minutes, .. } = exercise;
        let first = format!("{name:<names$}  {state:<6}  {minutes:>2} min  ");
        text += &hung(&exercise.title, &first, screen.width);
    }
    coloured(&text, screen) + "\n" + &solved(all, progress, screen) + &next(all, progress)
}

/// How many exercises are solved, with a bar.
pub fn solved(all: &[Exercise], progress: &Progress, screen: Screen) -> String {
    let solved = all
        .iter()
        .filter(|exercise| progress.of(exercise.name).passed);
    let solved = solved.count();
    let bar = "█".repeat(solved) + &"░".repeat(all.len() - solved);
    coloured(&format!("{bar} {solved} of {} solved\n", all.len()), screen)
}

/// The first exercise that is not solved, and the command that begins it.
pub fn next(all: &[Exercise], progress: &Progress) -> String {
    let open = all
        .iter()
        .find(|exercise| !progress.of(exercise.name).passed);
    open.map_or_else(String::new, |Exercise { name, minutes, .. }| {
        format!("Next: gpulab exercise start {name}   (about {minutes} minutes)\n")
    })
}

/// What an exercise asks for, in lines of so many characters.
pub fn exercise(exercise: &Exercise, standing: &Standing, width: usize) -> String {
    let Exercise {
        name,
        title,
        minutes,
        source,
        goal,
        text,
        hints,
        ..
    } = exercise;
    let source = wrap(&format!("From: {source}"), width, "  ");
    let goal = wrap(&format!("Goal: {goal}"), width, "  ");
    let mut said = format!(
        "{name}: {title} (about {minutes} minutes)\n{source}\n{goal}\n{}",
        paragraphs(text.trim(), width)
    );
    said.push_str("\nChecked: the result at many sizes, then in a simulator:\n");
    for check in &exercise.checks {
        let _ = writeln!(said, "  {}", asked(check));
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
        "\ngpulab exercise start {name}             writes {name}.cl\n\
         gpulab exercise check {name} --watch     checks it at each save\n\
         gpulab exercise show {name} --hint       the next hint\n\
         gpulab exercise show {name} --solution   a solution\n\
         A film of the starting file's worst moment:\n\
         gpulab draw exercise:{name} --line worst --film {name}.html\n"
    )
}

/// What a check asks for.
fn asked(check: &CountCheck) -> String {
    let wanted = match check.wanted {
        Demand::Most(most) => format!("at most {most}"),
        Demand::Least(least) => format!("at least {least}"),
        Demand::MostOfStarter(share) => format!("at most {share} times the starter's"),
    };
    format!("{}: {wanted}", check.metric.name())
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
        "{written}{goal}{about}Read it and change it, then:  gpulab exercise check {name} {path}\n(--watch checks again at each save)\n"
    )
}

/// What a check found.
pub fn grade(exercise: &Exercise, grade: &Grade, screen: Screen) -> String {
    let width = screen.width;
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
    coloured(&text, screen)
}

/// Why files did not pass, each student's best verdict for each exercise, and how many files have which verdict.
pub fn class(rows: &[GradedFile], screen: Screen) -> String {
    let mut text = String::new();
    for GradedFile { student, grade, .. } in rows.iter().filter(|row| !row.grade.reason.is_empty())
    {
        let first = format!("{student} {} {}: ", grade.exercise, grade.verdict.name());
        let why = shorten(&grade.reason, 120);
        text += &wrapped(&terminal(&why), &terminal(&first), "    ", screen.width);
    }
    let students: BTreeSet<&str> = rows.iter().map(|row| row.student.as_str()).collect();
    let best = |student: &str, name: &str| {
        let own = rows
            .iter()
            .filter(|row| row.student == student && row.grade.exercise == name);
        own.map(|row| row.grade.verdict)
            .min_by_key(|verdict| *verdict as u8)
    };
    let passed = |students: &[&str], names: &[&str]| {
        let all = students
            .iter()
            .flat_map(|student| names.iter().map(move |name| best(student, name)));
        all.filter(|verdict| *verdict == Some(ExerciseVerdict::Passed))
            .count()
            .to_string()
    };
    let students: Vec<&str> = students.into_iter().collect();
    let totals = students
        .iter()
        .map(|student| passed(&[student], NAMES))
        .chain([passed(&students, NAMES)]);
    let names = students.iter().copied().chain(["passed"]);
    let mut table = Table::default()
        .texts("student", names.map(str::to_owned))
        .numbers("passed", totals);
    for name in NAMES
        .iter()
        .filter(|name| rows.iter().any(|row| row.grade.exercise == **name))
    {
        let cells = students.iter().map(|student| {
            best(student, name)
                .map_or("-", ExerciseVerdict::name)
                .to_owned()
        });
        table = table.texts(
            name.replace('-', "-\n"),
            cells.chain([passed(&students, &[name])]),
        );
    }
    let verdicts = ExerciseVerdict::ALL.into_iter().filter_map(|verdict| {
        let count = rows
            .iter()
            .filter(|row| row.grade.verdict == verdict)
            .count();
        (count > 0).then(|| format!("{count} {}", verdict.name()))
    });
    let all = format!(
        "{}: {}\n",
        counted(rows.len(), "file"),
        verdicts.joined(", ")
    );
    coloured(
        &format!("{text}\n{}\n{all}", table.blocks(screen.width)),
        screen,
    )
}

/// A page to print, as HTML or as Markdown: the task, the starting file, and its picture if there is one.
pub fn sheet(exercise: &Exercise, picture: &[DrawnGrids], is_html: bool) -> Result<String> {
    let Exercise {
        name,
        title,
        minutes,
        source,
        goal,
        text,
        checks,
        ..
    } = exercise;
    let starter = exercise.starter()?;
    let about = format!("From {source}. About {minutes} minutes.");
    let goal = format!("Goal: {goal}");
    let checked = format!("Checked: {}.", checks.iter().map(asked).joined("; "));
    let run = format!(
        "`gpulab exercise start {name}` writes {name}.cl, `gpulab exercise check {name}` checks it."
    );
    let paragraphs = [&*about, &goal]
        .into_iter()
        .chain(text.trim().split("\n\n"))
        .chain([&*checked, &run]);
    if !is_html {
        let page = Screen {
            width: 80,
            unicode: true,
            color: false,
        };
        let pictures = picture
            .iter()
            .map(|drawn| format!("```text\n{}```\n\n", drawing::text(drawn, page)));
        return Ok(format!(
            "{MARKDOWN_MARK}# {name}: {title}\n\n{}\n\n{}```c\n{starter}```\n",
            paragraphs.joined("\n\n"),
            pictures.collect::<String>()
        ));
    }
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content="gpulab";
                title { (name) ": " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (name) ": " (title) }
                @if !picture.is_empty() { figure { (PreEscaped(of_grids(picture).svg())) } }
                @for paragraph in paragraphs {
                    p { @for (at, part) in paragraph.split('`').enumerate() {
                        @if at % 2 == 1 { code { (part) } } @else { (part) }
                    } }
                }
                pre { (starter) }
            }
        }
    };
    Ok(page.into_string() + "\n")
}

/// What is to be bet on: what a step gains.
pub fn question(step: &str, rungs: [&Rung; 2], device: &str, screen: Screen) -> String {
    let ideas = rungs.map(|rung| {
        let idea = rung.header("Idea").unwrap_or_default();
        screen.wrap(&format!("{}: {idea}", rung.label()))
    });
    let ask = format!(
        "How many times as fast is the second on an {device}, with the largest data that were recorded? Below 1 if it is slower."
    );
    let answer = format!("Answer with your number: gpulab exercise predict {step}\n");
    ideas.concat() + &screen.wrap(&ask) + &answer
}

/// A bet beside what was recorded, why, and the score of all bets.
pub fn settled(bet: f64, gain: f64, why: &str, progress: &Progress, screen: Screen) -> String {
    /// A factor between bet and gain up to which the bet is near.
    const NEAR: f64 = 1.5;
    let off = |(bet, gain): (f64, f64)| (bet / gain).max(gain / bet);
    let word = match off((bet, gain)) {
        near if near <= NEAR => "near".to_owned(),
        far => format!(
            "{} times too {}",
            significant(far, 2),
            if bet > gain { "high" } else { "low" }
        ),
    };
    let all = progress.bets().count();
    let near = progress.bets().filter(|one| off(*one) <= NEAR).count();
    let score = format!(
        "score: {near} of {} within {NEAR} times of what was recorded",
        counted(all, "bet")
    );
    let bet = format!("your bet (the first one counts): {}, {word}", faster(bet));
    [&*bet, why, &score]
        .map(|line| screen.wrap_foreign(line))
        .concat()
}
