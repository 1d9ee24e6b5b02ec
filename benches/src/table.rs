//! The table of a comparison: the medians of each contestant, and how the first
//! stands to each of the others.

use crate::stats::{median, ratios, spread};

/// How wide the first column is.
const WIDTH: usize = 34;

/// A heading for columns of the contestants' `names`.
pub fn header(names: &[&str]) -> String {
    let mut text = format!("{:<WIDTH$}", "figure");
    for name in names {
        text += &format!(" {name:>10}");
    }
    for name in &names[1..] {
        text += &format!(" {:>17} {:>13}", format!("{}/{name}", names[0]), "10-90 %");
    }
    text.trim_end().to_owned() + "\n"
}

/// A row for each figure: `measured` has, for each contestant, its rounds, which
/// have all the figures.
pub fn rows<T: AsRef<[f64]>>(figures: &[impl AsRef<str>], measured: &[Vec<T>]) -> String {
    let mut text = String::new();
    for (place, figure) in figures.iter().enumerate() {
        let columns: Vec<Vec<f64>> = measured
            .iter()
            .map(|rounds| rounds.iter().map(|round| round.as_ref()[place]).collect())
            .collect();
        text += &row(figure.as_ref(), &columns);
    }
    text
}

fn row(figure: &str, columns: &[Vec<f64>]) -> String {
    let mut text = format!("{figure:<WIDTH$}");
    for column in columns {
        text += &format!(" {:>10}", short(median(column)));
    }
    for other in &columns[1..] {
        let (middle, spread) = against(&columns[0], other);
        text += &format!(" {middle:>17} {spread:>13}");
    }
    text + "\n"
}

/// The median of the rounds' ratios, and the spread. Nothing can be held against
/// what is shown as zero.
fn against(first: &[f64], other: &[f64]) -> (String, String) {
    let mut ratios = ratios(first, other);
    ratios.retain(|ratio| ratio.is_finite());
    if median(other) < 0.005 || ratios.is_empty() {
        return ("-".to_owned(), "-".to_owned());
    }
    (format!("{:.2}", median(&ratios)), spread(&ratios))
}

/// With as many decimals as say something.
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
