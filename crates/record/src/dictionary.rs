//! What the columns of files hold: the declarations of the rows themselves, as data.

use gpulab_model::Joined;

/// A column of a file, as its field is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnEntry {
    /// In CSV headers and JSON.
    pub name: &'static str,
    /// Of its values; empty for those that have none.
    pub unit: &'static str,
    pub rust: &'static str,
    pub lines: &'static [&'static str],
}

impl ColumnEntry {
    /// What a cell holds: `text`, `integer`, `number`, `boolean` or `word`, one of a few names.
    pub fn kind(&self) -> &'static str {
        match self
            .rust
            .trim_start_matches("Option<")
            .trim_end_matches('>')
        {
            "String" | "WorkGroup" | "Params" | "Flags" => "text",
            "u64" | "u32" | "i32" => "integer",
            "f64" | "Number" => "number",
            "bool" => "boolean",
            _ => "word",
        }
    }

    /// Whether a cell may be empty, or `null` in JSON.
    pub fn is_optional(&self) -> bool {
        self.rust.starts_with("Option<")
    }

    /// What it holds, in a sentence or two.
    pub fn meaning(&self) -> String {
        self.lines.iter().map(|line| line.trim()).joined(" ")
    }
}
