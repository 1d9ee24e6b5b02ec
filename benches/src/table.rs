//! The figures of comparisons for a terminal.

use crate::record::Comparison;
use crate::stats::Interval;

/// Explains [`rows`].
pub fn header(rounds: u16) -> String {
    format!(
        "Medians of {rounds} rounds in which all took turns, and how many times as good the first \
         is as each\nother one (above 1 it is ahead): the median of the rounds' ratios, with its \
         95 % interval.\n"
    )
}

/// Returns a row for each contestant of each comparison, under the name of the comparison.
pub fn rows(comparisons: &[Comparison]) -> String {
    let mut text = String::new();
    for one in comparisons {
        text += &format!("{}: {}, {}\n", one.case, one.figure.name, one.figure.unit);
        for (place, contestant) in one.contestants.iter().enumerate() {
            let lead = one.lead(&contestant.name).filter(|_| place > 0);
            let lead = lead.map_or_else(String::new, times);
            let row = format!(
                "  {:<20} {:>11}  {lead}",
                contestant.name,
                short(contestant.median())
            );
            text += &format!("{}\n", row.trim_end());
        }
    }
    text
}

/// Formats a median and its interval.
pub fn times(lead: Interval) -> String {
    let [median, low, high] = [lead.median, lead.low, lead.high].map(short);
    format!("{median} ({low} to {high})")
}

/// Formats a number with as many decimals as are significant.
pub fn short(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}
