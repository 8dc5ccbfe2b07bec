//! The text of a kernel's file without comments, and cut into words and signs.

use gpulab_system::text::Joined;

/// The text without comments and without lines of the preprocessor that name lines.
pub(crate) fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = match rest.as_bytes().get(1) {
            Some(b'/') => rest.find('\n').unwrap_or(rest.len()),
            Some(b'*') => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            _ => {
                code.push('/');
                1
            }
        };
        rest = &rest[end..];
        code.push(' ');
    }
    code.push_str(rest);
    code.lines().filter(|line| !line.trim_start().starts_with("#line")).joined("\n")
}

pub(crate) fn tokens(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut all: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        match all.last_mut() {
            Some(word) if in_word && is_word(c) => word.push(c),
            _ if c.is_whitespace() => {}
            _ => all.push(c.to_string()),
        }
        in_word = is_word(c);
    }
    all
}
