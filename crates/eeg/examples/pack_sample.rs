//! Creates the embedded sample from the recordings:
//! `cargo run --release -p fedspd-eeg --example pack_sample -- ROOT`, where `ROOT` holds
//! `S001/S001R04.edf` and so on.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use fedspd_eeg::dataset::definition;
use fedspd_eeg::prepare::{Features, Plan, PlanOptions};
use fedspd_eeg::sample::encode;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::args_os().nth(1).ok_or("usage: pack_sample ROOT, the folder of the recordings")?;
    let options = PlanOptions { subjects: Some("1-10".parse()?), resample: false };
    let plan = Plan::new(definition("physionet-mi")?, &[root.into()], &options)?;
    let (covariances, _) = plan.covariances(&Features::whole_trial(plan.definition().band), None, &())?;
    let packed = encode(&covariances)?;
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/sample/physionet-mi-s001-s010.bin");
    std::fs::write(&path, &packed)?;
    println!("{} trials in {} bytes", covariances.len(), packed.len());
    Ok(())
}
