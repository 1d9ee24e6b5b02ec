//! Medians and spreads.

/// The value below which a `share` of the sorted `values` lies, 0.5 for the
/// median, drawn straight between the two nearest.
///
/// # Panics
///
/// If there are no values, or one is not a number.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("every value is a number"));
    let last = sorted.len().checked_sub(1).expect("there are values");
    let position = share * last as f64;
    let below = position.floor() as usize;
    let above = position.ceil() as usize;
    let part = position - position.floor();
    sorted[below] + (sorted[above] - sorted[below]) * part
}

/// The value in the middle.
///
/// # Panics
///
/// As [`quantile`].
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// From where to where the middle 80 % of the values lie, for a table.
///
/// # Panics
///
/// As [`quantile`].
pub fn spread(values: &[f64]) -> String {
    format!(
        "{:.2} - {:.2}",
        quantile(values, 0.1),
        quantile(values, 0.9)
    )
}

/// How often each of `values` holds its counterpart in `base`.
pub fn ratios(values: &[f64], base: &[f64]) -> Vec<f64> {
    values
        .iter()
        .zip(base)
        .map(|(value, base)| value / base)
        .collect()
}

#[cfg(test)]
mod tests;
