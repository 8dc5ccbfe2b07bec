//! Kernel sources: those built into the binary, and how a file and its fragments are joined.

use crate::exchange::EXCHANGES;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Fragments that kernel files include, as (path below `cl/`, text).
pub const COMMON: &[(&str, &str)] = &[
    ("common/ballast.cl", include_str!("../../cl/common/ballast.cl")),
    ("common/bits.cl", include_str!("../../cl/common/bits.cl")),
    ("common/canary.cl", include_str!("../../cl/common/canary.cl")),
    ("common/finish.cl", include_str!("../../cl/common/finish.cl")),
    ("common/function.cl", include_str!("../../cl/common/function.cl")),
    ("common/lanes.cl", include_str!("../../cl/common/lanes.cl")),
    ("common/lockstep.cl", include_str!("../../cl/common/lockstep.cl")),
    ("common/lower.cl", include_str!("../../cl/common/lower.cl")),
    ("common/matrix.cl", include_str!("../../cl/common/matrix.cl")),
    ("common/muladd.cl", include_str!("../../cl/common/muladd.cl")),
    ("common/operation.cl", include_str!("../../cl/common/operation.cl")),
    ("common/pairs.cl", include_str!("../../cl/common/pairs.cl")),
    ("common/panels.cl", include_str!("../../cl/common/panels.cl")),
    ("common/past.cl", include_str!("../../cl/common/past.cl")),
    ("common/place.cl", include_str!("../../cl/common/place.cl")),
    ("common/publish.cl", include_str!("../../cl/common/publish.cl")),
    ("common/scrub.cl", include_str!("../../cl/common/scrub.cl")),
    ("common/shuffle.cl", include_str!("../../cl/common/shuffle.cl")),
    ("common/smaller.cl", include_str!("../../cl/common/smaller.cl")),
    ("common/strips.cl", include_str!("../../cl/common/strips.cl")),
    ("common/tile.cl", include_str!("../../cl/common/tile.cl")),
    ("common/tree.cl", include_str!("../../cl/common/tree.cl")),
    ("common/vector.cl", include_str!("../../cl/common/vector.cl")),
    ("common/visit.cl", include_str!("../../cl/common/visit.cl")),
    ("common/words.cl", include_str!("../../cl/common/words.cl")),
];

/// A source ready to compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Path below `cl/`.
    pub path: String,
    /// The text, with included fragments in place and `#line` directives that name each file.
    pub text: String,
}

/// Looks a path below `cl/` up among the sources built into the binary.
pub const EMBEDDED: fn(&str) -> Option<Cow<'static, str>> = embedded;

fn embedded(path: &str) -> Option<Cow<'static, str>> {
    super::everything()
        .flat_map(|f| f.kernels())
        .map(|r| (r.path, r.text))
        .chain(EXCHANGES.iter().flat_map(|e| e.sources.iter().copied()))
        .chain(COMMON.iter().copied())
        .find(|(p, _)| *p == path)
        .map(|(_, text)| Cow::Borrowed(text))
}

/// Replaces each line `#include "../common/x.cl"` by that fragment; the name of a file that `lookup`
/// does not find is the error.
pub fn assemble<'a>(path: &str, lookup: &dyn Fn(&str) -> Option<Cow<'a, str>>) -> Result<Assembled, String> {
    let file = lookup(path).ok_or_else(|| path.to_owned())?;
    let mut text = format!("#line 1 \"{path}\"\n");
    for (number, line) in (1..).zip(file.lines()) {
        let Some(fragment) = line.strip_prefix("#include \"../").and_then(|s| s.strip_suffix('"')) else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        let body = lookup(fragment).ok_or_else(|| fragment.to_owned())?;
        let newline = if body.ends_with('\n') { "" } else { "\n" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "#line 1 \"{fragment}\"\n{body}{newline}#line {} \"{path}\"", number + 1);
    }
    Ok(Assembled { path: path.to_owned(), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_keep_every_line_where_it_was() {
        let lookup = |path: &str| match path {
            "a/b.cl" => Some(Cow::Borrowed("one\n#include \"../common/c.cl\"\nthree\n")),
            "common/c.cl" => Some(Cow::Borrowed("inner")),
            _ => None,
        };
        let unit = assemble("a/b.cl", &lookup).unwrap();
        assert_eq!(unit.text, "#line 1 \"a/b.cl\"\none\n#line 1 \"common/c.cl\"\ninner\n#line 3 \"a/b.cl\"\nthree\n");
    }

    #[test]
    fn a_missing_fragment_is_named() {
        let lookup = |path: &str| (path == "a/b.cl").then_some(Cow::Borrowed("#include \"../common/none.cl\"\n"));
        assert_eq!(assemble("a/b.cl", &lookup), Err("common/none.cl".to_owned()));
        assert_eq!(assemble("x.cl", &lookup), Err("x.cl".to_owned()));
    }
}
