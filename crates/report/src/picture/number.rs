//! Numbers as pictures show them.

use crate::format;

/// `1 234`, `0.25`, `2 × 10⁻⁶`: the value of a tick, without digits that say nothing.
pub fn tick(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-3..=6).contains(&exponent) {
        return scientific(value, exponent);
    }
    let decimals = (2 - exponent).max(0) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    grouped(text)
}

/// The value of a bar or a point: three digits, or four before the point.
pub fn value(value: f64) -> String {
    let size = value.abs();
    if !size.is_finite() {
        return format!("{value}");
    }
    if size != 0.0 && !(1e-3..1e7).contains(&size) {
        return scientific(value, size.log10().floor() as i32);
    }
    grouped(&format::significant(
        value,
        if (1000.0..9999.5).contains(&size) {
            4
        } else {
            3
        },
    ))
}

fn scientific(value: f64, exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let mantissa = format!("{:.1}", value / 10f64.powi(exponent));
    let mantissa = mantissa.trim_end_matches(".0");
    let sign = if exponent < 0 { "⁻" } else { "" };
    let digits: String = exponent
        .abs()
        .to_string()
        .bytes()
        .map(|d| DIGITS[usize::from(d - b'0')])
        .collect();
    match mantissa {
        "1" => format!("10{sign}{digits}"),
        _ => format!("{mantissa} × 10{sign}{digits}"),
    }
}

/// Digits before the point in groups of three with narrow blanks between them, where there are more than four.
fn grouped(text: &str) -> String {
    let (sign, text) = text
        .strip_prefix('-')
        .map_or(("", text), |rest| ("−", rest));
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    if whole.len() < 5 || !whole.bytes().all(|c| c.is_ascii_digit()) {
        return format!("{sign}{whole}{rest}");
    }
    let groups = format::count(whole.parse().unwrap_or(0)).replace('_', "\u{202f}");
    format!("{sign}{groups}{rest}")
}

pub fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// A size as the command line takes it: `16Mi` for powers of two, `10M` for those of ten, or all of its digits.
pub fn size(n: f64) -> String {
    const TWOS: [(f64, &str); 4] = [
        (1_099_511_627_776.0, "Ti"),
        (1_073_741_824.0, "Gi"),
        (1_048_576.0, "Mi"),
        (1024.0, "Ki"),
    ];
    const TENS: [(f64, &str); 3] = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let unit = TWOS
        .iter()
        .chain(&TENS)
        .find(|(unit, _)| n >= *unit && n % unit == 0.0);
    unit.map_or_else(|| tick(n), |(unit, name)| format!("{}{name}", n / unit))
}

/// Per cent of a limit: `97 %`, `under 1 %`.
pub fn share(percent: f64) -> String {
    if percent < 0.5 {
        "under 1 %".to_owned()
    } else {
        format!("{percent:.0} %")
    }
}

pub fn unit(name: &str) -> &str {
    match name {
        "us" => "µs",
        "1e-6" => "10⁻⁶",
        "1" => "",
        "/CU/clock" => "per unit and clock",
        "regs" => "registers",
        other => other,
    }
}

/// `bandwidth (GB/s)`, or `sum` for what has no unit.
pub fn quantity(name: &str, of: &str) -> String {
    let unit = unit(of);
    if unit.is_empty() || name.ends_with(unit) {
        name.to_owned()
    } else {
        format!("{name} ({unit})")
    }
}

/// The unit in which times up to this many seconds have few digits, and the seconds of one.
pub fn time_unit(most: f64) -> (&'static str, f64) {
    const UNITS: [(&str, f64); 3] = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)];
    UNITS
        .into_iter()
        .find(|(_, unit)| most >= *unit)
        .unwrap_or(("ns", 1e-9))
}

/// `12.3 µs`.
pub fn time(seconds: f64) -> String {
    let (unit, of_unit) = time_unit(seconds * 1.0005);
    format!("{} {unit}", value(seconds / of_unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.0, 0.2, 0.6000000000000001, 1000.0, 20000.0].map(tick),
            ["0", "0.2", "0.6", "1000", "20\u{202f}000"]
        );
        assert_eq!(
            [1e-6, 2e9, 1e12, -5.0].map(tick),
            ["10⁻⁶", "2 × 10⁹", "10¹²", "−5"]
        );
        assert_eq!(
            [4432.4, 97.04, 0.123456, 12345.6].map(value),
            ["4432", "97.0", "0.123", "12\u{202f}346"]
        );
        assert_eq!(
            [16_777_216.0, 1e6, 65536.0, 1000.0, 2080.0, 7.0].map(size),
            ["16Mi", "1M", "64Ki", "1k", "2080", "7"]
        );
        assert_eq!(
            [1.234e-5, 0.5, 9.9999e-4].map(time),
            ["12.3 µs", "500 ms", "1.00 ms"]
        );
        assert_eq!(
            (quantity("time", "us"), quantity("sum", "1")),
            ("time (µs)".into(), "sum".into())
        );
    }
}
