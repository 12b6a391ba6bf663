//! Checks the tables of events of sleep, whose rows have their own times.

use crate::parallel::prelude::*;

use super::checked_file::{CheckedFile, name_of};
use super::table::{self, TablePart};
use crate::columns::Sleep;
use crate::store::error::Result;
use crate::store::folder::Store;
use crate::store::rules;

/// Checks `sleep/`.
pub fn check(store: &Store, checked: &mut Vec<CheckedFile>) -> Result<()> {
    let numbers = store.numbers("sleep", "parquet")?;
    checked.par_extend(
        numbers
            .into_par_iter()
            .map(|number| check_file(store, number)),
    );
    Ok(())
}

fn check_file(store: &Store, number: u32) -> CheckedFile {
    let mut file = CheckedFile::new(name_of("sleep", number, "parquet"));
    let path = store.path(&file.file);
    let mut last_step = None;
    table::read(
        &path,
        &mut file,
        |_, _| true,
        &mut |part: TablePart<Sleep>, faults| {
            rules::sleep(part.table, part.first, number, &mut last_step, faults);
        },
    );
    file
}
