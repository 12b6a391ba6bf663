//! Letters as outlines, so that pictures look the same on every machine.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Units an em in the table.
const EM: f64 = 2048.0;

/// One line a character; its licence stands at its head.
const TABLE: &str = include_str!("glyphs.txt");

/// Small raised figures are made of the large ones.
const RAISED: [(char, char); 11] = [
    ('⁰', '0'),
    ('¹', '1'),
    ('²', '2'),
    ('³', '3'),
    ('⁴', '4'),
    ('⁵', '5'),
    ('⁶', '6'),
    ('⁷', '7'),
    ('⁸', '8'),
    ('⁹', '9'),
    ('⁻', '−'),
];
/// Their size, and how far above the base line they stand in em.
const RAISED_SIZE: f64 = 0.65;
const RAISED_BY: f64 = 0.36;

struct Glyph {
    advance: f64,
    /// Closed outlines, em, y up.
    outlines: Vec<Vec<[f64; 2]>>,
}

static GLYPHS: LazyLock<BTreeMap<char, Glyph>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(parse).collect()
});

/// Pieces that a curve is cut into.
const PIECES: usize = 6;

fn parse(line: &str) -> Option<(char, Glyph)> {
    let mut words = line.splitn(3, ' ');
    let letter = char::from_u32(u32::from_str_radix(words.next()?, 16).ok()?)?;
    let advance = words.next()?.parse::<f64>().ok()? / EM;
    let mut outlines: Vec<Vec<[f64; 2]>> = Vec::new();
    let commands = words.next().unwrap_or_default();
    let starts = commands.match_indices(['M', 'L', 'Q']).map(|(at, _)| at);
    let starts: Vec<usize> = starts.chain([commands.len()]).collect();
    for span in starts.windows(2) {
        let (kind, rest) = commands[span[0]..span[1]].split_at(1);
        let numbers = rest.split(' ').map(|word| word.parse::<f64>());
        let numbers: Vec<f64> = numbers.collect::<Result<_, _>>().ok()?;
        let numbers: Vec<f64> = numbers.iter().map(|number| number / EM).collect();
        match (kind, numbers.as_slice()) {
            ("M", &[x, y]) => outlines.push(vec![[x, y]]),
            ("L", &[x, y]) => outlines.last_mut()?.push([x, y]),
            ("Q", &[cx, cy, x, y]) => {
                let outline = outlines.last_mut()?;
                let &[px, py] = outline.last()?;
                for piece in 1..=PIECES {
                    let t = piece as f64 / PIECES as f64;
                    let (a, b, c) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
                    outline.push([a * px + b * cx + c * x, a * py + b * cy + c * y]);
                }
            }
            _ => return None,
        }
    }
    Some((letter, Glyph { advance, outlines }))
}

/// The glyph of a letter, its size and its height above the base line; a letter that is not there shows as a
/// question mark.
fn glyph(letter: char) -> Option<(&'static Glyph, f64, f64)> {
    let raised = RAISED.iter().find(|(small, _)| *small == letter);
    let (letter, size, up) = match raised {
        Some((_, large)) => (*large, RAISED_SIZE, RAISED_BY),
        None => (letter, 1.0, 0.0),
    };
    let glyph = GLYPHS.get(&letter).or_else(|| GLYPHS.get(&'?'))?;
    Some((glyph, size, up))
}

/// Width of a letter, em.
pub fn advance(letter: char) -> f64 {
    glyph(letter).map_or(0.0, |(glyph, size, _)| glyph.advance * size)
}

/// Closed outlines of a text, em, y up, from the base line's start.
pub fn outlines(text: &str) -> Vec<Vec<[f64; 2]>> {
    let mut out = Vec::new();
    let mut pen = 0.0;
    for letter in text.chars() {
        let Some((glyph, size, up)) = glyph(letter) else {
            continue;
        };
        out.extend(glyph.outlines.iter().map(|outline| {
            let place = |&[x, y]: &[f64; 2]| [pen + x * size, up + y * size];
            outline.iter().map(place).collect()
        }));
        pen += glyph.advance * size;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_glyph() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(GLYPHS.len(), lines);
        for letter in (' '..='~').chain("µ·×−≤≥".chars()) {
            assert!(GLYPHS.contains_key(&letter), "{letter:?}");
        }
        let raised = RAISED.iter().all(|(_, large)| GLYPHS.contains_key(large));
        assert!(raised);
    }

    #[test]
    fn outlines_stand_where_the_pen_is() {
        let [one, two] = ["l", "ll"].map(outlines);
        assert_eq!((one.len(), two.len()), (1, 2));
        let shift = two[1][0][0] - one[0][0][0];
        assert!((shift - advance('l')).abs() < 1e-12);
        let tall = outlines("l")[0].iter().fold(0.0, |y: f64, p| y.max(p[1]));
        assert!((0.6..0.9).contains(&tall), "{tall}");
        let low = outlines("²")[0].iter().fold(1.0, |y: f64, p| y.min(p[1]));
        assert!(low > 0.3, "{low}");
    }
}
