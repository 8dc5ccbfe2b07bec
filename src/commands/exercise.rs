//! `gpulab exercise`: steps to learn by, each with a starter file, hints, checks and a solution.

use crate::cli::{ExerciseAction, ExerciseCheck};
use crate::exercise::{
    Exercise, ExerciseVerdict, Grader, NAMES, exercise, exercises, grade_class, keep, predict, progress,
};
use crate::outputs::TextOrJson;
use crate::prelude::*;
use crate::report::exercise as text;
use crate::suggest;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

/// Lists, shows, starts or checks exercises.
pub fn run(out: &mut Out, global: &Global, action: Option<&ExerciseAction>) -> Result<(), Error> {
    match action {
        None | Some(ExerciseAction::List) => out.text(&text::list(&exercises()?, &progress(), width())),
        Some(ExerciseAction::Show { name, solution: true, .. }) => out.text(&find(name)?.solution()?),
        Some(ExerciseAction::Show { name, hint, .. }) => show(out, &find(name)?, *hint),
        Some(ExerciseAction::Start { name, output }) => start(out, &find(name)?, output.as_deref()),
        Some(ExerciseAction::Predict(options)) => predict(out, global, options),
        Some(ExerciseAction::Check(options)) => match (&options.all, &options.name) {
            (Some(_), Some(name)) => {
                Err(Error::Usage(format!("--all grades every file of a folder: leave out {name}, or --all")))
            }
            (Some(folder), None) => grade_class(out, global, options, folder),
            (None, Some(name)) => check(out, global, options, &find(name)?),
            (None, None) => Err(Error::Usage("name an exercise, or grade a folder with --all DIR".into())),
        },
    }
}

fn find(name: &str) -> Result<Exercise, Error> {
    exercise(&name.to_lowercase())?.ok_or_else(|| Error::Usage(suggest::unknown("exercise", name, NAMES)))
}

/// Characters of a line on standard output.
fn width() -> usize {
    Screen::stdout(false).width
}

fn show(out: &mut Out, exercise: &Exercise, hint: bool) -> Result<(), Error> {
    let all = exercise.hints.len();
    let standing = match hint {
        true => keep(exercise.name, |standing| standing.hints = (standing.hints + 1).min(all)),
        false => progress().of(exercise.name),
    };
    if hint {
        let last = standing.hints.clamp(1, all);
        let text = exercise.hints.get(last - 1).map_or("", String::as_str);
        return out.text(&text::hint(text, (last, all), exercise, width()));
    }
    out.text(&text::exercise(exercise, &standing, width()))
}

fn start(out: &mut Out, exercise: &Exercise, output: Option<&str>) -> Result<(), Error> {
    let starter = exercise.starter()?;
    if output == Some("-") {
        return out.text(&starter);
    }
    let path = output.map_or_else(|| PathBuf::from(exercise.file_name()), PathBuf::from);
    let shown = path.display();
    // A student's work is never overwritten.
    let made = OpenOptions::new().write(true).create_new(true).open(&path);
    match made.and_then(|mut file| file.write_all(starter.as_bytes())) {
        Ok(()) => out.text(&text::started(exercise, &path, width())),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Error::Usage(format!(
            "{shown} exists and is not overwritten: check it with gpulab exercise check {} {shown}, or start another \
             with -o FILE",
            exercise.name
        ))),
        Err(source) => Err(Error::Output { what: shown.to_string(), source }),
    }
}

fn check(out: &mut Out, global: &Global, options: &ExerciseCheck, exercise: &Exercise) -> Result<(), Error> {
    let path = options.file.clone().unwrap_or_else(|| PathBuf::from(exercise.file_name()));
    if !path.exists() {
        return Err(Error::Usage(format!(
            "there is no file {}: gpulab exercise start {} writes a starting file",
            path.display(),
            exercise.name
        )));
    }
    let answer = TextOrJson::open(options.json.as_deref())?;
    let grade = Grader::new(global, options)?.grade(exercise, &path)?;
    answer.tell(out, &grade, || text::grade(exercise, &grade, width()))?;
    let standing = keep(exercise.name, |standing| {
        standing.checks += 1;
        standing.passed |= grade.verdict == ExerciseVerdict::Passed;
    });
    if standing.passed && !global.quiet && options.json.as_deref() != Some("-") {
        out.text(&format!("gpulab's solution: gpulab exercise show {} --solution\n", exercise.name))?;
    }
    grade.outcome()
}
