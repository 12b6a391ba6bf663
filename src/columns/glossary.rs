//! The columns of all tables as a page of Markdown, made from their declarations.

use arrow_schema::DataType;

use super::table::{Column, Table};
use super::tables::{
    Bars, Bonds, Breaks, Cells, Convergence, Elements, Faces, Fragments, Frames, History, Loads,
    Sleep, Stress,
};

/// Markdown page of all tables of the frame store: their columns, types, units and meanings; ends with a line break.
pub fn glossary() -> String {
    let mut page = "# All columns of the frame store\n\n\
        `cullet schema --columns` writes this page from the declarations of the tables. Do not edit it. Units are SI;\n\
        `1` is a pure number. Stores of other programs may lack columns marked *optional*. The text on the tables is in\n\
        [The frame store][frame-store].\n"
        .to_owned();
    page += &table::<Elements>();
    page += &table::<Bonds>();
    page += &table::<Cells>();
    page += &table::<Faces>();
    page += &table::<Frames>();
    page += &table::<Breaks>();
    page += &table::<Fragments>();
    page += &table::<History>();
    page += &table::<Loads>();
    page += &table::<Convergence>();
    page += &table::<Sleep>();
    page += &table::<Stress>();
    page += &table::<Bars>();
    page + "\n[frame-store]: ../store/README.md\n"
}

fn table<T: Table>() -> String {
    let mut text = format!(
        "\n## {}\n\n{}\n\n| column | type | unit | meaning |\n|---|---|---|---|\n",
        T::NAME,
        T::DOC.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    for column in T::columns() {
        text += &row(&column);
    }
    text
}

fn row(column: &Column) -> String {
    let kind = match &column.data_type {
        DataType::Float64 => "f64",
        DataType::Float32 => "f32",
        DataType::UInt64 => "u64",
        DataType::UInt32 => "u32",
        DataType::UInt8 => "u8",
        DataType::Boolean => "bool",
        // Words are stored as a dictionary of texts.
        _ => "text",
    };
    let optional = match column.optional {
        true => " *Optional.*",
        false => "",
    };
    format!(
        "| `{}` | {kind} | {} | {}.{optional} |\n",
        column.name,
        column.unit,
        column.doc.replace('|', "\\|")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_types_and_units() {
        let page = glossary();
        for part in [
            "## Elements",
            "`packing/elements.parquet`",
            "| `mass` | f64 | kg | mass. |",
            "| `mode` | text | 1 |",
        ] {
            assert!(page.contains(part), "{part} is missing");
        }
    }
}
