//! Text of `cullet inspect`, made from its JSON.

use serde_json::Value;

use super::bodies;
use super::value::number;
use crate::plot::MOTION_TOLERANCE;
use crate::store::{SCHEMA_MINOR, SCHEMA_VERSION};
use crate::units::show::{figures, grouped, quantity};

/// Width of the column of names.
const NAME_WIDTH: usize = 16;

/// Lines of text, with names on the left and figures on the right.
pub fn lines(store: &Value) -> Vec<String> {
    let mut out = Lines(Vec::new());
    out.line("store", &text(&store["store"]));
    if number(&store["schema_minor"]) > f64::from(SCHEMA_MINOR) {
        let [major, minor] = ["schema_version", "schema_minor"].map(|key| &store[key]);
        let what = format!(
            "{major}.{minor}; this program knows {SCHEMA_VERSION}.{SCHEMA_MINOR} and skips what was added since"
        );
        out.line("schema", &what);
    }
    out.packing(store);
    if let Some(last) = store["last"].as_object() {
        out.last(&Value::Object(last.clone()), store);
    } else if count(&store["frames"]) > 0.0 {
        out.line(
            "frames",
            &format!("{}; without history", counted(&store["frames"])),
        );
    } else {
        out.line("frames", "none yet");
    }
    out.wall_time(store);
    out.disk(&store["disk"]);
    out.0
}

struct Lines(Vec<String>);

impl Lines {
    /// Adds a line with a name, which is empty if it is that of the line above, and its figures.
    fn line(&mut self, name: &str, what: &str) {
        self.0
            .push(format!("{name:<NAME_WIDTH$} {what}").trim_end().to_owned());
    }

    /// Adds the rows of a small table under one name, with aligned columns.
    fn rows(&mut self, name: &str, rows: &[[String; 3]]) {
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let [a, b, c] = [0, 1, 2].map(|column| width(column).unwrap_or(0));
        for (at, [x, y, z]) in rows.iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            self.line(name, &format!("{x:<a$}  {y:>b$}  {z:>c$}"));
        }
    }

    fn packing(&mut self, store: &Value) {
        let what = format!(
            "{}, {}, {}",
            many(&store["elements"], "element"),
            many(&store["bonds"], "bond"),
            quantity(1e3 * number(&store["mass"]), "g")
        );
        self.line("packing", &what);
        for (name, line) in bodies::list(&store["bodies"]) {
            self.line(&name, &line);
        }
    }

    fn last(&mut self, last: &Value, store: &Value) {
        let mut what = format!(
            "{}, the last is frame {}",
            counted(&store["frames"]),
            last["frame"]
        );
        if last["time"].is_number() {
            what += &format!(" at {}", quantity(number(&last["time"]), "s"));
        }
        // Stores written by other programs may lack steps, contacts and masses of fragments.
        if last["step"].is_number() {
            let dt = quantity(number(&last["dt"]), "s");
            what += &format!(": {} of {dt}", many(&last["step"], "step"));
        }
        self.line("frames", &what);
        for (name, key) in [("energy", "energy"), ("dissipated by", "work")] {
            let energies = last[key].as_object().into_iter().flatten();
            let rows: Vec<_> = energies
                .map(|(kind, energy)| {
                    let energy = quantity(number(energy), "J");
                    [kind.clone(), energy, String::new()]
                })
                .collect();
            self.rows(name, &rows);
        }
        let modes = store["broken_by_mode"].as_object().into_iter().flatten();
        let modes: Vec<String> = modes
            .filter(|(_, bonds)| count(bonds) > 0.0)
            .map(|(mode, bonds)| format!("{} in {mode}", counted(bonds)))
            .collect();
        let what = format!(
            "{}, {} % of them{}{}",
            many(&last["broken"], "bond"),
            figures(100.0 * number(&last["broken_part"])),
            if modes.is_empty() { "" } else { ": " },
            modes.join(", ")
        );
        self.line("broken", &what);
        self.fragments(last);
        if last["contacts"].is_number() {
            self.line("contacts", &many(&last["contacts"], "contact pair"));
        }
        if count(&last["outside"]) > 0.0 {
            let what = format!(
                "{} outside the bounds of the world",
                many(&last["outside"], "element")
            );
            self.line("", &what);
        }
        let length = |vector: &Value| {
            let parts = vector.as_array().into_iter().flatten().map(number);
            parts.map(|part| part * part).sum::<f64>().sqrt()
        };
        let loads: Vec<_> = last["loads"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|load| {
                let force = quantity(length(&load["force"]), "N");
                let (distance, angle) = (length(&load["moved"]), number(&load["angle"]));
                let moved = (distance > MOTION_TOLERANCE)
                    .then(|| format!("moved by {}", quantity(distance, "m")));
                let turned = (angle > MOTION_TOLERANCE).then(|| {
                    let torque = quantity(length(&load["torque"]), "N m");
                    format!("turned by {:.1}°, {torque}", angle.to_degrees())
                });
                let how: Vec<_> = moved.into_iter().chain(turned).collect();
                [text(&load["name"]), force, how.join(", ")]
            })
            .collect();
        self.rows("load", &loads);
    }

    fn fragments(&mut self, last: &Value) {
        let fragments = counted(&last["fragments"]);
        if !last["largest_mass_parts"].is_array() {
            if last["fragments"].is_number() {
                self.line("fragments", &fragments);
            }
            return;
        }
        let largest: Vec<String> = last["largest_mass_parts"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|part| format!("{:.1}", 100.0 * number(part)))
            .collect();
        let what = format!(
            "{fragments}, {} of them of 10 elements or more",
            counted(&last["fragments_of_10_elements"])
        );
        self.line("fragments", &what);
        self.line(
            "",
            &format!("the largest have {} % of the mass", largest.join(", ")),
        );
    }

    fn wall_time(&mut self, store: &Value) {
        let stages = store["stages"].as_object().into_iter().flatten();
        let rows: Vec<_> = stages
            .map(|(stage, record)| [stage.clone(), seconds(&record["seconds"]), String::new()])
            .collect();
        self.rows("wall time", &rows);
        let name = if rows.is_empty() { "wall time" } else { "" };
        let frames = &store["frame_seconds"];
        if frames.is_object() {
            let what = format!(
                "{} per frame of simulate, at most {} for frame {}",
                seconds(&frames["mean"]),
                seconds(&frames["most"]),
                frames["most_in_frame"]
            );
            self.line(name, &what);
        }
        if let Some(rate) = store["element_steps_per_second"].as_f64() {
            self.line("", &quantity(rate, " element-steps a second"));
        }
    }

    fn disk(&mut self, disk: &Value) {
        let kinds = disk["by_kind"].as_object().into_iter().flatten();
        let mut rows: Vec<_> = kinds
            .map(|(kind, of)| {
                let files = many(&of["files"], "file");
                [kind.clone(), files, quantity(number(&of["bytes"]), "B")]
            })
            .collect();
        let files = many(&disk["files"], "file");
        let bytes = quantity(number(&disk["bytes"]), "B");
        rows.push(["total".to_owned(), files, bytes]);
        self.rows("on disk", &rows);
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn count(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn counted(value: &Value) -> String {
    grouped(count(value), 0)
}

fn seconds(value: &Value) -> String {
    format!("{:.2} s", number(value))
}

/// A count with a noun in the singular or plural.
fn many(value: &Value, what: &str) -> String {
    let plural = if count(value) == 1.0 { "" } else { "s" };
    format!("{} {what}{plural}", counted(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_stand_in_columns() {
        let store = json!({
            "store": "shot", "elements": 30123, "bonds": 170212, "mass": 0.2372, "frames": 37,
            "broken_by_mode": { "tension": 12000, "shear": 345 },
            "last": {
                "frame": 36, "time": 0.03, "step": 128340, "dt": 2.3376e-7,
                "energy": { "kinetic": 1.25, "bond": -3e-5 },
                "work": { "damping": 0.5, "friction": 0.25 },
                "broken": 12345, "broken_part": 0.0725, "contacts": 12, "outside": 3,
                "fragments": 47, "fragments_of_10_elements": 12, "largest_mass_parts": [0.421, 0.2],
                "loads": [
                    { "name": "floor", "force": [0.3, -0.4, 0], "moved": [0, 0, 0] },
                    { "name": "punch", "force": [0, 1200, 0], "moved": [0, -0.004, 0.003] },
                    { "name": "twist", "force": [0, 0, 2], "torque": [0.3, 0, 0.4], "moved": [1e-17, 0, 0], "angle": 0.5 },
                ],
            },
            "stages": { "pack": { "seconds": 0.14 }, "simulate": { "seconds": 92.3 } },
            "frame_seconds": { "mean": 2.5, "most": 4.25, "most_in_frame": 3 },
            "element_steps_per_second": 39.1e6,
            "disk": { "files": 40, "bytes": 541e6, "by_kind": { "frames": { "files": 37, "bytes": 28.4e6 } } },
        });
        let expected = "\
store            shot
packing          30 123 elements, 170 212 bonds, 237.2 g
frames           37, the last is frame 36 at 30 ms: 128 340 steps of 233.8 ns
energy           bond     −30 µJ
                 kinetic  1.25 J
dissipated by    damping   500 mJ
                 friction  250 mJ
broken           12 345 bonds, 7.25 % of them: 345 in shear, 12 000 in tension
fragments        47, 12 of them of 10 elements or more
                 the largest have 42.1, 20.0 % of the mass
contacts         12 contact pairs
                 3 elements outside the bounds of the world
load             floor  500 mN
                 punch  1.2 kN              moved by 5 mm
                 twist     2 N  turned by 28.6°, 500 mN m
wall time        pack       0.14 s
                 simulate  92.30 s
                 2.50 s per frame of simulate, at most 4.25 s for frame 3
                 39.1 M element-steps a second
on disk          frames  37 files  28.4 MB
                 total   40 files   541 MB";
        assert_eq!(lines(&store).join("\n"), expected);
    }

    #[test]
    fn figures_that_a_store_lacks_are_left_out() {
        let store = json!({
            "store": "shot", "elements": 97, "bonds": 372, "mass": 1e-4, "frames": 5, "stages": {}, "disk": {},
            "last": { "frame": 4, "time": 0.01, "broken": 93, "broken_part": 0.25, "fragments": 9 },
        });
        let expected = [
            "frames           5, the last is frame 4 at 10 ms",
            "broken           93 bonds, 25 % of them",
            "fragments        9",
        ];
        assert_eq!(lines(&store)[2..5], expected);
    }

    #[test]
    fn a_store_without_frames_says_so() {
        let store = json!({ "store": "shot", "elements": 2, "bonds": 1, "mass": 1.0, "frames": 0, "stages": {}, "disk": {} });
        let lines = lines(&store);
        assert!(
            lines.contains(&"frames           none yet".to_owned()),
            "{lines:?}"
        );
    }
}
