//! Lists graphics adapters and what each lacks, and chooses one.

use std::sync::OnceLock;

use wgpu::{
    Adapter, Backends, DeviceType, Instance, InstanceDescriptor, InstanceFlags,
    MemoryBudgetThresholds,
};

use super::error::GpuError;
use super::silence_stderr::with_silent_stderr;
use super::sizes::{STORAGE_BUFFERS, WORKGROUP};

/// Least size of a binding that an adapter must support, bytes: the limit that WebGPU guarantees.
const MIN_BINDING_BYTES: u64 = 128 << 20;

/// Requested adapter and limits of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceRequest {
    /// Part of the adapter's name, case ignored; the only way to get a software adapter. Absent: the first discrete
    /// adapter, else an integrated one.
    pub adapter: Option<String>,
    /// Upper limit on the size of a binding, in addition to the adapter's, bytes: larger columns are split.
    pub binding_limit: Option<u64>,
    /// Upper limit on workgroups per dispatch, in addition to the adapter's.
    pub workgroup_limit: Option<u32>,
}

/// Type of an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdapterKind {
    /// A separate card.
    Discrete,
    /// Integrated: shares memory with the processor.
    Integrated,
    /// Passed through by a virtual machine.
    Virtual,
    /// Emulated by the processor.
    Software,
    /// Unknown.
    Other,
}

impl AdapterKind {
    /// Name, for messages.
    pub fn name(self) -> &'static str {
        match self {
            AdapterKind::Discrete => "discrete",
            AdapterKind::Integrated => "integrated",
            AdapterKind::Virtual => "virtual",
            AdapterKind::Software => "software",
            AdapterKind::Other => "other",
        }
    }

    /// Rank in the default choice, lowest first; `None`: never chosen by default.
    fn rank(self) -> Option<u32> {
        match self {
            AdapterKind::Discrete => Some(0),
            AdapterKind::Integrated => Some(1),
            AdapterKind::Virtual => Some(2),
            AdapterKind::Other => Some(3),
            AdapterKind::Software => None,
        }
    }
}

/// Description of an adapter, which `cullet adapters` prints.
#[derive(Clone, Debug, PartialEq)]
pub struct AdapterReport {
    /// Name.
    pub name: String,
    /// Type of the adapter.
    pub kind: AdapterKind,
    /// Vulkan, Metal or Direct3D 12.
    pub backend: String,
    /// Driver and its version.
    pub driver: String,
    /// Largest binding of a storage buffer, bytes.
    pub binding: u64,
    /// Largest buffer, bytes.
    pub buffer: u64,
    /// Limit on workgroups per dispatch.
    pub workgroups: u32,
    /// Limit on storage buffers per kernel.
    pub storage_buffers: u32,
    /// What the adapter lacks to run simulations; empty if nothing.
    pub lacks: Vec<String>,
}

/// The instance of this process. One is made and never dropped: Nvidia's driver corrupts memory when one
/// thread makes an instance while another drops one (wgpu issue 5930).
fn instance() -> &'static Instance {
    static INSTANCE: OnceLock<Instance> = OnceLock::new();
    INSTANCE.get_or_init(|| {
        Instance::new(InstanceDescriptor {
            backends: Backends::VULKAN | Backends::METAL | Backends::DX12,
            flags: InstanceFlags::empty(),
            // If the driver reports its memory budget, a buffer beyond it is refused instead of paged out.
            memory_budget_thresholds: MemoryBudgetThresholds {
                for_resource_creation: Some(95),
                for_device_loss: None,
            },
            ..InstanceDescriptor::new_without_display_handle()
        })
    })
}

fn list() -> Vec<(Adapter, AdapterReport)> {
    with_silent_stderr(|| pollster::block_on(instance().enumerate_adapters(Backends::all())))
        .into_iter()
        .map(|adapter| {
            let report = report(&adapter);
            (adapter, report)
        })
        .collect()
}

/// All adapters of this machine.
pub fn adapters() -> Vec<AdapterReport> {
    list().into_iter().map(|(_, report)| report).collect()
}

fn report(adapter: &Adapter) -> AdapterReport {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let mut lacks = Vec::new();
    if limits.max_storage_buffers_per_shader_stage < STORAGE_BUFFERS {
        lacks.push(format!(
            "{} storage buffers per kernel, {STORAGE_BUFFERS} needed",
            limits.max_storage_buffers_per_shader_stage
        ));
    }
    if limits.max_storage_buffer_binding_size < MIN_BINDING_BYTES {
        lacks.push(format!(
            "bindings of {} bytes, {MIN_BINDING_BYTES} needed",
            limits.max_storage_buffer_binding_size
        ));
    }
    if limits.max_compute_invocations_per_workgroup < WORKGROUP {
        lacks.push(format!(
            "{} invocations per workgroup, {} needed",
            limits.max_compute_invocations_per_workgroup, WORKGROUP
        ));
    }
    AdapterReport {
        name: info.name.clone(),
        kind: match info.device_type {
            DeviceType::DiscreteGpu => AdapterKind::Discrete,
            DeviceType::IntegratedGpu => AdapterKind::Integrated,
            DeviceType::VirtualGpu => AdapterKind::Virtual,
            DeviceType::Cpu => AdapterKind::Software,
            DeviceType::Other => AdapterKind::Other,
        },
        backend: info.backend.to_string(),
        driver: format!("{} {}", info.driver, info.driver_info)
            .trim()
            .to_owned(),
        binding: limits.max_storage_buffer_binding_size,
        buffer: limits.max_buffer_size,
        workgroups: limits.max_compute_workgroups_per_dimension,
        storage_buffers: limits.max_storage_buffers_per_shader_stage,
        lacks,
    }
}

/// The adapter that matches a request, or the reason why none does.
pub(super) fn choose(request: &DeviceRequest) -> Result<(Adapter, AdapterReport), GpuError> {
    let all = list();
    let found = match all.as_slice() {
        [] => "no driver provides one".to_owned(),
        some => {
            let names: Vec<_> = some
                .iter()
                .map(|(_, r)| format!("{:?} ({})", r.name, r.kind.name()))
                .collect();
            format!(
                "found {}; a software adapter is only used if named by --adapter",
                names.join(", ")
            )
        }
    };
    let requested = request.adapter.as_ref().map(|name| name.to_lowercase());
    let rank = |report: &AdapterReport| match &requested {
        Some(name) => report.name.to_lowercase().contains(name).then_some(0),
        None => report.kind.rank(),
    };
    let best = all
        .into_iter()
        .filter_map(|(adapter, report)| Some((rank(&report)?, adapter, report)))
        // Adapters that lack something come last.
        .min_by_key(|(rank, _, report)| (!report.lacks.is_empty(), *rank));
    let Some((_, adapter, report)) = best else {
        return Err(GpuError::NoAdapter {
            requested: request
                .adapter
                .as_ref()
                .map_or(String::new(), |name| format!(" named {name:?}")),
            found,
        });
    };
    if report.lacks.is_empty() {
        Ok((adapter, report))
    } else {
        Err(GpuError::Lacks {
            adapter: report.name,
            lacks: report.lacks.join(", "),
        })
    }
}
