//! Rules between values.

use fedspd_eeg::Alignment;
use fedspd_nn::Input;
use fedspd_run::counted;

use super::Config;
use super::Mode;
use super::clients::Clients;
use super::conflict::Conflict;
use super::data::Generated;
use super::source::Source;
use super::split::SplitKind;
use super::train::SchedulerKind;

/// The largest number of generated numbers.
const MOST_NUMBERS: u128 = 1 << 33;

impl Config {
    /// Checks the rules between values, first within each table, then across tables.
    pub(crate) fn consistent(&self) -> Result<(), Conflict> {
        self.data.check()?;
        self.covariance.check()?;
        super::model::check(&self.model)?;
        self.federated.check()?;
        self.split.check()?;
        self.check_network_and_alignment()?;
        self.check_network_and_data()?;
        self.check_generated_size()?;
        self.check_prepared()?;
        self.check_validation()?;
        self.check_held_out()
    }

    /// A number with too many zeros would end the process without a message.
    fn check_generated_size(&self) -> Result<(), Conflict> {
        if Source::of_name(&self.data.name) != Some(Source::Generated) {
            return Ok(());
        }
        let Generated { subjects, trials, channels, samples, .. } = self.data.generated;
        let rows = if self.model.kind.reads() == Input::Samples { samples } else { channels };
        // The largest values of all keys fit into 128 bits.
        let numbers = [subjects, trials, channels, rows].iter().map(|&size| size as u128).product::<u128>();
        if numbers <= MOST_NUMBERS {
            return Ok(());
        }
        let found = format!(
            "`data.generated` has {} with {} of {rows} x {channels} numbers",
            counted(subjects, "subject"),
            counted(trials, "trial")
        );
        let rule = format!("all trials may have at most {MOST_NUMBERS} numbers (64 GB)");
        let conflict = Conflict::new(&["data", "generated", "trials"], found, rule);
        let others = ["subjects", "channels", "samples"].iter();
        let conflict = others.fold(conflict, |conflict, key| conflict.or_at(&["data", "generated", key]));
        Err(conflict.or_at(&["data", "name"]))
    }

    /// The plateau schedule and early stopping need a validation after every round.
    fn check_validation(&self) -> Result<(), Conflict> {
        let (every, stop) = (self.run.validate_every, self.train.early_stop);
        if every == 1 {
            return Ok(());
        }
        let (reader, hint) = if self.train.scheduler == SchedulerKind::Plateau {
            ("`train.scheduler` \"plateau\"".to_owned(), "use `train.scheduler = \"cosine\"` or \"constant\"")
        } else if self.mode != Mode::Federated && stop > 0 {
            (format!("`train.early_stop` {stop}"), "set `train.early_stop = 0`")
        } else {
            return Ok(());
        };
        let found = format!("`run.validate_every` is {every} with {reader}");
        let rule = "the plateau schedule and early stopping need a validation after every round";
        Err(Conflict::new(&["run", "validate_every"], found, rule)
            .hint(format!("{hint}, or leave `run.validate_every` at 1")))
    }

    fn check_network_and_alignment(&self) -> Result<(), Conflict> {
        let Some(alignment) = self.align.kind.alignment() else { return Ok(()) };
        let (data, hint) = match (alignment, self.model.kind.reads()) {
            (Alignment::Euclidean, Input::Covariances) => {
                ("raw trials", "use `align.kind = \"riemannian\"` or \"log-euclidean\"")
            }
            (Alignment::Riemannian | Alignment::LogEuclidean, Input::Samples) => {
                ("covariances", "use `align.kind = \"euclidean\"`")
            }
            (Alignment::Euclidean, Input::Samples)
            | (Alignment::Riemannian | Alignment::LogEuclidean, Input::Covariances) => return Ok(()),
        };
        let (kind, network) = (self.model.kind.name(), self.model.kind.title());
        let found = format!("`align.kind` is \"{alignment}\" with the model \"{kind}\"");
        let rule = format!("{alignment} alignment changes {data}, which {network} does not read");
        Err(Conflict::new(&["align", "kind"], found, rule).or_at(&["model", "kind"]).hint(hint))
    }

    fn check_network_and_data(&self) -> Result<(), Conflict> {
        let kind = self.model.kind;
        match (kind.reads(), Source::of_name(&self.data.name)) {
            (Input::Samples, Some(Source::Sample)) => Err(Conflict::new(
                &["model", "kind"],
                format!("`model.kind` is \"{}\" with the embedded sample", kind.name()),
                format!("the sample holds covariances, and {} needs raw trials", kind.title()),
            )
            .hint("use `data.name = \"physionet-mi\"` or \"generated\", or the model \"spdnet\"")),
            (Input::Covariances, Some(Source::Generated)) => {
                let channels = self.data.generated.channels;
                match self.model.dims.first() {
                    Some(&first) if first > channels => Err(Conflict::new(
                        &["model", "dims", "0"],
                        format!("`model.dims` begins with {first} for {channels} generated channels"),
                        "sizes must never increase: a BiMap with orthonormal columns cannot widen",
                    )
                    .or_at(&["data", "generated", "channels"])
                    .or_at(&["data", "name"])
                    .hint(format!(
                        "set `model.dims` to at most [{channels}], or `data.generated.channels` to {first} or more"
                    ))),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Refuses settings of recordings for prepared data, which would ignore them.
    fn check_prepared(&self) -> Result<(), Conflict> {
        let (whose, rule, hint) = match self.data.source() {
            Ok(Source::Sample) => (
                "the embedded sample",
                "its covariances are already estimated, one for each whole trial",
                "use `data.name = \"physionet-mi\"` to start from the recordings",
            ),
            Ok(Source::Generated) => (
                "generated data",
                "they are one covariance for each whole trial, or raw trials",
                "use a dataset of recordings",
            ),
            _ => return Ok(()),
        };
        let covariance = &self.covariance;
        let asked = [
            (["covariance", "estimator"], covariance.estimator != fedspd_eeg::Estimator::default()),
            (["covariance", "shrinkage"], covariance.shrinkage.is_some()),
            (["covariance", "windows"], !covariance.windows.is_empty()),
            (["covariance", "bands"], !covariance.bands.is_empty()),
            (["data", "band"], self.data.band.is_some()),
            (["data", "window"], self.data.window.is_some()),
        ];
        let Some((key, _)) = asked.iter().find(|(_, asked)| *asked) else { return Ok(()) };
        let found = format!("`{}` is set for {whose}", key.join("."));
        Err(Conflict::new(key, found, rule).hint(hint))
    }

    fn check_held_out(&self) -> Result<(), Conflict> {
        let kind = self.split.kind;
        if kind == SplitKind::LeaveClientOut && self.mode == Mode::Local {
            let found = format!("`split.kind` is \"{}\" with the mode \"local\"", kind.name());
            let rule = "a held-out client does not train, so it has no model of its own";
            return Err(Conflict::new(&["split", "kind"], found, rule)
                .or_at(&["mode"])
                .hint("use `split.kind = \"leave-subject-out\"`, or another mode"));
        }
        let Some(held_out) = &self.split.held_out_subjects else {
            let Some(trials) = self.align.calibration.filter(|_| !kind.holds_out_people()) else {
                return Ok(());
            };
            let found = format!("`align.calibration` is {trials} without held-out subjects");
            let rule = "only held-out subjects are calibrated";
            return Err(Conflict::new(&["align", "calibration"], found, rule).hint(
                "hold out some subjects, as in `split.held_out_subjects = \"9-10\"` or `split.kind = \"leave-subject-out\"`",
            ));
        };
        let at = ["split", "held_out_subjects"];
        let refuse = |id: &str, how: &str, rule: &str| {
            Err(Conflict::new(&at, format!("`split.held_out_subjects` names subject {id}, {how}"), rule))
        };
        if let Some(exclude) = &self.data.exclude
            && let Some(id) = held_out.ids().iter().find(|id| exclude.ids().contains(id))
        {
            return refuse(id, "which `data.exclude` excludes,", "an excluded subject cannot be scored");
        }
        if let Some(subjects) = &self.data.subjects {
            if let Some(id) = held_out.ids().iter().find(|id| !subjects.ids().contains(id)) {
                return refuse(
                    id,
                    "which is not in `data.subjects`,",
                    "only selected subjects can be held out",
                );
            }
            let left_out = |id| self.data.exclude.as_ref().is_some_and(|exclude| exclude.ids().contains(id));
            if subjects.ids().iter().all(|id| held_out.ids().contains(id) || left_out(id)) {
                let found = "`split.held_out_subjects` names every subject of `data.subjects`";
                return Err(Conflict::new(&at, found, "at least one must remain for training"));
            }
        }
        if let Clients::Explicit(map) = &self.federated.clients {
            for (name, ids) in map {
                if let Some(id) = ids.iter().find(|id| held_out.ids().contains(id)) {
                    let how = format!("which client {name} trains on,");
                    return refuse(id, &how, "held-out subjects must not be used for training");
                }
            }
        }
        Ok(())
    }
}
