//! Text from a recording, as it is printed.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes characters that control a terminal or the direction of text.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_control(letter) {
            true => escaped.extend(letter.escape_default()),
            false => escaped.push(letter),
        }
    }
    Cow::Owned(escaped)
}

fn is_control(letter: char) -> bool {
    letter.is_control()
        // Separators of lines, marks of direction, and characters without a width.
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Formats a time in nanoseconds since the Unix epoch, to the millisecond: `2026-01-31
/// 23:59:59.999`.
pub(crate) fn utc(nanos: u64) -> String {
    let millis = nanos / 1_000_000;
    let (seconds, millis) = (millis / 1_000, millis % 1_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let mut text = format!("{year:04}-{month:02}-{day:02} ");
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let _infallible = write!(text, "{hour:02}:{minute:02}:{second:02}.{millis:03}");
    text
}

/// Returns the year, the month and the day of a number of days since 1970-01-01.
fn date(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in months {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
