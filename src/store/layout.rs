//! The folders of a store: which stage writes each, and the extension of its numbered files.

/// A folder of a store.
struct Folder {
    name: &'static str,
    /// The stage that writes it.
    stage: &'static str,
    /// Extension of its numbered files, `NNNNNN.extension`, if it has any.
    numbered: Option<&'static str>,
}

const fn folder(name: &'static str, stage: &'static str, numbered: Option<&'static str>) -> Folder {
    Folder {
        name,
        stage,
        numbered,
    }
}

/// All folders, in the order in which they are written. Of the tables, frames are the last: if a frame
/// exists, its other tables exist.
const FOLDERS: [Folder; 14] = [
    folder("packing", "pack", None),
    folder("breaks", "simulate", Some("parquet")),
    folder("fragments", "simulate", Some("parquet")),
    folder("history", "simulate", Some("parquet")),
    folder("loads", "simulate", Some("parquet")),
    folder("convergence", "simulate", Some("parquet")),
    folder("sleep", "simulate", Some("parquet")),
    folder("frames", "simulate", Some("parquet")),
    folder("state", "simulate", Some("rkyv")),
    folder("stress", "stress", Some("parquet")),
    folder("meshes", "reconstruct", Some("rkyv")),
    folder("exports", "export", None),
    folder("preview", "preview", None),
    folder("plots", "plot", None),
];

/// Folders of the tables that a simulation writes, in the order in which they are written.
pub fn tables() -> impl Iterator<Item = &'static str> {
    let tables = FOLDERS
        .iter()
        .filter(|f| f.stage == "simulate" && f.numbered == Some("parquet"));
    tables.map(|folder| folder.name)
}

/// Folders of numbered tables and archives, with the file extension.
pub fn numbered() -> impl Iterator<Item = (&'static str, &'static str)> {
    let folders = FOLDERS.iter();
    folders.filter_map(|folder| Some((folder.name, folder.numbered?)))
}

/// Folders that a stage writes, in the order of removal: the last one first.
pub fn made_by(stage: &str) -> Vec<&'static str> {
    let folders = FOLDERS.iter().rev();
    folders
        .filter(|folder| folder.stage == stage)
        .map(|folder| folder.name)
        .collect()
}

/// Folders that later stages write, in the order of removal: the last one first.
pub fn made_after(stage: &str) -> Vec<&'static str> {
    let folders = FOLDERS.iter().rev();
    folders
        .take_while(|folder| folder.stage != stage)
        .map(|folder| folder.name)
        .collect()
}

/// The stage that writes a folder of the store, or one within it.
pub fn writer_of(folder: &str) -> &'static str {
    let outer = folder.split('/').next();
    let found = FOLDERS.iter().find(|known| Some(known.name) == outer);
    found.map_or("simulate", |known| known.stage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_removed_in_reverse() {
        let made = made_by("simulate");
        assert_eq!(made.len(), 8);
        assert_eq!(made[..2], ["state", "frames"]);
        let after = made_after("pack");
        assert_eq!(after.len(), 13);
        assert_eq!(
            after[..5],
            ["plots", "preview", "exports", "meshes", "stress"]
        );
        assert_eq!(made_after("plot"), [""; 0]);
        assert_eq!(tables().last(), Some("frames"));
        assert_eq!(writer_of("packing/colliders"), "pack");
        assert_eq!(writer_of("meshes"), "reconstruct");
    }
}
