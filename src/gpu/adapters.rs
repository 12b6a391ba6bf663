//! Which graphics processors there are, what each lacks, and the choice among them.

use wgpu::{
    Adapter, Backends, DeviceType, Instance, InstanceDescriptor, InstanceFlags,
    MemoryBudgetThresholds,
};

use super::error::GpuError;
use super::quiet::quietly;
use super::sizes::{STORAGE_BUFFERS, WORKGROUP};

/// Bytes that a binding must be able to hold at least: what WebGPU guarantees.
const BINDING: u64 = 128 << 20;

/// What is asked of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Part of the adapter's name, any case; the only way to get a software adapter. Absent: the first
    /// discrete, else integrated one.
    pub adapter: Option<String>,
    /// Binds no more bytes at a time than this, whatever the adapter allows: columns are split.
    pub binding_limit: Option<u64>,
    /// Dispatches no more workgroups at a time than this, whatever the adapter allows.
    pub workgroup_limit: Option<u32>,
}

/// What an adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A card of its own.
    Discrete,
    /// Shares memory with the processor.
    Integrated,
    /// Passed through by a virtual machine.
    Virtual,
    /// The processor pretending.
    Software,
    /// Unknown.
    Other,
}

impl Kind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Discrete => "discrete",
            Kind::Integrated => "integrated",
            Kind::Virtual => "virtual",
            Kind::Software => "software",
            Kind::Other => "other",
        }
    }

    /// Place in the choice that nobody made; none: never taken unless asked for.
    fn rank(self) -> Option<u32> {
        match self {
            Kind::Discrete => Some(0),
            Kind::Integrated => Some(1),
            Kind::Virtual => Some(2),
            Kind::Other => Some(3),
            Kind::Software => None,
        }
    }
}

/// An adapter as `cullet adapters` lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct AdapterReport {
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: Kind,
    /// Vulkan, Metal or Direct3D 12.
    pub backend: String,
    /// Driver and its version.
    pub driver: String,
    /// Largest binding of a storage buffer, bytes.
    pub binding: u64,
    /// Largest buffer, bytes.
    pub buffer: u64,
    /// Workgroups in a dispatch.
    pub workgroups: u32,
    /// Storage buffers of a kernel.
    pub storage_buffers: u32,
    /// What is missing to run simulations; empty: nothing.
    pub lacks: Vec<String>,
}

fn instance() -> Instance {
    Instance::new(InstanceDescriptor {
        backends: Backends::VULKAN | Backends::METAL | Backends::DX12,
        flags: InstanceFlags::empty(),
        // Where the driver tells its budget, a buffer beyond it is refused rather than paged out.
        memory_budget_thresholds: MemoryBudgetThresholds {
            for_resource_creation: Some(95),
            for_device_loss: None,
        },
        ..InstanceDescriptor::new_without_display_handle()
    })
}

fn list() -> Vec<(Adapter, AdapterReport)> {
    quietly(|| pollster::block_on(instance().enumerate_adapters(Backends::all())))
        .into_iter()
        .map(|adapter| {
            let report = report(&adapter);
            (adapter, report)
        })
        .collect()
}

/// Every adapter of this machine.
pub fn adapters() -> Vec<AdapterReport> {
    list().into_iter().map(|(_, report)| report).collect()
}

fn report(adapter: &Adapter) -> AdapterReport {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let mut lacks = Vec::new();
    if limits.max_storage_buffers_per_shader_stage < STORAGE_BUFFERS {
        lacks.push(format!(
            "{} storage buffers a kernel, {STORAGE_BUFFERS} needed",
            limits.max_storage_buffers_per_shader_stage
        ));
    }
    if limits.max_storage_buffer_binding_size < BINDING {
        lacks.push(format!(
            "bindings of {} bytes, {BINDING} needed",
            limits.max_storage_buffer_binding_size
        ));
    }
    if limits.max_compute_invocations_per_workgroup < WORKGROUP {
        lacks.push(format!(
            "{} invocations a workgroup, {} needed",
            limits.max_compute_invocations_per_workgroup, WORKGROUP
        ));
    }
    AdapterReport {
        name: info.name.clone(),
        kind: match info.device_type {
            DeviceType::DiscreteGpu => Kind::Discrete,
            DeviceType::IntegratedGpu => Kind::Integrated,
            DeviceType::VirtualGpu => Kind::Virtual,
            DeviceType::Cpu => Kind::Software,
            DeviceType::Other => Kind::Other,
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

/// The adapter that fits a request, or why none does.
pub(super) fn choose(request: &Request) -> Result<(Adapter, AdapterReport), GpuError> {
    let all = list();
    let found = match all.as_slice() {
        [] => "no driver offers one".to_owned(),
        some => {
            let names: Vec<_> = some
                .iter()
                .map(|(_, r)| format!("{:?} ({})", r.name, r.kind.name()))
                .collect();
            format!(
                "there is {}; a software adapter is only taken by name, --adapter",
                names.join(", ")
            )
        }
    };
    let wanted = request.adapter.as_ref().map(|name| name.to_lowercase());
    let place = |report: &AdapterReport| match &wanted {
        Some(name) => report.name.to_lowercase().contains(name).then_some(0),
        None => report.kind.rank(),
    };
    let best = all
        .into_iter()
        .filter_map(|(adapter, report)| Some((place(&report)?, adapter, report)))
        // What can run comes before what lacks something.
        .min_by_key(|(rank, _, report)| (!report.lacks.is_empty(), *rank));
    let Some((_, adapter, report)) = best else {
        return Err(GpuError::NoAdapter {
            wanted: request
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
