//! Formulas of whole numbers, as in `ceil(n, WG) * size`: the four operations, `%`, brackets and [`FUNCTIONS`]. What is handed to
//! a kernel as a float is worked out in f64, and may have fractions.
//!
//! A parser of its own: the crates for formulas work on floats, where 2^53 + 1 is lost, or wrap; here a number that is too
//! large, negative where none may be, or divided by zero has to be an error.

use serde::de::{Deserialize, Deserializer, Error};

/// Longest text of a formula: the parser recurses at brackets.
const LONGEST: usize = 200;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Formula {
    pub(crate) text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(i128),
    /// Of floats alone.
    Fraction(f64),
    Name(String),
    Operation(Operator, Box<[Node; 2]>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    /// Division that rounds up.
    Ceil,
    Min,
    Max,
    /// Of the second side alone, rounded down.
    Log2,
    /// Of the second side alone, rounded up.
    CeilLog2,
    /// Of the second side alone.
    Pow2,
    /// Of the second side alone: 1 of a power of two, and else 0.
    IsPow2,
}

/// The functions of formulas, and the number of their arguments.
const FUNCTIONS: [(&str, Operator, usize); 7] = [
    ("ceil", Operator::Ceil, 2),
    ("min", Operator::Min, 2),
    ("max", Operator::Max, 2),
    ("log2", Operator::Log2, 1),
    ("clog2", Operator::CeilLog2, 1),
    ("pow2", Operator::Pow2, 1),
    ("is_pow2", Operator::IsPow2, 1),
];

pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, ..)| *known == name)
}

impl Operator {
    /// None of what is too large, and of a division by zero.
    fn apply(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Operator::Add => a.checked_add(b),
            Operator::Subtract => a.checked_sub(b),
            Operator::Multiply => a.checked_mul(b),
            Operator::Divide => a.checked_div_euclid(b),
            Operator::Remainder => a.checked_rem_euclid(b),
            Operator::Ceil => a.checked_add(b)?.checked_sub(1)?.checked_div_euclid(b),
            Operator::Min => Some(a.min(b)),
            Operator::Max => Some(a.max(b)),
            Operator::Log2 => b.checked_ilog2().map(i128::from),
            Operator::CeilLog2 => Some(i128::from(b.checked_ilog2()?) + i128::from(b.count_ones() > 1)),
            Operator::Pow2 => u32::try_from(b).ok().filter(|power| *power < 64).map(|power| 1 << power),
            Operator::IsPow2 => Some(i128::from(b > 0 && b.count_ones() == 1)),
        }
    }

    fn apply_real(self, a: f64, b: f64) -> f64 {
        match self {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            Operator::Remainder => a % b,
            Operator::Ceil => (a / b).ceil(),
            Operator::Min => a.min(b),
            Operator::Max => a.max(b),
            Operator::Log2 => b.log2(),
            Operator::CeilLog2 => b.log2().ceil(),
            Operator::Pow2 => b.exp2(),
            Operator::IsPow2 => f64::from(u8::from(b > 0.0 && b.log2().fract() == 0.0)),
        }
    }
}

impl Formula {
    pub(crate) fn parse(text: &str) -> Result<Formula, String> {
        let wrong = |why: &str| format!("{why} in the formula \"{text}\": write it as in \"2 * n\" or \"ceil(n, WG)\"");
        if text.len() > LONGEST {
            return Err(format!("a formula has at most {LONGEST} characters"));
        }
        if text.contains('?') {
            return Err(format!("\"{text}\" has a question mark: put what its host gives there"));
        }
        let tokens = tokens(text).map_err(|c| wrong(&format!("there is a {c:?}")))?;
        let mut parser = FormulaParser { tokens: &tokens, at: 0 };
        let root = parser.sum().map_err(|why| wrong(&why))?;
        match parser.peek() {
            None => Ok(Formula { text: text.trim().to_owned(), root }),
            Some(token) => Err(wrong(&format!("`{token}` is not expected here"))),
        }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        fn walk<'a>(node: &'a Node, found: &mut Vec<&'a str>) {
            match node {
                Node::Number(_) | Node::Fraction(_) => {}
                Node::Name(name) => found.push(name),
                Node::Operation(_, sides) => sides.iter().for_each(|side| walk(side, found)),
            }
        }
        let mut found = Vec::new();
        walk(&self.root, &mut found);
        found
    }

    /// Whether it asks something, whose answer is 0 or 1.
    pub(super) fn is_question(&self) -> bool {
        matches!(self.root, Node::Operation(Operator::IsPow2, _))
    }

    /// The name that it is, if it is nothing else.
    pub(crate) fn name(&self) -> Option<&str> {
        if let Node::Name(name) = &self.root { Some(name) } else { None }
    }

    pub(crate) fn value(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<i128, String> {
        fn value(node: &Node, names: &dyn Fn(&str) -> Option<u64>) -> Result<i128, String> {
            match node {
                Node::Number(number) => Ok(*number),
                Node::Fraction(number) => Err(format!("{number} is no whole number")),
                Node::Name(name) => names(name).map(i128::from).ok_or_else(|| format!("{name} is unknown")),
                Node::Operation(operator, sides) => {
                    let [a, b] = [value(&sides[0], names)?, value(&sides[1], names)?];
                    operator.apply(a, b).ok_or_else(|| match (operator, b) {
                        (Operator::Log2 | Operator::CeilLog2, _) => format!("log2 of {b} is no number"),
                        (Operator::Pow2, _) => format!("pow2({b}) is no whole number of 64 bits"),
                        (_, 0) => "it divides by zero".to_owned(),
                        _ => "it is too large".to_owned(),
                    })
                }
            }
        }
        value(&self.root, names)
    }

    /// Its value in f64, where divisions are not rounded.
    pub(crate) fn real(&self, names: &dyn Fn(&str) -> Option<u64>) -> Result<f64, String> {
        fn value(node: &Node, names: &dyn Fn(&str) -> Option<u64>) -> Result<f64, String> {
            match node {
                Node::Number(number) => Ok(*number as f64),
                Node::Fraction(number) => Ok(*number),
                Node::Name(name) => names(name).map(|value| value as f64).ok_or_else(|| format!("{name} is unknown")),
                Node::Operation(operator, sides) => {
                    Ok(operator.apply_real(value(&sides[0], names)?, value(&sides[1], names)?))
                }
            }
        }
        match value(&self.root, names) {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(number) => Err(format!("\"{}\" is {number}", self.text)),
            Err(why) => Err(format!("\"{}\": {why}", self.text)),
        }
    }

    /// Its value as a count from `least` to `most`.
    pub(crate) fn count(&self, (least, most): (u64, u64), names: &dyn Fn(&str) -> Option<u64>) -> Result<u64, String> {
        let value = self.value(names).map_err(|why| format!("\"{}\": {why}", self.text))?;
        match u64::try_from(value).ok().filter(|value| (least..=most).contains(value)) {
            Some(value) => Ok(value),
            None => Err(format!("\"{}\" is {value}, and must be from {least} to {most}", self.text)),
        }
    }
}

/// What a macro of this text is: the value of a formula of known names, or the text itself.
pub(crate) fn macro_value(text: &str, names: &dyn Fn(&str) -> Option<u64>) -> String {
    let value = Formula::parse(text).and_then(|formula| formula.value(names));
    value.map_or_else(|_| text.to_owned(), |value| value.to_string())
}

/// Numbers, names, and single characters.
fn tokens(text: &str) -> Result<Vec<String>, char> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        match (c, tokens.last_mut()) {
            (c, Some(word)) if is_word(c) && in_word => word.push(c),
            (c, Some(word)) if in_word && goes_on(word, c) => {
                word.push(c);
                continue;
            }
            (c, _) if is_word(c) || "+-*/%(),".contains(c) => tokens.push(c.to_string()),
            (c, _) if c.is_ascii_whitespace() => {}
            (c, _) => return Err(c),
        }
        in_word = is_word(c);
    }
    Ok(tokens)
}

/// Whether a number goes on with a point, or with the sign of its exponent.
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
        Err(_) => plain.trim_end_matches(['f', 'F']).parse().ok().map(Node::Fraction),
    }
}

struct FormulaParser<'a> {
    tokens: &'a [String],
    at: usize,
}

impl<'a> FormulaParser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let is_there = self.peek() == Some(token);
        self.at += usize::from(is_there);
        is_there
    }

    fn demand(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("a `{token}` is missing")) }
    }

    fn sum(&mut self) -> Result<Node, String> {
        self.chain(&[("+", Operator::Add), ("-", Operator::Subtract)], FormulaParser::product)
    }

    fn product(&mut self) -> Result<Node, String> {
        let operators = [("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)];
        self.chain(&operators, FormulaParser::atom)
    }

    /// Operations of one rank, from left to right.
    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        operand: fn(&mut FormulaParser<'a>) -> Result<Node, String>,
    ) -> Result<Node, String> {
        let mut all = operand(self)?;
        while let Some(&(_, operator)) = operators.iter().find(|(token, _)| self.take(token)) {
            all = Node::Operation(operator, Box::new([all, operand(self)?]));
        }
        Ok(all)
    }

    fn atom(&mut self) -> Result<Node, String> {
        if self.take("(") {
            let inner = self.sum()?;
            return self.demand(")").map(|()| inner);
        }
        let Some(token) = self.peek() else { return Err("a number or a name is missing".into()) };
        self.at += 1;
        if token == "-" {
            let sides = Box::new([Node::Number(0), self.atom()?]);
            return Ok(Node::Operation(Operator::Subtract, sides));
        }
        if let Some(&(_, function, arguments)) = FUNCTIONS.iter().find(|(name, ..)| *name == token) {
            self.demand("(")?;
            let mut first = Node::Number(0);
            if arguments == 2 {
                first = self.sum()?;
                self.demand(",")?;
            }
            let sides = Box::new([first, self.sum()?]);
            return self.demand(")").map(|()| Node::Operation(function, sides));
        }
        match token.starts_with(|c: char| c.is_ascii_digit()) {
            true => number(token).ok_or_else(|| format!("`{token}` is not a number")),
            false if is_name(token) => Ok(Node::Name(token.to_owned())),
            false => Err(format!("`{token}` stands where a number or a name must be")),
        }
    }
}

/// Whether a text can be a name in formulas and in OpenCL C.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Several formulas with commas between them, as in `n, ceil(m, 4)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Formulas(pub(crate) Vec<Formula>);

impl Formulas {
    pub(crate) fn parse(text: &str) -> Result<Formulas, String> {
        parts(text).map(Formula::parse).collect::<Result<_, _>>().map(Formulas)
    }
}

/// What stands between commas that are in no brackets.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    })
}

/// From a string, or from a whole number, which needs no quotes.
pub(super) fn from_text<'de, D: Deserializer<'de>, T>(
    from: D,
    parse: fn(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    let parsed = match toml::Value::deserialize(from)? {
        toml::Value::String(text) => parse(&text),
        toml::Value::Integer(number) => parse(&number.to_string()),
        _ => Err("it must be a number or a formula in quotes, as in \"2 * n\"".to_owned()),
    };
    parsed.map_err(D::Error::custom)
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Formula, D::Error> {
        from_text(from, Formula::parse)
    }
}

impl<'de> Deserialize<'de> for Formulas {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Formulas, D::Error> {
        from_text(from, Formulas::parse)
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
            ("is_pow2(WG) + is_pow2(1) + is_pow2(n) + is_pow2(0) + is_pow2(-4)", 2),
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
        let real = |text: &str| Formula::parse(text).unwrap().real(&|name| (name == "n").then_some(8));
        for (text, want) in [("0.5", 0.5), ("1.0 / n", 0.125), ("-2.5f", -2.5), ("1e-3", 0.001), ("2e+3 - n", 1992.0)] {
            assert_eq!(real(text), Ok(want), "{text}");
        }
        assert!(real("1 / (n - 8)").unwrap_err().contains("inf") && real("m").unwrap_err().contains("m is unknown"));
    }

    #[test]
    fn counts_have_a_least_and_a_most() {
        let count = |text: &str| Formula::parse(text).unwrap().count((1, 1 << 40), &|_| Some(7));
        assert_eq!(count("n"), Ok(7));
        for text in ["n - 7", "n - 8", "n * 1000000000000000", "n * n * 1000000000000000000000000000000"] {
            assert!(count(text).unwrap_err().contains(text), "{text}");
        }
    }

    #[test]
    fn commas_part_formulas_outside_of_brackets_only() {
        let texts = |text: &str| {
            Formulas::parse(text).map(|all| all.0.into_iter().map(|formula| formula.text).collect::<Vec<_>>())
        };
        assert_eq!(texts("n, ceil(m, 4)").unwrap(), ["n", "ceil(m, 4)"]);
        assert!(texts("n,").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_understood_or_refused(text in "[n0-9+*/%(), a-zé-]{0,40}") {
            if let Ok(formula) = Formula::parse(&text) {
                let _ = formula.value(&|_| Some(0));
            }
        }
    }
}
