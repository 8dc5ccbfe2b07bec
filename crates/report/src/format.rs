//! Numbers and foreign text made fit to be read: in a terminal, and in Markdown.

pub use super::screen::Screen;
pub use super::wrap::wrapped;
use gpulab_model::Joined;
use gpulab_record::terminal::is_unsafe;
pub use gpulab_record::terminal::{Tint, line as terminal, paint};

/// What takes the place of characters that an ASCII screen lacks, each as wide as the other.
const ASCII: [(&str, char); 15] = [
    ("▲", '+'),
    ("▼", '-'),
    ("★", '*'),
    ("█▉▊▋▌▍", '#'),
    ("▎▏", ' '),
    ("▓", '%'),
    ("▒", '+'),
    ("░", ':'),
    ("▀▄", '='),
    ("·", '.'),
    ("…", '~'),
    ("│", '|'),
    ("┤┼└", '+'),
    ("─", '-'),
    ("×", 'x'),
];

/// A text for this screen: only ASCII of our own where it shows no more. No line ends in blanks.
pub fn on_screen(text: &str, screen: Screen) -> String {
    if screen.unicode {
        return text.to_owned();
    }
    text.split('\n')
        .map(|line| {
            line.chars()
                .map(|c: char| {
                    ASCII
                        .iter()
                        .find(|(those, _)| those.contains(c))
                        .map_or(c, |(_, ascii)| *ascii)
                })
                .collect::<String>()
                .trim_end()
                .to_owned()
        })
        .joined("\n")
}

/// A device's name without what says nothing: signs of trademarks, `CPU`, and what PoCL puts before a processor's own name.
pub fn device(name: &str) -> String {
    let is_pocl = name.starts_with("pthread-") || name.starts_with("cpu-");
    let own = name
        .match_indices('-')
        .find(|(at, _)| name[at + 1..].starts_with(char::is_uppercase));
    let own = own.filter(|_| is_pocl).map(|(at, _)| &name[at + 1..]);
    let whose = if own.is_some() { " (PoCL)" } else { "" };
    let name = own.unwrap_or(name);
    let short = ["(R)", "(r)", "(TM)", "(tm)"]
        .iter()
        .fold(name.to_owned(), |name, sign| name.replace(sign, ""));
    let words = short
        .split_whitespace()
        .filter(|word| !["CPU", "Processor"].contains(word));
    words.joined(" ") + whose
}

/// The units of times, and the seconds of each.
const TIME_UNITS: [(&str, f64); 4] = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// The unit for all of these times, and the seconds of one: the smallest time has a digit before the point, unless the
/// largest has too many then.
pub fn time_unit(seconds: impl Iterator<Item = f64> + Clone) -> (&'static str, f64) {
    let least = seconds
        .clone()
        .filter(|&s| s > 0.0)
        .fold(f64::INFINITY, f64::min);
    let most = seconds.fold(0.0, f64::max);
    let fit = TIME_UNITS
        .iter()
        .rposition(|(_, unit)| least >= unit * 0.99995)
        .unwrap_or(0);
    let wide = (fit..TIME_UNITS.len()).find(|&at| most < TIME_UNITS[at].1 * 999_999.5);
    TIME_UNITS[wide.unwrap_or(TIME_UNITS.len() - 1)]
}

/// `12.34 us`: seconds in ns, us, ms or s, with four significant digits.
pub fn time(seconds: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e-6, "ns"), (1e-3, "us"), (1.0, "ms")];
    // Half a unit of the fourth digit below each border, so that 999.96 ns is 1.000 us.
    let unit = UNITS
        .iter()
        .find(|(above, _)| seconds.abs() < above * 0.99995);
    match unit {
        Some((above, name)) => format!("{} {name}", significant(seconds / above * 1e3, 4)),
        None => format!("{} s", significant(seconds, 4)),
    }
}

/// A time that nobody waits for to the second: `40 s`, `5 minutes`, `3 hours`.
pub fn rough(seconds: f64) -> String {
    match seconds {
        s if s < 119.5 => format!("{s:.0} s"),
        s if s < 119.5 * 60.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{:.0} hours", s / 3600.0),
    }
}

/// A number with so many significant digits, and never fewer digits than it has before the point:
/// `4123`, `12.34`, `0.01234`; with an exponent below a ten-thousandth.
pub fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let rounded = format!("{x:.*e}", digits.saturating_sub(1));
    let exponent: i32 = rounded
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    if !(-4..=15).contains(&exponent) {
        return rounded;
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    format!("{x:.decimals$}")
}

/// A share of one as per cent: `0.3%`, `12%`.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 9.95 {
        format!("{percent:.1}%")
    } else {
        format!("{percent:.0}%")
    }
}

/// A bar for a share of one, of `width` characters for all of it; what is there shows.
pub fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * 8.0 * width as f64).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

/// `1 block`, `2 blocks`.
pub fn counted(n: usize, what: &str) -> String {
    let end = if what.ends_with(['s', 'h']) {
        "es"
    } else {
        "s"
    };
    format!("{n} {what}{}", if n == 1 { "" } else { end })
}

/// `1_000_000`, as the command line takes it.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// `1_000`, or of a matrix `1_000 x 500`.
pub fn size(n: u64, m: u64) -> String {
    if m == 1 {
        count(n)
    } else {
        format!("{} x {}", count(n), count(m))
    }
}

/// The name of a file without its folders.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Characters of the widest of these texts.
pub fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> usize {
    let widths = texts.into_iter().map(|text| text.as_ref().chars().count());
    widths.max().unwrap_or(0)
}

/// Text of one line of at most `width` characters, an ellipsis in place of what was cut off.
pub fn shorten(text: &str, width: usize) -> String {
    let line = text.lines().next().unwrap_or_default().trim_end();
    let whole = line.len() == text.trim_end().len();
    if whole && line.chars().count() <= width {
        return line.to_owned();
    }
    let kept: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Text in lines of at most `width` characters, broken at blanks, those after the first behind `indent`; ends with a line
/// feed. A longer word has a line of its own.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let words = text.trim_start_matches(' ');
    let lines = wrapped(words, &text[..text.len() - words.len()], indent, width);
    if lines.is_empty() {
        "\n".to_owned()
    } else {
        lines
    }
}

/// Paragraphs and numbered items, each broken anew into lines of at most `width` characters.
pub fn paragraphs(text: &str, width: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .chunk_by(|a, b| !a.is_empty() && !b.is_empty() && !is_item(b))
        .map(|lines: &[&str]| {
            let joined = lines.iter().map(|line| line.trim()).joined(" ");
            wrap(&joined, width, if is_item(&joined) { "   " } else { "" })
        })
        .collect()
}

fn is_item(line: &str) -> bool {
    line.split_once(". ")
        .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

/// Foreign text of many lines for a terminal, each indented by `indent`.
pub fn block(text: &str, indent: &str) -> String {
    let lines = text.trim_end().lines();
    lines
        .map(|line| {
            format!("{indent}{}", terminal(&line.replace('\t', "    ")))
                .trim_end()
                .to_owned()
                + "\n"
        })
        .collect()
}

/// Why something has no value, indented by `indent`: a sentence in lines of at most `width` characters; a log of many lines as
/// it is, as its columns mean something.
pub fn reason(text: &str, indent: &str, width: usize) -> String {
    let block = block(text, indent);
    if block.lines().count() == 1 {
        wrap(block.trim_end(), width, indent)
    } else {
        block
    }
}

/// Foreign text within a line or a table cell of Markdown.
pub fn markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // An underscore within a word, as in cpu_seq, is no markup.
        let within_word =
            before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '_' if within_word => safe.push('_'),
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '~' | '$' => safe.extend(['\\', c]),
            c if c.is_whitespace() => safe.push(' '),
            c if is_unsafe(c) => safe += &terminal(&c.to_string()),
            c => safe.push(c),
        }
        before = c;
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paragraphs_are_broken_anew_and_items_stay_apart() {
        let text = "one two\nthree\n\n1. first of\n   all\n2. last";
        assert_eq!(
            paragraphs(text, 10),
            "one two\nthree\n\n1. first\n   of all\n2. last\n"
        );
        assert_eq!(
            paragraphs(text, 80),
            "one two three\n\n1. first of all\n2. last\n"
        );
    }

    #[test]
    fn a_reason_of_one_sentence_is_wrapped_and_a_log_stays() {
        assert_eq!(
            reason("this driver takes no cap on registers\n", "  ", 20),
            "  this driver takes\n  no cap on\n  registers\n"
        );
        let log = "a.cl:1:1: error: what is  this\n    x  +  y\n       ^";
        assert_eq!(reason(log, "  ", 20), block(log, "  "));
        assert_eq!(reason("", "  ", 20), "");
    }

    #[test]
    fn times_have_four_digits_and_the_right_unit() {
        let cases = [
            (0.0, "0 ns"),
            (1.5e-9, "1.500 ns"),
            (999.9e-9, "999.9 ns"),
            (999.96e-9, "1.000 us"),
            (12.3449e-6, "12.34 us"),
            (1e-3, "1.000 ms"),
            (0.99999, "1.000 s"),
            (12345.6, "12346 s"),
        ];
        for (seconds, want) in cases {
            assert_eq!(time(seconds), want);
        }
    }

    #[test]
    fn numbers_keep_their_significant_digits() {
        let cases = [
            (4123.4, "4123"),
            (12345.6, "12346"),
            (99.996, "100.0"),
            (1.0, "1.000"),
            (0.012344, "0.01234"),
            (1.2344e-7, "1.234e-7"),
        ];
        for (x, want) in cases {
            assert_eq!(significant(x, 4), want);
        }
        assert_eq!(
            (percent(0.0034), percent(0.0999), percent(1.23)),
            ("0.3%".into(), "10%".into(), "123%".into())
        );
        assert_eq!(
            (count(0), count(999), count(1000), count(16_777_216)),
            (
                "0".into(),
                "999".into(),
                "1_000".into(),
                "16_777_216".into()
            )
        );
    }

    #[test]
    fn long_text_ends_in_an_ellipsis_and_long_lines_break_at_blanks() {
        assert_eq!(shorten("short\n", 10), "short");
        assert_eq!(shorten("two\nlines", 10), "two…");
        assert_eq!(shorten("ééééé", 5), "ééééé");
        assert_eq!(shorten("ééééé", 4), "ééé…");
        assert_eq!(wrap("one two three", 7, "  "), "one two\n  three\n");
        assert_eq!(wrap("one two three", 80, "  "), "one two three\n");
        assert_eq!(wrap("immeasurable x", 5, " "), "immeasurable\n x\n");
        assert_eq!(wrap("", 5, " "), "\n");
    }

    #[test]
    fn foreign_text_cannot_steer_a_terminal_and_is_no_markup() {
        assert_eq!(
            terminal("a\x1b[31mb\u{202e}\nc\u{9b}"),
            "a\\x1b[31mb\\u{202e}\\nc\\x9b"
        );
        assert_eq!(block("x\ty\nz\x07\n\n", "  "), "  x    y\n  z\\x07\n");
        assert_eq!(
            markdown("cpu_seq _x_ | <b> & *"),
            "cpu_seq \\_x\\_ \\| &lt;b&gt; &amp; \\*"
        );
        assert_eq!(markdown("a\nb\x1b"), "a b\\x1b");
    }

    proptest! {
        #[test]
        fn no_control_character_gets_through(text in any::<String>()) {
            prop_assert!(!terminal(&text).chars().any(is_unsafe));
            prop_assert!(!markdown(&text).chars().any(is_unsafe));
            prop_assert!(!block(&text, "").chars().any(|c| c != '\n' && is_unsafe(c)));
        }
    }
}
