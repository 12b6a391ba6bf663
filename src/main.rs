//! The `cullet` program: parses, runs, prints the chain of causes, exits.

use std::process::ExitCode;

fn main() -> ExitCode {
    silence_display_search();
    cullet::cli::main()
}

/// Mesa's Vulkan layer for choosing devices looks for a display and writes an error where there is no session, as on a server; the choice
/// is made here by name and kind, so it can stay out.
fn silence_display_search() {
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        #[allow(unsafe_code)] // the environment has no other owner yet
        // SAFETY: nothing else runs before this: no thread reads the environment.
        unsafe {
            std::env::set_var("NODEVICE_SELECT", "1");
        }
    }
}
