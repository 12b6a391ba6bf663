//! The entry points of all kernels, bound to the columns for either direction of motion.

use std::collections::BTreeMap;
use std::sync::Arc;

use wgpu::{BindGroup, ComputePass};

use super::columns::{Columns, SCAN_BLOCK, Sizes};
use super::reactions::ROW_WORDS;
use super::texts;
use crate::gpu::{Column, Device, GpuError, Kernel, KernelText, Launches, splits};

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
    compiled: &'a mut Compiled,
}

impl Maker<'_> {
    /// An entry point over `items`; `columns` in the order of the text's bindings, those of either parity.
    fn stage(
        &mut self,
        text: &KernelText,
        (entry, items): (&'static str, u64),
        constants: &[(&str, f64)],
        columns: [Vec<&Column>; 2],
    ) -> Result<Stage, GpuError> {
        let key = format!(
            "{}:{entry} {constants:?} {:?}",
            text.name,
            splits(&columns[0])
        );
        let kernel = match self.compiled.get(&key) {
            Some(kernel) => Arc::clone(kernel),
            None => {
                let (device, launches) = (self.device, self.launches);
                let made = Kernel::new(device, text, entry, constants, &columns[0], launches)?;
                Arc::clone(self.compiled.entry(key).or_insert(Arc::new(made)))
            }
        };
        Ok(Stage {
            groups: columns.map(|columns| kernel.bind(self.device, &columns)),
            kernel,
            items,
        })
    }
}

impl Kernels {
    /// Compiles what `compiled` lacks and ties everything to the columns.
    pub fn new(
        device: &Device,
        launches: &Launches,
        (c, status): (&Columns, &Column),
        sizes: &Sizes,
        count: u64,
        compiled: &mut Compiled,
    ) -> Result<Self, GpuError> {
        let mut make = Maker {
            device,
            launches,
            compiled,
        };
        let one_class = [("one_class", f64::from(u8::from(!sizes.kinds)))];
        let clamped = [("clamped", f64::from(u8::from(sizes.clamps > 0)))];
        let mut moving = |constants: &[(&str, f64)]| {
            let columns = [0, 1].map(|parity: usize| {
                vec![
                    &c.motion[parity],
                    &c.motion[1 - parity],
                    &c.own,
                    &c.neighbour,
                    &c.rest,
                    &c.strength,
                    &c.class,
                    &c.masks,
                    &c.loads,
                    &c.list_first,
                    &c.list_partner,
                    &c.list_spring,
                    &c.tables,
                    &c.poses,
                    &c.borne,
                    status,
                ]
            });
            let always = one_class.iter().chain(&clamped);
            let constants: Vec<_> = always.chain(constants).copied().collect();
            make.stage(
                texts::moving(sizes.law),
                ("main", count),
                &constants,
                columns,
            )
        };
        let start = moving(&[("starting", 1.0), ("close", 0.0), ("open", 0.0)])?;
        let open = moving(&[("forces", 0.0), ("close", 0.0)])?;
        let middle = moving(&[])?;
        let last = moving(&[("open", 0.0)])?;
        let breaks = make.stage(
            &texts::BREAK,
            ("main", count),
            &[],
            // The step has moved on by now: what broke, broke where the force pass found it.
            [1, 0].map(|parity: usize| {
                vec![
                    &c.motion[parity],
                    &c.own,
                    &c.neighbour,
                    &c.rest,
                    &c.strength,
                    &c.masks,
                    &c.events,
                    status,
                ]
            }),
        )?;
        let lists = lists(&mut make, (c, status), sizes, count)?;
        let carried = make.stage(
            texts::measuring(sizes.law),
            ("carried", count),
            &one_class,
            c.motion.each_ref().map(|motion| {
                vec![
                    motion,
                    &c.own,
                    &c.neighbour,
                    &c.rest,
                    &c.class,
                    &c.masks,
                    &c.list_first,
                    &c.list_partner,
                    &c.list_spring,
                    &c.tables,
                    &c.poses,
                    &c.measured,
                    &c.touched,
                    &c.borne,
                    status,
                ]
            }),
        )?;
        let mut reactions = |entry: &'static str, items: u64| {
            let columns = || vec![&c.borne, status];
            let constants = [("rows", sizes.borne as f64)];
            let both = [columns(), columns()];
            make.stage(&texts::REACTIONS, (entry, items), &constants, both)
        };
        let fold = reactions("fold", 6 * sizes.borne)?;
        let clear = reactions("clear", ROW_WORDS * sizes.borne)?;
        let forget = reactions("forget", sizes.colliders)?;
        let mut springs = |entry: &'static str, items: u64| {
            let columns = c.motion.each_ref().map(|motion| {
                vec![
                    motion,
                    &c.own,
                    &c.neighbour,
                    &c.rest,
                    &c.masks,
                    &c.list_first,
                    &c.list_partner,
                    &c.list_spring,
                    &c.stretched,
                    status,
                ]
            });
            make.stage(&texts::SPRINGS, (entry, items), &[], columns)
        };
        let gather = springs("gather", count)?;
        let close = springs("close", 1)?;
        Ok(Kernels {
            start,
            open,
            middle,
            last,
            breaks,
            lists,
            fold,
            carried,
            forget,
            clear,
            gather,
            close,
        })
    }
}

/// The look at the lists and their making, in order.
fn lists(
    make: &mut Maker<'_>,
    (c, status): (&Columns, &Column),
    sizes: &Sizes,
    count: u64,
) -> Result<Vec<Stage>, GpuError> {
    let mut out = Vec::new();
    for (entry, items) in [("measure", count), ("decide", 1)] {
        let columns = c.motion.each_ref().map(|m| vec![m, &c.anchor, status]);
        out.push(make.stage(&texts::TRAVEL, (entry, items), &[], columns)?);
    }
    let (cells, rows) = (sizes.cells() + 1, sizes.stride + 1);
    let grid = [("clear", cells), ("count", count), ("place", count)];
    let pairs = [
        ("count", rows),
        ("admit", 1),
        ("keep", sizes.lists),
        ("fill", count),
        ("adopt", rows),
    ];
    let in_grid = || {
        let columns = |m| vec![m, &c.own, &c.masks, &c.cells, &c.cell_elements, status];
        c.motion.each_ref().map(columns)
    };
    let in_pairs = || {
        c.motion.each_ref().map(|motion| {
            vec![
                motion,
                &c.own,
                &c.neighbour,
                &c.rest,
                &c.masks,
                &c.cells,
                &c.cell_elements,
                &c.list_first,
                &c.list_partner,
                &c.list_spring,
                &c.next_first,
                &c.kept_partner,
                &c.kept_spring,
                &c.anchor,
                &c.poses,
                status,
            ]
        })
    };
    for &stage in &grid[..2] {
        out.push(make.stage(&texts::GRID, stage, &[], in_grid())?);
    }
    out.extend(scan(make, (&c.cells, cells), c, status)?);
    out.push(make.stage(&texts::GRID, grid[2], &[], in_grid())?);
    out.push(make.stage(&texts::PAIRS, pairs[0], &[], in_pairs())?);
    out.extend(scan(make, (&c.next_first, rows), c, status)?);
    for &stage in &pairs[1..] {
        out.push(make.stage(&texts::PAIRS, stage, &[], in_pairs())?);
    }
    Ok(out)
}

/// The exclusive prefix sum of the first `length` items of a column.
fn scan(
    make: &mut Maker<'_>,
    (column, length): (&Column, u64),
    c: &Columns,
    status: &Column,
) -> Result<[Stage; 3], GpuError> {
    // A workgroup takes a block, the totals are one workgroup's.
    let blocks = length.div_ceil(SCAN_BLOCK) * u64::from(crate::gpu::WORKGROUP);
    let mut pass = |entry: &'static str, items: u64| {
        let columns = || vec![column, &c.block_sums, status];
        let constants = [("length", length as f64)];
        make.stage(
            &texts::SCAN,
            (entry, items),
            &constants,
            [columns(), columns()],
        )
    };
    Ok([
        pass("blocks", blocks)?,
        pass("totals", 1)?,
        pass("offsets", length)?,
    ])
}
