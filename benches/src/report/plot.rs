//! The plots, as SVG. The page, or a style in the picture, replaces their colours for a light or a
//! dark background.

use std::error::Error;
use std::ops::Range;

use plotters::chart::MeshStyle;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::{Group, Standing};
use crate::record::{Comparison, PEER};
use crate::stats::{Interval, quantile};

/// The width of a phone screen, on which letters are then not scaled down.
const WIDTH: u32 = 420;
const HEIGHT: u32 = 300;

/// A placeholder for the colour of letters and axes.
const INK: RGBColor = RGBColor(1, 1, 1);

/// A placeholder for the colour of grid lines.
const GRID: RGBColor = RGBColor(2, 2, 2);

const RADDLE: RGBColor = RGBColor(0, 114, 178);
const TOKIO: RGBColor = RGBColor(213, 94, 0);
const LEVEL: RGBColor = RGBColor(136, 136, 136);

/// The colours of the other contestants, in order. They can be distinguished with every kind of
/// colour vision.
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

/// The average width of a letter, and the height of a line.
const LETTER: f64 = 6.2;
const LINE: i32 = 16;

/// The largest ratio of values on a linear axis.
const MAX_LINEAR: f64 = 15.0;

type Drawn = Result<(), Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The style of a stand-alone picture, for light and dark backgrounds.
const STYLE: &str = "<style>svg{background:#fff}[fill=\"#010101\"]{fill:#222}[stroke=\"#010101\"]{stroke:#222}\
    [stroke=\"#020202\"]{stroke:#ccc}@media(prefers-color-scheme:dark){svg{background:#16181d}\
    [fill=\"#010101\"]{fill:#ddd}[stroke=\"#010101\"]{stroke:#ddd}[stroke=\"#020202\"]{stroke:#444}}</style>";

/// Draws for each group the medians of each contestant against the varied parameter. A line at each
/// median reaches from the 10th to the 90th percentile of the rounds. Two plots form a row.
pub(super) fn curves(groups: &[&Group]) -> String {
    let (columns, rows) = (groups.len().min(2), groups.len().div_ceil(2));
    let size = (columns as u32 * WIDTH, rows as u32 * HEIGHT);
    let labels: Vec<_> = groups.iter().map(|group| group.label()).collect();
    draw(size, &labels.join("; "), |area| {
        let areas = area.split_evenly((rows, columns));
        let mut plots = areas.iter().zip(groups).zip(&labels);
        plots.try_for_each(|((area, group), label)| draw_curve(area, group, label))
    })
}

/// Draws how many times as good Raddle is, with a row for each comparison.
pub(super) fn forest(label: &str, rows: &[(String, Interval)]) -> String {
    let height = 50 + 18 * rows.len() as u32;
    draw((WIDTH, height), label, |area| draw_forest(area, rows))
}

/// Adds a style to the plot, for a page that has none.
pub(super) fn alone(plot: &str) -> String {
    plot.replacen('>', &format!(">{STYLE}"), 1)
}

fn draw(size: (u32, u32), label: &str, body: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    let (mut svg, label) = (String::new(), escaped(label));
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    // Writing to a string fails only if the numbers cannot be drawn.
    let drawn = body(&area).and_then(|()| Ok(area.present()?));
    drop(area);
    match drawn {
        Ok(()) => {
            let named = format!("<svg role=\"img\" aria-label=\"{label}\"");
            svg.replacen("<svg", &named, 1)
        }
        Err(error) => format!("<p class=\"error\">{label}: no plot: {error}</p>"),
    }
}

/// Escapes text for HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// An axis from zero or, if the values span a wide range, a logarithmic axis.
struct Scale {
    ends: Range<f64>,
    is_log: bool,
}

impl Scale {
    fn over(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values);
        match low > 0.0 && high / low > MAX_LINEAR {
            is_log @ true => Self {
                ends: low / 1.3..high * 1.3,
                is_log,
            },
            is_log => Self {
                ends: 0.0..high * 1.1,
                is_log,
            },
        }
    }

    /// Makes a logarithmic axis that contains 1.
    fn of_ratios(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values);
        Self {
            ends: low.min(0.9) / 1.1..high.max(1.1) * 1.1,
            is_log: true,
        }
    }

    /// Returns the place of a value on the linear axis of plotters.
    fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.ends.start, self.ends.end);
        if self.is_log { value.ln() } else { value }
    }

    fn axis(&self) -> Axis {
        let ticks = self.ticks().into_iter();
        Axis {
            ends: self.at(self.ends.start)..self.at(self.ends.end),
            ticks: ticks.map(|tick| (self.at(tick), digits(tick))).collect(),
        }
    }

    fn ticks(&self) -> Vec<f64> {
        let powers = (-9..12).map(|power| 10_f64.powi(power));
        let round = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|part| part * power));
        if self.is_log {
            let is_narrow = self.ends.end / self.ends.start < 300.0;
            let round = round.step_by(if is_narrow { 1 } else { 3 });
            return round.filter(|tick| self.ends.contains(tick)).collect();
        }
        let step = round.clone().find(|step| *step >= self.ends.end / 5.0);
        let ticks = (0..=5).map(|place| f64::from(place) * step.unwrap_or(1.0));
        ticks.filter(|tick| *tick <= self.ends.end).collect()
    }
}

/// Formats a number with few digits.
fn digits(value: f64) -> String {
    let (value, unit) = match value {
        1e6.. => (value / 1e6, "M"),
        1e3.. => (value / 1e3, "k"),
        _ => (value, ""),
    };
    // This avoids the rounding errors of a multiplication.
    format!("{}{unit}", (value * 1e4).round() / 1e4)
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, 0.0_f64);
    let (low, high) = values.fold(start, |(low, high), one| (low.min(one), high.max(one)));
    // Without values an empty picture is drawn.
    if high > 0.0 { (low, high) } else { (1.0, 1.0) }
}

/// A linear axis with given labels.
struct Axis {
    ends: Range<f64>,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Makes an axis of equally spaced names, numbered from 0.
    fn names(names: impl ExactSizeIterator<Item = String>) -> Self {
        Self {
            ends: -0.5..names.len() as f64 - 0.5,
            ticks: (0..).map(f64::from).zip(names).collect(),
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.ends.clone()).map(value, limit)
    }

    fn key_points<H: KeyPointHint>(&self, _: H) -> Vec<f64> {
        self.ticks.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.ends.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(at, _)| at == value);
        tick.map_or_else(String::new, |(_, label)| label.clone())
    }
}

impl Group {
    fn label(&self) -> String {
        let first = self.first();
        let varied = first.parameter.as_ref().map_or("", |one| one.name.as_str());
        format!(
            "{}: {}, {}, by {varied}",
            first.title, first.figure, first.unit
        )
    }
}

fn draw_curve(area: &Area<'_>, Group(group): &Group, label: &str) -> Drawn {
    let contestants = group[0].contestants.iter();
    let contestants: Vec<&str> = contestants.map(|one| one.name.as_str()).collect();
    let (_, area) = area.split_vertically(legend(area, label, &contestants)?);
    let all = group.iter().flat_map(|one| &one.contestants);
    let scale = Scale::over(all.map(|one| one.median()));
    let varied = |one: &Comparison| match &one.parameter {
        Some(parameter) if parameter.name == "percentile" => parameter.to_string(),
        Some(parameter) => parameter.short(),
        None => String::new(),
    };
    let mut chart = ChartBuilder::on(&area)
        .margin(8)
        .margin_right(14)
        .x_label_area_size(22)
        .y_label_area_size(44)
        .build_cartesian_2d(Axis::names(group.iter().map(varied)), scale.axis())?;
    draw_mesh(chart.configure_mesh().disable_x_mesh())?;
    for (place, name) in contestants.iter().enumerate().rev() {
        let colour = colour(name, place);
        let points = (0..).zip(group).filter_map(|(at, one)| {
            let contestant = one.contestant(name)?;
            Some((f64::from(at), contestant))
        });
        chart.draw_series(points.clone().map(|(at, one)| {
            let end = |share| (at, scale.at(quantile(&one.rounds, share)));
            PathElement::new(vec![end(0.1), end(0.9)], colour)
        }))?;
        let line = points.map(|(at, one)| (at, scale.at(one.median())));
        let style = colour.stroke_width(if place == 0 { 3 } else { 2 });
        chart.draw_series(LineSeries::new(line.clone(), style))?;
        chart.draw_series(line.map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    Ok(())
}

/// Draws the title and the names in their colours. Returns their height.
fn legend(area: &Area<'_>, label: &str, names: &[&str]) -> Result<i32, Box<dyn Error>> {
    let width = |text: &str| (text.len() as f64 * LETTER) as i32;
    let (mut x, mut y) = (8, 6);
    let mut lines: Vec<String> = Vec::new();
    for word in label.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + width(word) < WIDTH as i32 - 20 => {
                *line += &format!(" {word}")
            }
            _ => lines.push(word.to_owned()),
        }
    }
    for line in lines {
        area.draw(&Text::new(line, (x, y), letters()))?;
        y += LINE;
    }
    y += 3;
    for (place, name) in names.iter().enumerate() {
        if x + width(name) + 30 > WIDTH as i32 && x > 8 {
            (x, y) = (8, y + LINE);
        }
        let colour = colour(name, place);
        area.draw(&Circle::new((x + 5, y + 5), 4, colour.filled()))?;
        area.draw(&Text::new((*name).to_owned(), (x + 14, y), letters()))?;
        x += width(name) + 30;
    }
    Ok(y + LINE)
}

fn draw_forest(area: &Area<'_>, rows: &[(String, Interval)]) -> Drawn {
    let scale = Scale::of_ratios(rows.iter().flat_map(|(_, lead)| [lead.low, lead.high]));
    // The first row is on top.
    let rows: Vec<_> = rows.iter().rev().collect();
    let names = Axis::names(rows.iter().map(|(name, _)| shortened(name)));
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .margin_right(14)
        .x_label_area_size(22)
        .y_label_area_size(200)
        .build_cartesian_2d(scale.axis(), names)?;
    draw_mesh(chart.configure_mesh().disable_y_mesh())?;
    let line = |from, to, at| vec![(scale.at(from), at), (scale.at(to), at)];
    let even = [-0.5, rows.len() as f64 - 0.5].map(|at| (scale.at(1.0), at));
    chart.draw_series([PathElement::new(even.to_vec(), INK.stroke_width(2))])?;
    for (place, (_, lead)) in (0..).zip(&rows) {
        let place = f64::from(place);
        let colour = match Standing::of(*lead) {
            Standing::Ahead => RADDLE,
            Standing::Level => LEVEL,
            Standing::Behind => TOKIO,
        };
        let line = line(lead.low, lead.high, place);
        chart.draw_series([PathElement::new(line, colour.stroke_width(2))])?;
        let median = (scale.at(lead.median), place);
        chart.draw_series([Circle::new(median, 4, colour.filled())])?;
    }
    Ok(())
}

/// Draws the axes, their labels and the lines of the grid.
fn draw_mesh(mesh: &mut MeshStyle<'_, '_, Axis, Axis, SVGBackend<'_>>) -> Drawn {
    mesh.bold_line_style(GRID).light_line_style(TRANSPARENT);
    mesh.axis_style(INK).label_style(letters());
    Ok(mesh.draw()?)
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
