//! Text in lines of a terminal's width.

/// The words of `text` in lines of at most `width` characters, the first behind `first` and all others behind `rest`; an
/// empty text is no line. A word that is longer than a line is not cut.
pub fn wrapped(text: &str, first: &str, rest: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_begun = false;
    // A number stays with its per cent, and a blank that does not break a line is no gap.
    let text = text.replace(" %", "\u{a0}%");
    for word in text.split(|c: char| c.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        if is_begun && line.chars().count() + 1 + word.chars().count() > width {
            lines += &line;
            lines.push('\n');
            line = rest.to_owned();
            is_begun = false;
        }
        if is_begun {
            line.push(' ');
        }
        line += word;
        is_begun = true;
    }
    if is_begun {
        lines += &line;
        lines.push('\n');
    }
    lines.replace("\u{a0}%", " %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_below_their_column() {
        assert_eq!(wrapped("one two  three", "a: ", "   ", 10), "a: one two\n   three\n");
        assert_eq!(wrapped("", "a: ", "   ", 10), "");
        assert_eq!(wrapped("a-word-of-some-length b", "", "", 10), "a-word-of-some-length\nb\n");
        assert_eq!(wrapped("one two", "", "", usize::MAX), "one two\n");
    }
}
