//! The entry points of all kernels, bound to the columns for either direction of motion.

use std::collections::BTreeMap;
use std::sync::Arc;

use wgpu::{BindGroup, ComputePass};

use super::columns::{Columns, Sizes};
use super::constants::{NUMBERS, ROW_WORDS, SCAN_BLOCK};
use super::texts;
use crate::gpu::{Column, Device, GpuError, Kernel, KernelText, Launches, WORKGROUP};

/// An entry point over so many items, bound twice: reading either motion column.
#[derive(Debug)]
pub struct Stage {
    kernel: Arc<Kernel>,
    groups: [BindGroup; 2],
    items: u64,
}

impl Stage {
    /// Dispatches it; `parity` names the motion column that is read, `row` the launch numbers.
    pub fn run(
        &self,
        device: &Device,
        pass: &mut ComputePass<'_>,
        parity: usize,
        launch: (&Launches, u64),
    ) {
        self.kernel
            .dispatch(device, pass, &self.groups[parity], launch, self.items);
    }
}

/// Everything that a run dispatches.
#[derive(Debug)]
pub struct Kernels {
    /// Loads before the first step.
    pub start: Stage,
    /// First half of a frame's first step.
    pub open: Stage,
    /// A force pass, the end of its step and the beginning of the next.
    pub middle: Stage,
    /// A frame's last force pass and the end of its step.
    pub last: Stage,
    /// Dilation of cells before a force pass, and before a frame is measured.
    pub dilate: Option<[Stage; 2]>,
    /// Bonds taken out.
    pub breaks: Stage,
    /// The look at the contact lists, and making them anew if it says so.
    pub lists: Vec<Stage>,
    /// What an advance before has left of what is borne.
    pub fold: Stage,
    /// A frame's measurements.
    pub carried: Stage,
    /// Before them, what an attempt at them has left.
    pub forget: Stage,
    /// What is borne is told.
    pub clear: Stage,
    /// A state's springs.
    pub gather: Stage,
    /// A frame is done.
    pub close: Stage,
}

/// Compiled entry points by what their text depends on: columns that grow need new ties, rarely new code.
pub type Compiled = BTreeMap<String, Arc<Kernel>>;

/// What stages are made with.
struct Maker<'a> {
    device: &'a Device,
    launches: &'a Launches,
    columns: &'a Columns,
    compiled: &'a mut Compiled,
}

impl<'a> Maker<'a> {
    /// An entry point over `items`, with the columns that its text names.
    fn stage(
        &mut self,
        text: &KernelText,
        entry: (&'static str, u64),
        constants: &[(&str, f64)],
    ) -> Result<Stage, GpuError> {
        let columns = self.columns;
        self.stage_of(text, entry, constants, |parity, name| {
            columns.named(name, parity)
        })
    }

    /// The same where names stand for other columns: `find` has the parity and the name.
    fn stage_of(
        &mut self,
        text: &KernelText,
        (entry, items): (&'static str, u64),
        constants: &[(&str, f64)],
        find: impl Fn(usize, &str) -> Option<&'a Column>,
    ) -> Result<Stage, GpuError> {
        let bound = |parity| text.bound(|name| find(parity, name));
        let [even, odd] = [bound(0)?, bound(1)?];
        let key = format!("{}:{entry} {constants:?} {:?}", text.name(), even.splits());
        let kernel = match self.compiled.get(&key) {
            Some(kernel) => Arc::clone(kernel),
            None => {
                let made = Kernel::new(self.device, entry, constants, &even, self.launches)?;
                Arc::clone(self.compiled.entry(key).or_insert(Arc::new(made)))
            }
        };
        Ok(Stage {
            groups: [
                kernel.bind(self.device, &even)?,
                kernel.bind(self.device, &odd)?,
            ],
            kernel,
            items,
        })
    }

    /// The exclusive prefix sum of the first `length` items of a column.
    fn scan(&mut self, column: &'a Column, length: u64) -> Result<[Stage; 3], GpuError> {
        let columns = self.columns;
        // A workgroup takes a block, the totals are one workgroup's.
        let blocks = length.div_ceil(u64::from(SCAN_BLOCK)) * u64::from(WORKGROUP);
        let mut pass = |entry: &'static str, items: u64| {
            let constants = [("length", length as f64)];
            let find = |parity: usize, name: &str| match name == texts::SCANNED.name {
                true => Some(column),
                false => columns.named(name, parity),
            };
            self.stage_of(&texts::SCAN, (entry, items), &constants, find)
        };
        Ok([
            pass("blocks", blocks)?,
            pass("totals", 1)?,
            pass("offsets", length)?,
        ])
    }
}

impl Kernels {
    /// Compiles what `compiled` lacks and ties everything to the columns.
    pub fn new(
        device: &Device,
        launches: &Launches,
        columns: &Columns,
        sizes: &Sizes,
        count: u64,
        compiled: &mut Compiled,
    ) -> Result<Self, GpuError> {
        let mut make = Maker {
            device,
            launches,
            columns,
            compiled,
        };
        // What only bonds have, or only cells.
        let of_law = match sizes.cells {
            None => ("one_class", flag(!sizes.kinds)),
            Some(walls) => ("walls", flag(walls)),
        };
        let (moving_text, measuring_text) = match sizes.cells {
            None => (texts::moving(sizes.law), texts::measuring(sizes.law)),
            Some(_) => (&texts::MOVE_CELLS, &texts::MEASURE_CELLS),
        };
        let clamped = ("clamped", flag(sizes.clamps > 0));
        let mut moving = |[starting, forces, close, open]: [bool; 4]| {
            let constants = [
                of_law,
                clamped,
                ("starting", flag(starting)),
                ("forces", flag(forces)),
                ("close", flag(close)),
                ("open", flag(open)),
            ];
            make.stage(moving_text, ("main", count), &constants)
        };
        let start = moving([true, true, false, false])?;
        let open = moving([false, false, false, true])?;
        let middle = moving([false, true, true, true])?;
        let last = moving([false, true, true, false])?;
        // The step has moved on by now: what broke, broke where the force pass found it.
        let before = |parity: usize, name: &str| columns.named(name, 1 - parity);
        let breaks = make.stage_of(&texts::BREAK, ("main", count), &[], before)?;
        let lists = lists(&mut make, sizes, count)?;
        let carried = make.stage(measuring_text, ("carried", count), &[of_law])?;
        let mut dilating = |measuring| {
            let constants = [of_law, ("measuring", flag(measuring))];
            make.stage(&texts::DILATE, ("main", count), &constants)
        };
        let dilate = match sizes.cells {
            None => None,
            Some(_) => Some([dilating(false)?, dilating(true)?]),
        };
        let rows = [("rows", sizes.borne as f64)];
        let mut reactions =
            |entry, items: u64| make.stage(&texts::REACTIONS, (entry, items), &rows);
        let fold = reactions("fold", u64::from(NUMBERS) * sizes.borne)?;
        let clear = reactions("clear", u64::from(ROW_WORDS) * sizes.borne)?;
        let forget = reactions("forget", sizes.colliders)?;
        Ok(Kernels {
            start,
            open,
            middle,
            last,
            dilate,
            breaks,
            lists,
            fold,
            carried,
            forget,
            clear,
            gather: make.stage(&texts::SPRINGS, ("gather", count), &[])?,
            close: make.stage(&texts::SPRINGS, ("close", 1), &[])?,
        })
    }
}

/// A flag as kernels take it.
fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// The look at the lists and their making, in order.
fn lists(make: &mut Maker<'_>, sizes: &Sizes, count: u64) -> Result<Vec<Stage>, GpuError> {
    let (cells, rows) = (sizes.cells() + 1, sizes.stride + 1);
    let columns = make.columns;
    let mut out = vec![
        make.stage(&texts::TRAVEL, ("measure", count), &[])?,
        make.stage(&texts::TRAVEL, ("decide", 1), &[])?,
        make.stage(&texts::GRID, ("clear", cells), &[])?,
        make.stage(&texts::GRID, ("count", count), &[])?,
    ];
    out.extend(make.scan(&columns.cells, cells)?);
    out.push(make.stage(&texts::GRID, ("place", count), &[])?);
    out.push(make.stage(&texts::PAIRS, ("count", rows), &[])?);
    out.extend(make.scan(&columns.next_first, rows)?);
    for stage in [
        ("admit", 1),
        ("keep", sizes.lists),
        ("fill", count),
        ("adopt", rows),
    ] {
        out.push(make.stage(&texts::PAIRS, stage, &[])?);
    }
    Ok(out)
}
