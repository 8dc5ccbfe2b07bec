//! How rows write what is no plain number or word: work-groups and settings as text.

use gpulab_kernels::values;
use gpulab_model::Joined;
use gpulab_model::data::Params;
use gpulab_model::plan::WorkGroup;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// `items=8448 presum=host`: sorted by name.
pub fn params_text(params: &Params) -> String {
    params
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .joined(" ")
}

/// The settings in such a text.
pub fn params_of(text: &str) -> Result<Params, String> {
    text.split_whitespace()
        .map(|word: &str| {
            let pair = word
                .split_once('=')
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
            pair.ok_or_else(|| format!("{word:?} is no setting such as items=8"))
        })
        .collect()
}

pub mod work_group {
    use super::*;

    pub fn serialize<S: Serializer>(wg: &WorkGroup, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(wg)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<WorkGroup, D::Error> {
        values::work_group(&String::deserialize(deserializer)?).map_err(Error::custom)
    }
}

/// The same, or an empty cell: a CPU baseline has none.
pub mod optional_work_group {
    use super::*;

    pub fn serialize<S: Serializer>(
        wg: &Option<WorkGroup>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&wg.map_or_else(String::new, |wg| wg.to_string()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<WorkGroup>, D::Error> {
        let text = String::deserialize(deserializer)?;
        (!text.is_empty())
            .then(|| values::work_group(&text))
            .transpose()
            .map_err(Error::custom)
    }
}

pub mod params {
    use super::*;

    pub fn serialize<S: Serializer>(params: &Params, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&params_text(params))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Params, D::Error> {
        params_of(&String::deserialize(deserializer)?).map_err(Error::custom)
    }
}
