//! Conservation, drift and small motions of the real engine.
