//! A record's cells by the names of their columns, for those who choose columns at run time.

use super::CsvRecord;
use serde_json::{Map, Value};

/// The cells of a record, and the kernels' settings in it as further ones.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    columns: Map<String, Value>,
    settings: Vec<(String, String)>,
}

impl Cells {
    /// Of a record of any kind.
    pub fn of<T: CsvRecord>(record: &T) -> Cells {
        let columns = match serde_json::to_value(record) {
            Ok(Value::Object(columns)) => columns,
            _ => Map::new(),
        };
        let params = columns
            .get("params")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let settings = params
            .split(' ')
            .filter_map(|set: &str| {
                set.split_once('=')
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
            })
            .collect();
        Cells { columns, settings }
    }

    pub fn settings(&self) -> impl Iterator<Item = &str> {
        self.settings.iter().map(|(name, _)| name.as_str())
    }

    /// A cell as files have it, of a column or else of a setting; empty where there is none.
    pub fn text(&self, name: &str) -> String {
        match self.columns.get(name) {
            None => self
                .settings
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, value)| value.clone())
                .unwrap_or_default(),
            Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{point, row};

    #[test]
    fn columns_and_settings_are_found_by_name() {
        let cells = Cells::of(&row("naive"));
        let texts = [
            "variant", "n", "dtype", "noise", "quick", "items", "presum", "nothing",
        ]
        .map(|name| cells.text(name));
        assert_eq!(
            texts,
            ["naive", "1000", "f32", "", "false", "8", "host", ""]
        );
        assert_eq!(cells.settings().collect::<Vec<_>>(), ["items", "presum"]);
        assert_eq!(
            Cells::of(&point("tiled", 64, 1.0, 0.1)).text("series"),
            "tiled"
        );
    }
}
