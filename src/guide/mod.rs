//! The guide: how to use cullet, how to change it, and a page on each of its parts.
//!
//! Begin with the page for what you do:
//!
//! - [`artist`]: a shot from nothing to Blender.
//! - [`researcher`]: a material, a test, its curves, a figure of a paper.
//! - [`engineer`]: the frame store, queries, a stage of your own.
//! - [`developer`]: how the code is laid out, how a step is computed, how to measure.
//!
//! The other pages are references: [`shots`], [`pipeline_files`] with [`keys`], [`packings`], [`time_integration`] with
//! [`implicit_steps`], [`cells`] and [`several_machines`], [`stress`], [`frame_store`] with [`columns`] and
//! [`foreign_stores`], [`surfaces`], [`export`], [`viewer`], [`render_farms`], [`tools`] with [`figures`], [`tests`],
//! [`contributing`].
//!
//! Every page is a Markdown file that lies beside the code it describes. `links.md` says where its links lead in these
//! pages; in a viewer of Markdown they lead to files.

/// Declares a page of the guide, from a Markdown file.
macro_rules! page {
    ($name:ident, $file:literal) => {
        #[doc = include_str!("links.md")]
        #[doc = ""]
        #[doc = include_str!($file)]
        pub mod $name {}
    };
}

page!(artist, "artist.md");
page!(researcher, "researcher.md");
page!(engineer, "engineer.md");
page!(developer, "developer.md");
page!(shots, "../../pipelines/README.md");
page!(pipeline_files, "../spec/README.md");
page!(keys, "../spec/KEYS.md");
page!(packings, "../pack/README.md");
page!(time_integration, "../simulate/README.md");
page!(several_machines, "../simulate/share/README.md");
page!(implicit_steps, "../simulate/methods/implicit/README.md");
page!(cells, "../simulate/methods/voronoi/README.md");
page!(stress, "../stress/README.md");
page!(frame_store, "../store/README.md");
page!(columns, "../columns/COLUMNS.md");
page!(foreign_stores, "../store/validate/README.md");
page!(surfaces, "../reconstruct/README.md");
page!(export, "../export/README.md");
page!(viewer, "../view/README.md");
page!(render_farms, "../jobs/README.md");
page!(tools, "../../tools/README.md");
page!(figures, "../../tools/FIGURES.md");
page!(tests, "../../tests/README.md");
page!(contributing, "../../CONTRIBUTING.md");
