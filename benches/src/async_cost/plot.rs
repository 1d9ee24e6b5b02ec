//! The ratios as bars.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

use super::VARIANTS;

const SIZE: (u32, u32) = (900, 440);
const COLOURS: [RGBColor; 2] = [RGBColor(176, 88, 48), RGBColor(60, 110, 160)];

/// Draws, for each variant, how many times as long as the poll loop it takes: a
/// bar for each of `series`, a name and the ratios in the order of [`VARIANTS`].
///
/// # Errors
///
/// If the file cannot be written.
pub fn draw(path: &Path, series: &[(&str, Vec<f64>)]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let highest = series
        .iter()
        .flat_map(|(_, ratios)| ratios)
        .fold(1.0, |highest: f64, ratio| highest.max(*ratio));
    let count = VARIANTS.len() as f64;
    let mut chart = ChartBuilder::on(&root)
        .caption(
            "times as long as the poll loop, 256 requests",
            ("sans-serif", 18),
        )
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(40)
        .build_cartesian_2d(0.0..count, 0.0..highest * 1.1)?;
    let name = |place: &f64| match VARIANTS.get(*place as usize) {
        Some(variant) if place.fract() == 0.5 => variant.name.to_owned(),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .max_light_lines(0)
        .x_labels(2 * VARIANTS.len() + 1)
        .x_label_formatter(&name)
        .label_style(("sans-serif", 11))
        .draw()?;
    let width = 0.8 / series.len() as f64;
    for (index, ((what, ratios), colour)) in series.iter().zip(COLOURS).enumerate() {
        let bars = ratios.iter().enumerate().map(|(variant, ratio)| {
            let left = variant as f64 + 0.1 + width * index as f64;
            Rectangle::new([(left, 0.0), (left + width, *ratio)], colour.filled())
        });
        chart
            .draw_series(bars)?
            .label(*what)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], colour.filled()));
        chart.draw_series(ratios.iter().enumerate().map(|(variant, ratio)| {
            let middle = variant as f64 + 0.1 + width * (index as f64 + 0.15);
            Text::new(
                format!("{ratio:.2}"),
                (middle, ratio + highest * 0.03),
                ("sans-serif", 11),
            )
        }))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK)
        .draw()?;
    root.present()?;
    Ok(())
}
