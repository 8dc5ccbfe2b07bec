//! The text of a kernel's file: without comments, cut into words and signs; what it includes, and which macros it defines itself; types of C, and how their fields lie in memory.

use gpulab_model::data::{Field, Layout, Scalar};
use gpulab_model::plan::{ImageKind, PixelFormat};
use gpulab_model::{Joined, is_among};

/// The name in a line that includes a file in the one way that is allowed: alone on its line, without anything hidden.
pub fn included(line: &str) -> Option<&str> {
    line.strip_prefix("#include \"")
        .and_then(|rest| rest.trim_end().strip_suffix('"'))
}

/// Lines without comments, joined where a backslash says so, each with the number of its first line.
pub fn logical_lines(text: &str) -> Vec<(usize, String)> {
    #[derive(PartialEq)]
    enum Scan {
        Code,
        Line,
        Block,
        Quoted(char),
    }
    let characters = joined(text);
    let mut lines = vec![(1, String::new())];
    let mut state = Scan::Code;
    let mut rest = characters.iter().copied().peekable();
    while let Some((c, number)) = rest.next() {
        let next = rest.peek().map(|(next, _)| *next);
        if c == '\n' {
            // A string or a character ends with its line, closed or not.
            if state != Scan::Block {
                state = Scan::Code;
            }
            lines.push((number + 1, String::new()));
            continue;
        }
        let mut keep = |c: char| lines.last_mut().map(|(_, line)| line.push(c));
        match state {
            Scan::Code if c == '/' && next == Some('/') => state = Scan::Line,
            Scan::Code if c == '/' && next == Some('*') => {
                rest.next();
                keep(' ');
                state = Scan::Block;
            }
            Scan::Code => {
                if c == '"' || c == '\'' {
                    state = Scan::Quoted(c);
                }
                keep(c);
            }
            Scan::Block if c == '*' && next == Some('/') => {
                rest.next();
                state = Scan::Code;
            }
            Scan::Line | Scan::Block => {}
            Scan::Quoted(quote) => {
                keep(c);
                if c == '\\' && next.is_some_and(|next| next != '\n') {
                    rest.next().map(|(c, _)| keep(c));
                } else if c == quote {
                    state = Scan::Code;
                }
            }
        }
    }
    lines
}

/// The characters with their lines' numbers, without trigraphs, and without the ends of lines that go on.
fn joined(text: &str) -> Vec<(char, usize)> {
    const TRIGRAPHS: [(&str, char); 9] = [
        ("??=", '#'),
        ("??/", '\\'),
        ("??'", '^'),
        ("??(", '['),
        ("??)", ']'),
        ("??!", '|'),
        ("??<", '{'),
        ("??>", '}'),
        ("??-", '~'),
    ];
    let mut text = text.replace("\r\n", "\n").replace('\r', "\n");
    for (trigraph, c) in TRIGRAPHS {
        text = text.replace(trigraph, &c.to_string());
    }
    let mut characters = Vec::new();
    for (number, line) in (1..).zip(text.split('\n')) {
        // Compilers let blanks stand behind the backslash.
        let body = line.trim_end().strip_suffix('\\');
        characters.extend(body.unwrap_or(line).chars().map(|c| (c, number)));
        if body.is_none() {
            characters.push(('\n', number));
        }
    }
    characters
}

/// What the raw strings of a text hold, where that has a kernel or nothing but comments stands beside it: all else is gone, but
/// each line keeps its number.
pub fn raw_strings(text: &str) -> Option<String> {
    let mut kept = String::new();
    let mut beside = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("R\"") {
        kept.extend(before.chars().filter(|c| *c == '\n'));
        beside.push_str(before);
        rest = behind;
        if let Some((delimiter, inside)) = behind
            .split_once('(')
            .filter(|(word, _)| is_delimiter(word))
        {
            let (held, after) = inside.split_once(&format!("){delimiter}\""))?;
            kept.push_str(held);
            rest = after;
        }
    }
    beside.push_str(rest);
    let has_kernel = kept.contains("__kernel") || kept.contains("kernel void");
    (has_kernel
        || !kept.is_empty()
            && beside
                .lines()
                .all(|line: &str| line.trim().is_empty() || line.trim_start().starts_with("//")))
    .then_some(kept)
}

fn is_delimiter(word: &str) -> bool {
    word.len() <= 16 && !word.contains([')', '\\', '"', ' ', '\t', '\n'])
}

/// The text without comments and without lines of the preprocessor that name lines.
pub fn without_comments(text: &str) -> String {
    let lines = logical_lines(text).into_iter().map(|(_, line)| line);
    lines
        .filter(|line| !line.trim_start().starts_with("#line"))
        .joined("\n")
}

pub fn tokens(text: &str) -> Vec<String> {
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

pub fn is_qualifier(word: &str) -> bool {
    /// With or without underscores: `global`, `__global`, `__restrict__`.
    const QUALIFIERS: &str = "const restrict volatile static inline extern register global constant local private read_only write_only read_write";
    is_among(word.trim_matches('_'), QUALIFIERS)
}

/// The first word, and what follows it.
pub fn split_word(text: &str) -> (&str, &str) {
    text.split_at(
        text.find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(text.len()),
    )
}

pub fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether a word in front of a name begins a statement, and is no type.
pub fn is_statement(word: &str) -> bool {
    is_among(word, "return else case goto sizeof do kernel __kernel")
}

/// A text without its own definitions of those macros that somebody else gives: a compiler would take the text's.
pub fn without_definitions(text: &str, is_given: impl Fn(&str) -> bool) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            if defined_name(line).is_some_and(&is_given) {
                "\n"
            } else {
                line
            }
        })
        .collect()
}

/// The macro without arguments that a line defines.
fn defined_name(line: &str) -> Option<&str> {
    let rest = line
        .trim()
        .strip_prefix('#')?
        .trim_start()
        .strip_prefix("define")?;
    let (name, value) = split_word(rest.trim_start());
    (rest.starts_with([' ', '\t']) && !value.starts_with('(') && !value.ends_with('\\'))
        .then_some(name)
}

/// Macros that gpulab sets for every kernel of a reader's.
pub const MACROS: [&str; 5] = ["T", "INDEX", "WG", "WG_X", "WG_Y"];

/// A type of elements or values.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueType {
    /// `T`, the element type that a case asks for.
    Case,
    /// `INDEX`, which counts elements.
    Index,
    /// A number, or a vector of as many.
    Number(Scalar, usize),
    Struct(Layout),
    /// An image's pixel.
    Pixel(PixelFormat, ImageKind),
}

impl ValueType {
    /// Bytes, where a case's elements have `size`.
    pub fn size(&self, size: usize) -> usize {
        match self {
            ValueType::Case => size,
            ValueType::Index => 8,
            ValueType::Number(scalar, lanes) => scalar.size() * lanes,
            ValueType::Struct(layout) => layout.size,
            ValueType::Pixel(format, _) => format.scalar.size() * format.channels,
        }
    }
}

/// `float3`: three numbers in the place of four; the fourth is padding. Its fields are named by numbers, as no struct's are.
pub fn vector_of_three(scalar: Scalar) -> ValueType {
    let size = scalar.size();
    let fields = (0..3).map(|lane| Field {
        name: lane.to_string(),
        at: lane * size,
        scalar,
    });
    ValueType::Struct(Layout {
        size: 4 * size,
        alignment: 4 * size,
        fields: fields.collect(),
    })
}

/// Most numbers of a struct.
const MOST_FIELDS: usize = 4096;

/// Puts fields behind each other, as C aligns them; the struct's size is then [`ended`].
pub fn add_field(
    to: &mut Layout,
    is_packed: bool,
    name: &str,
    of: &ValueType,
    count: usize,
) -> Option<()> {
    let (inner, alignment) = match of {
        ValueType::Number(scalar, lanes) => {
            let lane = |lane: usize| Field {
                name: if *lanes > 1 {
                    format!("_{lane}")
                } else {
                    String::new()
                },
                at: lane * scalar.size(),
                scalar: *scalar,
            };
            ((0..*lanes).map(lane).collect(), of.size(0))
        }
        ValueType::Struct(layout) => {
            let inner = layout.fields.iter().map(|field| Field {
                name: format!("_{}", field.name),
                ..field.clone()
            });
            (inner.collect::<Vec<_>>(), layout.alignment)
        }
        ValueType::Case | ValueType::Index | ValueType::Pixel(..) => return None,
    };
    let alignment = if is_packed { 1 } else { alignment };
    to.size = to.size.next_multiple_of(alignment);
    to.alignment = to.alignment.max(alignment);
    for element in 0..count {
        let name = if count > 1 {
            format!("{name}_{element}")
        } else {
            name.to_owned()
        };
        let at = to.size;
        let inner = inner.iter();
        to.fields.extend(inner.map(|field| Field {
            name: format!("{name}{}", field.name),
            at: at + field.at,
            scalar: field.scalar,
        }));
        to.size += of.size(0);
        if to.fields.len() > MOST_FIELDS {
            return None;
        }
    }
    Some(())
}

/// The struct of these fields, with what lies behind the last one.
pub fn ended(fields: Layout) -> Layout {
    Layout {
        size: fields.size.next_multiple_of(fields.alignment).max(1),
        ..fields
    }
}

/// A struct without fields.
pub const EMPTY: Layout = Layout {
    size: 0,
    alignment: 1,
    fields: Vec::new(),
};

/// The layout of a struct that is written by its fields' types, as C aligns them: `ffi` are two floats and an int, `4f` four
/// floats. Letters are those of Python's module `struct`: b B h H i I l L q Q e f d.
pub fn layout_of_letters(letters: &str) -> Result<Layout, String> {
    let mut fields = EMPTY;
    let mut count = String::new();
    for (number, letter) in letters.chars().filter(|c| !c.is_whitespace()).enumerate() {
        if letter.is_ascii_digit() {
            count.push(letter);
            continue;
        }
        let scalar = match letter {
            'b' => Scalar::I8,
            'B' => Scalar::U8,
            'h' => Scalar::I16,
            'H' => Scalar::U16,
            'i' => Scalar::I32,
            'I' => Scalar::U32,
            'l' | 'q' => Scalar::I64,
            'L' | 'Q' => Scalar::U64,
            'e' => Scalar::F16,
            'f' => Scalar::F32,
            'd' => Scalar::F64,
            _ => {
                return Err(format!(
                    "<{letters}>: there is no type {letter:?}; there are b B h H i I q Q e f d"
                ));
            }
        };
        let times = if count.is_empty() {
            1
        } else {
            count.parse().unwrap_or(usize::MAX)
        };
        count.clear();
        let added = (times <= MOST_FIELDS)
            .then(|| {
                add_field(
                    &mut fields,
                    false,
                    &format!("f{number}"),
                    &ValueType::Number(scalar, 1),
                    times,
                )
            })
            .flatten();
        added.ok_or_else(|| format!("<{letters}> has more than {} numbers", MOST_FIELDS))?;
    }
    if fields.fields.is_empty() {
        return Err("<> has no fields: write <ffi> for two floats and an int".into());
    }
    Ok(ended(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_defines_is_left_out() {
        let text = "#define WIDTH 4096\n# define N(x) x\n#define WIDTHS 2\nint x = WIDTH;\n";
        let kept = "\n# define N(x) x\n#define WIDTHS 2\nint x = WIDTH;\n";
        assert_eq!(
            without_definitions(text, |name| ["WIDTH", "N"].contains(&name)),
            kept
        );
    }

    #[test]
    fn what_raw_strings_hold_keeps_its_lines() {
        let text = "// An R\"string\" of\nstd::string a{R\"CL(\n__kernel void k() { f(\")\"); }\n)CL\"};\nint x = R\"(\n#define A\n)\";";
        assert_eq!(
            raw_strings(text).unwrap(),
            "\n\n__kernel void k() { f(\")\"); }\n\n\n#define A\n"
        );
        assert_eq!(
            raw_strings("// Common.\nR\"(\n#define A 1\n)\"\n// End.").unwrap(),
            "\n\n#define A 1\n"
        );
        for plain in [
            "__kernel void k() {}",
            "char *R = R\"(no)\"; __kernel void k() {}",
            "R\"(__kernel void k() {}",
            "// No string.",
        ] {
            assert_eq!(raw_strings(plain), None, "{plain}");
        }
    }

    #[test]
    fn letters_are_fields() {
        assert_eq!(layout_of_letters("ffi").unwrap().size, 12);
        assert_eq!(layout_of_letters("b 2d").unwrap().fields[2].at, 16);
        assert!(layout_of_letters("fx").unwrap_err().contains("'x'"));
        assert!(layout_of_letters("99999f").is_err() && layout_of_letters("").is_err());
    }
}
