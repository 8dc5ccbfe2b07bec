//! What must be true of settings: comparisons of formulas, with `or`, `and`, `not` and brackets between them.

use super::formula::{Formula, from_text};
use serde::de::{Deserialize, Deserializer};

/// Longest text of a restriction: the parser recurses at brackets.
const LONGEST: usize = 1000;

/// What must be true, as in `WG_X * 4 <= n`, `is_pow2(WG) or WG == 48`, `not (A == 1 and B == 2)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Restriction {
    pub(crate) text: String,
    root: Claim,
}

#[derive(Clone, Debug, PartialEq)]
enum Claim {
    Any(Vec<Claim>),
    All(Vec<Claim>),
    Not(Box<Claim>),
    Compared(Box<[Formula; 2]>, &'static str),
}

impl Claim {
    fn parse(text: &str) -> Result<Claim, String> {
        // Those of two characters first.
        const SIGNS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];
        let text = text.trim();
        let all = |texts: Vec<&str>| texts.into_iter().map(Claim::parse).collect::<Result<Vec<Claim>, String>>();
        for (words, join) in [(["or", "||"], Claim::Any as fn(Vec<Claim>) -> Claim), (["and", "&&"], Claim::All)] {
            let parts = split_outside(text, &words);
            if parts.len() > 1 {
                return all(parts).map(join);
            }
        }
        if let Some(rest) = text.strip_prefix("not ").or_else(|| text.strip_prefix("not(").map(|_| &text[3..])) {
            return Ok(Claim::Not(Box::new(Claim::parse(rest)?)));
        }
        let has_sign = |text: &str| SIGNS.iter().any(|sign| text.contains(sign)) || text.contains("is_pow2");
        // Brackets around all of it.
        if let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'))
            && has_sign(inner)
            && is_balanced(inner)
        {
            return Claim::parse(inner);
        }
        let wrong = || format!("{text:?} compares nothing: write it as in \"WG_X * 4 <= n\"");
        let side = |text: &str| Formula::parse(text).map_err(|_| wrong());
        match SIGNS.into_iter().find(|sign| text.contains(sign)) {
            Some(sign) => {
                let (left, right) = text.split_once(sign).ok_or_else(wrong)?;
                Ok(Claim::Compared(Box::new([side(left)?, side(right)?]), sign))
            }
            None => match side(text)? {
                asked if asked.is_question() => Ok(Claim::Compared(Box::new([asked, side("0")?]), "!=")),
                _ => Err(wrong()),
            },
        }
    }

    fn formulas<'a>(&'a self, found: &mut Vec<&'a Formula>) {
        match self {
            Claim::Any(all) | Claim::All(all) => all.iter().for_each(|claim| claim.formulas(found)),
            Claim::Not(claim) => claim.formulas(found),
            Claim::Compared(sides, _) => found.extend(&**sides),
        }
    }

    fn holds(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<bool, String> {
        // What decides is said first, as in `A != 0 and n % A == 0`.
        let seek = |all: &[Claim], sought: bool| {
            for claim in all {
                if claim.holds(names)? == sought {
                    return Ok(sought);
                }
            }
            Ok(!sought)
        };
        match self {
            Claim::Any(all) => seek(all, true),
            Claim::All(all) => seek(all, false),
            Claim::Not(claim) => claim.holds(names).map(|holds| !holds),
            Claim::Compared(sides, sign) => {
                let [left, right] = [sides[0].value(names)?, sides[1].value(names)?];
                Ok(match *sign {
                    "==" => left == right,
                    "!=" => left != right,
                    "<=" => left <= right,
                    ">=" => left >= right,
                    "<" => left < right,
                    _ => left > right,
                })
            }
        }
    }
}

/// The parts of a text between words, where these are in no brackets.
fn split_outside<'a>(text: &'a str, words: &[&str]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut depth = 0;
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        let word = words.iter().find(|word| text[at..].starts_with(**word));
        if let Some(word) = word.filter(|_| depth == 0 && at >= from)
            && (!c.is_alphabetic()
                || is_edge(text[..at].chars().next_back()) && is_edge(text[at + word.len()..].chars().next()))
        {
            parts.push(&text[from..at]);
            from = at + word.len();
        }
    }
    parts.push(&text[from..]);
    parts
}

/// Whether no bracket closes that did not open.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0;
    text.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    })
}

impl Restriction {
    pub(crate) fn parse(text: &str) -> Result<Restriction, String> {
        if text.len() > LONGEST {
            return Err(format!("a restriction has at most {LONGEST} characters"));
        }
        Ok(Restriction { text: text.trim().to_owned(), root: Claim::parse(text)? })
    }

    pub(crate) fn formulas(&self) -> Vec<&Formula> {
        let mut found = Vec::new();
        self.root.formulas(&mut found);
        found
    }

    pub(crate) fn holds(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<bool, String> {
        self.root.holds(names)
    }
}

impl<'de> Deserialize<'de> for Restriction {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Restriction, D::Error> {
        from_text(from, Restriction::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_compare_two_formulas() {
        let holds = |text: &str| Restriction::parse(text).unwrap().holds(&|name| (name == "n").then_some(8));
        for (text, want) in [
            ("n == 8", true),
            ("n != 8", false),
            ("n * 2 <= 16", true),
            ("n > 8", false),
            ("n >= 8", true),
            ("is_pow2(n)", true),
            ("n == 7 or n == 8", true),
            ("n == 7 || n == 9", false),
            ("n == 7 or n == 8 and n > 9", false),
            ("(n == 7 or n == 8) and n < 9", true),
            ("(n + 1) * 2 == 18", true),
            ("(n + 1) * 2 == (17 + 1)", true),
            ("not n == 8", false),
            ("not (n == 7 and is_pow2(n))", true),
            ("n == 8 or m == 1", true),
            ("(n) > (7)", true),
        ] {
            assert_eq!(holds(text), Ok(want), "{text}");
        }
        assert!(holds("m < 8").is_err());
        assert!(holds("n == 8 and m == 1").is_err());
        let names: Vec<String> =
            Restriction::parse("n < 4 or for_all == 1").unwrap().formulas().iter().map(|f| f.text.clone()).collect();
        assert_eq!(names, ["n", "4", "for_all", "1"]);
        for text in ["n", "n = 8", "n < 8 < 9", "< 8", "", "n or n == 8", "n == 8 or", "(n == 8", "not", "n in (1, 2)"]
        {
            assert!(Restriction::parse(text).unwrap_err().contains("WG_X"), "{text}");
        }
    }
}
