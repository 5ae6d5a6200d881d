//! Fuzz target: introductions of sites, and a coordinator that accepts them.

use std::fs;
use std::process::ExitCode;

use fedspd_experiment::Error;
use fedspd_experiment::config::Config;
use fedspd_experiment::remote::Introduction;
use fedspd_fuzz::{Memory, Target, runs, words};
use tempfile::TempDir;

/// The first byte of an input selects the network.
const EEGNET: u8 = b'e';

struct Fixture {
    spdnet: Config,
    eegnet: Config,
    scratch: TempDir,
}

fn main() -> ExitCode {
    fedspd_fuzz::main(target())
}

fn target() -> Result<Target, Box<dyn std::error::Error>> {
    let spdnet = runs::config(&[])?;
    let eegnet =
        runs::config(&["model.kind=eegnet", "data.generated.samples=64", "data.generated.sfreq=64"])?;
    let (mut seeds, scratch) = (Vec::new(), TempDir::new()?);
    for (begin, config) in [("s", &spdnet), ("e", &eegnet)] {
        let sites = runs::introductions(&runs::sites(config, scratch.path())?)?;
        let lines = sites.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        seeds.push(format!("{begin}{}\n", lines.join("\n")).into_bytes());
        // A site alone disagrees with nobody.
        seeds.push(format!("{begin}{}\n", lines[0]).into_bytes());
    }
    let fixture = Fixture { spdnet, eegnet, scratch };
    Ok(Target {
        name: "introduction",
        seeds,
        tokens: &[
            b"\"name\":\"\"",
            b"\"samples\":18446744073709551615",
            b"\"inputs\":18446744073709551615",
            b"\"sfreq\":1e308",
            b"\"classes\":[]",
            b"\"channels\":[]",
            b"[4294967295,4294967295]",
            b"\\u0000",
            b"\\ud800",
            b"e{\"",
        ],
        read: Box::new(move |bytes| {
            open(&fixture, bytes).map_or_else(|error| words(&error), |()| "ok".into())
        }),
        // A network of the announced size, and the folder of a run.
        memory: Memory { fixed: 64 << 20, per_byte: 4096 },
    })
}

fn open(fixture: &Fixture, bytes: &[u8]) -> Result<(), Error> {
    let Some((&first, text)) = bytes.split_first() else { return Ok(()) };
    let config = if first == EEGNET { &fixture.eegnet } else { &fixture.spdnet };
    let text = String::from_utf8_lossy(text);
    let sites = text.lines().map(Introduction::read).collect::<Result<Vec<_>, _>>()?;
    let folder = fixture.scratch.path().join("run");
    let opened = runs::coordinator(config, &folder, sites).and_then(|mut server| {
        let plan = server.plan()?;
        for asked in &plan.clients {
            server.submit(asked.client, Err("away".into()))?;
        }
        server.close().map(drop)
    });
    // A folder of a failed start must not stay, and nothing else may be there.
    let _ = fs::remove_dir_all(&folder);
    let left = fs::read_dir(fixture.scratch.path()).map_or(0, Iterator::count);
    assert!(left <= 1, "{left} entries beside the run folder and the cache");
    opened.inspect_err(|error| drop(error.hint()))
}
