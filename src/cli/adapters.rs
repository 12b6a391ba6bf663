//! `cullet adapters`: lists graphics processors and their limits.

use serde_json::json;

use crate::gpu::{self, AdapterReport};

/// Prints every adapter.
pub fn adapters(as_json: bool) -> anyhow::Result<()> {
    let all = gpu::adapters();
    if as_json {
        let rows: Vec<_> = all.iter().map(row).collect();
        return super::print::print(&json!(rows).to_string());
    }
    if all.is_empty() {
        return super::print::print(
            "no graphics adapter: simulations run on the CPU. An adapter needs its vendor's Vulkan driver (Linux, Windows), Metal (macOS) \
             or Direct3D 12 (Windows); mesa-vulkan-drivers provides a software adapter for tests",
        );
    }
    for report in &all {
        super::print::print(&describe(report))?;
    }
    Ok(())
}

fn row(report: &AdapterReport) -> serde_json::Value {
    json!({
        "name": report.name,
        "kind": report.kind.name(),
        "backend": report.backend,
        "driver": report.driver,
        "max_binding_bytes": report.binding,
        "max_buffer_bytes": report.buffer,
        "max_workgroups": report.workgroups,
        "storage_buffers": report.storage_buffers,
        "lacks": report.lacks,
    })
}

fn describe(report: &AdapterReport) -> String {
    let mib = |bytes: u64| bytes >> 20;
    let use_of = match (report.lacks.as_slice(), report.kind) {
        ([], gpu::AdapterKind::Software) => {
            "works; a software adapter, used only if named".to_owned()
        }
        ([], _) => "works".to_owned(),
        (lacks, _) => format!("lacks {}", lacks.join(", ")),
    };
    format!(
        "{}\n  {} through {}, {}\n  bindings of {} MiB, buffers of {} MiB, {} workgroups, {} storage buffers a kernel\n  {use_of}",
        report.name,
        report.kind.name(),
        report.backend,
        report.driver,
        mib(report.binding),
        mib(report.buffer),
        report.workgroups,
        report.storage_buffers,
    )
}
