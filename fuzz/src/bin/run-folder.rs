//! Fuzz target: run folders, for everything that reads them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fedspd_experiment::{
    Calibration, Content, Error, Experiment, ModelScores, NewData, Predictor, Resumable, model_of_run,
};
use fedspd_fuzz::{DamagedFolder, Memory, Target, runs, words};
use fedspd_nn::file::load_stored;
use fedspd_report::compare::compare;
use fedspd_report::{Format, Report};
use fedspd_run::{Manifest, RunFolder};
use tempfile::TempDir;

/// Sound folders to compare with, data to evaluate on, and the place of the damaged folder.
struct Fixture {
    scratch: TempDir,
    folders: Vec<DamagedFolder>,
}

impl Fixture {
    fn damaged(&self) -> PathBuf {
        self.scratch.path().join("inner/run")
    }

    fn sound(&self) -> PathBuf {
        self.scratch.path().join("sound")
    }

    fn data(&self) -> PathBuf {
        self.scratch.path().join("data.npz")
    }
}

fn main() -> ExitCode {
    fedspd_fuzz::main(target())
}

fn target() -> Result<Target, Box<dyn std::error::Error>> {
    let fixture = prepare()?;
    // The first byte of an input selects the folder.
    let seeds =
        fixture.folders.iter().enumerate().flat_map(|(place, folder)| {
            folder.seeds().map(|seed| [&[b'0' + place as u8], &seed[..]].concat())
        });
    let seeds = seeds.collect();
    Ok(Target {
        name: "run-folder",
        seeds,
        tokens: &[
            b"sealed ",
            b"\n%%% config.toml\n",
            b"\n%%% results.csv\n",
            b"\"seed\":1",
            b"\"seeds\": []",
            b"\"round\":4294967295",
            b"\"name\":\"../../../x\"",
            b"<script>",
            b"\"status\": \"running\"",
            b",final_macro_f1,",
            b",pooled,test,",
        ],
        read: Box::new(move |bytes| read(&fixture, bytes)),
        // Data, network and report. Training runs on another thread.
        memory: Memory { fixed: 256 << 20, per_byte: 8192 },
    })
}

fn prepare() -> Result<Fixture, Box<dyn std::error::Error>> {
    let mut fixture = Fixture { scratch: TempDir::new()?, folders: Vec::new() };
    let experiment = Experiment::new(runs::config(&[])?, &())?;
    if let Content::Covariances(covariances) = &experiment.dataset.content {
        covariances.save(&fixture.data())?;
    }
    runs::finished(runs::config(&["run.seeds=[0, 1]", "federated.aggregation=rl-avg"])?, &fixture.sound())?;
    let damaged = fixture.damaged();
    let all = |_: &str| true;
    fs::create_dir_all(fixture.scratch.path().join("inner"))?;
    runs::finished(runs::config(&["run.seeds=[0, 1]"])?, &damaged)?;
    fixture.folders.push(DamagedFolder::read(&damaged, all)?);
    fs::remove_dir_all(&damaged)?;
    runs::finished(runs::config(&["mode=local", "align.kind=riemannian"])?, &damaged)?;
    fixture.folders.push(DamagedFolder::read(&damaged, all)?);
    fs::remove_dir_all(&damaged)?;
    runs::interrupted(runs::config(&["split.held_out_subjects=4", "run.seeds=[1]"])?, &damaged)?;
    fixture.folders.push(DamagedFolder::read(&damaged, all)?);
    fs::remove_dir_all(&damaged)?;
    let config = runs::config(&[])?;
    let sites = runs::sites(&config, &fixture.scratch.path().join("state"))?;
    let mut server = runs::coordinator(&config, &damaged, runs::introductions(&sites)?)?;
    while !server.finished() {
        runs::round(&mut server, &sites)?;
    }
    fixture.folders.push(DamagedFolder::read(&damaged, all)?);
    Ok(fixture)
}

fn read(fixture: &Fixture, bytes: &[u8]) -> String {
    let Some((first, input)) = bytes.split_first() else { return "empty".into() };
    let place = usize::from(first.wrapping_sub(b'0')) % fixture.folders.len();
    let run = fixture.damaged();
    if let Err(error) = fixture.folders[place].write(input, &run) {
        return error.kind().to_string();
    }
    let outcomes = [
        report(&run).map_err(|error| (error.hint(), words(&error)).1),
        compared(&[run.clone(), fixture.sound()]),
        score(&run, &fixture.data()).map_err(|error| (error.hint(), words(&error)).1),
        export(&run),
        Resumable::open(&run, |_| (), &())
            .and_then(|mut run| run.rounds_left().and_then(|_| run.go_on(&mut ())))
            .map(drop)
            .map_err(|error| (error.hint(), words(&error)).1),
    ];
    let beside = fs::read_dir(fixture.scratch.path().join("inner")).map_or(0, Iterator::count);
    assert_eq!(beside, 1, "files beside the run folder");
    outcomes.map(|outcome| outcome.err().unwrap_or_else(|| "ok".into())).join(", ")
}

fn report(run: &Path) -> Result<(), fedspd_report::Error> {
    for name_subjects in [false, true] {
        let report = Report::new(&[run], name_subjects)?;
        report.write(&run.join("report"), &Format::ALL)?;
    }
    Ok(())
}

fn compared(runs: &[PathBuf]) -> Result<(), String> {
    let comparison = compare(runs, &[]).map_err(|error| (error.hint(), words(&error)).1)?;
    comparison.report().files(&Format::ALL);
    serde_json::to_string(&comparison).map(drop).map_err(|error| error.to_string())
}

fn score(run: &Path, data: &Path) -> Result<(), Error> {
    let predictor = Predictor::load(&model_of_run(run)?)?;
    let data = NewData::new(data.display().to_string());
    ModelScores::new(&predictor.predict(&data, Calibration::All, &())?).map(drop)
}

fn export(run: &Path) -> Result<(), String> {
    let folder = RunFolder::open(run).map_err(|error| words(&error))?;
    let manifest = Manifest::read(&folder.manifest()).map_err(|error| words(&error))?;
    for seed in manifest.seeds {
        load_stored(&folder.model(seed)).map_err(|error| words(&error))?;
    }
    Ok(())
}
