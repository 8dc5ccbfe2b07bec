//! Text in lines of a terminal's width.

/// The words of `text` in lines of at most `width` characters, the first behind `first` and all others behind `rest`; an
/// empty text is no line. A word that is longer than a line is broken behind its slashes, if it has any, and else not cut.
pub fn wrapped(text: &str, first: &str, rest: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_begun = false;
    // A number stays with its per cent, and a blank that does not break a line is no gap.
    let text = text.replace(" %", "\u{a0}%");
    let room = width.saturating_sub(rest.chars().count());
    for word in text
        .split(|c: char| c.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
    {
        for (place, piece) in pieces(word, room).into_iter().enumerate() {
            let gap = usize::from(is_begun && place == 0);
            if is_begun && line.chars().count() + gap + piece.chars().count() > width {
                lines += &line;
                lines.push('\n');
                line = rest.to_owned();
            } else if gap > 0 {
                line.push(' ');
            }
            line += piece;
            is_begun = true;
        }
    }
    if is_begun {
        lines += &line;
        lines.push('\n');
    }
    lines.replace("\u{a0}%", " %")
}

/// As [`wrapped`], all other lines below where the text begins behind `first`.
pub fn hung(text: &str, first: &str, width: usize) -> String {
    wrapped(text, first, &" ".repeat(first.chars().count()), width)
}

/// A word whole, or, if it has no room in a line, as of a path, in pieces that end in slashes.
fn pieces(word: &str, room: usize) -> Vec<&str> {
    if word.chars().count() > room {
        word.split_inclusive('/').collect()
    } else {
        vec![word]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_below_their_column() {
        assert_eq!(
            wrapped("one two  three", "a: ", "   ", 10),
            "a: one two\n   three\n"
        );
        assert_eq!(wrapped("", "a: ", "   ", 10), "");
        assert_eq!(
            wrapped("a-word-of-some-length b", "", "", 10),
            "a-word-of-some-length\nb\n"
        );
        assert_eq!(wrapped("one two", "", "", usize::MAX), "one two\n");
    }

    #[test]
    fn a_path_without_room_is_broken_behind_its_slashes_only() {
        assert_eq!(
            wrapped("kept in /home/someone/file.json", "", "  ", 16),
            "kept in /home/\n  someone/\n  file.json\n"
        );
        assert_eq!(
            wrapped("kept in /a/b/c", "", "  ", 10),
            "kept in\n  /a/b/c\n",
            "one with room stays whole"
        );
        let path = "/a-folder/b-folder/a-file-of-some-length.json";
        assert_eq!(wrapped(path, "", "", 20).replace('\n', ""), path);
    }
}
