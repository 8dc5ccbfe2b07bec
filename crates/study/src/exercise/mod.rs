//! Exercises: a starter file, a goal, hints, a solution, and checks by counts. Each is data in `cl/exercises/NAME/`.

mod bets;
mod check;
mod course;
mod grade;
mod grade_row;
mod progress;
mod question;
mod sheet;
mod sizes;

pub use bets::{Bets, NEAR_BET, StepBet, parse_bet};
pub use check::{CheckResult, CountCheck, CountMetric, Demand};
pub use course::{Exercise, NAMES, exercise, exercises};
pub use grade::{ExerciseVerdict, Grade};
pub use grade_row::GradeRow;
pub use progress::{Progress, Standing};
pub use question::Question;
pub use sheet::answers;
pub use sizes::DrawnSizes;
