//! Fuzz target: checkpoints of both engines, and states and caches of sites.

use std::path::Path;
use std::process::ExitCode;

use fedspd_experiment::config::Config;
use fedspd_experiment::remote::Introduction;
use fedspd_experiment::{Error, Resumable};
use fedspd_fuzz::{DamagedFolder, Memory, Target, runs, words};
use tempfile::TempDir;

type Resume = dyn Fn(&Path) -> Result<(), Error>;

/// A damaged folder and its use.
struct Case {
    folder: DamagedFolder,
    resume: Box<Resume>,
}

fn main() -> ExitCode {
    fedspd_fuzz::main(target())
}

fn target() -> Result<Target, Box<dyn std::error::Error>> {
    let (cases, scratch) = (cases()?, TempDir::new()?);
    // The first byte of an input selects the case.
    let seeds = cases.iter().enumerate().flat_map(|(place, case)| {
        case.folder.seeds().map(|seed| [&[b'0' + place as u8], &seed[..]].concat())
    });
    let seeds = seeds.collect();
    Ok(Target {
        name: "checkpoint",
        seeds,
        tokens: &[
            b"fedspd-ckpt-v1\n\0",
            b"fedspd-ckpt-v2\n\0",
            b"fedspd-sites-v1\n",
            b"fedspd-sites-v2\n",
            b"fedspd-sites-v3\n",
            b"sealed ",
            b"\xff\xff\xff\xff\x0f",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x80\x80\x80\x80\x80\x80\x80\x80\x40",
            b"\0\0\0\0\0\0\xf0\x7f",
            b"\0\0\0\0\0\0\xf8\xff",
            b"\xff\xff\xff\xff\xff\xff\xef\x7f",
        ],
        read: Box::new(move |bytes| {
            let Some((first, input)) = bytes.split_first() else { return "empty".into() };
            let place = usize::from(first.wrapping_sub(b'0')) % cases.len();
            let (case, folder) = (&cases[place], scratch.path().join("run"));
            if let Err(error) = case.folder.write(input, &folder) {
                return error.kind().to_string();
            }
            let resumed = (case.resume)(&folder);
            resumed.map_or_else(|error| format!("{place} {}", words(&error)), |()| format!("{place} ok"))
        }),
        // Data, network and run, mostly on another thread.
        memory: Memory { fixed: 64 << 20, per_byte: 4096 },
    })
}

fn cases() -> Result<Vec<Case>, Box<dyn std::error::Error>> {
    let mut cases = Vec::new();
    let changes: [&[&str]; 4] = [
        &[],
        &["mode=local", "train.scheduler=cosine"],
        &["mode=centralised", "train.optimizer=riemannian-sgd", "split.held_out_subjects=4"],
        &["model.kind=eegnet", "data.generated.samples=64", "data.generated.sfreq=64"],
    ];
    for changes in changes {
        let scratch = TempDir::new()?;
        let folder = scratch.path().join("run");
        runs::interrupted(runs::config(changes)?, &folder)?;
        cases.push(Case {
            folder: DamagedFolder::read(&folder, |name| name.starts_with("checkpoints/"))?,
            resume: Box::new(resume),
        });
    }
    let (config, scratch) = (runs::config(&[])?, TempDir::new()?);
    // The states of the sites are in the run folder, so that one input has all files.
    let folder = scratch.path().join("run");
    let sites = runs::sites(&config, &scratch.path().join("state"))?;
    let introductions = runs::introductions(&sites)?;
    let mut server = runs::coordinator(&config, &folder, introductions.clone())?;
    runs::round(&mut server, &sites)?;
    drop(server);
    std::fs::rename(scratch.path().join("state"), folder.join("state"))?;
    let damaged = |name: &str| name.starts_with("checkpoints/") || name.starts_with("state/");
    let folder = DamagedFolder::read(&folder, damaged)?;
    cases.push(Case {
        folder,
        resume: Box::new(move |folder| resume_sites(&config, introductions.clone(), folder)),
    });
    Ok(cases)
}

fn resume(folder: &Path) -> Result<(), Error> {
    let mut run = Resumable::open(folder, |_| (), &())?;
    run.rounds_left()?;
    run.go_on(&mut ()).map(drop).inspect_err(|error| drop(error.hint()))
}

fn resume_sites(config: &Config, introductions: Vec<Introduction>, folder: &Path) -> Result<(), Error> {
    let sites = runs::sites(config, &folder.join("state"))?;
    runs::introductions(&sites)?;
    let mut server = runs::coordinator(config, folder, introductions)?;
    let (done, rounds) = server.rounds();
    for _ in done..rounds {
        runs::round(&mut server, &sites).inspect_err(|error| drop(error.hint()))?;
    }
    Ok(())
}
