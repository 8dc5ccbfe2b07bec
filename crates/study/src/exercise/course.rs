//! The exercises of the course, and their files.

use super::check::CountCheck;
use super::question::{Question, sheet};
use gpulab_kernels::text;
use gpulab_model::Error;
use serde::Deserialize;

/// The names of all exercises, in the order of a course; each is a folder below `cl/exercises/`.
pub const NAMES: &[&str] = &[
    "bandwidth",
    "strides",
    "branches",
    "banks",
    "reduce-2",
    "reduce-3",
    "reduce-4",
    "reduce-5",
    "reduce-6",
    "reduce-7",
    "dot-presum",
    "transpose-banks",
    "minplus-registers",
    "overlap",
];

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    /// Its name: that of its folder.
    #[serde(skip)]
    pub name: &'static str,
    pub title: String,
    /// The family whose problem the kernel solves; none of a question.
    pub family: Option<String>,
    pub source: String,
    /// What is to be reached, in one sentence.
    pub goal: String,
    /// What one must know for it.
    pub text: String,
    /// Hints, each of which says more than the one before it.
    pub hints: Vec<String>,
    /// What is counted of a right kernel.
    #[serde(default)]
    pub checks: Vec<CountCheck>,
    /// What is asked in place of a kernel.
    #[serde(default)]
    pub questions: Vec<Question>,
}

impl Exercise {
    /// The name of the file that a student hands in.
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.name, if self.family.is_some() { "cl" } else { "txt" })
    }

    pub fn starter(&self) -> Result<String, Error> {
        if self.family.is_none() {
            return Ok(self.sheet(false));
        }
        let head = self.header();
        Ok(format!("{head}{}", self.file("starter.cl")?))
    }

    pub fn solution(&self) -> Result<String, Error> {
        if self.family.is_none() { Ok(self.sheet(true)) } else { self.file("solution.cl").map(str::to_owned) }
    }

    fn sheet(&self, with_answers: bool) -> String {
        let heading = format!("# Exercise {}: {}.\n# {}\n#\n", self.name, self.title, self.goal);
        sheet(heading, &self.text, &self.questions, with_answers)
    }

    /// What stands above a starter: the goal, and the commands.
    fn header(&self) -> String {
        let name = self.name;
        format!(
            "// Exercise {name}: {}.\n// Goal: {}\n// gpulab exercise show {name} says more, gpulab exercise show {name} --hint \
             helps,\n// gpulab exercise check {name} {} checks this file.\n//\n",
            self.title,
            self.goal,
            self.file_name()
        )
    }

    fn file(&self, file: &str) -> Result<&'static str, Error> {
        let path = path(self.name, file);
        text(&path).ok_or_else(|| Error::Failed(format!("{path} is missing in this gpulab")))
    }
}

fn path(name: &str, file: &str) -> String {
    format!("exercises/{name}/{file}")
}

pub fn exercise(name: &str) -> Result<Option<Exercise>, Error> {
    let Some(name) = NAMES.iter().find(|known| **known == name) else { return Ok(None) };
    let file = path(name, "exercise.toml");
    let read = text(&file).ok_or_else(|| "it is missing in this gpulab".to_owned());
    let read = read.and_then(|data| toml::from_str(data).map_err(|e| e.to_string()));
    let exercise: Exercise = read.map_err(|why| Error::Failed(format!("{file}: {why}")))?;
    Ok(Some(Exercise { name, ..exercise }))
}

pub fn exercises() -> Result<Vec<Exercise>, Error> {
    NAMES.iter().filter_map(|name| exercise(name).transpose()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_kernels as kernels;

    #[test]
    fn every_exercise_is_complete() {
        let all = exercises().unwrap();
        assert_eq!(all.len(), NAMES.len());
        for exercise in all {
            let name = exercise.name;
            assert!(exercise.hints.len() >= 2, "{name}: hints go from little to much");
            assert!(exercise.goal.ends_with('.') && !exercise.title.ends_with('.'), "{name}");
            match &exercise.family {
                Some(family) => {
                    assert!(kernels::built_in(family).is_some(), "{name}");
                    assert!(!exercise.checks.is_empty() && exercise.questions.is_empty(), "{name}");
                    assert_ne!(exercise.starter().unwrap(), exercise.solution().unwrap(), "{name}");
                }
                None => assert!(exercise.checks.is_empty() && !exercise.questions.is_empty(), "{name}"),
            }
        }
    }

    #[test]
    fn every_folder_is_an_exercise() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cl/exercises");
        let mut found: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let mut names: Vec<&str> = NAMES.to_vec();
        found.sort();
        names.sort_unstable();
        assert_eq!(found, names);
    }
}
