//! `fedspd demo`: real EEG, five clients, three ways of training side by side.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use fedspd_eeg::sample;
use fedspd_experiment::config::{AlignKind, Mode, Seeds, SplitKind};
use fedspd_experiment::{Ended, Experiment, Headline, RunSeries, headline};
use fedspd_report::{Format, Report};
use fedspd_run::{ResultTable, RunFolder};

use crate::failure::Failure;
use crate::outcome::percent;
use crate::rounds::Display;
use crate::table::Table;
use crate::{chosen, interrupt};

/// Arguments of `fedspd demo`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Rounds of federated training, with two epochs each. The other modes train for the same total
    /// number of epochs.
    #[arg(long, default_value_t = 150, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,
    /// First of the two seeds.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    seed: u64,
    /// Folder for the runs and their report. Runs of an earlier demo in this folder are continued
    /// or reused.
    #[arg(long, default_value = "runs/demo")]
    out: PathBuf,
    #[command(flatten)]
    display: Display,
}

/// The ways of training, with their names and the names of their folders.
const WAYS: [(&str, &str, Mode); 3] = [
    ("federated, ProjAvg", "federated", Mode::Federated),
    ("each client alone", "local", Mode::Local),
    ("all data in one place", "centralised", Mode::Centralised),
];

/// The number of seeds.
const SEEDS: u64 = 2;
/// The folds of runs: each person has three runs of either pair of movements.
const FOLDS: usize = 3;
/// The threshold ε for recentred data, which are dimensionless.
const THRESHOLD: f64 = 1e-3;

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    interrupt::listen("the round", arguments.display.shown());
    let (mut config, _) = chosen::config("sample", &[])?;
    let seeds = arguments.seed..arguments.seed + SEEDS;
    config.run.seeds = Seeds::new(seeds.collect()).map_err(Failure::Usage)?;
    let rounds = usize::from(arguments.rounds);
    (config.federated.rounds, config.train.epochs) = (rounds, 2 * rounds);
    // Enough points for a curve; more would take longer than the training.
    config.run.eval_every = rounds.div_ceil(15);
    config.run.checkpoint_every = 25;
    (config.align.kind, config.model.epsilon) = (AlignKind::Riemannian, THRESHOLD);
    (config.split.kind, config.split.folds) = (SplitKind::LeaveRunOut, Some(FOLDS));
    config.split.refit = true;
    let parameters = Experiment::new(config.clone(), &())?.parameter_counts()?.0;
    writeln!(
        out,
        "Ten people imagined movements of the left hand, the right hand, both hands or both feet. Five clients hold two people each\n\
         and share no trials. An SPDnet with {parameters} parameters learns to classify the movements; chance is 25%.\n\
         Whole runs are held out for the test: {FOLDS} folds, {SEEDS} seeds.\n"
    )?;
    out.flush()?;
    let epochs = |mode: Mode| if mode == Mode::Federated { rounds } else { 2 * rounds };
    let steps: usize = WAYS.iter().map(|(_, _, mode)| epochs(*mode)).sum();
    // Each fold trains twice: to choose on validation trials, then on these trials too.
    let mut shown = arguments.display.rounds(steps * FOLDS * SEEDS as usize * 2);
    let mut table =
        Table::new(1, &["training", "test F1", "mean client", "worst client", "|WᵀW − I|", "time"]);
    let (mut series, mut folders) = (RunSeries::default(), Vec::new());
    for (name, slug, mode) in WAYS {
        (config.mode, config.run.select) = (mode, None);
        let start = Instant::now();
        let folder = arguments.out.join(format!("{slug}-{}", &config.hash()[..8]));
        let ended = series.complete(&config, "demo", &folder, &(), |_| &mut shown)?;
        if let Ended::Interrupted { round, .. } = ended {
            shown.bar.finish();
            return Err(Failure::Interrupted { round, resume: interrupt::same_command() });
        }
        let results = ResultTable::read(&RunFolder::open(&folder)?.results())?;
        folders.push(folder);
        let Headline { macro_f1, mean_client, worst_client, feasibility_error, .. } = headline(&results);
        table.row(vec![
            name.into(),
            percent(&macro_f1),
            percent(&mean_client),
            percent(&worst_client),
            feasibility_error.map_or("–".into(), |error| format!("{error:.1e}")),
            format!("{:.1} s", start.elapsed().as_secs_f64()),
        ]);
    }
    shown.bar.finish();
    let report = Report::new(&folders, false)?.write(&arguments.out.join("report"), &Format::ALL)?;
    table.write(out)?;
    writeln!(
        out,
        "\nMacro-F1 in percent, test trials of all folds pooled, mean ± standard deviation over seeds. Federated training keeps the\n\
         model of the last round, the others that of the best validation score. Number of epochs and learning rates are chosen on\n\
         held-out runs; the final model trains on these too. Each person is aligned on training trials only, without labels.\n\
         `fedspd run sample` runs one of these with your settings; `fedspd new` writes a configuration file.\n\n\
         Data: {}.\n\n\
         Report: {}",
        sample::attribution(),
        report.display()
    )?;
    Ok(())
}
