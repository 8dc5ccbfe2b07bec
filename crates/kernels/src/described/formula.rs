//! Formulas of whole numbers, as in `ceil(n, WG) * size`, and conditions, as in `is_pow2(WG) or WG == 48`, whose value is 1 or 0.
//! What is handed to a kernel as a float is worked out in f64, and may have fractions.
//!
//! A parser of its own: the crates for formulas work on floats, where 2^53 + 1 is lost, or wrap; here a number that is too
//! large, negative where none may be, or divided by zero has to be an error.

/// Longest text, and most brackets: the parser recurses at these.
const LONGEST: usize = 1000;
const MOST_BRACKETS: usize = 50;

#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    pub text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(i128),
    /// Of floats alone.
    Fraction(f64),
    Name(String),
    /// An operator or a function; those of one side have theirs as the second.
    Operation(&'static str, Box<[Node; 2]>),
}

/// Operators between two sides; those of a later line bind more tightly.
const RANKS: [&[&str]; 5] = [
    &["or", "||"],
    &["and", "&&"],
    &COMPARISONS,
    &["+", "-"],
    &["*", "/", "%"],
];

const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

/// The place of comparisons among the ranks, where `not` may stand.
const COMPARING: usize = 2;

/// The functions, and the number of their arguments.
const FUNCTIONS: [(&str, usize); 7] = [
    ("ceil", 2),
    ("min", 2),
    ("max", 2),
    ("log2", 1),
    ("clog2", 1),
    ("pow2", 1),
    ("is_pow2", 1),
];

/// Whether formulas have this word for something else than a name.
pub fn is_word(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, _)| *known == name) || ["or", "and", "not"].contains(&name)
}

/// None of what is too large, and of a division by zero.
fn apply(operator: &str, a: i128, b: i128) -> Option<i128> {
    Some(match operator {
        "+" => a.checked_add(b)?,
        "-" => a.checked_sub(b)?,
        "*" => a.checked_mul(b)?,
        "/" => a.checked_div_euclid(b)?,
        "%" => a.checked_rem_euclid(b)?,
        "ceil" => a.checked_add(b)?.checked_sub(1)?.checked_div_euclid(b)?,
        "min" => a.min(b),
        "max" => a.max(b),
        "log2" => b.checked_ilog2()?.into(),
        "clog2" => i128::from(b.checked_ilog2()?) + i128::from(b.count_ones() > 1),
        "pow2" => u32::try_from(b)
            .ok()
            .filter(|power| *power < 64)
            .map(|power| 1 << power)?,
        "is_pow2" => i128::from(b > 0 && b.count_ones() == 1),
        "not" => i128::from(b == 0),
        "==" => i128::from(a == b),
        "!=" => i128::from(a != b),
        "<=" => i128::from(a <= b),
        ">=" => i128::from(a >= b),
        "<" => i128::from(a < b),
        ">" => i128::from(a > b),
        _ => return None,
    })
}

/// Not a number where there is no such operation of floats.
fn apply_real(operator: &str, a: f64, b: f64) -> f64 {
    match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "%" => a % b,
        "ceil" => (a / b).ceil(),
        "min" => a.min(b),
        "max" => a.max(b),
        "log2" => b.log2(),
        "clog2" => b.log2().ceil(),
        "pow2" => b.exp2(),
        _ => f64::NAN,
    }
}

impl Node {
    fn names<'a>(&'a self, found: &mut Vec<&'a str>) {
        match self {
            Node::Number(_) | Node::Fraction(_) => {}
            Node::Name(name) => found.push(name),
            Node::Operation(_, sides) => sides.iter().for_each(|side| side.names(found)),
        }
    }

    fn value(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<i128, String> {
        match self {
            Node::Number(number) => Ok(*number),
            Node::Fraction(number) => Err(format!("{number} is no whole number")),
            Node::Name(name) => names(name)
                .map(i128::from)
                .ok_or_else(|| format!("{name} is unknown")),
            Node::Operation(operator, sides) => {
                let a = sides[0].value(names)?;
                // What decides is said first, as in `A != 0 and n % A == 0`.
                match (*operator, a != 0) {
                    ("or" | "||", true) => return Ok(1),
                    ("and" | "&&", false) => return Ok(0),
                    _ => {}
                }
                let b = sides[1].value(names)?;
                match *operator {
                    "or" | "||" | "and" | "&&" => Ok(i128::from(b != 0)),
                    _ => apply(operator, a, b).ok_or_else(|| match (*operator, b) {
                        ("log2" | "clog2", _) => format!("log2 of {b} is no number"),
                        ("pow2", _) => format!("pow2({b}) is no whole number of 64 bits"),
                        (_, 0) => "it divides by zero".to_owned(),
                        _ => "it is too large".to_owned(),
                    }),
                }
            }
        }
    }

    fn real(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<f64, String> {
        match self {
            Node::Number(number) => Ok(*number as f64),
            Node::Fraction(number) => Ok(*number),
            Node::Name(name) => names(name)
                .map(|value| value as f64)
                .ok_or_else(|| format!("{name} is unknown")),
            Node::Operation(operator, sides) => Ok(apply_real(
                operator,
                sides[0].real(names)?,
                sides[1].real(names)?,
            )),
        }
    }
}

impl Formula {
    pub fn parse(text: &str) -> Result<Formula, String> {
        let wrong = |why: &str| {
            format!("{why} in the formula \"{text}\": write it as in \"2 * n\" or \"ceil(n, WG)\"")
        };
        if text.len() > LONGEST || text.matches('(').count() > MOST_BRACKETS {
            return Err(format!(
                "a formula has at most {LONGEST} characters and {MOST_BRACKETS} brackets"
            ));
        }
        if text.contains('?') {
            return Err(format!(
                "\"{text}\" has a question mark: put what its host gives there"
            ));
        }
        let tokens = tokens(text).map_err(|c| wrong(&format!("there is a {c:?}")))?;
        let mut left = &tokens[..];
        let root = ranked(&mut left, 0).map_err(|why| wrong(&why))?;
        match left.first() {
            None => Ok(Formula {
                text: text.trim().to_owned(),
                root,
            }),
            Some(token) => Err(wrong(&format!("`{token}` is not expected here"))),
        }
    }

    /// A condition: what is 1 or 0.
    pub fn condition(text: &str) -> Result<Formula, String> {
        let formula = Formula::parse(text)?;
        let is_condition = match &formula.root {
            Node::Operation(operator, _) => {
                ["not", "is_pow2"].contains(operator)
                    || RANKS[..=COMPARING]
                        .iter()
                        .any(|rank| rank.contains(operator))
            }
            _ => false,
        };
        if is_condition {
            return Ok(formula);
        }
        Err(format!(
            "{text:?} compares nothing: write it as in \"WG_X * 4 <= n\""
        ))
    }

    /// Several formulas with commas between them, as in `n, ceil(m, 4)`.
    pub fn list(text: &str) -> Result<Vec<Formula>, String> {
        parts(text).map(Formula::parse).collect()
    }

    pub fn names(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.root.names(&mut found);
        found
    }

    /// The name that it is, if it is nothing else.
    pub fn name(&self) -> Option<&str> {
        if let Node::Name(name) = &self.root {
            Some(name)
        } else {
            None
        }
    }

    pub fn value(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<i128, String> {
        self.root
            .value(names)
            .map_err(|why| format!("\"{}\": {why}", self.text))
    }

    /// Its value in f64, where divisions are not rounded.
    pub fn real(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<f64, String> {
        match self.root.real(names) {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(number) => Err(format!("\"{}\" is {number}", self.text)),
            Err(why) => Err(format!("\"{}\": {why}", self.text)),
        }
    }

    /// Its value as a count from `least` to `most`.
    pub fn count(
        &self,
        least: u64,
        most: u64,
        names: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<u64, String> {
        let value = self.value(names)?;
        match u64::try_from(value)
            .ok()
            .filter(|value| (least..=most).contains(value))
        {
            Some(value) => Ok(value),
            None => Err(format!(
                "\"{}\" is {value}, and must be from {least} to {most}",
                self.text
            )),
        }
    }
}

/// What a macro of this text is: the value of a formula of known names, or the text itself.
pub fn macro_value(text: &str, names: &dyn Fn(&str) -> Option<u64>) -> String {
    let value = Formula::parse(text).and_then(|formula| formula.value(names));
    value.map_or_else(|_| text.to_owned(), |value| value.to_string())
}

/// What stands between commas that are in no brackets.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    })
}

/// Whether a text can be a name in formulas and in OpenCL C.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Numbers, names and signs.
fn tokens(text: &str) -> Result<Vec<String>, char> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        let is_word = c.is_ascii_alphanumeric() || c == '_';
        match tokens.last_mut() {
            // A number goes on with a point, or with the sign of its exponent.
            Some(word) if in_word && (is_word || goes_on(word, c)) => {
                word.push(c);
                continue;
            }
            Some(sign)
                if !in_word
                    && !is_word
                    && RANKS.concat().contains(&format!("{sign}{c}").as_str()) =>
            {
                sign.push(c)
            }
            _ if is_word || "+-*/%(),<>=!&|".contains(c) => tokens.push(c.to_string()),
            _ if c.is_ascii_whitespace() => {}
            _ => return Err(c),
        }
        in_word = is_word;
    }
    Ok(tokens)
}

fn goes_on(word: &str, c: char) -> bool {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit()) && !word.starts_with("0x");
    is_number && (c == '.' || ("+-".contains(c) && word.ends_with(['e', 'E'])))
}

/// A number as C writes it: 7, 1_000, 0x10, 0.5, 1e-3f.
fn number(token: &str) -> Option<Node> {
    let plain = token.replace('_', "");
    if let Some(digits) = plain.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).ok().map(Node::Number);
    }
    match plain.parse() {
        Ok(whole) => Some(Node::Number(whole)),
        Err(_) if !plain.contains(['.', 'e', 'E']) => None,
        Err(_) => plain
            .trim_end_matches(['f', 'F'])
            .parse()
            .ok()
            .map(Node::Fraction),
    }
}

/// Takes the next of the tokens that are left, if it is this one.
fn take(left: &mut &[String], token: &str) -> bool {
    let Some(rest) = left
        .split_first()
        .filter(|(first, _)| *first == token)
        .map(|(_, rest)| rest)
    else {
        return false;
    };
    *left = rest;
    true
}

fn demand(left: &mut &[String], token: &str) -> Result<(), String> {
    if take(left, token) {
        Ok(())
    } else {
        Err(format!("a `{token}` is missing"))
    }
}

/// Operations of this rank and of those that bind more tightly, from left to right.
fn ranked(left: &mut &[String], rank: usize) -> Result<Node, String> {
    let Some(operators) = RANKS.get(rank) else {
        return atom(left);
    };
    if rank == COMPARING && take(left, "not") {
        return Ok(Node::Operation(
            "not",
            Box::new([Node::Number(0), ranked(left, rank)?]),
        ));
    }
    let mut all = ranked(left, rank + 1)?;
    while let Some(&operator) = operators.iter().find(|token| take(left, token)) {
        all = Node::Operation(operator, Box::new([all, ranked(left, rank + 1)?]));
        // `a < b < c` is no comparison of all three.
        if rank == COMPARING {
            break;
        }
    }
    Ok(all)
}

fn atom(left: &mut &[String]) -> Result<Node, String> {
    if take(left, "(") {
        let inner = ranked(left, 0)?;
        return demand(left, ")").map(|()| inner);
    }
    let Some((token, rest)) = left.split_first() else {
        return Err("a number or a name is missing".into());
    };
    *left = rest;
    if token == "-" {
        return Ok(Node::Operation(
            "-",
            Box::new([Node::Number(0), atom(left)?]),
        ));
    }
    if let Some(&(function, arguments)) = FUNCTIONS.iter().find(|(name, _)| name == token) {
        demand(left, "(")?;
        let mut first = Node::Number(0);
        if arguments == 2 {
            first = ranked(left, 0)?;
            demand(left, ",")?;
        }
        let sides = Box::new([first, ranked(left, 0)?]);
        return demand(left, ")").map(|()| Node::Operation(function, sides));
    }
    match token.starts_with(|c: char| c.is_ascii_digit()) {
        true => number(token).ok_or_else(|| format!("`{token}` is not a number")),
        false if is_name(token) && !is_word(token) => Ok(Node::Name(token.clone())),
        false => Err(format!("`{token}` stands where a number or a name must be")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> Result<i128, String> {
        Formula::parse(text)?.value(&|name| match name {
            "n" => Some(1000),
            "WG" => Some(256),
            "huge" => Some(u64::MAX),
            _ => None,
        })
    }

    #[test]
    fn formulas_have_the_values_of_arithmetic() {
        for (text, want) in [
            ("n", 1000),
            ("2 * n + 1", 2001),
            ("1 + 2 * n", 2001),
            ("(1 + 2) * n", 3000),
            ("n - 1 - 1", 998),
            ("n / 3", 333),
            ("n % 3", 1),
            ("ceil(n, WG)", 4),
            ("ceil(n, WG) * WG", 1024),
            ("min(n, WG) + max(n, WG)", 1256),
            ("1_000_000", 1_000_000),
            ("n - 2000", -1000),
            ("ceil(1024, WG)", 4),
            ("-1", -1),
            ("n * -2", -2000),
            ("log2(n)", 9),
            ("pow2(log2(n) + 1)", 1024),
            ("clog2(n)", 10),
            ("clog2(1024) + clog2(1)", 10),
            (
                "is_pow2(WG) + is_pow2(1) + is_pow2(n) + is_pow2(0) + is_pow2(-4)",
                2,
            ),
            ("0x10", 16),
        ] {
            assert_eq!(value(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_says_why() {
        for (text, why) in [
            ("n / 0", "divides by zero"),
            ("ceil(n, 0)", "divides by zero"),
            ("huge * huge * huge", "too large"),
            ("x", "x is unknown"),
            ("", "missing"),
            ("2 n", "`n` is not expected here"),
            ("2 *", "missing"),
            ("(n", "`)` is missing"),
            ("ceil(n)", "`,` is missing"),
            ("n ^ 2", "'^'"),
            ("1.5", "1.5 is no whole number"),
            ("n .5", "'.'"),
            ("log2(0)", "log2 of 0"),
            ("clog2(0)", "log2 of 0"),
            ("pow2(64)", "64 bits"),
            ("- * 2", "`*` stands"),
            ("99999999999999999999999999999999999999999", "not a number"),
        ] {
            let said = value(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
        assert!(value(&"(".repeat(100_000)).unwrap_err().contains("at most"));
    }

    #[test]
    fn floats_have_fractions() {
        let real = |text: &str| {
            Formula::parse(text)
                .unwrap()
                .real(&|name| (name == "n").then_some(8))
        };
        for (text, want) in [
            ("0.5", 0.5),
            ("1.0 / n", 0.125),
            ("-2.5f", -2.5),
            ("1e-3", 0.001),
            ("2e+3 - n", 1992.0),
        ] {
            assert_eq!(real(text), Ok(want), "{text}");
        }
        assert!(
            real("1 / (n - 8)").unwrap_err().contains("inf")
                && real("m").unwrap_err().contains("m is unknown")
        );
    }

    #[test]
    fn counts_have_a_least_and_a_most() {
        let count = |text: &str| {
            Formula::parse(text)
                .unwrap()
                .count(1, 1 << 40, &|_| Some(7))
        };
        assert_eq!(count("n"), Ok(7));
        for text in [
            "n - 7",
            "n - 8",
            "n * 1000000000000000",
            "n * n * 1000000000000000000000000000000",
        ] {
            assert!(count(text).unwrap_err().contains(text), "{text}");
        }
    }

    #[test]
    fn commas_part_formulas_outside_of_brackets_only() {
        let texts = |text: &str| {
            Formula::list(text).map(|all| {
                all.into_iter()
                    .map(|formula| formula.text)
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(texts("n, ceil(m, 4)").unwrap(), ["n", "ceil(m, 4)"]);
        assert!(texts("n,").is_err());
    }

    #[test]
    fn conditions_compare_two_formulas() {
        let holds = |text: &str| {
            let value = Formula::condition(text)?.value(&|name| (name == "n").then_some(8));
            value.map(|value| value == 1)
        };
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
        assert_eq!(
            Formula::condition("n < 4 or for_all == 1").unwrap().names(),
            ["n", "for_all"]
        );
        for text in [
            "n",
            "n + 1",
            "n = 8",
            "n < 8 < 9",
            "< 8",
            "",
            "n == 8 or",
            "(n == 8",
            "not",
            "n in (1, 2)",
        ] {
            assert!(Formula::condition(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_understood_or_refused(text in "[n0-9+*/%(), a-zé<=!-]{0,40}") {
            if let Ok(formula) = Formula::parse(&text) {
                let _ = formula.value(&|_| Some(0));
            }
        }
    }
}
