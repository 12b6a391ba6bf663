//! `--branch`: a new store that continues from a state of another one, possibly with other physics.

use std::path::Path;

use super::error::WrongUse;
use super::stages::{self, refuse_foreign_folder};
use crate::simulate::{Start, resumable};
use crate::spec::ResolvedPipeline;
use crate::store::{
    FileChecksum, LockMode, Manifest, Parent, Store, StoreError, atomic, in_folder, layout,
};

/// Makes the store `to` from the packing of `from`, its frames up to the requested state, and that state.
/// Returns the frame of that state.
///
/// With `resolved`, refuses a pipeline of other bodies or materials. `to` is created as a whole or not at all.
pub fn begin(
    from: &Path,
    to: &Path,
    start: Start,
    resolved: Option<&ResolvedPipeline>,
) -> anyhow::Result<u32> {
    let parent = Store::open(from)?;
    let _lock = parent.lock(LockMode::Shared, "branch")?;
    let manifest = Manifest::read(&parent)?;
    if let Some(resolved) = resolved {
        stages::refuse_other_packing(&parent, resolved)?;
    }
    refuse_foreign_folder(to)?;
    if to.join("store.json").exists() {
        let what = format!("--branch {}: a store already exists there", to.display());
        return Err(WrongUse(what).into());
    }
    let start = match start {
        Start::Packing => Start::Newest,
        start => start,
    };
    let Some(frame) = resumable(&parent, start)? else {
        let what = format!(
            "{}: the store holds no state to branch from",
            from.display()
        );
        return Err(WrongUse(what).into());
    };
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let temporary = to.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let made = copy(&parent, &manifest, frame, &Store::at(&temporary)).and_then(|()| {
        // An empty folder is replaced.
        let _ = std::fs::remove_dir(to);
        std::fs::rename(&temporary, to).map_err(StoreError::io(to))
    });
    if made.is_err() {
        let _ = std::fs::remove_dir_all(&temporary);
    }
    made?;
    Ok(frame)
}

fn copy(parent: &Store, manifest: &Manifest, frame: u32, to: &Store) -> crate::store::Result<()> {
    let mut branch = manifest.clone();
    branch.stages.retain(|stage, _| stage == "pack");
    branch.files.retain(|name, _| belongs(name, frame));
    let state = parent.numbered("state", frame, "rkyv");
    branch.parent = Some(Parent {
        store: parent.root().to_owned(),
        frame,
        state: FileChecksum::of(&state)?,
    });
    let mut paths: Vec<_> = branch.files.keys().map(|name| parent.path(name)).collect();
    paths.push(state);
    for path in paths {
        let path = parent.checked(path, "simulate")?;
        let name = parent.name_of(&path).unwrap_or_default();
        let target = to.path(name);
        let folder = target.parent().unwrap_or(to.root());
        std::fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
        std::fs::copy(&path, &target).map_err(StoreError::io(&target))?;
        std::fs::File::open(&target)
            .and_then(|file| file.sync_data())
            .map_err(StoreError::io(&target))?;
        atomic::sync_folder(folder)?;
    }
    branch.write(to)
}

/// Whether a file belongs to the packing, or is a table of a frame up to this one.
fn belongs(name: &str, frame: u32) -> bool {
    let number = Path::new(name).file_stem().and_then(|stem| stem.to_str());
    let number: Option<u32> = number.and_then(|stem| stem.parse().ok());
    in_folder(name, "packing")
        || (layout::tables().any(|kind| in_folder(name, kind))
            && number.is_some_and(|n| n <= frame))
}
