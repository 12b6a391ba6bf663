//! An open device: its limits, its queue, and the errors that it reports from its own threads.

use std::sync::{Arc, Mutex};

use wgpu::{
    BufferDescriptor, BufferUsages, DeviceDescriptor, ErrorFilter, MemoryHints, PollType,
    SubmissionIndex,
};

use super::adapters::{AdapterReport, DeviceRequest, choose};
use super::error::GpuError;
use super::silence_stderr::with_silent_stderr;
use super::sizes::LAUNCH_STRIDE;

/// Limits of a device, lowered by the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of a binding, bytes.
    pub binding: u64,
    /// Workgroups per dispatch.
    pub workgroups: u32,
    /// Storage buffers per kernel.
    pub storage_buffers: u32,
}

/// A device and its queue.
#[derive(Debug)]
pub struct Device {
    pub(super) inner: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    /// Description of the adapter.
    pub report: AdapterReport,
    /// Limits in force.
    pub limits: Limits,
    first_error: Arc<Mutex<Option<GpuError>>>,
}

impl Device {
    /// Opens the requested adapter.
    pub fn open(request: &DeviceRequest) -> Result<Self, GpuError> {
        let (adapter, report) = choose(request)?;
        let refused = |error: &dyn std::fmt::Display| GpuError::Refused {
            what: "a device".into(),
            reason: error.to_string(),
        };
        let descriptor = DeviceDescriptor {
            label: Some("cullet"),
            // Time stamps are only used for profiles.
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: adapter.limits(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let (inner, queue) =
            with_silent_stderr(|| pollster::block_on(adapter.request_device(&descriptor)))
                .map_err(|error| refused(&error))?;
        let fault = Arc::new(Mutex::new(None));
        let set = {
            let fault = Arc::clone(&fault);
            move |error: GpuError| {
                let mut first = fault.lock().expect("no holder of this lock panics");
                // The loss of the device explains all other errors.
                if first.is_none() || matches!(error, GpuError::Lost { .. }) {
                    *first = Some(error);
                }
            }
        };
        let lost = set.clone();
        inner.set_device_lost_callback(move |why, reason| {
            let reason = format!("{why:?} {reason}").trim().to_lowercase();
            lost(GpuError::Lost { reason });
        });
        let adapter_name = report.name.clone();
        inner.on_uncaptured_error(Arc::new(move |error| {
            set(match error {
                wgpu::Error::OutOfMemory { .. } => GpuError::OutOfMemory {
                    adapter: adapter_name.clone(),
                    what: "a command".into(),
                    bytes: 0,
                },
                other => GpuError::Refused {
                    what: "a command".into(),
                    reason: other.to_string(),
                },
            });
        }));
        let limits = Limits {
            binding: request
                .binding_limit
                .unwrap_or(u64::MAX)
                .min(report.binding)
                .min(report.buffer),
            workgroups: request
                .workgroup_limit
                .unwrap_or(u32::MAX)
                .clamp(1, report.workgroups),
            storage_buffers: report.storage_buffers,
        };
        Ok(Device {
            inner,
            queue,
            report,
            limits,
            first_error: fault,
        })
    }

    /// Fails with the first error that the device reported, if any; a loss takes precedence over all others.
    pub fn check(&self) -> Result<(), GpuError> {
        let reported = || {
            let fault = self
                .first_error
                .lock()
                .expect("no holder of this lock panics");
            fault.clone()
        };
        if matches!(reported(), Some(GpuError::Refused { .. })) {
            // A loss is reported during polling after all work is done; an error of the poll itself means the same.
            let _ = self.inner.poll(PollType::wait_indefinitely());
        }
        reported().map_or(Ok(()), Err)
    }

    /// Makes a zeroed buffer; an error message names its purpose, `what`.
    pub(super) fn buffer(
        &self,
        what: &str,
        bytes: u64,
        usage: BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        let memory = self.inner.push_error_scope(ErrorFilter::OutOfMemory);
        let validation = self.inner.push_error_scope(ErrorFilter::Validation);
        let buffer = self.inner.create_buffer(&BufferDescriptor {
            label: Some(what),
            size: bytes.max(16).next_multiple_of(16),
            usage,
            mapped_at_creation: false,
        });
        let invalid = pollster::block_on(validation.pop());
        let full = pollster::block_on(memory.pop());
        self.check()?;
        match (full, invalid) {
            (None, None) => Ok(buffer),
            (None, Some(error)) => Err(GpuError::Refused {
                what: format!("a buffer of {bytes} bytes for {what}"),
                reason: error.to_string(),
            }),
            (Some(_), _) => Err(GpuError::OutOfMemory {
                adapter: self.report.name.clone(),
                what: what.to_owned(),
                bytes,
            }),
        }
    }

    /// Makes a buffer in host memory, into which the device copies data to be read.
    pub fn staging(&self, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        self.buffer(
            "reading back",
            bytes,
            BufferUsages::COPY_DST | BufferUsages::MAP_READ,
        )
    }

    /// Makes a uniform buffer of `bytes` bytes, written by [`write`](Self::write).
    pub fn uniform(&self, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        self.buffer(
            "parameters",
            bytes.next_multiple_of(LAUNCH_STRIDE),
            BufferUsages::UNIFORM | BufferUsages::COPY_DST,
        )
    }

    /// Writes bytes; they are in place before the next submission runs.
    pub fn write(&self, buffer: &wgpu::Buffer, offset: u64, bytes: &[u8]) {
        self.queue.write_buffer(buffer, offset, bytes);
    }

    /// Makes an encoder for commands.
    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.inner.create_command_encoder(&Default::default())
    }

    /// Submits commands to the device.
    pub fn submit(&self, encoder: wgpu::CommandEncoder) -> SubmissionIndex {
        self.queue.submit([encoder.finish()])
    }

    /// Waits until a submission is done, or all so far if it is `None`.
    pub fn wait(&self, submission: Option<SubmissionIndex>) -> Result<(), GpuError> {
        let polled = self.inner.poll(PollType::Wait {
            submission_index: submission,
            timeout: None,
        });
        self.check()?;
        polled.map(|_| ()).map_err(|error| GpuError::Lost {
            reason: error.to_string(),
        })
    }

    /// Waits for `submission` and reads buffers made by [`staging`](Self::staging), each with the number of
    /// bytes to read; returns 32-bit words.
    pub fn read(
        &self,
        submission: Option<SubmissionIndex>,
        from: &[(&wgpu::Buffer, u64)],
    ) -> Result<Vec<Vec<u32>>, GpuError> {
        for (buffer, bytes) in from.iter().filter(|(_, bytes)| *bytes > 0) {
            // A failure shows when the mapped range is requested.
            buffer.map_async(wgpu::MapMode::Read, 0..*bytes, |_| ());
        }
        self.wait(submission)?;
        let mut out = Vec::with_capacity(from.len());
        for &(buffer, bytes) in from {
            if bytes == 0 {
                out.push(Vec::new());
                continue;
            }
            let view = buffer
                .get_mapped_range(0..bytes)
                .map_err(|error| GpuError::Lost {
                    reason: error.to_string(),
                })?;
            out.push(bytemuck::pod_collect_to_vec(&view));
            drop(view);
            buffer.unmap();
        }
        Ok(out)
    }

    /// Destroys the device; all later operations fail with [`GpuError::Lost`].
    pub fn destroy(&self) {
        self.inner.destroy();
    }
}
