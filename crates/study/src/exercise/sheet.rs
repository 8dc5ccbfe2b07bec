//! Sheets that were filled in.

use super::check::CheckResult;
use super::course::Exercise;
use super::grade::{ExerciseVerdict, Grade};

/// Answers may be rounded: this share of the right one is allowed.
const TOLERANCE: f64 = 0.01;

pub fn answers(exercise: &Exercise, sheet: &str) -> Grade {
    let grade = Grade::begin(exercise.name, 0);
    let lines = sheet.lines().filter(|line| !line.trim_start().starts_with('#'));
    let given: Vec<(&str, &str)> =
        lines.filter_map(|line| line.split_once('=')).map(|(name, value)| (name.trim(), value.trim())).collect();
    let checks = exercise.questions.iter().map(|question| {
        let mine: Vec<&str> =
            given.iter().filter(|(name, _)| *name == question.name).map(|(_, value)| *value).collect();
        let only = if let [only] = mine[..] { only.strip_suffix(&question.unit).unwrap_or(only).trim() } else { "" };
        let value = only.parse::<f64>().ok();
        let point = only.replacen(',', ".", 1);
        let has_comma = value.is_none() && point.parse::<f64>().is_ok();
        let right = question.answer();
        CheckResult {
            what: question.name.clone(),
            value: value.filter(|value| value.is_finite()),
            wanted: format!("one number, in {}, at most 1 % off", question.unit),
            ok: value.is_some_and(|value| (value - right).abs() <= TOLERANCE * right.abs()),
            hint: match has_comma {
                true => format!("{only} has a decimal comma: write {point}"),
                false => question.hint.clone(),
            },
            line: None,
        }
    });
    grade.judged(checks.collect(), ExerciseVerdict::Wrong)
}

#[cfg(test)]
mod tests {
    use super::super::{Question, exercises};
    use super::*;
    use std::fs;
    use std::path::Path;

    fn questions() -> Vec<Exercise> {
        exercises().unwrap().into_iter().filter(|exercise| exercise.family.is_none()).collect()
    }

    #[test]
    fn right_answers_pass_and_empty_several_and_wrong_ones_do_not() {
        assert!(questions().len() >= 2);
        for exercise in questions() {
            let verdict = |sheet: &str| answers(&exercise, sheet).verdict;
            let solution = exercise.solution().unwrap();
            assert_eq!(verdict(&solution), ExerciseVerdict::Passed, "{}", exercise.name);
            assert_eq!(verdict(&exercise.starter().unwrap()), ExerciseVerdict::Wrong);
            let all_numbers: String = (1..9999).map(|n| format!("{} = {n}\n", exercise.questions[0].name)).collect();
            assert_eq!(verdict(&format!("{solution}{all_numbers}")), ExerciseVerdict::Wrong, "one number each");
            for (index, question) in exercise.questions.iter().enumerate() {
                let with = |value: &str| {
                    exercise
                        .questions
                        .iter()
                        .enumerate()
                        .map(|(at, q): (usize, &Question)| {
                            let value = if at == index { value.to_owned() } else { q.answer().to_string() };
                            format!("{} = {value}\n", q.name)
                        })
                        .collect::<String>()
                };
                let right = question.answer();
                assert_eq!(verdict(&with(&format!("{right} {}", question.unit))), ExerciseVerdict::Passed);
                assert_eq!(verdict(&with(&(right * 1.009).to_string())), ExerciseVerdict::Passed);
                for wrong in
                    ["", "NaN", "inf", "0", "many", "1..9999", &(right * 1.02).to_string(), &(-right).to_string()]
                {
                    assert_eq!(verdict(&with(wrong)), ExerciseVerdict::Wrong, "{}: {wrong}", question.name);
                }
            }
        }
    }

    #[test]
    fn recorded_numbers_are_those_of_the_file() {
        let mut looked = 0;
        for question in questions().iter().flat_map(|exercise| &exercise.questions) {
            let Some(file) = &question.recorded else { continue };
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/results").join(file);
            let text = fs::read_to_string(path).unwrap();
            assert!(
                !question.holds.is_empty()
                    && text.lines().any(|line: &str| question.holds.iter().all(|part| line.contains(part.as_str()))),
                "{}: {:?}",
                question.name,
                question.holds
            );
            looked += 1;
        }
        assert!(looked >= 2);
    }
}
