//! Figures: panels one above the other with a common axis across, and their layout.
//!
//! A legend stands beside its panel, never over a curve.

use super::axis::{Axis, Ends, Scale};
use crate::picture::drawing::{Anchor, Colour, Drawing, Mark, width};

/// Colours that people with any colour vision tell apart (Okabe and Ito), the dark one first.
pub const COLOURS: [Colour; 9] = [
    [34, 34, 34],
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [140, 86, 75],
    [127, 127, 127],
];

/// A row of colours from light to dark, equal in steps for any colour vision (from viridis).
pub const RAMP: [Colour; 5] = [
    [160, 218, 57],
    [74, 193, 109],
    [31, 161, 135],
    [54, 92, 141],
    [68, 1, 84],
];

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Its points, in units of the axes; a single one becomes a dot.
    pub points: Vec<[f64; 2]>,
    /// Colour.
    pub colour: Colour,
    /// Whether it is dashed.
    pub dashed: bool,
}

/// A pair of axes and what they show.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Axis across where it is not the figure's.
    pub x: Option<Axis>,
    /// Upward axis; with zero unless logarithmic.
    pub y: Axis,
    /// Curves, the first below the others.
    pub series: Vec<Series>,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it shows, above it.
    pub title: String,
    /// Axis across, common to the panels that have none of their own.
    pub x: Axis,
    /// From the top.
    pub panels: Vec<Panel>,
}

const WIDTH: f64 = 620.0;
/// Height of the panels together.
const HEIGHT: f64 = 330.0;
/// The same where each has an axis across of its own.
const APART: f64 = 480.0;
const GAP: f64 = 16.0;
const EDGE: f64 = 14.0;
const TITLE: f64 = 13.0;
const LABEL: f64 = 11.0;
const SMALL: f64 = 10.0;
const TICK: f64 = 4.0;
const SWATCH: f64 = 20.0;
const INK: Colour = [34, 34, 34];
const GRID: Colour = [226, 228, 231];
/// Points nearer than this to the one before are not drawn.
const FINEST: f64 = 0.25;

/// Where a panel lies.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Scale,
    y: Scale,
}

impl Frame {
    fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [
            self.left + self.x.place(x) * (self.right - self.left),
            self.bottom - self.y.place(y) * (self.bottom - self.top),
        ]
    }
}

/// Least and greatest of all numbers.
fn range(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    values.fold(None, |range, value| {
        let [low, high] = range.unwrap_or([value; 2]);
        Some([low.min(value), high.max(value)])
    })
}

impl Figure {
    /// The figure drawn; what has no points has axes from 0 to 1.
    pub fn draw(&self) -> Drawing {
        let own = self.panels.iter().any(|panel| panel.x.is_some());
        let foot = TICK + SMALL + 8.0 + LABEL + 6.0;
        let (all, gap) = if own {
            (APART, GAP + foot)
        } else {
            (HEIGHT, GAP)
        };
        let count = self.panels.len() as f64;
        let height = (all - (count - 1.0) * gap) / count;
        let scales: Vec<Scale> = self.panels.iter().map(|panel| panel.fit(height)).collect();
        let labels = scales.iter().flat_map(|scale| &scale.ticks);
        let widest = labels.fold(0.0, |w: f64, (_, label)| w.max(width(label, SMALL)));
        let names = self.panels.iter().flat_map(|panel| &panel.series);
        let legend = names.fold(0.0, |w: f64, series| w.max(width(&series.name, SMALL)));
        let left = EDGE + LABEL + 8.0 + widest + TICK + 3.0;
        let right = WIDTH - EDGE - legend - SWATCH - 16.0;
        let head = EDGE + TITLE + 12.0;
        let mut drawing = Drawing {
            width: WIDTH,
            height: head + all + foot + EDGE,
            marks: Vec::new(),
        };
        drawing.text([left, EDGE + TITLE], &self.title, TITLE, Anchor::Start, INK);
        for (place, (panel, y)) in self.panels.iter().zip(scales).enumerate() {
            let top = head + place as f64 * (height + gap);
            let frame = Frame {
                left,
                right,
                top,
                bottom: top + height,
                x: self.across(panel),
                y,
            };
            let last = place + 1 == self.panels.len();
            frame.axes(&mut drawing, last || panel.x.is_some());
            panel.curves(&mut drawing, &frame);
            // Panels of the same curves need one legend.
            let above = place.checked_sub(1).map(|above| &self.panels[above]);
            if above.is_none_or(|above| !above.same_legend(panel)) {
                panel.legend(&mut drawing, &frame);
            }
        }
        drawing
    }

    /// The axis across of a panel.
    fn across(&self, panel: &Panel) -> Scale {
        let alike = |other: &&Panel| match panel.x {
            Some(_) => std::ptr::eq(*other, panel),
            None => other.x.is_none(),
        };
        let series = self.panels.iter().filter(alike).flat_map(|p| &p.series);
        let values = series.flat_map(|series| series.points.iter().map(|p| p[0]));
        let axis = panel.x.as_ref().unwrap_or(&self.x);
        let ends = if axis.log { Ends::Tick } else { Ends::Data };
        axis.fit(range(values).unwrap_or([0.0; 2]), ends, 7.0)
    }
}

impl Panel {
    fn fit(&self, height: f64) -> Scale {
        let up = self.series.iter();
        let up = up.flat_map(|series| series.points.iter().map(|p| p[1]));
        let zero = (!self.y.log).then_some(0.0);
        let found = range(up.chain(zero)).unwrap_or([0.0; 2]);
        self.y.fit(found, Ends::Tick, (height / 40.0).max(3.0))
    }

    fn same_legend(&self, other: &Panel) -> bool {
        let entry = |series: &Series| (series.name.clone(), series.colour);
        self.series
            .iter()
            .map(entry)
            .eq(other.series.iter().map(entry))
    }

    fn curves(&self, drawing: &mut Drawing, frame: &Frame) {
        for series in &self.series {
            match series.points.as_slice() {
                [] => {}
                [one] => drawing.marks.push(Mark::Disc {
                    at: frame.place(*one),
                    radius: 3.0,
                    colour: series.colour,
                }),
                points => drawing.marks.push(Mark::Line {
                    points: thinned(points.iter().map(|p| frame.place(*p))),
                    width: 1.6,
                    colour: series.colour,
                    dash: series.dashed.then_some([5.0, 4.0]),
                }),
            }
        }
    }

    fn legend(&self, drawing: &mut Drawing, frame: &Frame) {
        for (row, series) in self.series.iter().enumerate() {
            let y = frame.top + 6.0 + row as f64 * (SMALL + 7.0);
            let x = frame.right + 14.0;
            drawing.marks.push(Mark::Line {
                points: vec![[x, y], [x + SWATCH, y]],
                width: 2.0,
                colour: series.colour,
                dash: series.dashed.then_some([5.0, 4.0]),
            });
            let at = [x + SWATCH + 6.0, y + SMALL * 0.36];
            drawing.text(at, &series.name, SMALL, Anchor::Start, INK);
        }
    }
}

impl Frame {
    /// Grid, ticks, numbers and names; those of the axis across only where `bottom` says so.
    fn axes(&self, drawing: &mut Drawing, bottom: bool) {
        let across = |value: f64| self.place([value, self.y.ends[0]])[0];
        let up = |value: f64| self.place([self.x.ends[0], value])[1];
        for (value, label) in &self.y.ticks {
            let y = up(*value);
            drawing.straight_line([self.left, y], [self.right, y], 0.6, GRID);
            let at = [self.left - TICK - 3.0, y + SMALL * 0.36];
            drawing.text(at, label, SMALL, Anchor::End, INK);
        }
        for (value, label) in &self.x.ticks {
            let x = across(*value);
            drawing.straight_line([x, self.top], [x, self.bottom], 0.6, GRID);
            if bottom {
                let at = [x, self.bottom + TICK + SMALL + 2.0];
                drawing.text(at, label, SMALL, Anchor::Middle, INK);
            }
        }
        let numbered = |ticks: &[(f64, String)]| ticks.iter().map(|t| t.0).collect::<Vec<_>>();
        for (values, long) in [(numbered(&self.x.ticks), TICK), (self.x.small.clone(), 2.2)] {
            for x in values.into_iter().map(across) {
                drawing.straight_line([x, self.bottom], [x, self.bottom + long], 0.8, INK);
            }
        }
        for (values, long) in [(numbered(&self.y.ticks), TICK), (self.y.small.clone(), 2.2)] {
            for y in values.into_iter().map(up) {
                drawing.straight_line([self.left - long, y], [self.left, y], 0.8, INK);
            }
        }
        let corner = [self.left, self.bottom];
        drawing.straight_line([self.left, self.top], corner, 0.8, INK);
        drawing.straight_line(corner, [self.right, self.bottom], 0.8, INK);
        if bottom {
            let at = [
                (self.left + self.right) / 2.0,
                self.bottom + TICK + SMALL + 10.0 + LABEL,
            ];
            drawing.text(at, &self.x.title, LABEL, Anchor::Middle, INK);
        }
        drawing.marks.push(Mark::Text {
            at: [EDGE + LABEL, (self.top + self.bottom) / 2.0],
            text: self.y.title.clone(),
            size: LABEL,
            anchor: Anchor::Middle,
            upward: true,
            colour: INK,
        });
    }
}

/// Points without those that would lie on the one before; the last stays.
fn thinned(points: impl Iterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let mut kept: Vec<[f64; 2]> = Vec::new();
    let mut skipped = None;
    for point in points {
        let near = kept
            .last()
            .is_some_and(|k| (k[0] - point[0]).abs().max((k[1] - point[1]).abs()) < FINEST);
        if near {
            skipped = Some(point);
        } else {
            kept.push(point);
            skipped = None;
        }
    }
    kept.extend(skipped);
    kept
}

#[cfg(test)]
mod tests {
    use super::super::axis::Unit;
    use super::*;

    fn figure(points: Vec<[f64; 2]>) -> Figure {
        let axis = |name, unit| Axis {
            name,
            unit,
            log: false,
        };
        let series = |name: &str, colour| Series {
            name: name.to_owned(),
            points: points.clone(),
            colour,
            dashed: false,
        };
        let panel = |name| Panel {
            x: None,
            y: axis(name, Unit::Si("J")),
            series: vec![series("one", COLOURS[1]), series("another", COLOURS[2])],
        };
        Figure {
            title: "A test".to_owned(),
            x: axis("time", Unit::Si("s")),
            panels: vec![panel("above"), panel("below")],
        }
    }

    #[test]
    fn nothing_lies_outside_the_drawing_and_the_legend_beside_the_curves() {
        let drawing = figure(vec![[0.0, -1.0], [0.5, 3.0], [1.0, 2.0]]).draw();
        let inside = |[x, y]: [f64; 2]| {
            (0.0..=drawing.width).contains(&x) && (0.0..=drawing.height).contains(&y)
        };
        let (mut curves, mut legend) = (0.0f64, Vec::new());
        for mark in &drawing.marks {
            match mark {
                Mark::Line { points, colour, .. } => {
                    assert!(points.iter().all(|p| inside(*p)), "{mark:?}");
                    if points.len() > 2 {
                        curves = points.iter().fold(curves, |most, p| most.max(p[0]));
                    } else if *colour != INK && *colour != GRID {
                        legend.push(points[0][0]);
                    }
                }
                Mark::Text { at, text, size, .. } if text == "another" => {
                    assert!(at[0] + width(text, *size) <= drawing.width, "{mark:?}");
                }
                Mark::Text { at, .. } | Mark::Disc { at, .. } => assert!(inside(*at), "{mark:?}"),
            }
        }
        assert_eq!(legend.len(), 2, "one legend for panels of the same curves");
        assert!(legend.iter().all(|x| *x > curves));
    }

    #[test]
    fn a_panel_may_have_an_axis_of_its_own() {
        let mut figure = figure(vec![[0.5, -1.0], [1.0, 2.0]]);
        let words = |figure: &Figure| {
            let marks = figure.draw().marks.into_iter();
            let texts = marks.filter_map(|mark| match mark {
                Mark::Text { text, at, .. } => Some((text, at)),
                _ => None,
            });
            texts.collect::<Vec<_>>()
        };
        let titles = |words: &[(String, [f64; 2])]| {
            let titles = words.iter().filter(|(text, _)| text.starts_with("time"));
            titles.map(|(_, at)| at[1]).collect::<Vec<_>>()
        };
        assert_eq!(titles(&words(&figure)).len(), 1);
        figure.panels[0].x = Some(Axis {
            name: "times",
            unit: Unit::Count,
            log: true,
        });
        let apart = words(&figure);
        let [first, second] = titles(&apart)[..] else {
            panic!("an axis each");
        };
        assert!(first < second && apart.iter().any(|(text, _)| text == "times"));
    }

    #[test]
    fn a_single_point_is_a_dot_and_no_point_is_no_curve() {
        let marks = |points| figure(points).draw().marks;
        let dots = |marks: &[Mark]| {
            let dots = marks
                .iter()
                .filter(|mark| matches!(mark, Mark::Disc { .. }));
            dots.count()
        };
        assert_eq!(dots(&marks(vec![[0.0, 2.0]])), 4);
        assert_eq!(dots(&marks(vec![])), 0);
    }

    #[test]
    fn crowded_points_are_thinned_and_the_last_stays() {
        let line = (0..=1000).map(|k| [k as f64 * 0.01, 0.0]);
        let thin = thinned(line);
        assert!(thin.len() < 50, "{}", thin.len());
        assert_eq!(thin.last(), Some(&[10.0, 0.0]));
        let steep = [[0.0, 0.0], [0.0, 50.0], [0.1, 50.0]];
        assert_eq!(thinned(steep.into_iter()), steep);
    }
}
