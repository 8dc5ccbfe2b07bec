//! What is said of exercises, in words.

use crate::columns::gain;
use crate::drawing::{self, DrawnGrids};
use crate::format::{
    Screen, Tint, counted, on_screen, paint, paragraphs, reason, shorten, significant, size,
    terminal, widest, wrap,
};
use crate::ladder::tinted_gains;
use crate::picture::of_grids;
use crate::table::Table;
use crate::why::faster;
use crate::wrap::{hung, wrapped};
use gpulab_kernels::Rung;
use gpulab_model::data::Dtype;
use gpulab_model::outcome::Cache;
use gpulab_model::{Joined, Result};
use gpulab_record::Row;
use gpulab_study::exercise::{
    CountCheck, Demand, Exercise, ExerciseVerdict, Grade, GradedFile, NAMES, Progress, Standing,
};
use maud::{DOCTYPE, PreEscaped, html};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How a page to print looks.
const STYLE: &str = include_str!("exercise.css");

/// What the file of a sheet begins with.
pub const SHEET_MARK: &str = "<!-- gpulab exercise sheet -->\n";

/// A text with the first of a word in colour, where there is one and the screen has colours.
fn tinted(text: &str, word: &str, tint: Tint, screen: Screen) -> String {
    match screen.color && !word.is_empty() {
        true => text.replacen(word, &paint(word, tint), 1),
        false => text.to_owned(),
    }
}

fn tint(verdict: ExerciseVerdict) -> Tint {
    match verdict {
        ExerciseVerdict::Passed => Tint::Green,
        ExerciseVerdict::NotYet | ExerciseVerdict::Uncounted => Tint::Yellow,
        _ => Tint::Red,
    }
}

/// All exercises, and how far each has come.
pub fn list(all: &[Exercise], progress: &Progress, screen: Screen) -> String {
    let names = widest(all.iter().map(|exercise| exercise.name));
    let mut text = String::new();
    for exercise in all {
        let standing = progress.of(exercise.name);
        let (state, tint) = match (standing.passed, standing.checks + standing.hints as u32) {
            (true, _) => ("solved", Tint::Green),
            (false, 0) => ("", Tint::Green),
            (false, _) => ("begun", Tint::Yellow),
        };
        let Exercise { name, minutes, .. } = exercise;
        let first = format!("{name:<names$}  {state:<6}  {minutes:>2} min  ");
        let line = hung(&exercise.title, &first, screen.width);
        text += &tinted(&line, state, tint, screen);
    }
    text + "\n" + &solved(all, progress, screen) + &next(all, progress)
}

/// How many exercises are solved, with a bar.
pub fn solved(all: &[Exercise], progress: &Progress, screen: Screen) -> String {
    let solved = all
        .iter()
        .filter(|exercise| progress.of(exercise.name).passed)
        .count();
    let bar = "█".repeat(solved) + &"░".repeat(all.len() - solved);
    on_screen(&format!("{bar} {solved} of {} solved\n", all.len()), screen)
}

/// The first exercise that is not solved, and the command that begins it.
pub fn next(all: &[Exercise], progress: &Progress) -> String {
    let open = all
        .iter()
        .find(|exercise| !progress.of(exercise.name).passed);
    open.map_or_else(String::new, |Exercise { name, minutes, .. }| {
        format!("Next, about {minutes} minutes: gpulab exercise start {name}\n")
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
        said += &format!("  {}\n", asked(check));
    }
    for (number, hint) in (1..).zip(hints.iter().take(standing.hints)) {
        let hint = format!("Hint {number} of {}: {hint}", hints.len());
        said = said + "\n" + &wrap(&hint, width, "  ");
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
    let verdict = grade.verdict.name();
    let mut text = tinted(
        &format!("{}: {verdict}\n", grade.exercise),
        verdict,
        tint(grade.verdict),
        screen,
    );
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
        let (mark, tint) = match check.ok {
            true => ("ok", Tint::Green),
            false => ("not yet", Tint::Yellow),
        };
        let value = check
            .value
            .map_or("none".to_owned(), |value| format!("{value:.3}"));
        let first = format!("  {mark:<7}  {:<column$}  {value:>9}  ", check.what);
        let line = wrapped(&check.wanted, &first, &" ".repeat(20), width);
        text += &tinted(&line, mark, tint, screen);
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
        text += &format!("See the moment: {film}\n");
    }
    if grade.verdict != ExerciseVerdict::Passed && !grade.hint.is_empty() {
        text += &format!("More help: gpulab exercise show {} --hint\n", exercise.name);
    }
    on_screen(&text, screen)
}

/// Why files did not pass, each student's best verdict for each exercise, and how many files have which verdict.
pub fn class(rows: &[GradedFile], screen: Screen) -> String {
    let mut text = String::new();
    let mut best: BTreeMap<(&str, &str), ExerciseVerdict> = BTreeMap::new();
    for GradedFile { student, grade, .. } in rows {
        if !grade.reason.is_empty() {
            let first = format!("{student} {} {}: ", grade.exercise, grade.verdict.name());
            let why = shorten(&grade.reason, 120);
            text += &wrapped(&terminal(&why), &terminal(&first), "    ", screen.width);
        }
        let verdict = best
            .entry((student, &grade.exercise))
            .or_insert(grade.verdict);
        *verdict = (*verdict).min(grade.verdict);
    }
    let students: BTreeSet<&str> = rows.iter().map(|row| row.student.as_str()).collect();
    let solved = students.iter().map(|student| {
        let own = best.iter().filter(|((name, _), _)| name == student);
        let passed = own.filter(|(_, verdict)| **verdict == ExerciseVerdict::Passed);
        passed.count().to_string()
    });
    let mut table = Table::default()
        .texts("student", students.iter().map(|&student| student.into()))
        .numbers("solved", solved);
    for name in NAMES {
        let verdicts = students.iter().map(|student| best.get(&(student, name)));
        if verdicts.clone().any(|verdict| verdict.is_some()) {
            let cells =
                verdicts.map(|verdict| verdict.map_or("-", |verdict| verdict.name()).into());
            table = table.texts(name.replace('-', "-\n"), cells);
        }
    }
    let mut table = table.blocks(screen.width);
    let mut counts = Vec::new();
    for verdict in ExerciseVerdict::ALL {
        let name = verdict.name();
        let painted = tinted(name, name, tint(verdict), screen);
        table = table.replace(&format!("  {name}"), &format!("  {painted}"));
        match rows
            .iter()
            .filter(|row| row.grade.verdict == verdict)
            .count()
        {
            0 => {}
            count => counts.push(format!("{count} {painted}")),
        }
    }
    let files = counted(rows.len(), "file");
    let text = format!("{text}\n{table}\n{files}: {}\n", counts.join(", "));
    on_screen(&text, screen)
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
            "# {name}: {title}\n\n{}\n\n{}```c\n{starter}```\n",
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
pub fn question(step: &str, rungs: [&Rung; 2], at: &str, screen: Screen) -> String {
    let ideas = rungs.map(|rung| {
        let idea = rung.header("Idea").unwrap_or_default();
        screen.wrap(&format!("{}: {idea}", rung.label()))
    });
    let ask = format!("On an {at}: how many times as fast is the second? Below 1 if it is slower.");
    let answer = format!("Answer with your number: gpulab exercise predict {step}\n");
    ideas.concat() + &screen.wrap(&ask) + &answer
}

/// What a step gained on each device and at each size that was recorded, with cold caches where there are both, and at how many of
/// these places a bet is near.
pub fn places(
    all: &[(&str, Vec<Row>)],
    [from, to]: [&Rung; 2],
    dtype: Dtype,
    bet: f64,
    screen: Screen,
) -> String {
    let mut sizes: BTreeMap<(u64, u64), BTreeMap<&str, String>> = BTreeMap::new();
    let mut near = Vec::new();
    for (device, rows) in all {
        let mut own: Vec<&Row> = rows
            .iter()
            .filter(|row| row.dtype == dtype && row.is_plain() && row.is_believed())
            .collect();
        own.sort_by_key(|row| row.cache == Cache::Warm);
        for row in own.iter().filter(|row| row.variant == to.variant()) {
            let place = |row: &Row| (row.run_id.clone(), row.n, row.m, row.cache);
            let before = own
                .iter()
                .find(|one| one.variant == from.variant() && place(one) == place(row));
            if let Some(before) = before
                && let Entry::Vacant(place) = sizes.entry((row.n, row.m)).or_default().entry(device)
                && let Some(told) = gain(Some(before), row)
            {
                place.insert(told);
                near.extend(row.step_x.map(|gain| off(bet, gain) <= NEAR));
            }
        }
    }
    let devices = sizes.values().flat_map(BTreeMap::keys);
    let devices: BTreeSet<&str> = devices.copied().collect();
    let mut table = Table::default().texts("", devices.iter().map(|name| name.to_string()));
    for ((n, m), own) in &sizes {
        let cells = devices
            .iter()
            .map(|name| own.get(name).map_or("-", |told| told));
        table = table.numbers(
            size(*n, if m == n { 1 } else { *m }),
            cells.map(str::to_owned),
        );
    }
    let said = format!(
        "where the step paid, by n and device (▲ faster, ▼ slower, = alike, ? within the noise); your bet is near in {} of {} places:",
        near.iter().filter(|near| **near).count(),
        near.len()
    );
    let table = table.blocks(screen.width);
    let lines = table.lines().map(|line| tinted_gains(line, screen) + "\n");
    let table: String = lines.collect();
    on_screen(&format!("\n{}{table}", screen.wrap(&said)), screen)
}

/// A factor between bet and gain up to which the bet is near.
const NEAR: f64 = 1.5;

fn off(bet: f64, gain: f64) -> f64 {
    (bet / gain).max(gain / bet)
}

/// A bet beside what was recorded, why, and the score of all bets.
pub fn settled((bet, gain): (f64, f64), why: &str, progress: &Progress, screen: Screen) -> String {
    let word = match off(bet, gain) {
        near if near <= NEAR => "near".to_owned(),
        far => format!(
            "{} times too {}",
            significant(far, 2),
            if bet > gain { "high" } else { "low" }
        ),
    };
    let bets = progress.bets.values();
    let near = bets.filter(|(bet, gain)| off(*bet, *gain) <= NEAR).count();
    let score = format!(
        "score: {near} of {} within {NEAR} times of what was recorded",
        counted(progress.bets.len(), "bet")
    );
    let bet = format!("your bet (the first one counts): {}, {word}", faster(bet));
    [&*bet, why, &score]
        .map(|line| screen.wrap_foreign(line))
        .concat()
}
