//! The plot: launch times over nodes, both logarithmic, a panel for each shape, as SVG.
//!
//! There is no background and every colour has a middle lightness, so that it can be read on light and on dark
//! pages.

use std::fmt::{Arguments, Write};

use super::{
    protocol::{Case, Quantity},
    results::{Entry, Results, Spread},
};
use aqlipse_bench::shape::Shape;

/// Text, axes and grid.
const GREY: &str = "#7a7a7a";

/// One colour and one mark a contestant: either tells them apart.
const STYLES: [(&str, Mark); 6] = [
    ("#2f81c8", Mark::Disc),
    ("#1d9a78", Mark::Square),
    ("#d9661f", Mark::Triangle),
    ("#b05fc4", Mark::Diamond),
    ("#c9506b", Mark::Disc),
    ("#8f8420", Mark::Square),
];

#[derive(Clone, Copy, Debug)]
enum Mark {
    Disc,
    Square,
    Triangle,
    Diamond,
}

/// Times that are drawn, and the pattern of their lines.
const LINES: [(Quantity, &str, &str); 2] =
    [(Quantity::Call, "none", "call of hipGraphLaunch"), (Quantity::Complete, "6 4", "launch to completion")];

const PANEL: (f64, f64) = (440.0, 320.0);
const COLUMNS: usize = 2;
/// Room above a panel's axes for the name, and below and left of them for numbers; and a little right of them.
const MARGINS: (f64, f64, f64, f64) = (36.0, 44.0, 62.0, 14.0);
/// How far the outermost points are from the ends of the grid.
const INDENT: f64 = 12.0;
const LINE_HEIGHT: f64 = 20.0;
const TITLE_HEIGHT: f64 = 34.0;

type Place = (f64, f64);

/// A logarithmic axis.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// The values at both ends.
    values: (f64, f64),
    /// Where those are.
    at: (f64, f64),
}

impl Axis {
    /// From the decade below the least of `values` to the one above the largest; nothing without values.
    fn decades(values: &[f64]) -> Option<(f64, f64)> {
        let (low, high) = extent(values)?;
        let low = 10f64.powf(low.log10().floor());
        Some((low, 10f64.powf(high.log10().ceil()).max(low * 10.0)))
    }

    fn place(self, value: f64) -> f64 {
        let (low, high) = (self.values.0.log10(), self.values.1.log10());
        let part = if high > low { (value.log10() - low) / (high - low) } else { 0.5 };
        self.at.0 + part * (self.at.1 - self.at.0)
    }
}

fn extent(values: &[f64]) -> Option<(f64, f64)> {
    let fold = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick);
    Some((fold(f64::min)?, fold(f64::max)?))
}

/// Draws what was measured of the graphs among `cases`; nothing if there is nothing.
pub fn svg(results: &Results, cases: &[Case], title: &str) -> Option<String> {
    let mut shapes: Vec<(Shape, Vec<usize>)> = Vec::new();
    let mut times = Vec::new();
    for &case in cases {
        let Case::Graph { shape, nodes } = case else { continue };
        let before = times.len();
        for entry in &results.entries {
            let label = entry.contestant.label;
            let spreads = LINES.iter().filter_map(|line| results.spread(label, case, line.0));
            times.extend(spreads.flat_map(|spread| [spread.low, spread.high]).filter(|&time| time > 0.0));
        }
        if times.len() == before {
            continue;
        }
        match shapes.iter_mut().find(|(known, _)| *known == shape) {
            Some((_, sizes)) => sizes.push(nodes),
            None => shapes.push((shape, vec![nodes])),
        }
    }
    let sizes: Vec<f64> = shapes.iter().flat_map(|(_, sizes)| sizes).map(|&size| size as f64).collect();
    let (times, sizes) = (Axis::decades(&times)?, extent(&sizes)?);

    let shown = results.entries.iter().filter(|entry| results.measured(entry.contestant.label));
    let shown: Vec<_> = shown.collect();
    let legend = TITLE_HEIGHT + PANEL.1 * shapes.len().div_ceil(COLUMNS) as f64;
    let width = PANEL.0 * shapes.len().min(COLUMNS) as f64;
    let height = legend + LINE_HEIGHT * (shown.len() + LINES.len()) as f64 + INDENT;
    let mut drawing = Drawing::new(width, height, title);
    for (at, (shape, sizes_here)) in shapes.iter().enumerate() {
        let left = PANEL.0 * (at % COLUMNS) as f64;
        let top = TITLE_HEIGHT + PANEL.1 * (at / COLUMNS) as f64;
        let margins = MARGINS;
        let x = (left + margins.2 + INDENT, left + PANEL.0 - margins.3 - INDENT);
        let y = (top + PANEL.1 - margins.1, top + margins.0);
        let panel = Panel { x: Axis { values: sizes, at: x }, y: Axis { values: times, at: y } };
        panel.axes(&mut drawing, &shape.title(), sizes_here);
        for (entry, style) in shown.iter().zip(STYLES.iter().cycle()) {
            for (quantity, dashes, _) in LINES {
                let point = |&nodes: &usize| {
                    let case = Case::Graph { shape: *shape, nodes };
                    Some((nodes, results.spread(entry.contestant.label, case, quantity)?))
                };
                let mut points: Vec<_> = sizes_here.iter().filter_map(point).collect();
                points.sort_by_key(|&(nodes, _)| nodes);
                panel.line(&mut drawing, &points, *style, dashes);
            }
        }
    }
    drawing.legend(legend, results, &shown);
    Some(drawing.end())
}

/// The axes of one shape.
#[derive(Clone, Copy, Debug)]
struct Panel {
    x: Axis,
    y: Axis,
}

impl Panel {
    fn axes(&self, drawing: &mut Drawing, title: &str, sizes: &[usize]) {
        let Self { x, y } = self;
        let grid = format!("stroke=\"{GREY}\" stroke-opacity=\"0.35\"");
        let (left, right) = (x.at.0 - INDENT, x.at.1 + INDENT);
        drawing.text((left, y.at.1 - INDENT), "font-weight=\"bold\"", title);
        let mut time = y.values.0;
        while time <= y.values.1 * 1.001 {
            let at = y.place(time);
            drawing.line((left, at), (right, at), &grid);
            drawing.text((left - 6.0, at + 4.5), "text-anchor=\"end\"", &unit(time));
            time *= 10.0;
        }
        for &nodes in sizes {
            let at = x.place(nodes as f64);
            drawing.line((at, y.at.0), (at, y.at.1), &grid);
            drawing.text((at, y.at.0 + 18.0), "text-anchor=\"middle\"", &nodes.to_string());
        }
        drawing.text(((left + right) / 2.0, y.at.0 + 35.0), "text-anchor=\"middle\"", "nodes");
    }

    fn line(&self, drawing: &mut Drawing, points: &[(usize, Spread)], style: (&str, Mark), dashes: &str) {
        let (colour, mark) = style;
        let x = |nodes: usize| self.x.place(nodes as f64);
        if points.len() > 1 {
            let path: Vec<_> =
                points.iter().map(|&(nodes, time)| (x(nodes), self.y.place(time.median))).collect();
            let stroke = format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"");
            drawing.path("polyline", &path, &format!("fill=\"none\" {stroke}"));
        }
        for &(nodes, time) in points {
            let [low, median, high] =
                [time.low, time.median, time.high].map(|time| (x(nodes), self.y.place(time)));
            drawing.line(low, high, &format!("stroke=\"{colour}\" stroke-width=\"1.5\""));
            drawing.mark(median, mark, colour);
        }
    }
}

/// An SVG that grows.
#[derive(Debug)]
struct Drawing {
    text: String,
}

impl Drawing {
    fn new(width: f64, height: f64, title: &str) -> Self {
        let mut drawing = Self { text: String::new() };
        drawing.push(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"{GREY}\">"
        ));
        drawing.push(format_args!("<title>{}</title>", escaped(title)));
        drawing.text((10.0, 22.0), "font-size=\"15\"", title);
        drawing
    }

    fn end(mut self) -> String {
        self.push(format_args!("</svg>"));
        self.text
    }

    fn push(&mut self, element: Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{element}");
    }

    fn text(&mut self, (x, y): Place, attributes: &str, text: &str) {
        self.push(format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escaped(text)));
    }

    fn line(&mut self, (x1, y1): Place, (x2, y2): Place, attributes: &str) {
        let ends = format!("x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"");
        self.push(format_args!("<line {ends} {attributes}/>"));
    }

    /// A polyline or a polygon.
    fn path(&mut self, element: &str, points: &[Place], attributes: &str) {
        let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.push(format_args!("<{element} points=\"{}\" {attributes}/>", points.join(" ")));
    }

    fn mark(&mut self, (x, y): Place, mark: Mark, colour: &str) {
        let fill = format!("fill=\"{colour}\"");
        let corners: &[Place] = match mark {
            Mark::Disc => {
                return self.push(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" {fill}/>"));
            }
            Mark::Square => &[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)],
            Mark::Triangle => &[(0.0, -4.8), (4.6, 3.6), (-4.6, 3.6)],
            Mark::Diamond => &[(0.0, -5.2), (5.2, 0.0), (0.0, 5.2), (-5.2, 0.0)],
        };
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        self.path("polygon", &corners, &fill);
    }

    /// Who has which line, and what the lines are, from `top` down.
    fn legend(&mut self, top: f64, results: &Results, shown: &[&Entry]) {
        let mut y = top + LINE_HEIGHT * 0.7;
        for (entry, &(colour, mark)) in shown.iter().zip(STYLES.iter().cycle()) {
            self.line((16.0, y), (56.0, y), &format!("stroke=\"{colour}\" stroke-width=\"2\""));
            self.mark((36.0, y), mark, colour);
            let version = entry.loaded.as_ref().map_or(String::new(), |loaded| {
                let doubt = if results.as_asked(loaded) { "" } else { ", not as asked: see the table" };
                format!(", version {}{doubt}", loaded.version)
            });
            let who = format!("{}  {}{version}", entry.contestant.label, entry.contestant.name);
            self.text((66.0, y + 4.5), "", &who);
            y += LINE_HEIGHT;
        }
        for (_, dashes, meaning) in LINES {
            let stroke = format!("stroke=\"{GREY}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"");
            self.line((16.0, y), (56.0, y), &stroke);
            self.text((66.0, y + 4.5), "", &format!("{meaning}; bars: lowest and highest process"));
            y += LINE_HEIGHT;
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A power of ten of nanoseconds.
fn unit(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        n if n < 999.0 => (n, "ns"),
        n if n < 999e3 => (n / 1e3, "µs"),
        n if n < 999e6 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    format!("{value:.0} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::against::results;

    const CASES: [Case; 3] = [
        Case::Launches,
        Case::Graph { shape: Shape::Straight, nodes: 16 },
        Case::Graph { shape: Shape::Straight, nodes: 128 },
    ];

    fn plot() -> String {
        svg(&results::tests::fixed(), &CASES, "launch & wait <a>").expect("there are times")
    }

    #[test]
    fn every_element_is_closed_and_every_number_is_one() {
        let plot = plot();
        let mut open = Vec::new();
        for tag in plot.split('<').skip(1) {
            let (tag, _) = tag.split_once('>').expect("a tag ends");
            assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            let name = tag.split([' ', '/']).next().unwrap_or_default();
            match tag.strip_prefix('/') {
                Some(closed) => assert_eq!(open.pop(), Some(closed)),
                None if tag.ends_with('/') => {}
                None => open.push(name),
            }
        }
        assert!(open.is_empty(), "{open:?}");
        assert!(plot.contains("launch &amp; wait &lt;a&gt;"));
    }

    #[test]
    fn a_contestant_has_a_line_for_each_time_and_one_without_times_has_none() {
        let plot = plot();
        assert_eq!(plot.matches("<polyline").count(), 2 * LINES.len(), "{plot}");
        assert!(plot.contains("A  ours, emulated in process") && plot.contains("C  libamdhip64.so.5 on"));
        assert!(!plot.contains("B  ours"));
        assert!(plot.contains(", version 50221153"));
    }

    #[test]
    fn longer_times_are_higher_and_ten_times_as_much_is_as_far_everywhere() {
        let axis = Axis { values: (1e3, 1e6), at: (300.0, 0.0) };
        let places = [1e3, 1e4, 1e5, 1e6].map(|time| axis.place(time).round());
        assert_eq!(places, [300.0, 200.0, 100.0, 0.0]);
        let single = Axis { values: (16.0, 16.0), at: (0.0, 10.0) };
        assert_eq!(single.place(16.0), 5.0);
    }

    #[test]
    fn an_axis_ends_at_whole_decades_and_has_one_at_least() {
        assert_eq!(Axis::decades(&[250.0, 31_000.0]), Some((100.0, 100_000.0)));
        assert_eq!(Axis::decades(&[1000.0]), Some((1000.0, 10_000.0)));
        assert_eq!(Axis::decades(&[]), None);
    }

    #[test]
    fn powers_of_ten_have_units() {
        let labels = [1.0, 100.0, 1e3, 1e5, 1e6, 1e9].map(unit);
        assert_eq!(labels, ["1 ns", "100 ns", "1 µs", "100 µs", "1 ms", "1 s"]);
    }

    #[test]
    fn without_times_there_is_no_plot() {
        assert_eq!(svg(&results::tests::fixed(), &[Case::Launches], "none"), None);
    }
}
