//! Predictions while the trials of somebody new arrive: alignment on the trials so far.

use fedspd_eeg::{
    About, Alignment, ContentKind, Covariances, MICROVOLTS, NO_UNIT, OnlineAlignment, Origin, Preparation,
    SQUARE_MICROVOLTS, Trials, natural_order,
};

use super::new_data::{Gathered, given};
use super::predictions::{Predictions, probabilities};
use super::predictor::Predictor;
use crate::Error;
use crate::data::{Content, align};

/// Note on a model without the start of online alignment.
const NO_POPULATION: &str = "holds no mean of the people it was trained on: the alignment of each subject \
     begins with its first trial; train with `align.population = true` for a better start";

impl Predictor {
    /// Begins the online alignment of a subject at the mean of the people that the model was trained
    /// on. [`Predictor::predict_next`] continues it.
    ///
    /// # Errors
    /// [`Error::NotAligned`] if the model aligns nobody.
    pub fn online(&self) -> Result<OnlineAlignment, Error> {
        let (manifest, kind) = (self.manifest(), self.preparation().making.alignment());
        let kind = kind.ok_or_else(|| Error::NotAligned { model: self.name().to_owned() })?;
        Ok(OnlineAlignment::new(kind, manifest.channels.len(), manifest.population.as_deref()))
    }

    /// Returns a note if online alignment begins without a mean of the population.
    pub fn online_note(&self) -> Option<String> {
        let absent = self.manifest().population.is_none();
        absent.then(|| format!("{} {NO_POPULATION}", self.name()))
    }

    /// Returns the metadata of trials of a subject that are prepared as the model says, up to
    /// alignment and z-scores.
    pub fn before_alignment(&self, subject: &str, trials: usize) -> About {
        let Preparation { content, classes, channels, sfreq, making, .. } = self.preparation().clone();
        let unit = match content {
            ContentKind::Covariances => SQUARE_MICROVOLTS,
            ContentKind::Trials => MICROVOLTS,
        };
        let origin = Origin { label: 0, subject: subject.to_owned(), session: "1".into(), run: "1".into() };
        About {
            classes,
            channels,
            // An unknown rate is not compared.
            sfreq: sfreq.unwrap_or(1.0),
            unit: unit.into(),
            making: making.before_alignment(),
            origins: vec![origin; trials],
        }
    }

    /// Predicts the next trials of a subject. Each is aligned on the trials so far and itself.
    ///
    /// # Errors
    /// As [`Predictor::predict_content`]; [`Error::AlignedData`] for trials that are aligned already.
    pub fn predict_next(
        &self,
        online: &mut OnlineAlignment,
        content: Content,
        name: &str,
    ) -> Result<Predictions, Error> {
        let mut gathered = given(content, self.preparation(), self.name(), name)?;
        gathered.content.check(name, self.manifest().network.kind())?;
        let trials = (0..gathered.content.about().origins.len()).collect();
        gathered.content = self.aligned_online(gathered.content, name, vec![(trials, online)])?;
        probabilities(self, gathered, None, false)
    }

    /// Predicts the trials of subjects, each aligned on its trials so far. Sessions and runs follow
    /// each other by their names.
    pub(super) fn predict_online(&self, mut gathered: Gathered, name: &str) -> Result<Predictions, Error> {
        let start = self.online()?;
        let about = gathered.content.about();
        let in_time = |subject: align::Subject| {
            let mut trials = subject.apply;
            trials.sort_by(|&a, &b| {
                let (a, b) = (&about.origins[a], &about.origins[b]);
                natural_order(&a.session, &b.session).then_with(|| natural_order(&a.run, &b.run))
            });
            trials
        };
        let subjects: Vec<Vec<usize>> = align::new_subjects(about, None).into_iter().map(in_time).collect();
        let mut states = vec![start; subjects.len()];
        let each = subjects.into_iter().zip(&mut states).collect();
        gathered.content = self.aligned_online(gathered.content, name, each)?;
        gathered.notes.extend(self.online_note());
        probabilities(self, gathered, None, false)
    }

    /// Aligns trials in their order, those of each subject with its own state.
    fn aligned_online(
        &self,
        content: Content,
        name: &str,
        subjects: Vec<(Vec<usize>, &mut OnlineAlignment)>,
    ) -> Result<Content, Error> {
        let about = content.about().clone();
        if let Some(found) = about.making.alignment() {
            return Err(Error::AlignedData { data: name.to_owned(), align: found.name() });
        }
        let mut numbers: Vec<f64> = match &content {
            Content::Covariances(covariances) => covariances.matrices().to_vec(),
            Content::Trials(trials) => {
                (0..trials.len()).flat_map(|trial| trials.trial(trial)).copied().collect()
            }
        };
        let size = numbers.len() / about.origins.len().max(1);
        for (trials, online) in subjects {
            for trial in trials {
                online.align(&about, trial, &mut numbers[trial * size..(trial + 1) * size])?;
            }
        }
        let about = match self.preparation().making.alignment() {
            Some(kind) => aligned(about, kind),
            None => about,
        };
        Ok(match content {
            Content::Covariances(covariances) => {
                Content::Covariances(Covariances::new(about, covariances.inputs, numbers)?)
            }
            Content::Trials(trials) => Content::Trials(Trials::new(about, trials.length(), numbers)?),
        })
    }
}

/// Returns the metadata of trials after their alignment.
fn aligned(mut about: About, kind: Alignment) -> About {
    about.making.align(kind);
    NO_UNIT.clone_into(&mut about.unit);
    about
}
