//! Medians and their confidence intervals.

/// A median and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The median.
    pub median: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Whether there are enough values for an interval of 95 %. With fewer than 6, even the
    /// smallest and the largest value do not reach it.
    pub is_sure: bool,
}

/// Returns the value below which a `share` of the sorted `values` lies, 0.5 for the median,
/// interpolated between the two nearest.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1).expect("there are values");
    let position = share * last as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

/// Returns the median.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Returns the median of `values`, with an interval that contains the true median with a
/// probability of at least 95 %, whatever the distribution of the values: each value is above or
/// below the true median with equal probability (the sign test). With fewer than 6 values the
/// interval reaches from the smallest to the largest, and is not sure.
pub fn interval(values: &[f64]) -> Interval {
    let sorted = sorted(values);
    let outside = outside(sorted.len());
    let omitted = outside.unwrap_or(0);
    Interval {
        median: median(values),
        low: sorted[omitted],
        high: sorted[sorted.len() - 1 - omitted],
        is_sure: outside.is_some(),
    }
}

/// Returns how many of `count` values may be omitted at each end, with a probability of at most
/// 2.5 % that the true median lies there. `None` if there are too few values to omit any.
fn outside(count: usize) -> Option<usize> {
    // The probability that none of the values is below the median, then at most one, two, ...
    let mut chance = 0.5_f64.powi(count as i32);
    let mut below = 0.0;
    for heads in 0..count / 2 {
        below += chance;
        if below > 0.025 {
            return heads.checked_sub(1);
        }
        chance *= (count - heads) as f64 / (heads + 1) as f64;
    }
    None
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests;
