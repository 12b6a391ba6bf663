//! Compute kernels: compiles texts for columns, specialises them by `override` constants, and dispatches them.

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindGroupLayoutDescriptor,
    BindGroupLayoutEntry, BindingType, Buffer, BufferBinding, BufferBindingType, BufferSize,
    ComputePass, ComputePipeline, ComputePipelineDescriptor, ErrorFilter,
    PipelineCompilationOptions, PipelineLayoutDescriptor, ShaderModuleDescriptor, ShaderSource,
    ShaderStages,
};

use super::binding::{Access, ColumnSplit};
use super::device::Device;
use super::error::GpuError;
use super::sizes::{LAUNCH_STRIDE, WORKGROUP};
use super::text::{BoundColumns, compose};

/// Parameters of launches, bind group 1: one uniform for all dispatches of a submission, and one row of a table per
/// dispatch, selected by a dynamic offset.
#[derive(Debug)]
pub struct LaunchParameters {
    layout: BindGroupLayout,
    group: BindGroup,
}

impl LaunchParameters {
    /// Binds the uniform `shared` and the table `rows`, whose rows are [`LAUNCH_STRIDE`] bytes apart; a
    /// dispatch sees the first 16 bytes of its row.
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
        LaunchParameters { layout, group }
    }
}

/// An entry point, compiled and ready to dispatch.
#[derive(Debug)]
pub struct Kernel {
    name: &'static str,
    pipeline: ComputePipeline,
    columns: BindGroupLayout,
    splits: Vec<ColumnSplit>,
}

impl Kernel {
    /// Compiles an entry point for these columns, and for any others that are split in the same way.
    pub fn new(
        device: &Device,
        entry: &'static str,
        constants: &[(&str, f64)],
        columns: &BoundColumns<'_>,
        launches: &LaunchParameters,
    ) -> Result<Self, GpuError> {
        let text = &columns.text;
        let entries = layout_entries(device, columns)?;
        let scope = device.inner.push_error_scope(ErrorFilter::Validation);
        let splits = columns.splits();
        let module = device.inner.create_shader_module(ShaderModuleDescriptor {
            label: Some(text.name()),
            source: ShaderSource::Wgsl(compose(text, &splits).into()),
        });
        let layout = device
            .inner
            .create_bind_group_layout(&BindGroupLayoutDescriptor {
                label: Some(text.name()),
                entries: &entries,
            });
        let pipeline_layout = device
            .inner
            .create_pipeline_layout(&PipelineLayoutDescriptor {
                label: Some(text.name()),
                bind_group_layouts: &[Some(&layout), Some(&launches.layout)],
                immediate_size: 0,
            });
        let pipeline = device
            .inner
            .create_compute_pipeline(&ComputePipelineDescriptor {
                label: Some(text.name()),
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
            return Err(GpuError::Refused {
                what: format!("kernel {}:{entry}", text.name()),
                reason: error.to_string(),
            });
        }
        device.check()?;
        Ok(Kernel {
            name: text.name(),
            pipeline,
            columns: layout,
            splits,
        })
    }

    /// Makes a bind group of columns: those of the kernel's text, split as the ones that it was compiled for.
    pub fn bind(&self, device: &Device, columns: &BoundColumns<'_>) -> Result<BindGroup, GpuError> {
        if columns.text.name() != self.name || columns.splits() != self.splits {
            return Err(GpuError::Refused {
                what: format!("kernel {}", self.name),
                reason: format!(
                    "its columns are of kernel {} or split differently",
                    columns.text.name()
                ),
            });
        }
        let parts = columns.columns.iter().flat_map(|column| column.parts());
        let entries: Vec<_> = parts
            .enumerate()
            .map(|(binding, part)| BindGroupEntry {
                binding: binding as u32,
                resource: part.as_entire_binding(),
            })
            .collect();
        Ok(device.inner.create_bind_group(&BindGroupDescriptor {
            label: Some(self.name),
            layout: &self.columns,
            entries: &entries,
        }))
    }

    /// Dispatches one invocation per item, up to the device's limit on workgroups: kernels loop over further items by a
    /// stride.
    pub fn dispatch(
        &self,
        device: &Device,
        pass: &mut ComputePass<'_>,
        columns: &BindGroup,
        (launches, row): (&LaunchParameters, u64),
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

/// One binding for each part of each column; fails if the device has too few.
fn layout_entries(
    device: &Device,
    columns: &BoundColumns<'_>,
) -> Result<Vec<BindGroupLayoutEntry>, GpuError> {
    let mut entries = Vec::new();
    for (binding, column) in columns.text.bindings().iter().zip(&columns.columns) {
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
                "the scene needs {} bindings of {} bytes in one kernel, the adapter has {}",
                entries.len(),
                device.limits.binding,
                device.limits.storage_buffers
            ),
        });
    }
    Ok(entries)
}
