//! Words as a shell takes them.

use gpulab_model::Joined;

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    match !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_=+.,:/@%^".contains(c)) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Words as a shell takes them, with blanks between them.
pub(crate) fn joined(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).joined(" ")
}
