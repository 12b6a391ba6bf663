//! What frame files hold, and how exactly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Columns of a frame file that come and go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrameGroup {
    /// x, y, z.
    Position,
    /// qx, qy, qz, qw.
    Rotation,
    /// vx, vy, vz.
    Velocity,
    /// wx, wy, wz.
    Spin,
    /// fragment.
    Fragment,
    /// sigma, tau.
    Stress,
    /// broken.
    Broken,
}

impl FrameGroup {
    /// Every group, in the order of the file. The columns frame, time and id belong to none: they are always there.
    pub const ALL: [FrameGroup; 7] = [
        FrameGroup::Position,
        FrameGroup::Rotation,
        FrameGroup::Velocity,
        FrameGroup::Spin,
        FrameGroup::Fragment,
        FrameGroup::Stress,
        FrameGroup::Broken,
    ];

    /// Name in the pipeline file.
    pub fn name(self) -> &'static str {
        match self {
            FrameGroup::Position => "position",
            FrameGroup::Rotation => "rotation",
            FrameGroup::Velocity => "velocity",
            FrameGroup::Spin => "spin",
            FrameGroup::Fragment => "fragment",
            FrameGroup::Stress => "stress",
            FrameGroup::Broken => "broken",
        }
    }

    /// Names of its columns.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            FrameGroup::Position => &["x", "y", "z"],
            FrameGroup::Rotation => &["qx", "qy", "qz", "qw"],
            FrameGroup::Velocity => &["vx", "vy", "vz"],
            FrameGroup::Spin => &["wx", "wy", "wz"],
            FrameGroup::Fragment => &["fragment"],
            FrameGroup::Stress => &["sigma", "tau"],
            FrameGroup::Broken => &["broken"],
        }
    }
}

/// Bits of the mantissa that are kept, of 23; rounded to nearest, ties to even. Absent: all.
///
/// k bits keep a number within 2^−(k+1) of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PrecisionBits {
    /// Of x, y, z.
    #[schemars(with = "u32", range(min = 1, max = 23))]
    pub position: Option<u32>,
    /// Of qx, qy, qz, qw.
    #[schemars(with = "u32", range(min = 1, max = 23))]
    pub rotation: Option<u32>,
    /// Of vx, vy, vz.
    #[schemars(with = "u32", range(min = 1, max = 23))]
    pub velocity: Option<u32>,
    /// Of wx, wy, wz.
    #[schemars(with = "u32", range(min = 1, max = 23))]
    pub spin: Option<u32>,
    /// Of sigma, tau.
    #[schemars(with = "u32", range(min = 1, max = 23))]
    pub stress: Option<u32>,
}

impl PrecisionBits {
    /// The groups that are rounded, with the bits kept.
    pub fn groups(&self) -> impl Iterator<Item = (FrameGroup, u32)> {
        let all = FrameGroup::ALL.into_iter();
        all.filter_map(|group| Some((group, self.of(group)?)))
    }

    fn of(&self, group: FrameGroup) -> Option<u32> {
        match group {
            FrameGroup::Position => self.position,
            FrameGroup::Rotation => self.rotation,
            FrameGroup::Velocity => self.velocity,
            FrameGroup::Spin => self.spin,
            FrameGroup::Stress => self.stress,
            // Whole numbers.
            FrameGroup::Fragment | FrameGroup::Broken => None,
        }
    }
}

/// Compression of the pages of Parquet files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// Zstandard, level 1.
    #[default]
    Zstd,
    /// None: larger files, written in less time.
    None,
}

/// What simulate writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// Columns of frame files beside frame, time and id; reconstruct needs position, rotation and fragment,
    /// preview position.
    pub columns: Vec<FrameGroup>,
    /// Rounding of columns of frame files, for smaller files; states are never rounded.
    pub precision_bits: PrecisionBits,
    /// Compression of the tables.
    pub compression: Compression,
    /// Whether the history tells what damping, friction and breaking took (J). On the CPU alone, where it
    /// makes steps up to a fifth longer.
    pub work: bool,
    /// A step, counted from 1, that all methods for implicit steps solve side by side, for the chart of their
    /// convergence (Lu et al. 2025, Figure 7); the run itself does not change. Absent: none.
    #[schemars(with = "u64", range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<u64>,
}
impl Default for Output {
    fn default() -> Self {
        Output {
            columns: FrameGroup::ALL.to_vec(),
            precision_bits: PrecisionBits::default(),
            compression: Compression::Zstd,
            work: false,
            convergence: None,
        }
    }
}

impl Output {
    /// The groups that frame files do not hold.
    pub fn left_out(&self) -> impl Iterator<Item = FrameGroup> {
        let all = FrameGroup::ALL.into_iter();
        all.filter(|group| !self.columns.contains(group))
    }
}
