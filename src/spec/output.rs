//! Settings of the simulation's output: columns of frame files, their precision and compression.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Group of columns that frame files hold or leave out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrameGroup {
    /// Columns x, y, z: position, m.
    Position,
    /// Columns qx, qy, qz, qw: rotation.
    Rotation,
    /// Columns vx, vy, vz: velocity, m/s.
    Velocity,
    /// Columns wx, wy, wz: angular velocity, rad/s.
    Spin,
    /// Column fragment: label of the fragment.
    Fragment,
    /// Columns sigma, tau: normal and shear stress.
    Stress,
    /// Column broken: broken bonds of the element.
    Broken,
}

impl FrameGroup {
    /// All groups, in the order of the file. The columns frame, time and id belong to none, as every file has them.
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

    /// Names of the columns of the group.
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

/// Bits of the mantissa that are kept, of 23; numbers are rounded to nearest, ties to even. Absent: all.
///
/// With k bits the relative error is at most 2^−(k+1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PrecisionBits {
    /// Bits kept of x, y, z; absent: all 23.
    #[schemars(with = "u32", range(min = 1, max = 23))]
    pub position: Option<u32>,
    /// Bits kept of qx, qy, qz, qw; absent: all 23.
    #[schemars(with = "u32", range(min = 1, max = 23))]
    pub rotation: Option<u32>,
    /// Bits kept of vx, vy, vz; absent: all 23.
    #[schemars(with = "u32", range(min = 1, max = 23))]
    pub velocity: Option<u32>,
    /// Bits kept of wx, wy, wz; absent: all 23.
    #[schemars(with = "u32", range(min = 1, max = 23))]
    pub spin: Option<u32>,
    /// Bits kept of sigma, tau; absent: all 23.
    #[schemars(with = "u32", range(min = 1, max = 23))]
    pub stress: Option<u32>,
}

impl PrecisionBits {
    /// The groups that are rounded, with the number of bits kept.
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
            // Integers are never rounded.
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
    /// No compression: larger files, written faster.
    None,
}

/// Settings of what `simulate` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// Groups of columns in frame files, besides frame, time and id. `reconstruct` needs position, rotation and
    /// fragment, `preview` position.
    pub columns: Vec<FrameGroup>,
    /// Bits of the mantissa kept in columns of frame files, for smaller files. The metadata of the files names
    /// them; states are never rounded.
    pub precision_bits: PrecisionBits,
    /// Compression of the Parquet tables.
    pub compression: Compression,
    /// Whether the history holds the energy dissipated by damping, friction and breaking, J. On the CPU only,
    /// where steps take up to a fifth longer.
    pub work: bool,
    /// Number of a step, from 1, that every method for implicit steps solves, for the chart of their
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
    pub fn missing_groups(&self) -> impl Iterator<Item = FrameGroup> {
        let all = FrameGroup::ALL.into_iter();
        all.filter(|group| !self.columns.contains(group))
    }
}
