//! Axes: where something lies, and what is written beside it.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// The numbers that an axis has to show, on a straight or a logarithmic scale.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
}

/// What is far enough apart for a logarithmic scale.
const FAR: f64 = 15.0;

impl Axis {
    /// One for `values`: from zero or, if they are far apart and all above it,
    /// logarithmic.
    pub(super) fn over(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values);
        let logarithmic = low > 0.0 && high / low > FAR;
        Self {
            low: if logarithmic { low / 1.3 } else { 0.0 },
            high: if logarithmic { high * 1.3 } else { high * 1.1 },
            logarithmic,
        }
    }

    /// One for ratios: logarithmic, with 1 in it.
    pub(super) fn of_ratios(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values.filter(|value| *value > 0.0));
        Self {
            low: low.min(0.9) / 1.1,
            high: high.max(1.1) * 1.1,
            logarithmic: true,
        }
    }

    /// Where a number lies, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        match self.logarithmic {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        }
    }

    /// Where something is written.
    fn ticks(&self) -> Vec<f64> {
        let values: Vec<f64> = match self.logarithmic {
            false => {
                let step = step(self.high / 5.0);
                let count = (self.high / step) as usize;
                (0..=count).map(|at| at as f64 * step).collect()
            }
            true => {
                let wide = self.high / self.low;
                let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
                let decades = (first as i32..=last as i32).map(|power| 10_f64.powi(power));
                let parts: &[f64] = if wide < 300.0 {
                    &[1.0, 2.0, 5.0]
                } else {
                    &[1.0]
                };
                decades
                    .flat_map(|one| parts.iter().map(move |part| part * one))
                    .collect()
            }
        };
        let inside = self.low..=self.high;
        values
            .into_iter()
            .filter(|value| inside.contains(value))
            .collect()
    }
}

/// A number with few digits.
fn label(value: f64) -> String {
    let (value, unit) = match value {
        1e6.. => (value / 1e6, "M"),
        1e3.. => (value / 1e3, "k"),
        _ => (value, ""),
    };
    // Away with what multiplying leaves.
    let value = (value * 1e4).round() / 1e4;
    format!("{value}{unit}")
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        within(self.share(*value), limit)
    }

    fn key_points<H: KeyPointHint>(&self, _: H) -> Vec<f64> {
        self.ticks()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        label(*value)
    }
}

/// Names at the same distance from each other.
#[derive(Clone, Debug)]
pub(super) struct Names(pub(super) Vec<String>);

impl Ranged for Names {
    type FormatOption = NoDefaultFormatting;
    /// The number of a name, from 0, and half a step beyond at each end.
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        within((value + 0.5) / self.0.len() as f64, limit)
    }

    fn key_points<H: KeyPointHint>(&self, _: H) -> Vec<f64> {
        (0..self.0.len()).map(|place| place as f64).collect()
    }

    fn range(&self) -> Range<f64> {
        -0.5..self.0.len() as f64 - 0.5
    }
}

impl ValueFormatter<f64> for Names {
    fn format_ext(&self, value: &f64) -> String {
        self.0.get(*value as usize).cloned().unwrap_or_default()
    }
}

fn within(share: f64, (start, end): (i32, i32)) -> i32 {
    start + (share * f64::from(end - start)).round() as i32
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, 0.0_f64);
    let (low, high) = values.fold(start, |(low, high), one| (low.min(one), high.max(one)));
    match high > 0.0 {
        true => (low, high),
        // There is nothing to show, and yet a picture of it.
        false => (1.0, 1.0),
    }
}

/// The round number next above.
fn step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let parts = [1.0, 2.0, 5.0, 10.0].map(|part| part * power);
    parts
        .into_iter()
        .find(|part| *part >= least)
        .unwrap_or(least)
}

#[cfg(test)]
mod tests;
