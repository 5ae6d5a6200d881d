//! A small SPDnet learns to tell generated covariances apart.

use std::io::Write;
use std::time::Instant;

use fedspd_nn::{
    Model, Optimiser, OptimiserConfig, Purpose, Seed, SpdNet, SpdNetConfig, SyntheticTask, Trainer,
};

use super::Arguments;
use crate::failure::Failure;
use crate::table::Table;

const TRAINING: usize = 400;
const TEST: usize = 200;
const EPOCHS: u32 = 50;
const SHOWN_EVERY: u32 = 10;

pub(super) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let (channels, components) = (usize::from(arguments.rows), usize::from(arguments.columns));
    let classes = channels.min(4);
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![channels, components], classes))?;
    writeln!(
        out,
        "An SPDnet of {} parameters learns to tell {classes} classes of {channels} x {channels} covariances apart \
         (generated, seed {}).\n",
        net.layout().size(),
        arguments.seed
    )?;
    out.flush()?;
    let seed = Seed(arguments.seed);
    let task = SyntheticTask::new(channels, classes)
        .trials(TRAINING + TEST)
        .strength(1.2 / (channels as f64).sqrt());
    let examples = net.prepare(task.client(seed, 0)?)?;
    let (training, test): (Vec<usize>, Vec<usize>) = (0..TRAINING + TEST).partition(|&i| i < TRAINING);

    let start = Instant::now();
    let mut parameters = net.initial(seed)?;
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters)?;
    let mut trainer = Trainer::new(&net, 64, 1)?;
    if let Some(warning) = trainer.check(&parameters, &examples, &training)? {
        writeln!(out, "warning: {warning}\n")?;
    }
    let mut table = Table::new(0, &["epoch", "loss", "accuracy", "test accuracy", "|WᵀW − I|"]);
    for epoch in 0..=EPOCHS {
        if epoch % SHOWN_EVERY == 0 {
            let seen = trainer.evaluate(&parameters, &examples, &training)?;
            let unseen = trainer.evaluate(&parameters, &examples, &test)?;
            table.row(vec![
                epoch.to_string(),
                format!("{:.3}", seen.loss),
                format!("{:.1}%", 100.0 * seen.accuracy),
                format!("{:.1}%", 100.0 * unseen.accuracy),
                format!("{:.1e}", parameters.feasibility_error()?),
            ]);
        }
        if epoch < EPOCHS {
            let stream = seed.stream(Purpose::Shuffle).epoch(epoch);
            trainer.epoch(&mut parameters, &mut optimiser, 3e-3, &examples, &training, stream)?;
        }
    }
    let time = start.elapsed();
    table.write(out)?;
    let accuracy = trainer.evaluate(&parameters, &examples, &test)?.accuracy;
    writeln!(
        out,
        "\nIt tells {:.1}% of {TEST} unseen trials right; chance is {:.1}%. Its weights have orthonormal columns to rounding ({:.1e}). \
         Training took {:.2} s.",
        100.0 * accuracy,
        100.0 / classes as f64,
        parameters.feasibility_error()?,
        time.as_secs_f64()
    )?;
    Ok(())
}
