//! A grade as a line of a file.

use super::grade::{ExerciseVerdict, Grade};
use gpulab_record::columns;
use serde::{Deserialize, Serialize};

columns! {
    /// A submission and its verdict; its fields are the columns of CSV files.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct GradeRow {
        /// The student's folder.
        pub student: String,
        /// The exercise, as the file is named.
        pub exercise: String,
        /// The verdict on the submission.
        pub verdict: ExerciseVerdict,
        /// Checks of counts, or answers, that are as wanted.
        pub checks_ok: u64,
        /// Checks of counts, or answers; 0 if none ran.
        pub checks: u64,
        /// Why, unless it passed.
        pub reason: String,
        /// What to think about next.
        pub hint: String,
        /// The command that plays the moment of the fault.
        pub film: String,
        /// The size that was counted.
        pub counted_at: String,
        /// Draws the sizes and the data again.
        pub seed: u64,
        /// The file.
        pub file: String,
    }
}

impl GradeRow {
    pub fn of(student: &str, file: &str, grade: &Grade) -> GradeRow {
        GradeRow {
            student: student.into(),
            exercise: grade.exercise.clone(),
            verdict: grade.verdict,
            checks_ok: grade.checks.iter().filter(|check| check.ok).count() as u64,
            checks: grade.checks.len() as u64,
            reason: grade.reason.clone(),
            hint: grade.hint.clone(),
            film: grade.film.clone().unwrap_or_default(),
            counted_at: grade.counted_at.clone().unwrap_or_default(),
            seed: grade.seed,
            file: file.into(),
        }
    }
}
