//! The entry points of all kernels, bound to the columns for both parities of motion.

use std::collections::BTreeMap;
use std::sync::Arc;

use wgpu::{BindGroup, ComputePass};

use super::columns::{Columns, Sizes};
use super::constants::{REACTION_ROW_WORDS, WRENCH_COMPONENTS};
use super::{cell_texts, texts};
use crate::gpu::{Column, Device, GpuError, Kernel, KernelText, LaunchParameters};
use crate::spec::Law;

/// Most invocations of a kernel that does little, or mostly nothing, for an item. Starting a workgroup for every
/// 64 items would take longer: on an H200 a pass over 500,000 elements that finds no broken bond takes 8.7 µs
/// with this limit and 11.4 without.
const LIGHT_INVOCATIONS: u64 = 1 << 17;

/// An entry point with its number of items and two bind groups, one for each motion column that is read.
#[derive(Debug)]
pub struct BoundKernel {
    kernel: Arc<Kernel>,
    groups: [BindGroup; 2],
    items: u64,
}

impl BoundKernel {
    /// Dispatches it. `parity` selects the motion column that is read; `launch` gives the row of launch
    /// numbers.
    pub fn run(
        &self,
        device: &Device,
        pass: &mut ComputePass<'_>,
        parity: usize,
        launch: (&LaunchParameters, u64),
    ) {
        self.kernel
            .dispatch(device, pass, &self.groups[parity], launch, self.items);
    }
}

/// All kernels of a run.
#[derive(Debug)]
pub struct Kernels {
    /// Loads before the first step.
    pub start: BoundKernel,
    /// First half of a frame's first step.
    pub open: BoundKernel,
    /// A force pass, the end of its step and the start of the next.
    pub middle: BoundKernel,
    /// A frame's last force pass and the end of its step.
    pub last: BoundKernel,
    /// Dilation of cells: before a force pass, and before a frame is measured.
    pub dilate: Option<[BoundKernel; 2]>,
    /// Rankine's criterion, if bonds break by it.
    pub rankine: Option<RankineKernels>,
    /// Removal of broken bonds.
    pub breaks: BoundKernel,
    /// Check of the contact lists and, if necessary, their rebuild.
    pub lists: Vec<BoundKernel>,
    /// Adds the last step of the previous advance to the reaction sums in full.
    pub fold_reactions: BoundKernel,
    /// Measurements of a frame.
    pub measure: BoundKernel,
    /// Resets the contact counts of a previous attempt at the frame.
    pub reset_touching: BoundKernel,
    /// Clears the reaction sums after a frame.
    pub clear_reactions: BoundKernel,
    /// Gathers the springs of a checkpoint.
    pub gather_springs: BoundKernel,
    /// Ends a frame.
    pub close_frame: BoundKernel,
}

/// Compiled entry points, by what their text depends on: after columns grow, bind groups are new but the code
/// rarely is.
pub type Compiled = BTreeMap<String, Arc<Kernel>>;

/// Binds kernels to columns.
struct KernelBinder<'a> {
    device: &'a Device,
    launches: &'a LaunchParameters,
    columns: &'a Columns,
    compiled: &'a mut Compiled,
}

impl<'a> KernelBinder<'a> {
    /// Binds an entry point over `items` to the columns that its text names.
    fn bind(
        &mut self,
        text: &KernelText,
        entry: (&'static str, u64),
        constants: &[(&str, f64)],
    ) -> Result<BoundKernel, GpuError> {
        let columns = self.columns;
        self.bind_columns(text, entry, constants, |parity, name| {
            columns.by_name(name, parity)
        })
    }

    /// Binds an entry point whose names refer to other columns: `find` gets the parity and the name.
    fn bind_columns(
        &mut self,
        text: &KernelText,
        (entry, items): (&'static str, u64),
        constants: &[(&str, f64)],
        find: impl Fn(usize, &str) -> Option<&'a Column>,
    ) -> Result<BoundKernel, GpuError> {
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
        Ok(BoundKernel {
            groups: [
                kernel.bind(self.device, &even)?,
                kernel.bind(self.device, &odd)?,
            ],
            kernel,
            items,
        })
    }
}

impl Kernels {
    /// Compiles the kernels missing from `compiled` and binds all of them to the columns.
    pub fn new(
        device: &Device,
        launches: &LaunchParameters,
        columns: &Columns,
        sizes: &Sizes,
        count: u64,
        compiled: &mut Compiled,
    ) -> Result<Self, GpuError> {
        let mut binder = KernelBinder {
            device,
            launches,
            columns,
            compiled,
        };
        let softens = ("softens", flag(sizes.softens));
        // Options that only bonds have, or only cells.
        let of_law = match sizes.cells {
            None => vec![("one_class", flag(!sizes.several_classes)), softens],
            Some(walls) => vec![("walls", flag(walls))],
        };
        let (moving_text, breaking_text, measuring_text) = match sizes.cells {
            None => (
                texts::move_kernel(sizes.law),
                texts::break_kernel(sizes.law),
                texts::measure_kernel(sizes.law),
            ),
            Some(_) => (&cell_texts::MOVE, &cell_texts::BREAK, &cell_texts::MEASURE),
        };
        let clamped = ("clamped", flag(sizes.clamps > 0));
        let damped = ("damped", flag(sizes.damped));
        let mut moving = |[starting, forces, close, open]: [bool; 4]| {
            let of_pass = [
                clamped,
                damped,
                ("starting", flag(starting)),
                ("forces", flag(forces)),
                ("close", flag(close)),
                ("open", flag(open)),
            ];
            let constants = [&of_law[..], &of_pass].concat();
            binder.bind(moving_text, ("main", count), &constants)
        };
        let start = moving([true, true, false, false])?;
        let open = moving([false, false, false, true])?;
        let middle = moving([false, true, true, true])?;
        let last = moving([false, true, true, false])?;
        let of_breaks = match sizes.cells {
            None => of_law.clone(),
            Some(_) => vec![softens],
        };
        // The step has moved on by now; bonds broke at the positions of the force pass.
        let before = |parity: usize, name: &str| columns.by_name(name, 1 - parity);
        let breaks = binder.bind_columns(
            breaking_text,
            ("main", count.min(LIGHT_INVOCATIONS)),
            &of_breaks,
            before,
        )?;
        let lists = lists(&mut binder, sizes, count)?;
        let measure = binder.bind(measuring_text, ("carried", count), &of_law)?;
        let mut dilating = |measuring| {
            let constants = [&of_law[..], &[("measuring", flag(measuring))]].concat();
            binder.bind(&cell_texts::DILATE, ("main", count), &constants)
        };
        let dilate = match sizes.cells {
            None => None,
            Some(_) => Some([dilating(false)?, dilating(true)?]),
        };
        let rankine = match sizes.rankine {
            false => None,
            true => Some(RankineKernels::new(&mut binder, sizes.law, count, &of_law)?),
        };
        let rows = [("rows", sizes.reaction_rows as f64)];
        let mut reactions =
            |entry, items: u64| binder.bind(&texts::REACTIONS, (entry, items), &rows);
        let fold_reactions = reactions("fold", u64::from(WRENCH_COMPONENTS) * sizes.reaction_rows)?;
        let clear_reactions =
            reactions("clear", u64::from(REACTION_ROW_WORDS) * sizes.reaction_rows)?;
        let reset_touching = reactions("forget", sizes.colliders)?;
        Ok(Kernels {
            start,
            open,
            middle,
            last,
            dilate,
            rankine,
            breaks,
            lists,
            fold_reactions,
            measure,
            reset_touching,
            clear_reactions,
            gather_springs: binder.bind(&texts::SPRINGS, ("gather", count), &[])?,
            close_frame: binder.bind(&texts::SPRINGS, ("close", 1), &[])?,
        })
    }
}

/// Kernels of Rankine's criterion: stresses of elements, and what follows from them.
#[derive(Debug)]
pub struct RankineKernels {
    /// After a force pass: stresses, and bonds that break.
    pub breaks: [BoundKernel; 2],
    /// After the measurements of a frame: stresses, and largest σ of each element.
    pub measure: [BoundKernel; 2],
}

impl RankineKernels {
    /// Binds them for `count` elements; `of_law` are the constants of bonds.
    fn new(
        binder: &mut KernelBinder<'_>,
        law: Law,
        count: u64,
        of_law: &[(&str, f64)],
    ) -> Result<Self, GpuError> {
        let text = texts::rankine_kernel(law);
        let columns = binder.columns;
        let mut bind = |entry, items, measuring| {
            let constants = [of_law, &[("measuring", flag(measuring))]].concat();
            // After a force pass the step has moved on: the loads were those at the positions before.
            binder.bind_columns(text, (entry, items), &constants, |parity, name| {
                columns.by_name(name, if measuring { parity } else { 1 - parity })
            })
        };
        let few = count.min(LIGHT_INVOCATIONS);
        Ok(RankineKernels {
            breaks: [bind("stresses", count, false)?, bind("find", few, false)?],
            measure: [bind("stresses", count, true)?, bind("sigmas", count, true)?],
        })
    }
}

/// A flag as a kernel constant.
fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// Check and rebuild of the contact lists, in order of dispatch.
fn lists(
    binder: &mut KernelBinder<'_>,
    sizes: &Sizes,
    count: u64,
) -> Result<Vec<BoundKernel>, GpuError> {
    let few = |items: u64| items.min(LIGHT_INVOCATIONS);
    Ok(vec![
        binder.bind(&texts::TRAVEL, ("measure", few(count)), &[])?,
        binder.bind(&texts::TRAVEL, ("decide", 1), &[])?,
        binder.bind(&texts::GRID, ("main", few(count)), &[])?,
        binder.bind(&texts::FIND, ("main", few(count)), &[])?,
        binder.bind(&texts::ADOPT, ("main", few(sizes.cells())), &[])?,
    ])
}
