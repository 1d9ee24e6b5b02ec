//! The figures of comparisons for a terminal, at most 100 columns wide.

use crate::record::{Comparison, percentile};
use crate::stats::Interval;

/// Explains the columns of [`rows`].
pub fn header(rounds: usize) -> String {
    format!(
        "Medians of {rounds} rounds in which all took turns. \"times\": how many times as good \
         the first is as this\n\
         one (above 1 it is ahead), the median of the rounds' ratios, with its 95 % \
         interval.\n\n{}",
        columns()
    )
}

/// Returns the names of the columns of [`rows`].
pub fn columns() -> String {
    format!(
        "{:<34} {:<20} {:>11} {:>8}  95 %",
        "figure", "", "median", "times"
    )
}

/// Returns a row for each contestant of each comparison, under the name of the comparison.
pub fn rows(comparisons: &[Comparison]) -> String {
    let mut text = String::new();
    let mut title = String::new();
    for comparison in comparisons {
        let mut figure = format!("  {}, {}", comparison.figure, comparison.unit);
        let mut name = comparison.name();
        let parameter = comparison.parameter.as_ref();
        if let Some(parameter) = parameter.filter(|one| one.name == "percentile") {
            figure = format!("  {}, {}", percentile(parameter.value), comparison.unit);
            name.clone_from(&comparison.title);
        }
        if name != title {
            text += &format!("{name}\n");
            title = name;
        }
        for (place, contestant) in comparison.contestants.iter().enumerate() {
            let lead = match place {
                0 => String::new(),
                _ => format!(" {}", lead(comparison.lead(&contestant.name))),
            };
            let figure = if place == 0 { figure.as_str() } else { "" };
            let row = format!(
                "{figure:<34} {:<20} {:>11}{lead}",
                contestant.name,
                short(contestant.median())
            );
            text += row.trim_end();
            text += "\n";
        }
    }
    text
}

/// Formats a lead and its interval, as wide as in the header.
fn lead(lead: Option<Interval>) -> String {
    match lead {
        None => format!("{:>8}", "-"),
        Some(lead) => format!("{:>8}  {}", short(lead.median), bounds(lead)),
    }
}

/// Formats a median and its interval.
pub fn times(lead: Interval) -> String {
    format!("{} ({})", short(lead.median), bounds(lead))
}

fn bounds(interval: Interval) -> String {
    format!("{} to {}", short(interval.low), short(interval.high))
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

#[cfg(test)]
mod tests;
