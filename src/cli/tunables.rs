//! A family's settings as options of its ladder's command: names, values and help come from the registry.

use crate::data::Params;
use crate::kernels::{self, Family, Kind, Rung, Tunable};
use crate::plan::REPEATS;
use crate::values;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use gpulab_model::Joined;
use std::marker::PhantomData;

pub trait Of {
    const FAMILY: &'static Family;

    /// The group of options with which its settings have no meaning, if there is one.
    const EXCLUDED_BY: Option<&'static str>;
}

/// Declares types that stand for families.
macro_rules! of {
    ($($name:ident = $family:path, $excluded:expr, $about:literal;)*) => {
        $(
            #[doc = $about]
            #[derive(Debug)]
            pub enum $name {}
            impl Of for $name {
                const FAMILY: &'static Family = &$family;
                const EXCLUDED_BY: Option<&'static str> = $excluded;
            }
        )*
    };
}

of! {
    OfReduce = kernels::reduce::FAMILY, None, "The reduction.";
    OfDot = kernels::dot::FAMILY, None, "The dot product.";
    OfTranspose = kernels::transpose::FAMILY, None, "The transposition.";
    OfMinPlus = kernels::minplus::FAMILY, Some("GraphJob"), "The min-plus product.";
}

/// What was given of a family's settings. How often a kernel repeats its work is no option of its own.
#[derive(Debug)]
pub struct Tunables<F: Of> {
    pub params: Params,
    of: PhantomData<F>,
}

impl<F: Of> Args for Tunables<F> {
    fn augment_args(command: Command) -> Command {
        tunables(F::FAMILY).fold(command, |command, tunable| {
            let option = option(F::FAMILY, tunable);
            command.arg(
                F::EXCLUDED_BY
                    .into_iter()
                    .fold(option, |option, group| option.conflicts_with(group)),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<F: Of> FromArgMatches for Tunables<F> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Tunables {
            params: tunables(F::FAMILY)
                .filter_map(|tunable: Tunable<'_>| {
                    let text = matches.get_one::<String>(tunable.name)?;
                    // Names may be written with hyphens.
                    let name = tunable
                        .values()
                        .find(|name| *name == text.replace('-', "_"));
                    Some((tunable.name.to_owned(), name.unwrap_or(text).to_owned()))
                })
                .collect(),
            of: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn tunables(family: &'static Family) -> impl Iterator<Item = Tunable<'static>> {
    family
        .tunables()
        .into_iter()
        .filter(|tunable| tunable.name != REPEATS)
}

fn option(family: &Family, tunable: Tunable<'static>) -> Arg {
    let arg = Arg::new(tunable.name)
        .long(tunable.name)
        .help(help(family, &tunable));
    match tunable.kind {
        Kind::Number { .. } => arg
            .value_name("N")
            .value_parser(move |text: &str| number(&tunable, text)),
        Kind::Pair => arg
            .value_name("RxC")
            .value_parser(move |text: &str| tunable.check(text).map(|()| text.to_owned())),
        Kind::Switch => {
            let arg = arg
                .value_name("0|1")
                .num_args(0..=1)
                .default_missing_value("1");
            arg.value_parser(PossibleValuesParser::new(tunable.values()))
        }
        Kind::Choice => {
            let values = tunable
                .values()
                .map(|name| PossibleValue::new(name).alias(name.replace('_', "-")));
            arg.value_name(tunable.name.to_uppercase())
                .value_parser(PossibleValuesParser::new(values))
        }
    }
}

/// A number may be written as sizes are: `1Mi`.
fn number(tunable: &Tunable<'_>, text: &str) -> Result<String, String> {
    let plain = values::size(text).map_or_else(|_| text.to_owned(), |value| value.to_string());
    tunable.check(&plain).map(|()| plain)
}

/// What it sets, for which rungs, and its default.
fn help(family: &Family, tunable: &Tunable<'_>) -> String {
    let mut about = tunable.about.to_owned();
    if let Some(first) = about.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let rungs = readers(family, tunable);
    let default = if tunable.default.is_empty() {
        String::new()
    } else {
        format!(" [default: {}]", tunable.default)
    };
    format!("{about}{rungs}{default}")
}

/// ` (v4 to v6)`: the rungs that have it, unless all have it.
fn readers(family: &Family, tunable: &Tunable<'_>) -> String {
    let numbers: Vec<u32> = family
        .ladder
        .iter()
        .filter(|rung: &&Rung| rung.tunables().any(|t| t.name == tunable.name))
        .filter_map(Rung::number)
        .collect();
    if numbers.is_empty() || numbers.len() == family.ladder.len() {
        return String::new();
    }
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [only] => format!("v{only}"),
        [first, second] => format!("v{first}, v{second}"),
        [first, .., last] => format!("v{first} to v{last}"),
        [] => String::new(),
    });
    format!(" ({})", runs.joined(", "))
}
