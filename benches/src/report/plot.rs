//! The curves of the documentation, as SVG. Their letters and lines suit light and dark
//! backgrounds.

use std::error::Error;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use plotters::prelude::*;

use super::{Group, Report};
use crate::record::PEER;
use crate::stats::quantile;

const SIZE: (u32, u32) = (420, 300);
const INK: RGBColor = RGBColor(128, 128, 128);
const RADDLE: RGBColor = RGBColor(0, 114, 178);
const TOKIO: RGBColor = RGBColor(213, 94, 0);
/// The colours of the other contestants, in order. They can be distinguished with every kind of
/// colour vision.
const OTHERS: [RGBColor; 2] = [RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

impl Report {
    /// Draws for the figure, under a title that begins with `title`, the medians of each contestant
    /// against the varied parameter, with logarithmic axes. A line at each median reaches from the
    /// 10th to the 90th percentile of the rounds.
    pub fn draw_curve(&self, title: &str, figure: &str, file: &Path) -> io::Result<()> {
        let group = self.groups.iter().find(|group| {
            let first = &group[0];
            group.len() > 1 && first.case.title.starts_with(title) && first.figure.name == figure
        });
        let failed = |error| io::Error::other(format!("no curve of {title}: {error}"));
        let group = group.ok_or_else(|| failed("it was not recorded".into()))?;
        fs::write(file, draw(group).map_err(failed)?)
    }
}

fn draw(group: &Group) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    let (first, last) = (&group[0], &group[group.len() - 1]);
    let varied = first.case.parameter.as_ref().map_or("", |(name, _)| name);
    let label = format!("{}, {}, by {varied}", first.figure.name, first.figure.unit);
    let letters = ("sans-serif", 14).into_font().color(&INK);
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .caption(label, letters.clone())
        .x_label_area_size(22)
        .y_label_area_size(44)
        .build_cartesian_2d(
            (first.value() as f64..last.value() as f64).log_scale(),
            ends(group).log_scale(),
        )?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh().light_line_style(TRANSPARENT);
    mesh.bold_line_style(INK.mix(0.4)).axis_style(INK);
    mesh.label_style(letters.clone());
    mesh.x_label_formatter(&|at| digits(*at));
    mesh.y_label_formatter(&|at| digits(*at)).draw()?;
    for (place, contestant) in first.contestants.iter().enumerate() {
        let name = contestant.name.as_str();
        let colour = match place {
            0 => RADDLE,
            _ if name == PEER => TOKIO,
            _ => OTHERS[place % OTHERS.len()],
        };
        let all = group.iter();
        let points = all.filter_map(|one| Some((one.value() as f64, one.contestant(name)?)));
        chart.draw_series(points.clone().map(|(at, one)| {
            let end = |share| (at, quantile(&one.rounds, share));
            PathElement::new(vec![end(0.1), end(0.9)], colour)
        }))?;
        let line = points.map(|(at, one)| (at, one.median()));
        let series = LineSeries::new(line, colour.stroke_width(2)).point_size(3);
        let key = move |(x, y)| Circle::new((x + 8, y), 4, colour.filled());
        chart.draw_series(series)?.label(name).legend(key);
    }
    let mut labels = chart.configure_series_labels();
    labels.position(SeriesLabelPosition::UpperRight);
    labels.label_font(letters).draw()?;
    area.present()?;
    drop(chart);
    drop(area);
    Ok(svg)
}

/// Returns an axis that contains all medians.
fn ends(group: &Group) -> Range<f64> {
    let medians = group.iter().flat_map(|one| &one.contestants);
    let medians = medians.map(|one| one.median().max(1e-3));
    let (low, high) = medians.fold((f64::INFINITY, 0.0_f64), |(low, high), one| {
        (low.min(one), high.max(one))
    });
    low / 1.3..high * 1.3
}

/// Formats a number with few digits.
fn digits(value: f64) -> String {
    match value {
        1e6.. => format!("{}M", value / 1e6),
        1e3.. => format!("{}k", value / 1e3),
        _ => format!("{}", (value * 1e4).round() / 1e4),
    }
}
