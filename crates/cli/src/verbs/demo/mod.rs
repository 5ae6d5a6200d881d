//! `fedspd demo`: a network that learns, and what averaging does to its weights.

mod averages;
mod training;

use std::io::Write;

use clap::Args;
use fedspd_manifold::Stiefel;

use crate::failure::Failure;

/// Options of the demo.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Channels: the size of the covariances, rows of the weights.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(2..=128))]
    rows: u16,
    /// Components: columns of the weights, at most as many as rows.
    #[arg(long, default_value_t = 18, value_parser = clap::value_parser!(u16).range(1..=128))]
    columns: u16,
    /// How many clients are averaged.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    clients: u16,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    // Says what is wrong with the shape before anything is computed.
    Stiefel::<f64>::new(arguments.rows.into(), arguments.columns.into())?;
    training::run(arguments, out)?;
    writeln!(out)?;
    averages::run(arguments, out)
}
