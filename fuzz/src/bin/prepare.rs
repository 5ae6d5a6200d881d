//! Fuzz target: preparation from a recording to covariances, with resampling.

use std::path::Path;
use std::process::ExitCode;

use fedspd_eeg::filter::Band;
use fedspd_eeg::prepare::{Features, Plan, PlanOptions};
use fedspd_eeg::{Definition, Error};
use fedspd_fuzz::{EDF_TOKENS, Memory, Target, kind};

/// A definition that fits the seeds, at another sampling rate.
const DEFINITION: &str = r#"
    name = "mine"
    format = "edf"
    files = "{subject}.edf"
    sfreq = 20
    unit = "uV"
    interval = [0, 0.5]
    band = [1, 9]
    events = [{ classes = { T1 = "one", blink = "two", "look left" = "two", left = "one" } }]
"#;

fn main() -> ExitCode {
    let target = Target {
        name: "prepare",
        seeds: vec![
            include_bytes!("../../../golden/edf/small.edf").to_vec(),
            include_bytes!("../../../golden/edf/small.bdf").to_vec(),
        ],
        tokens: EDF_TOKENS,
        read: Box::new(read),
        // A sample of two bytes takes eight bytes before and after resampling and filtering. The
        // rate may be five times lower than requested, and the signal is padded at both ends.
        memory: Memory::per_byte(1024),
    };
    target.main()
}

fn read(bytes: &[u8]) -> String {
    prepare(bytes).map_or_else(|error| kind(&error), |trials| format!("{} trials", trials.min(2)))
}

fn prepare(bytes: &[u8]) -> Result<usize, Error> {
    let folder = std::env::temp_dir().join(format!("fedspd-fuzz-{}", std::process::id()));
    let path = folder.join("1.edf");
    let system = |source| Error::File { path: path.clone(), source };
    std::fs::create_dir_all(&folder).map_err(system)?;
    std::fs::write(&path, bytes).map_err(system)?;
    let prepared = prepare_in(&folder);
    std::fs::remove_dir_all(&folder).map_err(system)?;
    prepared
}

fn prepare_in(folder: &Path) -> Result<usize, Error> {
    let definition = Definition::parse(Path::new("mine.toml"), DEFINITION)?;
    let options = PlanOptions { resample: true, ..PlanOptions::default() };
    let plan = Plan::new(definition, &[folder.to_owned()], &options)?;
    plan.all_trials(plan.definition().band, &())?;
    let bands = vec![plan.definition().band, Band { low: 2.0, high: 4.0 }];
    let features = Features { bands, windows: vec![[0.0, 0.25]], estimator: "oas".parse()? };
    Ok(plan.covariances(&features, None, &())?.0.about.origins.len())
}
