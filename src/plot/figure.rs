//! Figures: panels one above the other with a common horizontal axis, and their layout.
//!
//! A legend is to the right of its panel, never over a curve.

use super::axis::{Axis, AxisEnds, FittedAxis};
use crate::picture::drawing::{Anchor, Colour, Drawing, Mark, width};

/// Colours that can be distinguished with any colour vision (Okabe and Ito), the darkest first.
pub const COLOURS: [Colour; 11] = [
    [34, 34, 34],
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [140, 86, 75],
    [127, 127, 127],
    [74, 20, 134],
    [165, 0, 240],
];

/// Colours from light to dark in perceptually equal steps for any colour vision (from viridis).
pub const COLOUR_RAMP: [Colour; 5] = [
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
    /// Points (x, y), in units of the axes; a single point is drawn as a dot.
    pub points: Vec<[f64; 2]>,
    /// Colour.
    pub colour: Colour,
    /// Whether the curve is dashed.
    pub dashed: bool,
}

/// A pair of axes with their curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Horizontal axis, if it is not that of the figure.
    pub x: Option<Axis>,
    /// Vertical axis; its range includes 0 unless it is logarithmic.
    pub y: Axis,
    /// Curves; later ones are drawn over earlier ones.
    pub series: Vec<Series>,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Title above the panels.
    pub title: String,
    /// Horizontal axis of all panels that have none of their own.
    pub x: Axis,
    /// Panels from top to bottom.
    pub panels: Vec<Panel>,
}

// Lengths are in points of the drawing.
/// Width of the drawing.
const FIGURE_WIDTH: f64 = 620.0;
/// Total height of the panels and the gaps between them.
const PANELS_HEIGHT: f64 = 330.0;
/// The same if panels have horizontal axes of their own.
const HEIGHT_WITH_OWN_AXES: f64 = 480.0;
const PANEL_GAP: f64 = 16.0;
const MARGIN: f64 = 14.0;
const TITLE_SIZE: f64 = 13.0;
const LABEL_SIZE: f64 = 11.0;
const TICK_LABEL_SIZE: f64 = 10.0;
const TICK_LENGTH: f64 = 4.0;
const SWATCH_WIDTH: f64 = 20.0;
const INK_COLOUR: Colour = [34, 34, 34];
const GRID_COLOUR: Colour = [226, 228, 231];
/// Points nearer than this to the previous point are not drawn.
const MIN_POINT_DISTANCE: f64 = 0.25;

/// Rectangle of a panel, in points of the drawing, and its fitted axes.
struct PanelFrame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: FittedAxis,
    y: FittedAxis,
}

impl PanelFrame {
    fn position(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [
            self.left + self.x.position(x) * (self.right - self.left),
            self.bottom - self.y.position(y) * (self.bottom - self.top),
        ]
    }
}

/// Minimum and maximum of the values; `None` if there are none.
fn min_max(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    values.fold(None, |ends, value| {
        let [low, high] = ends.unwrap_or([value; 2]);
        Some([low.min(value), high.max(value)])
    })
}

impl Figure {
    /// Draws the figure; without points, axes are from 0 to 1.
    pub fn draw(&self) -> Drawing {
        let own_axes = self.panels.iter().any(|panel| panel.x.is_some());
        let foot = TICK_LENGTH + TICK_LABEL_SIZE + 8.0 + LABEL_SIZE + 6.0;
        let (all, gap) = if own_axes {
            (HEIGHT_WITH_OWN_AXES, PANEL_GAP + foot)
        } else {
            (PANELS_HEIGHT, PANEL_GAP)
        };
        let count = self.panels.len() as f64;
        let height = (all - (count - 1.0) * gap) / count;
        let scales: Vec<FittedAxis> = self
            .panels
            .iter()
            .map(|panel| panel.fit_y(height))
            .collect();
        let labels = scales.iter().flat_map(|scale| &scale.ticks);
        let widest = labels.fold(0.0, |w: f64, (_, label)| {
            w.max(width(label, TICK_LABEL_SIZE))
        });
        let names = self.panels.iter().flat_map(|panel| &panel.series);
        let legend_width = names.fold(0.0, |w: f64, series| {
            w.max(width(&series.name, TICK_LABEL_SIZE))
        });
        let left = MARGIN + LABEL_SIZE + 8.0 + widest + TICK_LENGTH + 3.0;
        let right = FIGURE_WIDTH - MARGIN - legend_width - SWATCH_WIDTH - 16.0;
        let head = MARGIN + TITLE_SIZE + 12.0;
        let mut drawing = Drawing {
            width: FIGURE_WIDTH,
            height: head + all + foot + MARGIN,
            marks: Vec::new(),
        };
        drawing.text(
            [left, MARGIN + TITLE_SIZE],
            &self.title,
            TITLE_SIZE,
            Anchor::Start,
            INK_COLOUR,
        );
        for (index, (panel, y)) in self.panels.iter().zip(scales).enumerate() {
            let top = head + index as f64 * (height + gap);
            let frame = PanelFrame {
                left,
                right,
                top,
                bottom: top + height,
                x: self.fit_x(panel),
                y,
            };
            let last = index + 1 == self.panels.len();
            frame.draw_axes(&mut drawing, last || panel.x.is_some());
            panel.draw_curves(&mut drawing, &frame);
            // Successive panels with the same curves share one legend.
            let above = index.checked_sub(1).map(|above| &self.panels[above]);
            if above.is_none_or(|above| !above.same_legend(panel)) {
                panel.draw_legend(&mut drawing, &frame);
            }
        }
        drawing
    }

    /// Fits the horizontal axis of a panel to all panels that share it.
    fn fit_x(&self, panel: &Panel) -> FittedAxis {
        let alike = |other: &&Panel| match panel.x {
            Some(_) => std::ptr::eq(*other, panel),
            None => other.x.is_none(),
        };
        let series = self.panels.iter().filter(alike).flat_map(|p| &p.series);
        let values = series.flat_map(|series| series.points.iter().map(|p| p[0]));
        let axis = panel.x.as_ref().unwrap_or(&self.x);
        let ends = if axis.log {
            AxisEnds::Tick
        } else {
            AxisEnds::Data
        };
        axis.fit(min_max(values).unwrap_or([0.0; 2]), ends, 7.0)
    }
}

impl Panel {
    /// Fits the vertical axis of a panel of the given height.
    fn fit_y(&self, height: f64) -> FittedAxis {
        let up = self.series.iter();
        let up = up.flat_map(|series| series.points.iter().map(|p| p[1]));
        let zero = (!self.y.log).then_some(0.0);
        let found = min_max(up.chain(zero)).unwrap_or([0.0; 2]);
        self.y.fit(found, AxisEnds::Tick, (height / 40.0).max(3.0))
    }

    fn same_legend(&self, other: &Panel) -> bool {
        let entry = |series: &Series| (series.name.clone(), series.colour);
        self.series
            .iter()
            .map(entry)
            .eq(other.series.iter().map(entry))
    }

    fn draw_curves(&self, drawing: &mut Drawing, frame: &PanelFrame) {
        for series in &self.series {
            match series.points.as_slice() {
                [] => {}
                [one] => drawing.marks.push(Mark::Disc {
                    at: frame.position(*one),
                    radius: 3.0,
                    colour: series.colour,
                }),
                points => drawing.marks.push(Mark::Line {
                    points: thinned(points.iter().map(|p| frame.position(*p))),
                    width: 1.6,
                    colour: series.colour,
                    dash: series.dashed.then_some([5.0, 4.0]),
                }),
            }
        }
    }

    fn draw_legend(&self, drawing: &mut Drawing, frame: &PanelFrame) {
        for (row, series) in self.series.iter().enumerate() {
            let y = frame.top + 6.0 + row as f64 * (TICK_LABEL_SIZE + 7.0);
            let x = frame.right + 14.0;
            drawing.marks.push(Mark::Line {
                points: vec![[x, y], [x + SWATCH_WIDTH, y]],
                width: 2.0,
                colour: series.colour,
                dash: series.dashed.then_some([5.0, 4.0]),
            });
            let at = [x + SWATCH_WIDTH + 6.0, y + TICK_LABEL_SIZE * 0.36];
            drawing.text(at, &series.name, TICK_LABEL_SIZE, Anchor::Start, INK_COLOUR);
        }
    }
}

impl PanelFrame {
    /// Draws the grid, ticks, labels and titles; labels and title of the horizontal axis only if `bottom`.
    fn draw_axes(&self, drawing: &mut Drawing, bottom: bool) {
        let x_of = |value: f64| self.position([value, self.y.ends[0]])[0];
        let y_of = |value: f64| self.position([self.x.ends[0], value])[1];
        for (value, label) in &self.y.ticks {
            let y = y_of(*value);
            drawing.straight_line([self.left, y], [self.right, y], 0.6, GRID_COLOUR);
            let at = [self.left - TICK_LENGTH - 3.0, y + TICK_LABEL_SIZE * 0.36];
            drawing.text(at, label, TICK_LABEL_SIZE, Anchor::End, INK_COLOUR);
        }
        for (value, label) in &self.x.ticks {
            let x = x_of(*value);
            drawing.straight_line([x, self.top], [x, self.bottom], 0.6, GRID_COLOUR);
            if bottom {
                let at = [x, self.bottom + TICK_LENGTH + TICK_LABEL_SIZE + 2.0];
                drawing.text(at, label, TICK_LABEL_SIZE, Anchor::Middle, INK_COLOUR);
            }
        }
        let numbered = |ticks: &[(f64, String)]| ticks.iter().map(|t| t.0).collect::<Vec<_>>();
        for (values, long) in [
            (numbered(&self.x.ticks), TICK_LENGTH),
            (self.x.minor_ticks.clone(), 2.2),
        ] {
            for x in values.into_iter().map(x_of) {
                drawing.straight_line([x, self.bottom], [x, self.bottom + long], 0.8, INK_COLOUR);
            }
        }
        for (values, long) in [
            (numbered(&self.y.ticks), TICK_LENGTH),
            (self.y.minor_ticks.clone(), 2.2),
        ] {
            for y in values.into_iter().map(y_of) {
                drawing.straight_line([self.left - long, y], [self.left, y], 0.8, INK_COLOUR);
            }
        }
        let corner = [self.left, self.bottom];
        drawing.straight_line([self.left, self.top], corner, 0.8, INK_COLOUR);
        drawing.straight_line(corner, [self.right, self.bottom], 0.8, INK_COLOUR);
        if bottom {
            let at = [
                (self.left + self.right) / 2.0,
                self.bottom + TICK_LENGTH + TICK_LABEL_SIZE + 10.0 + LABEL_SIZE,
            ];
            drawing.text(at, &self.x.title, LABEL_SIZE, Anchor::Middle, INK_COLOUR);
        }
        drawing.marks.push(Mark::Text {
            at: [MARGIN + LABEL_SIZE, (self.top + self.bottom) / 2.0],
            text: self.y.title.clone(),
            size: LABEL_SIZE,
            anchor: Anchor::Middle,
            upward: true,
            colour: INK_COLOUR,
        });
    }
}

/// Drops points that lie on the previous point, to [`MIN_POINT_DISTANCE`]; keeps the last.
fn thinned(points: impl Iterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let mut kept: Vec<[f64; 2]> = Vec::new();
    let mut skipped = None;
    for point in points {
        let near = kept.last().is_some_and(|k| {
            (k[0] - point[0]).abs().max((k[1] - point[1]).abs()) < MIN_POINT_DISTANCE
        });
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
    use super::super::axis::AxisUnit;
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
            y: axis(name, AxisUnit::Si("J")),
            series: vec![series("one", COLOURS[1]), series("another", COLOURS[2])],
        };
        Figure {
            title: "A test".to_owned(),
            x: axis("time", AxisUnit::Si("s")),
            panels: vec![panel("above"), panel("below")],
        }
    }

    #[test]
    fn everything_is_inside_the_drawing_and_the_legend_beside_the_curves() {
        let drawing = figure(vec![[0.0, -1.0], [0.5, 3.0], [1.0, 2.0]]).draw();
        let inside = |[x, y]: [f64; 2]| {
            (0.0..=drawing.width).contains(&x) && (0.0..=drawing.height).contains(&y)
        };
        let (mut curves_right, mut legend) = (0.0f64, Vec::new());
        for mark in &drawing.marks {
            match mark {
                Mark::Line { points, colour, .. } => {
                    assert!(points.iter().all(|p| inside(*p)), "{mark:?}");
                    if points.len() > 2 {
                        curves_right = points.iter().fold(curves_right, |most, p| most.max(p[0]));
                    } else if *colour != INK_COLOUR && *colour != GRID_COLOUR {
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
        assert!(legend.iter().all(|x| *x > curves_right));
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
            unit: AxisUnit::Count,
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
    fn dense_points_are_thinned_and_the_last_stays() {
        let line = (0..=1000).map(|k| [k as f64 * 0.01, 0.0]);
        let thin = thinned(line);
        assert!(thin.len() < 50, "{}", thin.len());
        assert_eq!(thin.last(), Some(&[10.0, 0.0]));
        let steep = [[0.0, 0.0], [0.0, 50.0], [0.1, 50.0]];
        assert_eq!(thinned(steep.into_iter()), steep);
    }
}
