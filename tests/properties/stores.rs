//! Round trips of tables and surfaces through a store.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, StringArray, UInt32Array, UInt64Array};
use arrow_schema::DataType;
use cullet::columns::{Bonds, Breaks, Elements, Fragments, Frames, History, Table};
use cullet::store::{FragmentRange, Store, SurfaceFrame, parquet};
use proptest::prelude::*;

use super::cases;

/// Values of a column of this type, generated from random words or from words of few distinct values.
fn column(data_type: &DataType, words: &[u64]) -> ArrayRef {
    let words = words.iter().copied();
    let finite = |value: f32| if value.is_finite() { value } else { -0.0 };
    match data_type {
        DataType::UInt32 => Arc::new(UInt32Array::from_iter_values(words.map(|w| w as u32))),
        DataType::UInt64 => Arc::new(UInt64Array::from_iter_values(words)),
        DataType::Float32 => {
            let values = words.map(|w| finite(f32::from_bits(w as u32)));
            Arc::new(Float32Array::from_iter_values(values))
        }
        DataType::Float64 => {
            let values = words.map(|w| Some(f64::from_bits(w)).filter(|v| v.is_finite()));
            Arc::new(Float64Array::from_iter_values(
                values.map(|value| value.unwrap_or(f64::MIN_POSITIVE)),
            ))
        }
        // Columns with a fixed set of names are made in `table`.
        _ => Arc::new(StringArray::from_iter_values(words.map(|w| w.to_string()))),
    }
}

/// A table with arbitrary columns.
fn table<T: Table>(words: &[Vec<u64>]) -> T {
    let mut table = T::default();
    for (at, column_of) in T::columns().iter().enumerate() {
        let words = &words[at % words.len()];
        let array = match column_of.name {
            "kind" => names(words, &["sphere"]),
            "law" => names(words, &["bdem"]),
            "mode" => names(words, &["tension", "shear"]),
            _ => column(&column_of.data_type, words),
        };
        table.append(at, array.as_ref(), &mut |row, what| {
            panic!("{} {row:?}: {what}", column_of.name)
        });
    }
    table
}

fn names(words: &[u64], allowed: &[&str]) -> ArrayRef {
    let names = words.iter().map(|w| allowed[*w as usize % allowed.len()]);
    Arc::new(StringArray::from_iter_values(names))
}

fn comes_back<T: Table + PartialEq + std::fmt::Debug>(words: &[Vec<u64>]) {
    let table: T = table(words);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.parquet");
    parquet::write(&path, &table).unwrap();
    assert_eq!(parquet::rows(&path).unwrap(), table.rows());
    let read: T = parquet::read(&path).unwrap();
    // Compared by bits, as zeros have signs.
    assert_eq!(read.to_arrays(), table.to_arrays());
    assert!(read == table);
    let mut rows = 0;
    parquet::read_parts::<T>(&path, &mut |part| rows += part.rows()).unwrap();
    assert_eq!(rows, table.rows());
}

/// Columns of words; those of few distinct values are compressed by runs and dictionaries.
fn words() -> impl Strategy<Value = Vec<Vec<u64>>> {
    (0..700_usize).prop_flat_map(|rows| {
        let arbitrary = prop::collection::vec(any::<u64>(), rows);
        let few = prop::collection::vec(0..3_u64, rows);
        let rising = any::<u64>().prop_map(move |first| {
            let rows = 0..rows as u64;
            rows.map(|row| first.wrapping_add(row)).collect()
        });
        prop::collection::vec(prop_oneof![arbitrary, few, rising], 1..6)
    })
}

/// Surfaces with consistent arrays: one fan of triangles per fragment.
fn surfaces() -> impl Strategy<Value = SurfaceFrame> {
    let vector = || prop::array::uniform3(any::<f32>());
    let fragment = prop::collection::vec((vector(), vector(), any::<f32>()), 3..9);
    let fragments = prop::collection::vec((any::<u32>(), fragment), 0..6);
    (any::<u32>(), any::<f64>(), any::<bool>(), fragments).prop_map(
        |(frame, time, textured, fragments)| {
            let mut surfaces = SurfaceFrame {
                frame: frame % 1_000_000,
                time,
                ..SurfaceFrame::default()
            };
            for (label, vertices) in fragments {
                let first = surfaces.positions.len() as u32;
                let count = vertices.len() as u32;
                surfaces.pieces.push(FragmentRange {
                    body: label % 3,
                    fragment: label,
                    first_vertex: first,
                    vertices: count,
                    first_triangle: surfaces.triangles.len() as u32,
                    triangles: count - 2,
                });
                for (place, velocity, stress) in vertices {
                    surfaces.positions.push(place);
                    surfaces.normals.push(velocity);
                    surfaces.velocities.push(velocity);
                    surfaces.rest_positions.push(place);
                    surfaces.stress.push(stress);
                }
                let fan = (2..count).map(|third| [first, first + third - 1, first + third]);
                surfaces.triangles.extend(fan);
                let triangles = surfaces.triangles.len();
                surfaces.inside.resize(triangles, 1);
                if textured {
                    surfaces
                        .uv
                        .resize(triangles, [[0.25; 2], [time as f32; 2], [1.0; 2]]);
                }
            }
            surfaces
        },
    )
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn tables_of_any_columns_come_back(words in words()) {
        comes_back::<Elements>(&words);
        comes_back::<Bonds>(&words);
        comes_back::<Frames>(&words);
        comes_back::<Breaks>(&words);
        comes_back::<History>(&words);
        comes_back::<Fragments>(&words);
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn surfaces_come_back(surfaces in surfaces()) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        surfaces.write(&store).unwrap();
        prop_assert_eq!(SurfaceFrame::read(&store, surfaces.frame).unwrap(), surfaces);
    }
}
