//! The `fedspd` binary. All its code is in the library, which the Python package calls too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(fedspd::command(std::env::args_os().collect()))
}
