//! Kernels: WGSL texts joined in a fixed order, specialised by `override` constants, bound to columns.

use std::fmt::Write;

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindGroupLayoutDescriptor,
    BindGroupLayoutEntry, BindingType, Buffer, BufferBinding, BufferBindingType, BufferSize,
    ComputePass, ComputePipeline, ComputePipelineDescriptor, ErrorFilter,
    PipelineCompilationOptions, PipelineLayoutDescriptor, ShaderModuleDescriptor, ShaderSource,
    ShaderStages,
};

use super::column::{Access, Column, Item, declare};
use super::device::Device;
use super::error::GpuError;
use super::sizes::{LAUNCH_STRIDE, WORKGROUP};

/// A column as a kernel knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name in the text.
    pub name: &'static str,
    /// What its entries are.
    pub item: Item,
    /// What is done with it.
    pub access: Access,
}

/// A kernel before it meets a device.
#[derive(Clone, Copy, Debug)]
pub struct KernelText {
    /// Name of its file.
    pub name: &'static str,
    /// Texts in order; the last holds the entry points.
    pub sources: &'static [&'static str],
    /// Columns in order.
    pub bindings: &'static [Binding],
}

/// The whole text for columns split into so many parts of so many items.
pub fn compose(kernel: &KernelText, splits: &[(usize, u64)]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "const WORKGROUP: u32 = {WORKGROUP}u;");
    let mut next = 0;
    for (binding, &(parts, per_part)) in kernel.bindings.iter().zip(splits) {
        declare(
            &mut text,
            binding.name,
            binding.item,
            binding.access,
            parts,
            per_part,
            next,
        );
        next += parts as u32;
    }
    for source in kernel.sources {
        text.push('\n');
        text.push_str(source);
    }
    text
}

/// Numbers of a launch, group 1: a uniform for all dispatches of a submission, and a row a dispatch chosen by its offset.
#[derive(Debug)]
pub struct Launches {
    layout: BindGroupLayout,
    group: BindGroup,
}

impl Launches {
    /// Of a uniform of `bytes` and a table of rows of [`LAUNCH_STRIDE`] bytes, 16 of which a dispatch sees.
    pub fn new(device: &Device, shared: &Buffer, rows: &Buffer) -> Self {
        let entry = |binding: u32, dynamic: bool| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer {
                ty: BufferBindingType::Uniform,
                has_dynamic_offset: dynamic,
                min_binding_size: None,
            },
            count: None,
        };
        let layout = device
            .inner
            .create_bind_group_layout(&BindGroupLayoutDescriptor {
                label: Some("launch"),
                entries: &[entry(0, false), entry(1, true)],
            });
        let group = device.inner.create_bind_group(&BindGroupDescriptor {
            label: Some("launch"),
            layout: &layout,
            entries: &[
                BindGroupEntry {
                    binding: 0,
                    resource: shared.as_entire_binding(),
                },
                BindGroupEntry {
                    binding: 1,
                    resource: wgpu::BindingResource::Buffer(BufferBinding {
                        buffer: rows,
                        offset: 0,
                        size: BufferSize::new(16),
                    }),
                },
            ],
        });
        Launches { layout, group }
    }
}

/// Parts of each column and items of a part: what a kernel's text depends on.
pub fn splits(columns: &[&Column]) -> Vec<(usize, u64)> {
    columns
        .iter()
        .map(|column| (column.parts().len(), column.per_part()))
        .collect()
}

/// An entry point ready to dispatch.
#[derive(Debug)]
pub struct Kernel {
    name: &'static str,
    pipeline: ComputePipeline,
    columns: BindGroupLayout,
}

impl Kernel {
    /// Compiles an entry point for these columns, in the order of the text's bindings.
    pub fn new(
        device: &Device,
        text: &KernelText,
        entry: &'static str,
        constants: &[(&str, f64)],
        columns: &[&Column],
        launches: &Launches,
    ) -> Result<Self, GpuError> {
        let refused = |reason: String| GpuError::Refused {
            what: format!("kernel {}:{entry}", text.name),
            reason,
        };
        if columns.len() != text.bindings.len() {
            return Err(refused(format!(
                "{} columns for {} bindings",
                columns.len(),
                text.bindings.len()
            )));
        }
        let mut entries = Vec::new();
        for (binding, column) in text.bindings.iter().zip(columns) {
            // A column of atomics is one of plain numbers to a kernel that needs no atomic access.
            if binding.item.plain() != column.item().plain() {
                return Err(refused(format!(
                    "column {} as {}",
                    column.name(),
                    binding.name
                )));
            }
            for _ in column.parts() {
                entries.push(BindGroupLayoutEntry {
                    binding: entries.len() as u32,
                    visibility: ShaderStages::COMPUTE,
                    ty: BindingType::Buffer {
                        ty: BufferBindingType::Storage {
                            read_only: binding.access == Access::Read,
                        },
                        has_dynamic_offset: false,
                        min_binding_size: None,
                    },
                    count: None,
                });
            }
        }
        if entries.len() > device.limits.storage_buffers as usize {
            return Err(GpuError::Lacks {
                adapter: device.report.name.clone(),
                lacks: format!(
                    "the scene needs {} bindings of {} bytes in one kernel, it has {}",
                    entries.len(),
                    device.limits.binding,
                    device.limits.storage_buffers
                ),
            });
        }
        let scope = device.inner.push_error_scope(ErrorFilter::Validation);
        let module = device.inner.create_shader_module(ShaderModuleDescriptor {
            label: Some(text.name),
            source: ShaderSource::Wgsl(compose(text, &splits(columns)).into()),
        });
        let layout = device
            .inner
            .create_bind_group_layout(&BindGroupLayoutDescriptor {
                label: Some(text.name),
                entries: &entries,
            });
        let pipeline_layout = device
            .inner
            .create_pipeline_layout(&PipelineLayoutDescriptor {
                label: Some(text.name),
                bind_group_layouts: &[Some(&layout), Some(&launches.layout)],
                immediate_size: 0,
            });
        let pipeline = device
            .inner
            .create_compute_pipeline(&ComputePipelineDescriptor {
                label: Some(text.name),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(entry),
                compilation_options: PipelineCompilationOptions {
                    constants,
                    zero_initialize_workgroup_memory: false,
                },
                cache: None,
            });
        if let Some(error) = pollster::block_on(scope.pop()) {
            return Err(refused(error.to_string()));
        }
        device.check()?;
        Ok(Kernel {
            name: text.name,
            pipeline,
            columns: layout,
        })
    }

    /// Ties columns to the kernel; they must be split as those that it was made for.
    pub fn bind(&self, device: &Device, columns: &[&Column]) -> BindGroup {
        let parts = columns.iter().flat_map(|column| column.parts());
        let entries: Vec<_> = parts
            .enumerate()
            .map(|(binding, part)| BindGroupEntry {
                binding: binding as u32,
                resource: part.as_entire_binding(),
            })
            .collect();
        device.inner.create_bind_group(&BindGroupDescriptor {
            label: Some(self.name),
            layout: &self.columns,
            entries: &entries,
        })
    }

    /// Dispatches an invocation an item, or as many workgroups as the device takes: kernels stride over the rest.
    pub fn dispatch(
        &self,
        device: &Device,
        pass: &mut ComputePass<'_>,
        columns: &BindGroup,
        (launches, row): (&Launches, u64),
        items: u64,
    ) {
        let groups = items
            .div_ceil(u64::from(WORKGROUP))
            .clamp(1, u64::from(device.limits.workgroups));
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, columns, &[]);
        pass.set_bind_group(1, &launches.group, &[(row * LAUNCH_STRIDE) as u32]);
        pass.dispatch_workgroups(groups as u32, 1, 1);
    }
}
