//! `fedspd data prepare`: covariances or trials from recordings.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use fedspd_eeg::dataset::definition;
use fedspd_eeg::filter::Band;
use fedspd_eeg::prepare::{Features, LeftOut, Plan, PlanOptions};
use fedspd_eeg::{About, Alignment, Dropped, Estimator, QualitySummary, SQUARE_MICROVOLTS, Trials};
use fedspd_manifold::SpdMetric;
use fedspd_run::counted;
use serde_json::{Value, json};

use super::{Chosen, Format, quality_json, report, with_making, write_json};
use crate::failure::Failure;
use crate::interrupt;
use crate::printable::printable;
use crate::progress::{Bar, Shown};

/// Largest number of annotations that the summary lists.
const SHOWN: usize = 8;

/// Arguments of `fedspd data prepare`.
#[derive(Args)]
#[allow(clippy::struct_excessive_bools)] // flags of a command line
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// Output file (.npz).
    #[arg(long)]
    out: PathBuf,
    /// Write covariances (the default).
    #[arg(long, conflicts_with = "trials")]
    covariances: bool,
    /// Write filtered trials with all samples instead, as float32.
    #[arg(long)]
    trials: bool,
    /// Estimator of covariances: sample, oas, ledoit-wolf, or shrinkage:S with S between 0 and 1.
    #[arg(long, default_value_t = Estimator::Sample, conflicts_with = "trials")]
    estimator: Estimator,
    /// Align each subject on all its trials, without labels. Use riemannian or log-euclidean for
    /// covariances, euclidean for trials.
    #[arg(long, value_enum)]
    align: Option<Align>,
    /// Scale each channel of each trial to mean 0 and standard deviation 1.
    #[arg(long, requires = "trials")]
    z_score: bool,
    /// Frequency band in hertz, such as 8-32, instead of the dataset's. Several bands give several
    /// covariances per trial.
    #[arg(long = "band", value_parser = band, value_name = "LOW-HIGH")]
    bands: Vec<[f64; 2]>,
    /// Time window in seconds after the cue, such as 0.5-1 or -0.5..0.5. It excludes its last
    /// sample. Exception: a window over the whole trial includes its last sample. Several windows
    /// give several covariances per trial.
    #[arg(
        long = "window", value_parser = pair, value_name = "START-END", conflicts_with = "trials", allow_hyphen_values = true
    )]
    windows: Vec<[f64; 2]>,
    /// Also write a CSV file with rank, smallest and largest eigenvalue and condition number of
    /// each covariance (before alignment).
    #[arg(long, value_name = "FILE.csv", conflicts_with = "trials")]
    quality: Option<PathBuf>,
    /// Resample recordings at another rate instead of refusing them. The method is that of
    /// `scipy.signal.resample_poly` and MNE's `raw.resample(method="polyphase")`.
    #[arg(long)]
    resample: bool,
    /// Number of threads (default: all cores).
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Display of progress.
    #[arg(long, value_enum, default_value_t = Shown::Auto)]
    progress: Shown,
    /// Format of the printed summary.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Align {
    /// By the affine-invariant mean of the subject's covariances.
    Riemannian,
    /// By the log-Euclidean mean of the subject's covariances.
    LogEuclidean,
    /// By the mean of `X X^T`, for trials.
    Euclidean,
}

impl Align {
    /// Returns the alignment as named in files and messages.
    fn alignment(self) -> Alignment {
        match self {
            Self::Riemannian => Alignment::Riemannian,
            Self::LogEuclidean => Alignment::LogEuclidean,
            Self::Euclidean => Alignment::Euclidean,
        }
    }
}

/// Parses two numbers with a dash or two dots between. The first may be negative.
fn pair(text: &str) -> Result<[f64; 2], String> {
    // A dash at the start is a minus sign.
    let dash = || {
        let (place, _) = text.char_indices().skip(1).find(|(_, letter)| *letter == '-')?;
        Some((&text[..place], &text[place + 1..]))
    };
    let parts = text.split_once("..").or_else(dash);
    let numbers = parts.and_then(|(a, b)| Some([a.parse().ok()?, b.parse().ok()?]));
    numbers
        .ok_or_else(|| "write two numbers with a dash or two dots between, such as 8-32 or -0.5..0.5".into())
}

/// Parses a frequency band.
fn band(text: &str) -> Result<[f64; 2], String> {
    let edges = pair(text)?;
    Band::from(edges).fault().map_or(Ok(edges), |rule| Err(rule.to_owned()))
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let metric = match (arguments.align, arguments.trials) {
        (None | Some(Align::Euclidean), true) | (None, false) => None,
        (Some(Align::Riemannian), false) => Some(SpdMetric::AffineInvariant),
        (Some(Align::LogEuclidean), false) => Some(SpdMetric::LogEuclidean),
        (Some(align), trials) => return Err(mismatch(align, trials)),
    };
    // Protects recordings and devices from being overwritten.
    if arguments.out.extension().is_none_or(|extension| extension != "npz") {
        let out = arguments.out.display();
        return Err(Failure::Usage(format!("--out is {out}; prepared data are .npz files")));
    }
    if let Some(path) = arguments.quality.as_ref().filter(|path| path.extension().is_none_or(|e| e != "csv"))
    {
        return Err(Failure::Usage(format!("--quality is {}; the report is a .csv file", path.display())));
    }
    if let Some(path) = &arguments.quality {
        report::check_folder(path)?;
    }
    if arguments.trials && arguments.bands.len() > 1 {
        return Err(Failure::Usage("trials have one band; give --band once".into()));
    }
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = arguments.threads {
        pool = pool.num_threads(threads.into());
    }
    let pool = pool.build().map_err(|error| Failure::Usage(format!("threads cannot be started: {error}")))?;
    pool.install(|| prepare(arguments, metric)).and_then(|done| done.write(arguments, out))
}

fn mismatch(align: Align, trials: bool) -> Failure {
    let (name, other) = match align.alignment() {
        euclidean @ Alignment::Euclidean => (euclidean, "riemannian or log-euclidean"),
        of_covariances => (of_covariances, "euclidean"),
    };
    let kind = if trials { "trials" } else { "covariances" };
    Failure::Usage(format!("--align {name} is not for {kind}; use {other}"))
}

struct Done {
    plan: Plan,
    about: About,
    quality: Option<QualitySummary>,
    seconds: f64,
}

fn prepare(arguments: &Arguments, metric: Option<SpdMetric>) -> Result<Done, Failure> {
    let start = Instant::now();
    let chosen = &arguments.chosen;
    let definition = definition(&chosen.name)?;
    let roots = definition.roots(&chosen.locations());
    let options = PlanOptions { subjects: chosen.subjects.clone(), resample: arguments.resample };
    interrupt::listen("the file", arguments.progress);
    let plan = Plan::new(definition, &roots, &options)?;
    let bands: Vec<Band> = if arguments.bands.is_empty() {
        vec![plan.definition().band]
    } else {
        arguments.bands.iter().copied().map(Band::from).collect()
    };
    let bar = Bar::new(arguments.progress, plan.files(), "files");
    let (about, quality) = if arguments.trials {
        (plan.save_trials(bands[0], &arguments.out, &bar, |trials| change(arguments, trials))?, None)
    } else {
        let features = Features { bands, windows: arguments.windows.clone(), estimator: arguments.estimator };
        let (names, mut qualities) = (features.names(plan.definition().interval), Vec::new());
        let saved = plan.save_covariances(&features, metric, &arguments.out, &bar, &mut qualities);
        // Writes the report even if bad covariances abort the export.
        let all_measured = qualities.len() == plan.trials() * names.len();
        if let Some(path) = arguments.quality.as_ref().filter(|_| all_measured) {
            report::write(path, &plan.about(SQUARE_MICROVOLTS), &names, &qualities)?;
        }
        (saved?, QualitySummary::of(&qualities))
    };
    bar.finish();
    Ok(Done { plan, about, quality, seconds: start.elapsed().as_secs_f64() })
}

/// Aligns and scales the trials of a subject, as requested.
fn change(arguments: &Arguments, trials: &mut Trials) -> Result<(), fedspd_eeg::Error> {
    if arguments.align.is_some() {
        trials.align()?;
    }
    if arguments.z_score { trials.z_score() } else { Ok(()) }
}

impl Done {
    fn write(&self, arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
        if arguments.format == Format::Json {
            self.write_json(arguments, out)
        } else {
            self.write_text(arguments, out)
        }
    }

    fn write_json(&self, arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
        let Self { plan, about, quality, seconds } = self;
        let dropped = |d: &Dropped| json!({ "subject": d.subject, "session": d.session, "run": d.run, "onset": d.onset, "annotation": d.text, "reason": d.reason.to_string() });
        let left_out = |l: &LeftOut| json!({ "subject": l.subject, "reason": l.reason, "measured_sfreq": l.measured_sfreq });
        let resampled = |(subject, sfreq)| json!({ "subject": subject, "measured_sfreq": sfreq });
        let empty: Vec<&str> = plan.empty_classes().into_iter().map(|(class, _)| class).collect();
        let facts = json!({
            "file": arguments.out.display().to_string(), "kind": kind(arguments), "trials": about.origins.len(), "subjects": about.subjects(),
            "classes": about.classes, "counts": about.class_counts(), "empty_classes": empty, "samples": plan.trial_length(),
            "channels": about.channels, "unit": about.unit, "quality": quality.map(quality_json), "seconds": seconds,
            "dropped": plan.dropped.iter().map(dropped).collect::<Value>(), "ignored": plan.ignored,
            "left_out": plan.left_out.iter().map(left_out).collect::<Value>(), "without_trials": plan.without_trials(), "resampled": plan.resampled().into_iter().map(resampled).collect::<Value>(),
        });
        write_json(out, &with_making(facts, &about.making))
    }

    fn write_text(&self, arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
        let Self { plan, about, quality, seconds } = self;
        writeln!(
            out,
            "{}: {} of {}, {}, {}, {}, in {seconds:.1} s",
            arguments.out.display(),
            kind(arguments),
            counted(about.origins.len(), "trial"),
            counted(about.subjects().len(), "subject"),
            counted(about.channels.len(), "channel"),
            counted(plan.trial_length(), "sample"),
        )?;
        for (class, count) in about.classes.iter().zip(about.class_counts()) {
            writeln!(out, "  {count:>6} {}", printable(class))?;
        }
        for (class, annotations) in plan.empty_classes() {
            let called = annotations.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(" or ");
            let why =
                match plan.dropped.iter().filter(|dropped| annotations.contains(&&*dropped.text)).count() {
                    0 => format!("; do the files contain {called}?"),
                    dropped => format!(": all {dropped} of {called} were dropped"),
                };
            writeln!(out, "  warning: class {class:?} has no trials{why}")?;
        }
        for path in plan.without_trials() {
            writeln!(out, "  warning: {} has no trials", path.display())?;
        }
        if !plan.ignored.is_empty() {
            writeln!(out, "  ignored: {} (of no class)", listed(&plan.ignored))?;
        }
        for left_out in &plan.left_out {
            let measured =
                left_out.measured_sfreq.map_or(String::new(), |sfreq| format!(" (measured: {sfreq} Hz)"));
            writeln!(out, "  subject {} left out: {}{measured}", left_out.subject, left_out.reason)?;
        }
        for (subject, sfreq) in plan.resampled() {
            let wanted = plan.definition().sfreq;
            writeln!(out, "  subject {subject} resampled: {sfreq} Hz to {wanted} Hz")?;
        }
        for dropped in &plan.dropped {
            let Dropped { subject, session, run, onset, text, reason } = dropped;
            writeln!(
                out,
                "  dropped: subject {subject}, session {session}, run {run}, {text:?} at {onset} s: {reason}"
            )?;
        }
        if let Some(quality) = quality {
            writeln!(
                out,
                "  lowest rank {} of {}, eigenvalues {:.3e} to {:.3e} uV^2, largest condition number {:.3e}",
                quality.rank,
                about.channels.len(),
                quality.smallest,
                quality.largest,
                quality.condition
            )?;
        }
        if arguments.align.is_some() {
            writeln!(out, "  aligned on all trials of each subject (transductive: nothing is held out)")?;
        }
        Ok(())
    }
}

fn kind(arguments: &Arguments) -> &'static str {
    if arguments.trials { "trials" } else { "covariances" }
}

/// Lists annotations with their counts on one line, shortened, because a recording may have
/// hundreds.
fn listed(annotations: &BTreeMap<String, usize>) -> String {
    let shown = annotations.iter().take(SHOWN).map(|(text, count)| format!("{text:?} x {count}"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match annotations.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
