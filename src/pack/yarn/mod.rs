//! Yarns: chains of elements (filaments), single or side by side in bundles, bonded only within their yarn.
//! Yarns interact only by contact and friction.

mod laid;
pub(super) mod twisted;
pub(super) mod woven;

#[cfg(test)]
mod tests;
