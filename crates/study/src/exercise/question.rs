//! Exercises that ask for numbers: a sheet to fill in.

use serde::Deserialize;
use std::fmt::Write as _;

/// A number that is asked for: a product over a product, so that the data show how it comes about.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What stands before `=` on the sheet.
    pub name: String,
    pub ask: String,
    pub unit: String,
    /// Numbers that are multiplied.
    pub product: Vec<f64>,
    /// Numbers that the product is divided by.
    pub over: Vec<f64>,
    /// What to think about if the answer is wrong.
    pub hint: String,
    /// Where the numbers of the text were recorded: a file below `data/results/`; none where they follow from a data sheet.
    pub recorded: Option<String>,
    /// Text that this file holds: the numbers as they were recorded.
    #[serde(default)]
    pub holds: Vec<String>,
}

impl Question {
    pub fn answer(&self) -> f64 {
        self.product.iter().product::<f64>() / self.over.iter().product::<f64>()
    }
}

/// A sheet below its heading, with or without the answers.
pub(super) fn sheet(heading: String, text: &str, questions: &[Question], with_answers: bool) -> String {
    let mut sheet = heading;
    for line in text.trim().lines() {
        // Writing to a String cannot fail.
        let _ = writeln!(sheet, "{}", format!("# {line}").trim_end());
    }
    let _ = writeln!(sheet, "#\n# Write a number behind each `=`, in the named unit; it may be 1 % off.");
    for question in questions {
        let answer = if with_answers { format!(" {:.4}", question.answer()) } else { String::new() };
        let _ = writeln!(sheet, "\n# {}, in {}\n{} ={answer}", question.ask, question.unit, question.name);
    }
    sheet
}
