//! `fedspd demo`: real EEG, five clients, five ways of training side by side.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use fedspd_eeg::sample;
use fedspd_experiment::config::{Aggregation, AlignKind, Mode, Seeds};
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
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder for the runs and their report. Runs of an earlier demo in this folder are continued
    /// or reused.
    #[arg(long, default_value = "runs/demo")]
    out: PathBuf,
    #[command(flatten)]
    display: Display,
}

/// The ways of training, with their names and the names of their folders.
const WAYS: [(&str, &str, Mode, Aggregation); 5] = [
    ("federated, ProjAvg", "proj-avg", Mode::Federated, Aggregation::ProjAvg),
    ("federated, RLAvg", "rl-avg", Mode::Federated, Aggregation::RlAvg),
    ("federated, plain mean", "plain-mean", Mode::Federated, Aggregation::Euclidean),
    ("each client alone", "local", Mode::Local, Aggregation::ProjAvg),
    ("all data in one place", "centralised", Mode::Centralised, Aggregation::ProjAvg),
];

/// The threshold ε for data in microvolts, as in the paper, and for recentred data, which are
/// dimensionless.
const THRESHOLDS: [(AlignKind, f64); 2] = [(AlignKind::None, 1e-2), (AlignKind::Riemannian, 1e-3)];

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    interrupt::listen("the round", arguments.display.shown());
    let (mut config, _) = chosen::config("sample", &[])?;
    config.run.seeds = Seeds::new(vec![arguments.seed]).map_err(Failure::Usage)?;
    let rounds = usize::from(arguments.rounds);
    (config.federated.rounds, config.train.epochs) = (rounds, 2 * rounds);
    // Enough points for a curve; more would take longer than the training.
    config.run.eval_every = rounds.div_ceil(30);
    config.run.checkpoint_every = 25;
    let parameters = Experiment::new(config.clone(), &())?.parameter_counts()?.0;
    writeln!(
        out,
        "Ten people imagined movements of the left hand, the right hand, both hands or both feet. Five clients hold two people each\n\
         and share no trials. An SPDnet with {parameters} parameters learns to classify the movements; chance is 25%.\n"
    )?;
    out.flush()?;
    let federated = WAYS.iter().filter(|(_, _, mode, _)| *mode == Mode::Federated).count();
    let steps = THRESHOLDS.len() * (federated * rounds + (WAYS.len() - federated) * 2 * rounds);
    let mut shown = arguments.display.rounds(steps);
    let mut table = Table::new(
        2,
        &["training", "subjects aligned", "test F1", "mean client", "worst client", "|WᵀW − I|", "time"],
    );
    let (mut series, mut folders) = (RunSeries::default(), Vec::new());
    for (align, epsilon) in THRESHOLDS {
        for (name, slug, mode, aggregation) in WAYS {
            (config.mode, config.federated.aggregation) = (mode, aggregation);
            (config.align.kind, config.model.epsilon) = (align, epsilon);
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
                if align == AlignKind::None { "no" } else { "yes" }.into(),
                percent(&macro_f1),
                percent(&mean_client),
                percent(&worst_client),
                feasibility_error.map_or("–".into(), |error| format!("{error:.1e}")),
                format!("{:.1} s", start.elapsed().as_secs_f64()),
            ]);
        }
        if align == AlignKind::None {
            table.gap();
        }
    }
    shown.bar.finish();
    let report = Report::new(&folders, false)?.write(&arguments.out.join("report"), &Format::ALL)?;
    table.write(out)?;
    writeln!(
        out,
        "\nF1 in percent on test trials. ProjAvg and RLAvg keep the columns of the weights orthonormal up to rounding; the plain mean\n\
         does not. Alignment is fitted on training trials only, without labels, and never leaves a client.\n\
         `fedspd run sample` runs one of these with your settings; `fedspd new` writes a configuration file.\n\n\
         Data: {}.\n\n\
         Report: {}",
        sample::attribution(),
        report.display()
    )?;
    Ok(())
}
