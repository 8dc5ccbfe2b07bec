//! Rows as Kernel Tuner's cache file, version 1.1.0 of its schema (`kernel_tuner/schema/cache/1.1.0/schema.json` in
//! <https://github.com/KernelTuner/kernel_tuner>), which its dashboard opens. All its times are in milliseconds.

use super::settings_of;
use gpulab_model::outcome::{Spent, Status};
use gpulab_record::Row;
use gpulab_record::groups::distinct;
use gpulab_system::text::Joined;
use serde_json::{Map, Value, json};

const VERSION: &str = "1.1.0";

/// The rows of one problem as a cache file, each with what its steps took, where that is known: 0 is written where it is not.
/// Median times stand for Kernel Tuner's means. Work-groups are its `block_size_x`, `_y` and `_z`; a setting that a rung does
/// not have is an empty text. `cache` comes last and ends with a brace on a line of its own: so Kernel Tuner sees that the file
/// is whole.
pub fn cache(rows: &[(Row, Option<Spent>)]) -> String {
    let keys = keys(rows);
    let first = rows.first().map(|(row, _)| row);
    let size = first.map_or(json!(0), |row| if row.m == 1 { json!(row.n) } else { json!([row.n, row.m]) });
    let head = [
        ("schema_version", json!(VERSION)),
        ("device_name", json!(first.map_or("", |row| &row.device))),
        ("kernel_name", json!(first.map_or("", |row| &row.family))),
        ("problem_size", size),
        ("tune_params_keys", json!(keys)),
        ("tune_params", params(rows, &keys)),
        ("objective", json!("time")),
    ];
    let head: String = head.iter().map(|(name, value)| format!("\"{name}\": {value},\n")).collect();
    let instances: Vec<String> = rows.iter().map(|(row, spent)| instance(row, *spent, &keys)).collect();
    format!("{{\n{head}\"cache\": {{\n{}\n}}\n}}", instances.join(",\n"))
}

fn params(rows: &[(Row, Option<Spent>)], keys: &[String]) -> Value {
    Value::Object(
        keys.iter()
            .map(|key: &String| (key.clone(), json!(distinct(rows.iter().map(|(row, _)| value(row, key))))))
            .collect(),
    )
}

/// A configuration under its name: its values with commas between.
fn instance(row: &Row, spent: Option<Spent>, keys: &[String]) -> String {
    let values: Vec<Value> = keys.iter().map(|key| value(row, key)).collect();
    let name = json!(values.iter().map(plain).joined(","));
    let all: Map<String, Value> =
        keys.iter().cloned().zip(values).chain(measured(row, spent.unwrap_or_default())).collect();
    format!("{name}: {}", Value::Object(all))
}

/// `rung`, work-group sizes, and every setting that some row has.
fn keys(rows: &[(Row, Option<Spent>)]) -> Vec<String> {
    let mut keys = vec!["rung".to_owned(), "block_size_x".to_owned()];
    let is_used = |size: fn(&Row) -> Option<u64>| rows.iter().any(|(row, _)| size(row).is_some_and(|size| size > 1));
    keys.extend(is_used(|row| row.wg_y).then(|| "block_size_y".to_owned()));
    keys.extend(is_used(|row| row.wg_z).then(|| "block_size_z".to_owned()));
    for (name, _) in rows.iter().flat_map(|(row, _)| settings_of(row)).filter(|(name, _)| *name != "wg") {
        if keys.iter().all(|key| key != name) {
            keys.push(name.to_owned());
        }
    }
    keys
}

fn value(row: &Row, key: &str) -> Value {
    let text = match key {
        "rung" => return json!(row.variant),
        "block_size_x" => return json!(row.wg_x.unwrap_or(1)),
        "block_size_y" => return json!(row.wg_y.unwrap_or(1)),
        "block_size_z" => return json!(row.wg_z.unwrap_or(1)),
        key => settings_of(row).into_iter().find(|(name, _)| *name == key).map_or_else(String::new, |(_, value)| value),
    };
    text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number))
}

/// A value as it stands in a key of the cache.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn measured(row: &Row, spent: Spent) -> Vec<(String, Value)> {
    let ms = |seconds: f64| json!(1e3 * seconds);
    let time = match (row.status, row.t_median_s) {
        (Status::Ok, Some(seconds)) => ms(seconds),
        (Status::Skipped, _) => json!("InvalidConfig"),
        (Status::BuildFailed, _) => json!("CompilationFailedConfig"),
        _ => json!("RuntimeFailedConfig"),
    };
    let rates = [("GB/s", row.gbps), ("GFLOP/s", row.gops.filter(|gops| *gops > 0.0))];
    let rates = rates.into_iter().filter_map(|(name, rate)| Some((name.to_owned(), json!(rate?))));
    let all = [
        ("time", time),
        ("compile_time", ms(spent.build)),
        ("verification_time", ms(spent.verify)),
        ("benchmark_time", ms(spent.measure)),
        ("strategy_time", json!(0)),
        ("framework_time", ms(spent.data)),
        ("timestamp", json!(row.time_utc)),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(rates).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::data::Params;
    use gpulab_record::{params_of, row};

    /// What version 1.1.0 of the published schema demands of a document.
    fn check(document: &Value) {
        let text = |key: &str| document[key].as_str().unwrap_or_else(|| panic!("{key} is no text"));
        assert_eq!(text("schema_version"), "1.1.0");
        ["device_name", "kernel_name", "objective"].iter().for_each(|key| _ = text(key));
        let size = &document["problem_size"];
        let is_whole = |value: &Value| value.is_u64();
        assert!(is_whole(size) || size.is_string() || size.as_array().is_some_and(|all| all.iter().all(is_whole)));
        let keys = document["tune_params_keys"].as_array().unwrap();
        let params = document["tune_params"].as_object().unwrap();
        assert!(keys.iter().all(|key| params[key.as_str().unwrap()].is_array()) && keys.len() == params.len());
        for (name, instance) in document["cache"].as_object().unwrap() {
            let time = &instance["time"];
            let errors = ["InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig"];
            assert!(time.is_number() || time.as_str().is_some_and(|text| errors.contains(&text)), "{name}: {time}");
            for key in ["compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"] {
                assert!(instance[key].is_number(), "{name}: {key}");
            }
            assert!(instance["timestamp"].as_str().unwrap().ends_with('Z'));
            let joined: Vec<String> = keys.iter().map(|key| plain(&instance[key.as_str().unwrap()])).collect();
            assert_eq!(*name, joined.join(","), "a configuration's name is its values");
        }
    }

    #[test]
    fn a_document_is_what_the_schema_demands() {
        let spent = Spent { build: 0.5, data: 0.25, verify: 1.0, measure: 2.0 };
        let rows = [
            (row("local"), Some(spent)),
            (Row { status: Status::Skipped, params: params_of("items=16").unwrap(), ..row("local") }, None),
            (Row { status: Status::BuildFailed, params: Params::new(), ..row("naive") }, None),
            (Row { status: Status::Timeout, wg_y: Some(4), gbps: Some(8.0), ..row("wide") }, None),
        ];
        let read = |rows: &[(Row, Option<Spent>)]| serde_json::from_str::<Value>(&cache(rows)).unwrap();
        let document = read(&rows);
        check(&document);
        assert!(cache(&rows).ends_with("}\n}"), "what Kernel Tuner takes for whole");
        assert_eq!(document["cache"].as_object().unwrap().len(), 4);
        let first = &document["cache"]["local,64,1,8,host"];
        assert_eq!(
            (&first["time"], &first["compile_time"], &first["items"]),
            (&json!(1e3 * 1.2e-6), &json!(500.0), &json!(8))
        );
        assert_eq!(document["tune_params"]["items"], json!([8, 16, ""]));
        assert_eq!(read(&[(Row { m: 7, ..row("naive") }, None)])["problem_size"], json!([1000, 7]));
        check(&read(&[]));
    }
}
