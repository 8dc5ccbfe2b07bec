//! Which line of a text is which line of an older one.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// For each line of `new`, the line of `old` that it was, if any, and whether it was edited. Comments and blanks do not
/// count. Lines count from 0.
pub(super) fn matched(old: &[String], new: &[String]) -> Vec<MatchedLine> {
    let old = code(old);
    let new = code(new);
    let ops = capture_diff_slices(Algorithm::Patience, &old, &new);
    let mut lines: Vec<MatchedLine> = new.iter().map(|_| MatchedLine { was: None, is_edited: false }).collect();
    let mut is_free = vec![true; old.len()];
    for op in &ops {
        if let DiffOp::Equal { old_index, new_index, len } = *op {
            (0..len).for_each(|at| {
                lines[new_index + at].was = Some(old_index + at);
                is_free[old_index + at] = false;
            });
        }
    }
    // A line that moved.
    for at in (0..new.len()).filter(|at| !new[*at].is_empty()) {
        if lines[at].was.is_none()
            && let Some(was) = (0..old.len()).find(|&was| is_free[was] && old[was] == new[at])
        {
            lines[at].was = Some(was);
            is_free[was] = false;
        }
    }
    // What stands in the place of lines was made of them, one by one.
    for op in &ops {
        let mut places = op.old_range().filter(|&was| is_free[was] && !old[was].is_empty());
        for at in op.new_range() {
            if lines[at].was.is_none() && !new[at].is_empty() {
                lines[at] = MatchedLine { was: places.next(), is_edited: true };
            }
        }
    }
    lines
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatchedLine {
    pub(super) was: Option<usize>,
    pub(super) is_edited: bool,
}

/// The lines without comments and blanks.
fn code(lines: &[String]) -> Vec<String> {
    let mut is_comment = false;
    let mut bare = |line: &String| {
        let mut text = String::new();
        let mut rest = line.as_str();
        loop {
            let mark = if is_comment { "*/" } else { "/*" };
            let (before, after) = rest.split_once(mark).map_or((rest, None), |(before, after)| (before, Some(after)));
            if !is_comment {
                match before.split_once("//") {
                    Some((code, _)) => {
                        text.push_str(code);
                        break;
                    }
                    None => text.push_str(before),
                }
            }
            let Some(after) = after else { break };
            (is_comment, rest) = (!is_comment, after);
        }
        text.retain(|c| !c.is_whitespace());
        text
    };
    lines.iter().map(&mut bare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each line of `new` where it was, from 1; `+` behind it if it was edited.
    fn was(old: &str, new: &str) -> Vec<String> {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let was = |line: &MatchedLine| line.was.map_or_else(|| "-".to_owned(), |was| (was + 1).to_string());
        let edited = |line: &MatchedLine| if line.is_edited { "+" } else { "" };
        matched(&lines(old), &lines(new)).iter().map(|line| was(line) + edited(line)).collect()
    }

    #[test]
    fn lines_are_found_again() {
        assert_eq!(was("a;\nb;\nc;", "a;\n\n  // more\nb; // why\nc;"), ["1", "-", "-", "2", "3"]);
        assert_eq!(was("a;\nb;\nc;", "a;\nb2;\nb3;\nc;"), ["1", "2+", "-+", "3"]);
        assert_eq!(was("a;\nb;\nc;\nd;", "b;\nc;\na;\nd;"), ["2", "3", "1", "4"]);
        assert_eq!(was("a; /* x\n y */ b;", "a;\nb;"), ["1", "2"]);
        assert_eq!(was("", "a;"), ["-+"]);
    }
}
