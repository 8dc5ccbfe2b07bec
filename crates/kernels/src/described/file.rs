//! The keys of a family's TOML file, as they are written. What is said for the whole file counts for each rung that does not
//! say it itself.

use super::formula::{Formula, Formulas};
use super::restriction::Restriction;
use crate::Form;
use gpulab_model::data::Dtype;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::Spanned;

/// A reader's family: what a worker is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamilyFile {
    /// What the family is called unless its text says so.
    pub name: String,
    pub text: String,
    /// Its folder, from the root: programs are run there, and files of data are there.
    pub folder: PathBuf,
    /// The texts of its kernels, with what they include, by the names of their files.
    pub sources: BTreeMap<String, String>,
}

/// The keys of a launch, which serde cannot flatten where unknown keys are refused, and these.
macro_rules! launch_keys {
    ($name:ident { $($own:tt)* }) => {
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $($own)*
            pub(super) kernel: Option<String>,
            pub(super) wg: Option<Text>,
            pub(super) items: Option<Formulas>,
            pub(super) groups: Option<Formulas>,
            pub(super) args: Option<Spanned<Vec<Text>>>,
            #[serde(rename = "loop")]
            pub(super) loops: Option<Texts>,
            pub(super) swap: Option<Texts>,
            #[serde(rename = "while")]
            pub(super) flag: Option<String>,
            /// Several launches: of a rung, or in a loop.
            pub(super) launch: Option<Vec<LaunchKeys>>,
        }
    };
}

/// The keys of a rung that may stand for the whole file, too, and these.
macro_rules! rung_keys {
    ($name:ident { $($own:tt)* }) => {
        launch_keys! { $name {
            $($own)*
            pub(super) tune: Option<BTreeMap<String, Vec<u64>>>,
            pub(super) define: Option<BTreeMap<String, Text>>,
            #[serde(rename = "where")]
            pub(super) conditions: Option<Vec<Restriction>>,
            /// Elements of local memory that the kernel's text declares.
            pub(super) local: Option<Formula>,
        } }
    };
}

rung_keys! { FileKeys {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) about: String,
    #[serde(default)]
    pub(super) types: Vec<Dtype>,
    #[serde(default)]
    pub(super) form: Form,
    pub(super) n: Option<u64>,
    pub(super) m: Option<u64>,
    pub(super) multiple: Option<u64>,
    #[serde(default)]
    pub(super) sizes: SizesName,
    pub(super) limit: Option<String>,
    pub(super) bytes: Option<Formula>,
    pub(super) operations: Option<Formula>,
    pub(super) flops: Option<Formula>,
    #[serde(default)]
    pub(super) constants: BTreeMap<String, u64>,
    #[serde(default)]
    pub(super) input: Vec<InputKeys>,
    pub(super) output: Option<OutputKeys>,
    pub(super) check: Option<CheckKeys>,
    pub(super) tolerance: Option<ToleranceKeys>,
    #[serde(default)]
    pub(super) rung: Vec<RungKeys>,
} }

rung_keys! { RungKeys {
    pub(super) name: Option<String>,
    pub(super) file: Option<String>,
    #[serde(default)]
    pub(super) scratch: BTreeMap<String, Formula>,
} }

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SizesName {
    #[default]
    Any,
    /// At the file's own alone.
    Only,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputKeys {
    pub(super) name: String,
    pub(super) length: Formula,
    pub(super) fill: Option<String>,
    pub(super) file: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputKeys {
    #[serde(default = "out")]
    pub(super) name: String,
    pub(super) length: Formula,
}

fn out() -> String {
    "out".into()
}

/// What says which results are right: a line, or a table.
#[derive(Clone, Debug)]
pub(super) enum CheckKeys {
    Line(String),
    Table(CheckTable),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckTable {
    pub(super) command: Option<Vec<String>>,
    #[serde(default)]
    pub(super) format: ArrayFormat,
    #[serde(default = "minute")]
    pub(super) seconds: u64,
    pub(super) kernel: Option<String>,
    pub(super) numpy: Option<String>,
    pub(super) rung: Option<String>,
}

fn minute() -> u64 {
    60
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrayFormat {
    /// Little-endian elements and nothing else.
    #[default]
    Raw,
    Npy,
}

/// How far floats may be from the right results: a share of the largest, or a table.
#[derive(Clone, Debug)]
pub(super) enum ToleranceKeys {
    OfLargest(f64),
    Table(ToleranceTable),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToleranceTable {
    #[serde(default)]
    pub(super) absolute: f64,
    #[serde(default)]
    pub(super) relative: f64,
    pub(super) times: Option<Formula>,
    pub(super) reason: String,
}

launch_keys! { LaunchKeys {
    pub(super) timed: Option<bool>,
} }

/// A text, or a number that is written without quotes.
#[derive(Clone, Debug)]
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        text(toml::Value::deserialize(from)?).map(Text).map_err(D::Error::custom)
    }
}

fn text(value: toml::Value) -> Result<String, &'static str> {
    match value {
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(format!("{number:?}")),
        _ => Err("it must be a text in quotes or a number"),
    }
}

#[derive(Clone, Debug)]
pub(super) struct Texts(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Texts, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::Array(all) => all.into_iter().map(text).collect::<Result<_, _>>().map(Texts),
            one => text(one).map(|one| Texts(vec![one])),
        }
        .map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for CheckKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<CheckKeys, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::String(line) => Ok(CheckKeys::Line(line)),
            table => table.try_into().map(CheckKeys::Table).map_err(|error| D::Error::custom(error.message())),
        }
    }
}

impl<'de> Deserialize<'de> for ToleranceKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ToleranceKeys, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::Float(share) => Ok(ToleranceKeys::OfLargest(share)),
            toml::Value::Integer(share) => Ok(ToleranceKeys::OfLargest(share as f64)),
            table => table.try_into().map(ToleranceKeys::Table).map_err(|error| D::Error::custom(error.message())),
        }
    }
}
