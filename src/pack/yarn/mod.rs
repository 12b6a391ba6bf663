//! Yarns: filaments of elements one behind the other, alone or side by side in bundles, that are bonded
//! within their yarn alone. Between yarns there is nothing but contact and friction.

mod laid;
pub(super) mod twisted;
pub(super) mod woven;

#[cfg(test)]
mod tests;
