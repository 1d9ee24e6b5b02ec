//! The plots, as SVG in colours that the page, or a style of their own, replaces
//! by those of a light or a dark ground.

mod axis;

use std::error::Error;

use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;

use crate::record::{Comparison, PEER};
use crate::stats::{Interval, quantile};

use super::{Group, Standing};
use axis::{Axis, Names};

/// As wide as a phone shows without making letters smaller.
const WIDTH: u32 = 420;
const HEIGHT: u32 = 300;
/// What stands for the colour of letters and axes.
const INK: RGBColor = RGBColor(1, 1, 1);
/// What stands for the colour of lines behind.
const GRID: RGBColor = RGBColor(2, 2, 2);
const RADDLE: RGBColor = RGBColor(0, 114, 178);
const TOKIO: RGBColor = RGBColor(213, 94, 0);
const LEVEL: RGBColor = RGBColor(136, 136, 136);
/// The others, in the order in which they come. Apart for every kind of sight.
const OTHERS: [RGBColor; 9] = [
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(136, 136, 136),
    RGBColor(120, 94, 240),
    RGBColor(170, 170, 60),
    RGBColor(140, 86, 75),
    RGBColor(23, 170, 190),
];
const LETTER: f64 = 6.2;
const LINE: i32 = 16;

type Drawn = Result<(), Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The style of a picture by itself, for light and dark backgrounds.
const STYLE: &str = "<style>svg{background:#fff}[fill=\"#010101\"]{fill:#222}[stroke=\"#010101\"]{stroke:#222}\
    [stroke=\"#020202\"]{stroke:#ccc}@media(prefers-color-scheme:dark){svg{background:#16181d}\
    [fill=\"#010101\"]{fill:#ddd}[stroke=\"#010101\"]{stroke:#ddd}[stroke=\"#020202\"]{stroke:#444}}</style>";

/// The medians of each contestant against what was varied, with a line at each
/// from the 10th to the 90th percentile of its rounds.
pub(super) fn curve(group: &Group) -> String {
    let first = group.first();
    let varied = first.parameter.as_ref().map_or("", |one| one.name.as_str());
    let label = format!(
        "{}: {}, {}, by {varied}",
        first.title, first.figure, first.unit
    );
    draw(HEIGHT, &label, |area| draw_curve(area, group, &label))
}

/// How many times as good Raddle is, a row for each comparison.
pub(super) fn forest(label: &str, rows: &[(String, Interval)]) -> String {
    let height = 50 + 18 * rows.len() as u32;
    draw(height, label, |area| draw_forest(area, rows))
}

/// Plots of the usual size in one, two in a row.
pub(super) fn grid(plots: &[String]) -> String {
    let rows = plots.len().div_ceil(2) as u32;
    let (width, height) = (2 * WIDTH, rows * HEIGHT);
    let mut svg = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n"
    );
    for (place, plot) in (0..).zip(plots) {
        let (x, y) = (place % 2 * WIDTH, place / 2 * HEIGHT);
        svg += &plot.replacen("<svg ", &format!("<svg x=\"{x}\" y=\"{y}\" "), 1);
    }
    svg + "</svg>\n"
}

/// The plot with a style of its own, for a page that has none.
pub(super) fn alone(plot: &str) -> String {
    match plot.find('>') {
        None => plot.to_owned(),
        Some(end) => format!("{}{STYLE}{}", &plot[..=end], &plot[end + 1..]),
    }
}

fn draw(height: u32, label: &str, body: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        // Writing to a string fails only where the numbers make no picture.
        if let Err(error) = body(&area).and_then(|()| Ok(area.present()?)) {
            return format!(
                "<p class=\"error\">{}: no plot: {error}</p>",
                escaped(label)
            );
        }
    }
    let label = escaped(label);
    svg.replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{label}\" "),
        1,
    )
}

/// Text within HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn draw_curve(area: &Area<'_>, group: &Group, label: &str) -> Drawn {
    let names: Vec<&str> = group
        .first()
        .contestants
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    let top = legend(area, label, &names)?;
    let (_, area) = area.split_vertically(top);
    let values = || {
        group
            .0
            .iter()
            .flat_map(|one| &one.contestants)
            .map(|one| one.median())
    };
    let axis = Axis::over(values());
    let varied = |one: &Comparison| {
        let parameter = one.parameter.as_ref()?;
        Some(match parameter.name.as_str() {
            "percentile" => parameter.to_string(),
            _ => parameter.short(),
        })
    };
    let under = group.0.iter().map(|one| varied(one).unwrap_or_default());
    let mut chart = ChartBuilder::on(&area)
        .margin(8)
        .margin_right(14)
        .x_label_area_size(22)
        .y_label_area_size(44)
        .build_cartesian_2d(Names(under.collect()), axis)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style(letters())
        .draw()?;
    for (place, name) in names.iter().enumerate().rev() {
        let colour = colour(name, place);
        let width = if place == 0 { 3 } else { 2 };
        let points: Vec<_> = group
            .0
            .iter()
            .enumerate()
            .filter_map(|(at, one)| Some((at, one.contestant(name)?)))
            .collect();
        chart.draw_series(points.iter().map(|(at, one)| {
            let end = |share| (*at as f64, quantile(&one.rounds, share));
            PathElement::new(vec![end(0.1), end(0.9)], colour.stroke_width(1))
        }))?;
        let line: Vec<_> = points
            .iter()
            .map(|(at, one)| (*at as f64, one.median()))
            .collect();
        chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(width)))?;
        chart.draw_series(
            line.iter()
                .map(|point| Circle::new(*point, 3, colour.filled())),
        )?;
    }
    Ok(())
}

/// The title and the names, with their colours. Returns how high they are.
fn legend(area: &Area<'_>, label: &str, names: &[&str]) -> Result<i32, Box<dyn Error>> {
    let mut y = 6;
    for line in wrapped(label) {
        area.draw(&Text::new(line, (8, y), letters()))?;
        y += LINE;
    }
    let mut x = 8;
    y += 3;
    for (place, name) in names.iter().enumerate() {
        let width = 18 + (name.len() as f64 * LETTER) as i32 + 12;
        if x + width > WIDTH as i32 && x > 8 {
            x = 8;
            y += LINE;
        }
        area.draw(&Circle::new(
            (x + 5, y + 5),
            4,
            colour(name, place).filled(),
        ))?;
        area.draw(&Text::new((*name).to_owned(), (x + 14, y), letters()))?;
        x += width;
    }
    Ok(y + LINE)
}

/// Lines as wide as the plot.
fn wrapped(text: &str) -> Vec<String> {
    let room = (f64::from(WIDTH) / LETTER) as usize - 3;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + word.len() < room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn draw_forest(area: &Area<'_>, rows: &[(String, Interval)]) -> Drawn {
    let ends = rows.iter().flat_map(|(_, lead)| [lead.low, lead.high]);
    let axis = Axis::of_ratios(ends);
    // The first row is on top.
    let rows: Vec<_> = rows.iter().rev().collect();
    let names = Names(rows.iter().map(|(name, _)| shortened(name)).collect());
    let ends = names.range();
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .margin_right(14)
        .x_label_area_size(22)
        .y_label_area_size(200)
        .build_cartesian_2d(axis, names)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style(letters())
        .y_labels(rows.len())
        .draw()?;
    let even = vec![(1.0, ends.start), (1.0, ends.end)];
    chart.draw_series([PathElement::new(even, INK.stroke_width(2))])?;
    for (place, (_, lead)) in rows.iter().enumerate() {
        let place = place as f64;
        let colour = match Standing::of(*lead) {
            Standing::Ahead => RADDLE,
            Standing::Level => LEVEL,
            Standing::Behind => TOKIO,
        };
        let ends = vec![(lead.low, place), (lead.high, place)];
        chart.draw_series([PathElement::new(ends, colour.stroke_width(2))])?;
        chart.draw_series([Circle::new((lead.median, place), 4, colour.filled())])?;
    }
    Ok(())
}

fn shortened(name: &str) -> String {
    let room = 30;
    if name.chars().count() <= room {
        return name.to_owned();
    }
    let start: String = name.chars().take(room - 1).collect();
    start + "…"
}

fn letters() -> TextStyle<'static> {
    ("sans-serif", 14).into_font().color(&INK)
}

fn colour(name: &str, place: usize) -> RGBColor {
    match (name, place) {
        (PEER, _) => TOKIO,
        (_, 0) => RADDLE,
        (_, place) => OTHERS[(place - 1) % OTHERS.len()],
    }
}

#[cfg(test)]
mod tests;
