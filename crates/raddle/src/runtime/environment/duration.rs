//! Durations in environment variables.

use std::time::Duration;

/// Parses a number with a unit: `us`, `ms`, `s`, `m` or `h`, such as `100ms` or `1.5s`.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.')?;
    let (number, unit) = text.split_at(end);
    let unit = match unit.trim_start() {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}
