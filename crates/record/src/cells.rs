//! A record's cells by the names of their columns, for those who choose columns at run time.

use super::CsvRecord;
use serde_json::{Map, Value};

fn columns<T: CsvRecord>(record: &T) -> Map<String, Value> {
    match serde_json::to_value(record) {
        Ok(Value::Object(columns)) => columns,
        _ => Map::new(),
    }
}

/// The names and values of the kernel's settings.
fn settings(columns: &Map<String, Value>) -> impl Iterator<Item = (&str, &str)> {
    let params = columns.get("params").and_then(Value::as_str);
    params
        .unwrap_or_default()
        .split(' ')
        .filter_map(|set| set.split_once('='))
}

pub fn has_setting<T: CsvRecord>(record: &T, name: &str) -> bool {
    settings(&columns(record)).any(|(own, _)| own == name)
}

/// A cell as files have it, of a column or else of a setting; empty where there is none.
pub fn cell<T: CsvRecord>(record: &T, name: &str) -> String {
    let columns = columns(record);
    match columns.get(name) {
        None => settings(&columns)
            .find(|(own, _)| *own == name)
            .map(|(_, value)| value.to_owned())
            .unwrap_or_default(),
        Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{point, row};

    #[test]
    fn columns_and_settings_are_found_by_name() {
        let texts = [
            "variant", "n", "dtype", "noise", "quick", "items", "presum", "nothing",
        ]
        .map(|name| cell(&row("naive"), name));
        assert_eq!(
            texts,
            ["naive", "1000", "f32", "", "false", "8", "host", ""]
        );
        assert!(has_setting(&row("naive"), "items") && !has_setting(&row("naive"), "n"));
        assert_eq!(cell(&point("tiled", 64, 1.0, 0.1), "series"), "tiled");
    }
}
