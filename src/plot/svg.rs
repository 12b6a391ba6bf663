//! Writes a drawing as SVG 1.1, with text as text elements.

use std::fmt::Write;

use crate::picture::drawing::{Anchor, Colour, Drawing, Mark};

/// Sans-serif fonts about as wide as the glyph outlines that the layout is computed with.
const FAMILY: &str = "DejaVu Sans, Verdana, Segoe UI, Helvetica, Arial, sans-serif";

/// Returns the text of the SVG file.
pub fn write(drawing: &Drawing) -> String {
    let mut out = String::new();
    let (width, height) = (number(drawing.width), number(drawing.height));
    line(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"{FAMILY}\">"
        ),
    );
    line(
        &mut out,
        format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"),
    );
    for mark in &drawing.marks {
        line(&mut out, format_args!("{}", element(mark)));
    }
    out.push_str("</svg>\n");
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

fn element(mark: &Mark) -> String {
    match mark {
        Mark::Line {
            points,
            width,
            colour,
            dash,
        } => {
            let points: Vec<String> = points.iter().map(|&[x, y]| pair(x, y)).collect();
            let dash = dash.map_or_else(String::new, |[drawn, gap]| {
                format!(" stroke-dasharray=\"{} {}\"", number(drawn), number(gap))
            });
            format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash}/>",
                points.join(" "),
                hex(*colour),
                number(*width)
            )
        }
        Mark::Disc { at, radius, colour } => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>",
            number(at[0]),
            number(at[1]),
            number(*radius),
            hex(*colour)
        ),
        Mark::Text {
            at: [x, y],
            text,
            size,
            anchor,
            upward,
            colour,
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn = if *upward {
                format!(" transform=\"rotate(-90 {})\"", pair(*x, *y))
            } else {
                String::new()
            };
            format!(
                "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{turn}>{}</text>",
                number(*x),
                number(*y),
                number(*size),
                hex(*colour),
                escape(text)
            )
        }
    }
}

fn pair(x: f64, y: f64) -> String {
    format!("{},{}", number(x), number(y))
}

/// Formats a coordinate to a hundredth of a point, which is finer than any printer.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0" } else { short }.to_owned()
}

fn hex([r, g, b]: Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_elements() {
        let mut drawing = Drawing {
            width: 100.0,
            height: 50.0,
            marks: vec![Mark::Line {
                points: vec![[0.0, 1.0], [2.345_6, -0.001]],
                width: 1.5,
                colour: [0, 114, 178],
                dash: Some([4.0, 2.0]),
            }],
        };
        drawing.text([5.0, 6.0], "a < b & c", 9.0, Anchor::End, [0; 3]);
        let text = write(&drawing);
        let wanted = [
            "viewBox=\"0 0 100 50\"",
            "points=\"0,1 2.35,0\"",
            "stroke=\"#0072b2\" stroke-width=\"1.5\"",
            "stroke-dasharray=\"4 2\"",
            "text-anchor=\"end\" fill=\"#000000\">a &lt; b &amp; c</text>",
        ];
        for part in wanted {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.ends_with("</svg>\n"));
    }
}
