//! Writes a table that is never in memory as a whole.

use std::io;
use std::path::Path;

use super::atomic;
pub use super::encode::ROWS_PER_WRITE;
use super::encode::TableEncoder;
use super::error::Result;
use super::format::TableFormat;
use crate::columns::Table;

/// Rows of a part: small beside the memory that the encoder needs, and a multiple of the rows that it takes at a time.
pub const ROWS_PER_PART: usize = 16 * ROWS_PER_WRITE;

/// Receives the parts of a table, in order.
pub type PartSink<'a, T> = dyn FnMut(&T) -> io::Result<()> + 'a;

/// Writes a table of this many rows, atomically. `fill` passes it on in parts of [`ROWS_PER_PART`] rows, of which the
/// last may be shorter. The file is the one that [`parquet::write`](super::parquet::write) makes of the whole table.
///
/// # Errors
/// The parts have another number of rows, or the file cannot be written: then the old file remains, if there was one.
pub fn write<T: Table>(
    path: &Path,
    rows: usize,
    fill: impl FnOnce(&mut PartSink<T>) -> io::Result<()>,
) -> Result<()> {
    atomic::write(path, |writer| {
        encode_parts(writer, rows, &TableFormat::default(), fill)
    })
}

/// As [`fn@write`], in this format; all parts but the last may have any multiple of [`ROWS_PER_WRITE`] rows. The file's
/// name is durable only after its [folder is synced](atomic::sync_folder).
///
/// # Errors
/// Those of [`fn@write`].
pub fn write_unsynced<T: Table>(
    path: &Path,
    rows: usize,
    format: &TableFormat,
    fill: impl FnOnce(&mut PartSink<T>) -> io::Result<()>,
) -> Result<()> {
    atomic::write_unsynced(path, |writer| encode_parts(writer, rows, format, fill))
}

fn encode_parts<T: Table>(
    writer: &mut (impl io::Write + Send),
    rows: usize,
    format: &TableFormat,
    fill: impl FnOnce(&mut PartSink<T>) -> io::Result<()>,
) -> io::Result<()> {
    let mut encoder = TableEncoder::new(writer, &T::default(), rows, format)?;
    fill(&mut |part| Ok(encoder.write(part)?))?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::columns::Bars;
    use crate::store::parquet;

    /// More rows than a row group holds.
    const ROWS: usize = (1 << 20) + 300_000;

    fn bars(rows: Range<usize>) -> Bars {
        let noise = |seed: usize| -> Vec<f64> {
            let word = |k: usize| (k ^ (seed << 24)).wrapping_mul(0x9E37_79B9) & 0xFFFF;
            rows.clone().map(|k| word(k) as f64).collect()
        };
        Bars {
            round: rows.clone().map(|k| k as u32 / 7).collect(),
            test: vec!["tension".to_owned(); rows.len()],
            axis: rows
                .clone()
                .map(|k| "xyz"[k % 3..][..1].to_owned())
                .collect(),
            along: noise(1),
            across: noise(2),
            stress: noise(3),
        }
    }

    /// Writes the parts of the first `given` rows as a table of `ROWS` rows.
    fn write_first(path: &Path, given: usize) -> Result<()> {
        write(path, ROWS, |part| {
            let mut firsts = (0..given).step_by(ROWS_PER_PART);
            firsts.try_for_each(|first| part(&bars(first..(first + ROWS_PER_PART).min(given))))
        })
    }

    #[test]
    fn parts_make_the_file_of_the_whole_table() {
        let folder = tempfile::tempdir().expect("a folder");
        let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
        parquet::write(&whole, &bars(0..ROWS)).expect("written");
        write_first(&parts, ROWS).expect("written");
        let [whole, parts] = [whole, parts].map(|path| std::fs::read(path).expect("there"));
        assert!(whole == parts, "{} and {} bytes", whole.len(), parts.len());
    }

    #[test]
    fn missing_rows_leave_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let error =
            write_first(&folder.path().join("bars"), ROWS - 1).expect_err("a row is missing");
        assert!(error.to_string().contains("1 rows"), "{error}");
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0);
    }
}
