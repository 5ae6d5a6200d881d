//! Fuzz target: configurations, with overrides.

use std::process::ExitCode;

use fedspd_experiment::config::{Config, ConfigError, Override, PRESETS, template};
use fedspd_fuzz::{Memory, Target, words};

/// The beginning of a line with an override.
const SET: &str = "--set ";

fn main() -> ExitCode {
    let text = template("fuzz");
    // Comments with a key and a value become settings.
    let lines = text.lines().map(|line| {
        let setting = line.strip_prefix("# ").filter(|rest| rest.contains(" = ") && !rest.contains(": "));
        setting.unwrap_or(line)
    });
    let complete = lines.collect::<Vec<_>>().join("\n");
    let mut seeds = vec![text.clone().into_bytes(), complete.into_bytes()];
    for preset in PRESETS {
        let mut seed = preset.text.to_owned();
        for change in preset.changes {
            seed.insert_str(0, &format!("{SET}{change}\n"));
        }
        seeds.push(seed.into_bytes());
    }
    let target = Target {
        name: "config",
        seeds,
        tokens: &[
            b"--set data.subjects=1-3\n",
            b"--set run.seeds=0..3\n",
            b"--set model.dims=[]\n",
            b"--set federated={rounds=2}\n",
            b"[federated.clients]\n",
            b"a = [1, 2]\n",
            b"\"\"\"",
            b"'''",
            b"{ default = 1, a = 2 }",
            b"\"0..18446744073709551615\"",
            b"\"1-4294967295\"",
            b"[[[[[[[[[[[[[[[[",
            b"\xef\xbb\xbf",
            b"\r\n",
        ],
        read: Box::new(|bytes| parse(bytes).map_or_else(|error| words(&error), |()| "ok".into())),
        // The schema of all keys is built anew for every configuration. Selections and seeds expand
        // ranges.
        memory: Memory { fixed: 64 << 20, per_byte: 4096 },
    };
    target.main()
}

fn parse(bytes: &[u8]) -> Result<(), ConfigError> {
    let text = String::from_utf8_lossy(bytes);
    let (overrides, lines): (Vec<&str>, Vec<&str>) =
        text.split_inclusive('\n').partition(|line| line.starts_with(SET));
    let overrides = overrides.into_iter().map(|line| line[SET.len()..].trim_end().parse());
    let overrides: Vec<Override> = overrides.collect::<Result<_, _>>()?;
    let config =
        Config::parse(&lines.concat(), "fuzz.toml", &overrides).inspect_err(|error| drop(error.hint()))?;
    let again = Config::parse(&config.to_toml(), "again.toml", &[])?;
    assert!(again == config, "another configuration after saving");
    assert_eq!(again.hash(), config.hash(), "another hash after saving");
    config.check()
}
