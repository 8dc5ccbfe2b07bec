//! Settings of rungs and families: declared once, read by planners, command line, sweeps and help alike.

use gpulab_model::data::Params;
use gpulab_model::plan::Refusal;

/// A setting that a rung reads from [`gpulab_model::plan::Case::params`].
#[derive(Clone, Copy, Debug)]
pub struct Tunable<'a> {
    /// Key in the parameters, and name of the option.
    pub name: &'a str,
    /// What it sets, and its unit.
    pub about: &'a str,
    pub kind: Kind,
    /// Values worth trying, in order, with blanks between them.
    pub values: &'a str,
    /// Its default in words; empty where the values tell.
    pub default: &'a str,
    /// Whether a search for the fastest may change it: not where it moves work out of what is timed.
    pub is_searched: bool,
}

/// What a setting may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Number {
        least: u64,
        most: u64,
    },
    /// Two whole numbers from 1 to [`MOST_SIDE`], as in `8x4`.
    Pair,
    /// 0 or 1.
    Switch,
    Choice,
}

/// Largest number of a pair.
pub const MOST_SIDE: u64 = 1024;

/// A macro that a reader's file declares: a setting that is a whole number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeclaredMacro {
    /// The name, in small letters.
    pub name: String,
    kind: Kind,
    /// Its values, with blanks between them; the first is the default.
    values: String,
}

impl DeclaredMacro {
    pub fn new(name: &str, values: &[u64]) -> DeclaredMacro {
        let least = values.iter().min().copied();
        let most = values.iter().max().copied();
        let kind = Kind::Number {
            least: least.unwrap_or(0),
            most: most.unwrap_or(u64::MAX),
        };
        let values: Vec<String> = values.iter().map(u64::to_string).collect();
        DeclaredMacro {
            name: name.to_lowercase(),
            kind,
            values: values.join(" "),
        }
    }

    pub fn tunable(&self) -> Tunable<'_> {
        let DeclaredMacro { name, kind, values } = self;
        let default = values.split(' ').next().unwrap_or_default();
        Tunable {
            name,
            about: "declared by the kernel's file",
            kind: *kind,
            values,
            default,
            is_searched: true,
        }
    }
}

impl<'a> Tunable<'a> {
    const fn of(name: &'a str, about: &'a str, kind: Kind, values: &'a str) -> Tunable<'a> {
        Tunable {
            name,
            about,
            kind,
            values,
            default: "",
            is_searched: true,
        }
    }

    pub const fn number(
        name: &'a str,
        about: &'a str,
        (least, most): (u64, u64),
        values: &'a str,
    ) -> Tunable<'a> {
        Tunable::of(name, about, Kind::Number { least, most }, values)
    }

    pub const fn pair(name: &'a str, about: &'a str, values: &'a str) -> Tunable<'a> {
        Tunable::of(name, about, Kind::Pair, values)
    }

    pub const fn switch(name: &'a str, about: &'a str) -> Tunable<'a> {
        Tunable::of(name, about, Kind::Switch, "0 1")
    }

    pub const fn choice(name: &'a str, about: &'a str, values: &'a str) -> Tunable<'a> {
        Tunable::of(name, about, Kind::Choice, values)
    }

    /// The same, with words for its default.
    pub const fn by_default(self, default: &'a str) -> Tunable<'a> {
        Tunable { default, ..self }
    }

    /// The same, left alone by searches for the fastest.
    pub const fn unsearched(self) -> Tunable<'a> {
        Tunable {
            is_searched: false,
            ..self
        }
    }

    /// Values worth trying, in order.
    pub fn values(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.values.split_whitespace()
    }

    pub fn allowed(&self) -> String {
        match self.kind {
            Kind::Number {
                least,
                most: u64::MAX,
            } => format!("a whole number from {least} on"),
            Kind::Number { least, most } => format!("a whole number from {least} to {most}"),
            Kind::Pair => format!("two numbers from 1 to {MOST_SIDE}"),
            Kind::Switch | Kind::Choice => one_of(&self.values().collect::<Vec<_>>()),
        }
    }

    /// Whether it may have this value; if not, what is allowed.
    pub fn check(&self, text: &str) -> Result<(), String> {
        let is_allowed = match self.kind {
            Kind::Number { least, most } => {
                whole(text).is_some_and(|value| (least..=most).contains(&value))
            }
            Kind::Pair => sides(text).is_some(),
            Kind::Switch | Kind::Choice => self.values().any(|value| value == text),
        };
        if is_allowed {
            return Ok(());
        }
        let is_listed = matches!(self.kind, Kind::Switch | Kind::Choice) || self.values.is_empty();
        let such_as = if is_listed {
            String::new()
        } else {
            format!(", such as {}", self.values.replace(' ', ", "))
        };
        Err(format!("it must be {}{such_as}", self.allowed()))
    }

    /// The value's text, if it was given.
    pub fn given<'p>(&self, params: &'p Params) -> Result<Option<&'p str>, Refusal> {
        let Some(text) = params.get(self.name) else {
            return Ok(None);
        };
        match self.check(text) {
            Ok(()) => Ok(Some(text)),
            Err(why) => Err(Refusal::Setting(format!("{}={text}: {why}", self.name))),
        }
    }

    pub fn get(&self, params: &Params) -> Result<Option<u64>, Refusal> {
        Ok(self.given(params)?.and_then(whole))
    }

    /// The two numbers that it has, if it was given.
    pub fn get_pair(&self, params: &Params) -> Result<Option<[u64; 2]>, Refusal> {
        Ok(self.given(params)?.and_then(sides))
    }

    pub fn is_on(&self, params: &Params) -> Result<Option<bool>, Refusal> {
        Ok(self.given(params)?.map(|text| text == "1"))
    }
}

/// `0, 1 or 2`.
fn one_of(values: &[&str]) -> String {
    match values {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => values.concat(),
    }
}

fn whole(text: &str) -> Option<u64> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}

fn sides(text: &str) -> Option<[u64; 2]> {
    let (a, b) = text.split_once('x')?;
    let sides = [whole(a)?, whole(b)?];
    sides
        .iter()
        .all(|side| (1..=MOST_SIDE).contains(side))
        .then_some(sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: Tunable = Tunable::number("acc", "", (1, 16), "1 8");
    const PAIR: Tunable = Tunable::pair("tile", "", "8x4");
    const CHOICE: Tunable = Tunable::choice("presum", "", "host device none");

    #[test]
    fn values_out_of_range_are_refused_with_what_is_allowed() {
        let why = |tunable: &Tunable, text: &str| tunable.check(text).err();
        assert_eq!(why(&NUMBER, "16"), None);
        for text in ["0", "17", "-1", "+3", "", "x", "99999999999999999999"] {
            assert_eq!(
                why(&NUMBER, text).as_deref(),
                Some("it must be a whole number from 1 to 16, such as 1, 8"),
                "{text}"
            );
        }
        assert_eq!(why(&PAIR, "1024x1"), None);
        for text in ["0x4", "8", "8x1025", "8x4x2", "8x", "x"] {
            assert_eq!(
                why(&PAIR, text).as_deref(),
                Some("it must be two numbers from 1 to 1024, such as 8x4"),
                "{text}"
            );
        }
        assert_eq!(
            why(&CHOICE, "Host").as_deref(),
            Some("it must be host, device or none")
        );
    }

    #[test]
    fn what_was_given_is_read_as_its_kind() {
        let params = |name: &str, value: &str| Params::from([(name.to_owned(), value.to_owned())]);
        assert_eq!(NUMBER.get(&params("acc", "08")), Ok(Some(8)));
        assert_eq!(NUMBER.get(&Params::new()), Ok(None));
        assert_eq!(PAIR.get_pair(&params("tile", "8x4")), Ok(Some([8, 4])));
        let refused = NUMBER.get(&params("acc", "99")).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "acc=99: it must be a whole number from 1 to 16, such as 1, 8"
        );
    }
}
