//! The files of the page.

/// A file of the page.
pub struct Asset {
    /// Name in addresses.
    pub name: &'static str,
    /// Media type.
    pub media_type: &'static str,
    /// Contents.
    pub text: &'static str,
}

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! assets {
    ($($media_type:expr => $($name:literal)*;)*) => {
        /// All files of the page.
        pub const ASSETS: &[Asset] = &[$($(Asset {
            name: $name,
            media_type: $media_type,
            text: include_str!(concat!("page/", $name)),
        },)*)*];
    };
}

assets! {
    "text/html; charset=utf-8" => "index.html";
    "text/css; charset=utf-8" => "style.css";
    JAVASCRIPT =>
        "api.js"
        "bindings.js"
        "bonds.js"
        "camera.js"
        "chart.js"
        "charts.js"
        "colliders.js"
        "colouring.js"
        "colours.js"
        "decode.js"
        "elements.js"
        "gestures.js"
        "hits.js"
        "inspector.js"
        "keys.js"
        "legend.js"
        "live.js"
        "main.js"
        "marker.js"
        "order.js"
        "pick.js"
        "player.js"
        "quality.js"
        "section.js"
        "settings.js"
        "shading.js"
        "stores.js"
        "storeview.js"
        "surfaces.js"
        "three.core.min.js"
        "three.module.min.js"
        "timeline.js"
        "units.js"
        "viewport.js";
}

/// The file with this name.
pub fn asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/view/page");
        for entry in std::fs::read_dir(folder).expect("the folder of the page") {
            let name = entry.expect("an entry").file_name();
            let name = name.to_string_lossy();
            let is_served = [".js", ".css", ".html"]
                .iter()
                .any(|end| name.ends_with(end));
            assert_eq!(asset(&name).is_some(), is_served, "{name}");
        }
    }
}
