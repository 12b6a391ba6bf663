//! Fragments that nothing strains are stepped as rigid bodies until a load could break them.

pub mod alarm;
pub mod calm;
mod chips;
mod clusters;
mod course;
pub mod event;
pub mod groups;
pub mod held;
pub mod island;
mod island_alarms;
mod island_gaps;
pub mod islands;
mod joint;
mod judge;
pub mod leave;
pub mod loads;
pub mod piece;
pub mod pieces;
pub mod resting;
pub mod resting_loads;
mod search;
mod sides;
pub mod state;
pub mod statics;
pub mod still;
pub mod strength;
pub mod stride;
pub mod surroundings;
#[cfg(test)]
mod test_scene;
pub mod use_task;
pub mod watched;
