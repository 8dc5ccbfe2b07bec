//! Parsers of the values that the command line takes; each error says what is allowed.

use crate::{Family, Rung};
use gpulab_model::plan::WorkGroup;
use gpulab_model::suggest::{did_you_mean, nearest};
use std::collections::HashSet;
use std::hash::Hash;
use std::ops::RangeInclusive;

/// What a text is read as; where a decimal comma is all that is wrong, the error says what would be right.
fn with_point<T>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, String> {
    read(text).map_err(|why| {
        let point = text.replacen(',', ".", 1);
        if point != text && read(&point).is_ok() {
            format!("{text:?} has a decimal comma: write {point}")
        } else {
            why
        }
    })
}

/// A number of elements: `1000000`, `1_000_000`, `1e6`, `1M` (10^6), `1Mi` (2^20), `2^20`.
pub fn size(text: &str) -> Result<u64, String> {
    with_point(text, one_size).map_err(|why| {
        let is_list = text.contains([',', '.']) && !why.contains("comma") && sizes(text).is_ok_and(|list| list.0.len() > 1);
        if !is_list {
            return why;
        }
        format!("{text:?} is several sizes, and one is needed here: gpulab sweep measures several (one number has no commas)")
    })
}

fn one_size(text: &str) -> Result<u64, String> {
    let bad = || {
        format!(
            "{text:?} is not a size: write 1000000, 1_000_000, 1e6, 1M (10^6), 1Mi (2^20) or 2^20"
        )
    };
    let bytes = text.as_bytes();
    // Each of these signs stands between two digits.
    let is_separated = text.match_indices('_').all(|(at, _)| {
        at > 0
            && [at - 1, at + 1]
                .iter()
                .all(|at| bytes.get(*at).is_some_and(u8::is_ascii_digit))
    });
    if !is_separated {
        return Err(bad());
    }
    let clean = text.replace('_', "");
    let value = if let Some((base, exponent)) = clean.split_once('^') {
        let exponent = digits(exponent).and_then(|e| u32::try_from(e).ok());
        digits(base)
            .zip(exponent)
            .and_then(|(b, e)| b.checked_pow(e))
    } else if let Some((mantissa, exponent)) = clean.split_once(['e', 'E']) {
        scientific(mantissa, exponent)
    } else {
        let end = clean
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(clean.len());
        let (number, unit) = clean.split_at(end);
        digits(number)
            .zip(multiplier(unit))
            .and_then(|(n, m)| n.checked_mul(m))
    };
    value.filter(|&v| v <= 1 << 63).ok_or_else(bad)
}

fn digits(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        None
    } else {
        text.parse().ok()
    }
}

fn scientific(mantissa: &str, exponent: &str) -> Option<u64> {
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = digits(exponent).and_then(|e| u32::try_from(e).ok())?;
    let zeros = exponent.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    digits(&format!("{whole}{fraction}"))?.checked_mul(10u64.checked_pow(zeros)?)
}

fn multiplier(unit: &str) -> Option<u64> {
    Some(match unit {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return None,
    })
}

pub fn positive(text: &str) -> Result<u64, String> {
    match size(text)? {
        0 => Err("it must be above 0".into()),
        value => Ok(value),
    }
}

/// A work-group: `256`, `16x16` or `8x8x4`, each above 0.
pub fn work_group(text: &str) -> Result<WorkGroup, String> {
    let bad =
        || format!("{text:?} is not a work-group size: write 256 or 16x16, with numbers above 0");
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split('x').collect();
    if parts.len() > 3 {
        return Err(bad());
    }
    for (size, part) in sizes.iter_mut().zip(&parts) {
        *size = positive(part)
            .ok()
            .and_then(|s| usize::try_from(s).ok())
            .filter(|&s| s <= 1 << 20)
            .ok_or_else(bad)?;
    }
    Ok(WorkGroup(sizes))
}

const MOST_VALUES: usize = 1_000_000;

/// The values of a list, in order and each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

/// Sizes and ranges of them: `1000,1M`, `32..1024*2` (times 2 up to 1024), `1000..5000+500` (in steps of 500).
pub fn sizes(text: &str) -> Result<List<u64>, String> {
    let mut list = Vec::new();
    for item in text.split(',') {
        match item.split_once("..") {
            Some((first, rest)) => list.extend(range(item, first, rest)?),
            None => list.push(one_size(item)?),
        }
        if list.len() > MOST_VALUES {
            return Err(format!("{text:?} has more than {MOST_VALUES} values"));
        }
    }
    Ok(each_once(list))
}

/// Work-groups and ranges of one-dimensional ones: `64,256`, `16x16`, `32..1024*2`.
pub fn work_groups(text: &str) -> Result<List<WorkGroup>, String> {
    let mut list = Vec::new();
    for item in text.split(',') {
        if item.contains("..") {
            let sizes = sizes(item)?.0;
            list.extend(
                sizes
                    .iter()
                    .map(|size| work_group(&size.to_string()))
                    .collect::<Result<Vec<_>, _>>()?,
            );
        } else {
            list.push(work_group(item)?);
        }
    }
    Ok(each_once(list))
}

/// One part of several: `2/4`.
pub fn part(text: &str) -> Result<(u64, u64), String> {
    let parts = text
        .split_once('/')
        .and_then(|(i, n)| Some((digits(i)?, digits(n)?)));
    parts
        .filter(|&(i, n)| (1..=n).contains(&i))
        .ok_or_else(|| format!("{text:?} is not a shard: write 2/4 for the second of four"))
}

fn range(item: &str, first: &str, rest: &str) -> Result<Vec<u64>, String> {
    let bad = |why: &str| format!("{item:?}: {why}; write 32..1024*2 or 1000..5000+500");
    let at = rest
        .find(['*', '+'])
        .ok_or_else(|| bad("a range needs its step"))?;
    let first = size(first)?;
    let last = size(&rest[..at])?;
    let step = size(&rest[at + 1..])?;
    let is_factor = rest[at..].starts_with('*');
    if last < first {
        return Err(bad("the range runs backwards"));
    }
    if step == 0 || (is_factor && (step == 1 || first == 0)) {
        return Err(bad("the range never reaches its end"));
    }
    let values = std::iter::successors(Some(first), |value| {
        if is_factor {
            value.checked_mul(step)
        } else {
            value.checked_add(step)
        }
    });
    let values: Vec<u64> = values
        .take_while(|&value| value <= last)
        .take(MOST_VALUES + 1)
        .collect();
    if values.len() > MOST_VALUES {
        return Err(bad(&format!(
            "the range has more than {MOST_VALUES} values"
        )));
    }
    Ok(values)
}

fn each_once<T: Copy + Eq + Hash>(mut list: Vec<T>) -> List<T> {
    let mut seen = HashSet::new();
    list.retain(|&value| seen.insert(value));
    List(list)
}

/// A finite number of seconds, at least 0.
pub fn seconds(text: &str) -> Result<f64, String> {
    with_point(text, |text| match text.parse::<f64>() {
        Ok(value) if value.is_finite() && (0.0..=1e6).contains(&value) => Ok(value),
        _ => Err(format!(
            "{text:?}: a number of seconds from 0 to 1000000 is needed"
        )),
    })
}

/// A number of seconds above 0 after which something is ended.
pub fn deadline(text: &str) -> Result<f64, String> {
    match seconds(text)? {
        0.0 => Err(format!(
            "{text:?}: no case could end in time; a number of seconds above 0 is needed, such as 60"
        )),
        value => Ok(value),
    }
}

/// A time above 0, in seconds: `500ms`, `10s`, `2m` (minutes), and `10` for seconds.
pub fn duration(text: &str) -> Result<f64, String> {
    with_point(text, |text| {
        let end = text
            .rfind(|c: char| !c.is_ascii_alphabetic())
            .map_or(0, |last| last + 1);
        let scale = match text[end..].trim() {
            "ms" => Some(1e-3),
            "" | "s" => Some(1.0),
            "m" | "min" => Some(60.0),
            _ => None,
        };
        let number = text[..end].trim().parse::<f64>().ok();
        let value = number.zip(scale).map(|(number, scale)| number * scale);
        value
            .filter(|&value| value > 0.0 && value <= 1e6)
            .ok_or_else(|| {
                format!(
                    "{text:?} is not a time: write 500ms, 10s or 2m, above 0 and at most 1000000 s"
                )
            })
    })
}

/// What a search may use up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchBudget {
    Seconds(f64),
    Evaluations(usize),
}

/// A time with its unit, or a number of configurations: `60s`, `200`.
pub fn search_budget(text: &str) -> Result<SearchBudget, String> {
    let bad = || {
        format!(
            "{text:?} is not a budget: write a time, as in 60s or 2m, or a number of configurations, as \
                          in 200"
        )
    };
    if text.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return duration(text)
            .map(SearchBudget::Seconds)
            .map_err(|why| if why.contains("comma") { why } else { bad() });
    }
    let number = digits(text)
        .and_then(|number| usize::try_from(number).ok())
        .filter(|number| *number > 0);
    number.map(SearchBudget::Evaluations).ok_or_else(bad)
}

pub fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    text.parse::<u64>()
        .ok()
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| format!("{text:?} is not a whole number from 0 on, or is too large"))
}

/// A theoretical rate of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Peak {
    /// In 10^9 bytes a second.
    Bytes(f64),
    /// In 10^9 operations a second.
    Ops(f64),
}

/// How many times as fast something is, as in `1.5` or `1.5x`.
pub fn factor(text: &str) -> Result<f64, String> {
    with_point(text, |text| {
        match text.trim_end_matches('x').parse::<f64>() {
            Ok(value) if (1e-6..=1e6).contains(&value) => Ok(value),
            _ => Err(format!(
                "{text:?} is no factor: write 1.5 for 1.5 times as fast, or 0.8 for slower"
            )),
        }
    })
}

/// A rate as makers of devices state it: `4800GB/s`, `4.8TB/s`, `4470GiB/s` (2^30 bytes), `60TFLOP/s`, `60TOP/s`; the number
/// is above 0.
pub fn peak(text: &str) -> Result<Peak, String> {
    let bad = || {
        format!(
            "{text:?} is not a theoretical rate: write 4800GB/s, 4.8TB/s, 4470GiB/s (2^30 bytes) or, of operations, \
             60TFLOP/s or 60TOP/s"
        )
    };
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number = &text[..end];
    let unit = text[end..].trim_start();
    let per_second = unit.strip_suffix("/s").ok_or_else(bad)?;
    let (scale, made): (&str, fn(f64) -> Peak) = None
        .or_else(|| {
            Some((
                per_second
                    .strip_suffix("FLOP")
                    .or_else(|| per_second.strip_suffix("OP"))?,
                Peak::Ops as _,
            ))
        })
        .or_else(|| Some((per_second.strip_suffix('B')?, Peak::Bytes as _)))
        .ok_or_else(bad)?;
    // Of operations there are no binary multiples.
    let is_decimal = matches!(made(1.0), Peak::Bytes(_)) || !scale.ends_with('i');
    let scale = multiplier(scale).filter(|_| is_decimal).ok_or_else(bad)?;
    let rate = number.parse::<f64>().map_err(|_| bad())? * scale as f64 / 1e9;
    // Between a byte a second and far above any device.
    if (1e-9..=1e9).contains(&rate) {
        Ok(made(rate))
    } else {
        Err(bad())
    }
}

/// A relative spread: a finite number above 0, as in `0.05`, or a percentage, as in `5%`.
pub fn spread(text: &str) -> Result<f64, String> {
    with_point(text, |text| {
        let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |n| (n, 0.01));
        match number.parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(value * unit),
            _ => Err(format!(
                "{text:?}: a relative spread above 0 is needed, as in 0.05 or 5%"
            )),
        }
    })
}

/// What a comparison must not come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FailOn {
    /// A case that is slower by this share.
    Slower(f64),
    /// A case that is undecided, or that only the first side has a time of.
    Undecided,
}

/// `slower`, `slower:5` for 5 per cent and more, or `undecided`.
pub fn fail_on(text: &str) -> Result<FailOn, String> {
    if text == "undecided" {
        return Ok(FailOn::Undecided);
    }
    with_point(text, |text| {
        let percent = match text.strip_prefix("slower") {
            Some("") => Some(0.0),
            Some(rest) => rest
                .strip_prefix(':')
                .and_then(|pct| pct.trim_end_matches('%').parse::<f64>().ok()),
            None => None,
        };
        let share = percent
            .filter(|percent| percent.is_finite() && *percent >= 0.0)
            .map(|percent| percent / 100.0);
        share.map(FailOn::Slower).ok_or_else(|| {
            format!("{text:?}: slower, slower:5 for 5 % and more, or undecided is needed")
        })
    })
}

/// The rungs that a list selects: numbers `3`, ranges `2-5`, ideas `local`, names of references; references first,
/// then in the ladder's order.
pub fn variants<'a>(family: &'a Family, text: &str) -> Result<Vec<&'a Rung>, String> {
    let kernels: Vec<&Rung> = family.kernels().collect();
    let mut wanted = vec![false; kernels.len()];
    for item in text.split(',') {
        let range =
            variant_range(&kernels, item.trim()).ok_or_else(|| unknown_variant(family, item))?;
        wanted[range].fill(true);
    }
    Ok(kernels
        .into_iter()
        .zip(wanted)
        .filter(|(_, wanted)| *wanted)
        .map(|(rung, _)| rung)
        .collect())
}

/// The places of what a number, a range of numbers or a name selects.
fn variant_range(kernels: &[&Rung], item: &str) -> Option<RangeInclusive<usize>> {
    let place = |text: &str| {
        let number = text.strip_prefix('v').unwrap_or(text).parse::<u32>().ok();
        kernels
            .iter()
            .position(|r| r.variant() == text || (number.is_some() && r.number() == number))
    };
    let range = match item.split_once('-') {
        Some((first, last)) => place(first)?..=place(last)?,
        None => place(item)?..=place(item)?,
    };
    (!range.is_empty()).then_some(range)
}

fn unknown_variant(family: &Family, item: &str) -> String {
    let names = family.kernels().map(|rung| {
        rung.number().map_or(rung.variant().to_owned(), |number| {
            format!("{number} {}", rung.variant())
        })
    });
    let names: Vec<String> = names.collect();
    let near: Vec<&str> = nearest(item, family.kernels().map(Rung::variant), |name| name);
    match near.is_empty() {
        true => format!(
            "{} has no rung {item:?}; it has {}",
            family.name,
            names.join(", ")
        ),
        false => format!(
            "{} has no rung {item:?}{}",
            family.name,
            did_you_mean(&near)
        ),
    }
}

/// `16 KiB`: bytes in the largest unit of which they are a whole number.
pub fn binary(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units
        .iter()
        .find(|(log, _)| bytes > 0 && bytes.is_multiple_of(1 << log));
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |(log, name)| format!("{} {name}", bytes >> log),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dot::FAMILY, transpose};

    #[test]
    fn durations_have_units() {
        let all = ["500ms", "10s", "2m", "2 min", "0.5", "1e3"].map(|text| duration(text).unwrap());
        assert_eq!(all, [0.5, 10.0, 120.0, 120.0, 0.5, 1000.0]);
        for bad in [
            "",
            "s",
            "0s",
            "-1s",
            "10h",
            "1e9",
            "inf",
            "NaN",
            "10 apples",
        ] {
            assert!(
                duration(bad).unwrap_err().contains("500ms, 10s or 2m"),
                "{bad}"
            );
        }
    }

    #[test]
    fn peaks_are_written_as_makers_of_devices_do() {
        let rate = |text: &str| match peak(text).unwrap() {
            Peak::Bytes(rate) => ("bytes", rate.round()),
            Peak::Ops(rate) => ("operations", rate.round()),
        };
        assert_eq!(
            (rate("4800GB/s"), rate("4.8TB/s")),
            (("bytes", 4800.0), ("bytes", 4800.0))
        );
        assert_eq!(
            rate("4470GiB/s"),
            ("bytes", 4800.0),
            "4470 x 2^30 = 4799.6 x 10^9"
        );
        assert_eq!(
            (rate("60TFLOP/s"), rate("500 GOP/s")),
            (("operations", 60000.0), ("operations", 500.0))
        );
        for bad in [
            "",
            "4800",
            "GB/s",
            "0GB/s",
            "-1GB/s",
            "4800GB",
            "4800Gb/s",
            "1e3GB/s",
            "60TiFLOP/s",
            "4..8TB/s",
        ] {
            assert!(peak(bad).unwrap_err().contains("4800GB/s"), "{bad}");
        }
    }

    #[test]
    fn sizes_in_every_notation() {
        for (text, value) in [
            ("0", 0),
            ("1000000", 1_000_000),
            ("1_000_000", 1_000_000),
            ("1_0e1_0", 100_000_000_000),
            ("1M", 1_000_000),
            ("1Mi", 1 << 20),
            ("2^20", 1 << 20),
            ("1e12", 1_000_000_000_000),
            ("1.5e3", 1500),
            ("64Ki", 65_536),
        ] {
            assert_eq!(size(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "", "-1", "1.5", "abc", "1e", "e5", "1e99", "2^64", "2^", "^2", "NaN", "inf", "1Mb",
            "0x10", "1e-3", "१", "_1", "1_", "1__0", "_", "1_M", "1_e3", "2_^20", "2^_20",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn work_groups() {
        assert_eq!(work_group("256"), Ok(WorkGroup([256, 1, 1])));
        assert_eq!(work_group("16x16"), Ok(WorkGroup([16, 16, 1])));
        for text in [
            "",
            "0",
            "x",
            "16x",
            "16x0",
            "1x1x1x1",
            "-4",
            "99999999999999999999",
        ] {
            assert!(work_group(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(sizes("64,128,256"), Ok(List(vec![64, 128, 256])));
        assert_eq!(
            sizes("32..1024*2"),
            Ok(List(vec![32, 64, 128, 256, 512, 1024]))
        );
        assert_eq!(sizes("1000..2200+500"), Ok(List(vec![1000, 1500, 2000])));
        assert_eq!(
            sizes("2^10..2^12*2,1Ki,7"),
            Ok(List(vec![1024, 2048, 4096, 7]))
        );
        assert_eq!(sizes("5..5+1"), Ok(List(vec![5])));
        assert_eq!(sizes("0..2+1"), Ok(List(vec![0, 1, 2])));
        assert_eq!(sizes("2^62..2^63*2"), Ok(List(vec![1 << 62, 1 << 63])));
        let groups = super::work_groups("16x16,32..64*2,64").unwrap().0;
        assert_eq!(
            groups,
            [
                WorkGroup([16, 16, 1]),
                WorkGroup::linear(32),
                WorkGroup::linear(64)
            ]
        );
    }

    #[test]
    fn bad_ranges_say_what_is_wrong() {
        for (text, why) in [
            ("1..10", "step"),
            ("1..10+0", "never"),
            ("1..10*1", "never"),
            ("1..10*0", "never"),
            ("0..10*2", "never"),
            ("10..1+1", "backwards"),
            ("0..2000000+1", "more than"),
            ("0..999999+1,1000000..1999999+1", "more than"),
            ("1..x*2", "not a size"),
            ("..8*2", "not a size"),
            ("1..8*", "not a size"),
            ("", "not a size"),
            ("64,,128", "not a size"),
        ] {
            let error = sizes(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        for text in ["0..4+1", "0", "32..64", "16x", ""] {
            assert!(super::work_groups(text).is_err(), "{text}");
        }
    }

    #[test]
    fn parts_of_a_whole() {
        assert_eq!((part("1/1"), part("2/4")), (Ok((1, 1)), Ok((2, 4))));
        for text in ["0/4", "5/4", "1/0", "1", "a/b", "1/2/3", "-1/2"] {
            assert!(part(text).is_err(), "{text}");
        }
    }

    #[test]
    fn decimal_commas_and_several_sizes_are_named() {
        for said in [
            seconds("0,5"),
            duration("0,5s"),
            spread("0,05"),
            spread("2,5%"),
            fail_on("slower:2,5").map(|_| 0.0),
        ] {
            assert!(
                said.unwrap_err().contains("has a decimal comma: write "),
                "a number"
            );
        }
        assert!(size("1,5e6").unwrap_err().contains("write 1.5e6"));
        assert!(search_budget("0,5m").unwrap_err().contains("write 0.5m"));
        for text in ["777,5000", "1,000,000", "32..1024*2"] {
            assert!(
                size(text)
                    .unwrap_err()
                    .contains("gpulab sweep measures several"),
                "{text}"
            );
        }
        for text in ["1,", ",", "a,b", "32..16"] {
            assert!(size(text).unwrap_err().contains("is not a size"), "{text}");
        }
        assert!(sizes("1,x").unwrap_err().contains("is not a size"));
    }

    #[test]
    fn seconds_and_spreads_are_finite() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        assert_eq!(spread("5%"), Ok(0.05));
        for text in ["NaN", "inf", "-1", "1e999", ""] {
            assert!(seconds(text).is_err() && spread(text).is_err(), "{text}");
        }
    }

    #[test]
    fn variants_by_number_range_and_idea() {
        let numbers = |text| {
            variants(&FAMILY, text)
                .unwrap()
                .iter()
                .filter_map(|r| r.number())
                .collect::<Vec<_>>()
        };
        assert_eq!(numbers("3"), [3]);
        assert_eq!(numbers("2-4"), [2, 3, 4]);
        assert_eq!(numbers("wide,naive"), [1, 7]);
        assert_eq!(numbers("v5"), [5]);
        let names = |text| {
            variants(&transpose::FAMILY, text)
                .unwrap()
                .iter()
                .map(|r| r.variant())
                .collect::<Vec<_>>()
        };
        assert_eq!(names("2,copy"), ["copy", "coalesced"]);
        for text in ["0", "99", "5-2", "nothing", ""] {
            assert!(
                variants(&FAMILY, text).err().unwrap().contains("1 naive"),
                "{text}"
            );
        }
    }

    #[test]
    fn bytes_are_told_in_the_largest_unit_that_fits() {
        let texts = [0, 1000, 1 << 10, 3 << 19, 64 << 20, 1 << 30].map(binary);
        assert_eq!(
            texts,
            [
                "0 bytes",
                "1000 bytes",
                "1 KiB",
                "1536 KiB",
                "64 MiB",
                "1 GiB"
            ]
        );
    }
}
