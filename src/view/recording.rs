//! A page of its own: one file with the page, three.js and the answers to all that it asks.
//!
//! Modules become `data:` addresses in an import map. Answers are compressed with gzip and written in base64, so that
//! nothing in a store can end the script element that holds them. A policy in the page forbids everything else.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};

use super::assets::{ASSETS, Asset, asset};
use super::error::ViewError;
use super::overview;
use super::routes::{self, STORES};
use super::viewed::ViewedStore;
use crate::store::atomic;

/// Largest size of a page, MB. Browsers hold strings of about 500 MB.
const LARGEST: usize = 400;

/// First part of the names of modules in the page.
const PREFIX: &str = "cullet/";

const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
    script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src blob: data:; base-uri 'none'; \
    form-action 'none'\">";

/// Writes a page that shows these frames of the stores. Calls `on_frame(done, total)` after each frame.
/// Returns its size, bytes.
pub fn write(
    stores: &[ViewedStore],
    frames: &Range<u32>,
    path: &Path,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<usize, ViewError> {
    let mut recorded = Recorded::default();
    let described: Vec<Value> = stores
        .iter()
        .map(|viewed| described(viewed, frames))
        .collect::<Result<_, _>>()?;
    let total = described
        .iter()
        .map(|one| numbers(&one["frames"]).len())
        .sum();
    let mut done = 0;
    for (at, (store, viewed)) in described.iter().zip(stores).enumerate() {
        let own = std::slice::from_ref(viewed);
        let mut record = |rest: &str, query: &str| {
            // The only store of the list has number 0 there.
            let answer = routes::answer(own, &format!("{STORES}/0/{rest}"), query)?;
            recorded.add(format!("{STORES}/{at}/{rest}"), &answer.into_bytes())
        };
        for rest in [
            "elements",
            "colliders",
            "bonds",
            "tables/history",
            "tables/loads",
        ] {
            record(rest, "")?;
        }
        let columns = store["columns"].as_array().into_iter().flatten();
        let columns: Vec<&str> = columns
            .filter_map(|column| column["name"].as_str())
            .collect();
        let query = format!("columns={}", columns.join(","));
        let (elements, surfaces) = (numbers(&store["elements_in"]), numbers(&store["surfaces"]));
        for frame in numbers(&store["frames"]) {
            if elements.contains(&frame) {
                record(&format!("frames/{frame}"), &query)?;
            }
            if surfaces.contains(&frame) {
                record(&format!("surfaces/{frame}"), "")?;
            }
            for table in ["fragments", "sleep"] {
                record(&format!("tables/{table}/{frame}"), "")?;
            }
            done += 1;
            on_frame(done, total);
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    let overview = json!({ "version": version, "stores": described }).to_string();
    recorded.add(STORES.to_owned(), overview.as_bytes())?;
    let page = page(&Value::Object(recorded.answers).to_string());
    atomic::write_bytes(path, page.as_bytes())?;
    Ok(page.len())
}

/// Description of a store with these frames only, in which nothing is live.
fn described(viewed: &ViewedStore, frames: &Range<u32>) -> Result<Value, ViewError> {
    let mut store = overview::described(viewed)?;
    store["live"]["running"] = json!(false);
    let all = numbers(&store["frames"]);
    let times = store["times"].as_array().cloned().unwrap_or_default();
    let kept = all
        .iter()
        .zip(times)
        .filter(|(frame, _)| frames.contains(frame));
    let (kept, times): (Vec<u32>, Vec<Value>) = kept.unzip();
    if kept.is_empty() {
        let (path, frames) = (viewed.root().to_owned(), frames.clone());
        return Err(ViewError::NoFrames { path, frames });
    }
    store["frames"] = json!(kept);
    store["times"] = json!(times);
    for list in ["surfaces", "elements_in"] {
        let mut of = numbers(&store[list]);
        of.retain(|frame| frames.contains(frame));
        store[list] = json!(of);
    }
    Ok(store)
}

fn numbers(list: &Value) -> Vec<u32> {
    let numbers = list.as_array().into_iter().flatten();
    numbers
        .filter_map(|number| Some(number.as_u64()? as u32))
        .collect()
}

/// Answers by address.
#[derive(Default)]
struct Recorded {
    answers: Map<String, Value>,
    bytes: usize,
}

impl Recorded {
    fn add(&mut self, address: String, answer: &[u8]) -> Result<(), ViewError> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(answer).and_then(|()| encoder.finish());
        let packed = packed.expect("memory takes all bytes");
        let text = BASE64_STANDARD.encode(packed);
        self.bytes += text.len();
        if self.bytes > LARGEST * 1_000_000 {
            return Err(ViewError::TooLarge { limit: LARGEST });
        }
        self.answers.insert(address, Value::String(text));
        Ok(())
    }
}

/// The page with recorded answers in JSON.
fn page(answers: &str) -> String {
    let text = |name: &str| asset(name).map_or("", |asset| asset.text);
    let modules = ASSETS.iter().filter(|asset| asset.name.ends_with(".js"));
    let modules: Map<String, Value> = modules.map(module).collect();
    let map = json!({ "imports": modules }).to_string();
    let scripts = format!(
        "<script type=\"importmap\">{map}</script>\n\
         <script type=\"application/json\" id=\"recorded\">{answers}</script>\n\
         <script type=\"module\">import \"{PREFIX}main.js\";</script>"
    );
    text("index.html")
        .replace(
            "<meta charset=\"utf-8\">",
            &format!("<meta charset=\"utf-8\">\n{POLICY}"),
        )
        .replace(
            STYLE_LINK,
            &format!("<style>\n{}</style>", text("style.css")),
        )
        .replace(SCRIPT_LINK, &scripts)
}

/// How `index.html` loads its style and its first module.
const STYLE_LINK: &str = "<link rel=\"stylesheet\" href=\"style.css\">";
const SCRIPT_LINK: &str = "<script type=\"module\" src=\"main.js\"></script>";

/// Name and `data:` address of a module whose imports are those of the import map.
fn module(asset: &Asset) -> (String, Value) {
    let text = ["from \"./", "from\"./"]
        .iter()
        .fold(asset.text.to_owned(), |text, from| {
            text.replace(from, &format!("from \"{PREFIX}"))
        });
    let address = format!(
        "data:text/javascript;base64,{}",
        BASE64_STANDARD.encode(text)
    );
    (format!("{PREFIX}{}", asset.name), Value::String(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        let page = page("{}");
        for part in [
            POLICY,
            "<style>",
            "id=\"recorded\">{}</script>",
            "import \"cullet/main.js\"",
        ] {
            assert_eq!(page.matches(part).count(), 1, "{part}");
        }
        for attribute in [" src=\"", " href=\""] {
            for value in page.split(attribute).skip(1) {
                assert!(
                    value.starts_with('#') || value.starts_with("data:"),
                    "{attribute}{value:.40}"
                );
            }
        }
    }

    #[test]
    fn modules_import_by_names_of_the_map() {
        for asset in ASSETS.iter().filter(|asset| asset.name.ends_with(".js")) {
            let (_, address) = module(asset);
            let text = address.as_str().and_then(|text| text.split(',').nth(1));
            let text = BASE64_STANDARD.decode(text.expect("data")).expect("base64");
            let text = String::from_utf8(text).expect("text");
            assert!(!text.contains("from \"./"), "{}", asset.name);
            assert!(!text.contains("await import("), "{}", asset.name);
        }
    }
}
