//! Blocks of Markdown documents that a command fills: a mark with the command, the text that it gave, and the end's mark.
//!
//! ```text
//! <!-- gpulab show h200 dot --md - -->
//! | rung | time |
//! <!-- end -->
//! ```

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocBlock {
    /// The line of its mark, from 1.
    pub line: usize,
    /// The command of its mark, as in `gpulab show h200 dot --md -`.
    pub command: String,
    /// Where the text between its marks stands, in bytes: whole lines.
    pub body: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there, and what to do.
    pub why: String,
}

enum DocLine<'a> {
    /// `<!-- gpulab ... -->`.
    Mark(&'a str),
    End,
    /// `<!-- gpulab` without its end.
    Broken,
    Text,
}

const END: &str = "<!-- end -->";

/// Blanks before a line from which on it is code.
pub(super) const CODE_INDENT: usize = 4;

/// A document's blocks, in order. Marks within code are text.
pub fn doc_blocks(text: &str) -> Result<Vec<DocBlock>, BlockError> {
    let mut blocks = Vec::new();
    let mut open: Option<DocBlock> = None;
    let mut fence: Option<&str> = None;
    let mut start = 0;
    for (at, line) in (1..).zip(text.split_inclusive('\n')) {
        let wrong = |why: String| Err(BlockError { line: at, why });
        let end = start + line.len();
        let was_code = fence.is_some();
        fence = fence_after(fence, line);
        let kind = if was_code || fence.is_some() { DocLine::Text } else { kind(line) };
        match (kind, open.take()) {
            (DocLine::Text, block) => open = block,
            (DocLine::Mark(command), None) => {
                open = Some(DocBlock { line: at, command: command.to_owned(), body: end..end });
            }
            (DocLine::End, Some(block)) => blocks.push(DocBlock { body: block.body.start..start, ..block }),
            (DocLine::Mark(_), Some(DocBlock { line, .. })) => {
                return wrong(format!("a block begins within that of line {line}: end that with {END} first"));
            }
            (DocLine::End, None) => return wrong(format!("{END} ends no block: there is no mark above it")),
            (DocLine::Broken, _) => {
                return wrong("a mark is one line, as in <!-- gpulab show h200 dot --md - -->".to_owned());
            }
        }
        start = end;
    }
    match open {
        None => Ok(blocks),
        Some(DocBlock { line, .. }) => {
            let why = format!("the block is not closed: it ends with a line {END}, outside of code");
            Err(BlockError { line, why })
        }
    }
}

fn kind(line: &str) -> DocLine<'_> {
    let own = line.trim();
    let inside = own.strip_prefix("<!--").map(str::trim_start);
    match inside {
        _ if indent(line) >= CODE_INDENT => DocLine::Text,
        _ if own == END => DocLine::End,
        Some(rest) if rest.split_whitespace().next() == Some("gpulab") => {
            rest.strip_suffix("-->").map_or(DocLine::Broken, |command| DocLine::Mark(command.trim_end()))
        }
        _ => DocLine::Text,
    }
}

pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The fence around the code that goes on behind a line, if any does: its tildes or back-quotes.
pub(super) fn fence_after<'a>(fence: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    // Further in, it is code without a fence.
    let own = if line.starts_with("    ") || line.starts_with('\t') { "" } else { line.trim() };
    let sign = own.chars().next().filter(|sign| "`~".contains(*sign));
    let marks = sign.map_or("", |sign| &own[..own.len() - own.trim_start_matches(sign).len()]);
    match fence {
        // What ends code has as many signs at least, and nothing behind them.
        Some(fence) if marks == own && marks.starts_with(fence) => None,
        Some(fence) => Some(fence),
        None => (marks.len() >= 3 && !own[marks.len()..].contains('`')).then_some(marks),
    }
}

/// The document with other texts at these places, which are in order; lines end as the document's first.
pub fn spliced(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let has_returns = text.lines().next().is_some_and(|line| text[line.len()..].starts_with("\r\n"));
    let mut new = String::with_capacity(text.len());
    let mut from = 0;
    for (place, body) in edits {
        new.push_str(&text[from..place.start]);
        new.push_str(&if has_returns { body.replace('\n', "\r\n") } else { body.clone() });
        from = place.end;
    }
    new + &text[from..]
}

/// A text as code of Markdown, within a fence that none of its lines ends.
pub fn fenced(text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().chars().take_while(|c| *c == '`').count()).max();
    let fence = "`".repeat(longest.map_or(3, |most| most + 1).max(3));
    format!("{fence}text\n{}\n{fence}\n", text.trim_end())
}

/// The words of a command: apart at blanks, but for what stands in quotes.
pub fn command_words(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    for c in command.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.map_or(Ok(words), |quote| Err(format!("the quote {quote} is not closed")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DOC: &str = "# A\n<!-- gpulab list -->\nold\n<!-- end -->\n\n<!-- gpulab show \"a b\" -->\n<!-- end -->\nz";

    fn filled(text: &str, bodies: &[&str]) -> String {
        let places = doc_blocks(text).unwrap().into_iter().map(|block| block.body);
        spliced(text, &places.zip(bodies.iter().map(|&body| body.to_owned())).collect::<Vec<_>>())
    }

    #[test]
    fn blocks_are_found_and_filled() {
        let blocks = doc_blocks(DOC).unwrap();
        let found: Vec<_> = blocks.iter().map(|b| (b.line, b.command.as_str(), &DOC[b.body.clone()])).collect();
        assert_eq!(found, [(2, "gpulab list", "old\n"), (6, "gpulab show \"a b\"", "")]);
        let new = filled(DOC, &["1\n2\n", "3\n"]);
        let want = "# A\n<!-- gpulab list -->\n1\n2\n<!-- end -->\n\n<!-- gpulab show \"a b\" -->\n3\n<!-- end -->\nz";
        assert_eq!(new, want);
        let windows = "a\r\n<!-- gpulab list -->\r\n<!-- end -->\r\n";
        let new = filled(windows, &["1\n2\n"]);
        assert_eq!(new, "a\r\n<!-- gpulab list -->\r\n1\r\n2\r\n<!-- end -->\r\n");
    }

    #[test]
    fn marks_in_code_and_other_comments_are_text() {
        for text in [
            "```\n<!-- gpulab list -->\n```\n",
            "~~~~ md\n```\n<!-- gpulab list -->\n~~~\n<!-- end -->\n~~~~\n",
            "    <!-- gpulab list -->\n",
            "<!-- a comment -->\n<!-- gpulabs -->\n",
            "see `<!-- gpulab list -->` and ```code``` here\n",
        ] {
            assert_eq!(doc_blocks(text), Ok(Vec::new()), "{text}");
        }
        // What looks like a fence within indented code is none.
        assert_eq!(doc_blocks("     ```\n\n<!-- gpulab list -->\n<!-- end -->\n").map(|blocks| blocks.len()), Ok(1));
        // Code within a block may show marks too.
        let text = "<!-- gpulab list -->\n```text\n<!-- end -->\n```\n<!-- end -->\n";
        assert_eq!(&text[doc_blocks(text).unwrap()[0].body.clone()], "```text\n<!-- end -->\n```\n");
    }

    #[test]
    fn bad_marks_are_named_by_their_line() {
        let wrong = |text: &str| doc_blocks(text).map_err(|wrong| (wrong.line, wrong.why)).unwrap_err();
        let (line, why) = wrong("a\n<!-- gpulab list -->\nb\n");
        assert!(line == 2 && why.contains("not closed"), "{why}");
        let (line, why) = wrong("<!-- gpulab list -->\n```\n<!-- end -->\n");
        assert!(line == 1 && why.contains("outside of code"), "{why}");
        let (line, why) = wrong("<!-- gpulab a -->\n<!-- gpulab b -->\n<!-- end -->\n");
        assert!(line == 2 && why.contains("within that of line 1"), "{why}");
        assert_eq!(wrong("\n\n<!-- end -->\n").0, 3);
        assert_eq!(wrong("<!-- gpulab show\nh200 -->\n").0, 1);
    }

    #[test]
    fn commands_are_split_as_a_shell_does() {
        let words = command_words("gpulab show  'a b' --columns \"rung,of limit\" ''").unwrap();
        assert_eq!(words, ["gpulab", "show", "a b", "--columns", "rung,of limit", ""]);
        assert!(command_words("gpulab 'x").unwrap_err().contains("not closed"));
    }

    proptest! {
        #[test]
        fn what_was_filled_is_found_again(lines in proptest::collection::vec("[a`~ <!-]{0,9}", 0..9)) {
            let text = lines.join("\n");
            let body = fenced(&text);
            let once = filled(DOC, &[&body, ""]);
            let again = doc_blocks(&once).unwrap();
            prop_assert_eq!(&once[again[0].body.clone()], body.as_str());
            prop_assert_eq!(again.len(), 2);
        }
    }
}
