//! Medians, and how sure they are.

/// A median, and from where to where the true one lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The value in the middle.
    pub median: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Of how many values it is.
    pub count: usize,
}

impl Interval {
    /// Whether there are values enough for an interval of 95 %: of fewer, even the
    /// outermost are not so sure.
    pub fn is_sure(self) -> bool {
        outside(self.count).is_some()
    }
}

/// The value below which a `share` of the sorted `values` lies, 0.5 for the
/// median, drawn straight between the two nearest.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1).expect("there are values");
    let position = share * last as f64;
    let below = position.floor() as usize;
    let above = position.ceil() as usize;
    let part = position - position.floor();
    sorted[below] + (sorted[above] - sorted[below]) * part
}

/// The value in the middle.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The median with an interval that has the median of what the values were drawn
/// from in it 95 times in a hundred or more, however that is spread: each value
/// is above it or below it like a coin that falls. Of fewer than 6 values the
/// outermost are the ends, and not [sure](Interval::is_sure).
pub fn interval(values: &[f64]) -> Interval {
    let sorted = sorted(values);
    let outside = outside(sorted.len()).unwrap_or(0);
    Interval {
        median: median(values),
        low: sorted[outside],
        high: sorted[sorted.len() - 1 - outside],
        count: sorted.len(),
    }
}

/// How many of `count` values may be left out at each end: as many as leave a
/// chance of 2.5 % that the median lies there. None if all are too few for that.
fn outside(count: usize) -> Option<usize> {
    // The chance that no coin of all shows heads, then one, two, ...
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
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("every value is a number"));
    sorted
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
