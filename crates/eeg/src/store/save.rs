//! Writing of prepared data.

use std::path::Path;

use fedspd_manifold::SpdMetric;

use super::NOT_ALIGNED;
use crate::about::MICROVOLTS;
use crate::filter::Band;
use crate::npz::NpzWriter;
use crate::prepare::{Features, Plan, Progress};
use crate::{About, Alignment, Covariances, Error, Making, Quality, Trials};

impl Covariances {
    /// Writes the covariances to a file, which appears when it is complete.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let n = self.about.channels.len();
        let mut writer = NpzWriter::create(path)?;
        let mut rows = writer.float_rows::<f64>("X", &shape(self.len(), self.inputs.len(), n))?;
        for row in self.matrices().chunks_exact(self.inputs.len() * n * n) {
            rows.push(row)?;
        }
        rows.finish()?;
        write_about(&mut writer, &self.about, "covariances", &self.inputs)?;
        writer.finish()
    }
}

impl Trials {
    /// Writes the trials to a file, which appears when it is complete.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut writer = NpzWriter::create(path)?;
        let shape = [self.len(), self.about.channels.len(), self.length()];
        let mut rows = writer.float_rows::<f32>("X", &shape)?;
        for trial in 0..self.len() {
            rows.push(&channel_by_channel(self, trial)?)?;
        }
        rows.finish()?;
        write_about(&mut writer, &self.about, "trials", &[])?;
        writer.finish()
    }
}

impl Plan {
    /// Prepares covariances and writes them subject by subject, without holding all in memory.
    /// Returns their metadata. The quality of each matrix before recentring is appended to
    /// `qualities`, even when bad covariances abort the export.
    ///
    /// # Errors
    /// As [`Plan::each_covariances`], and [`Error::File`].
    pub fn save_covariances(
        &self,
        features: &Features,
        recentre: Option<SpdMetric>,
        path: &Path,
        progress: &impl Progress,
        qualities: &mut Vec<Quality>,
    ) -> Result<About, Error> {
        let (n, inputs) = (self.channels().len(), features.inputs());
        let mut writer = NpzWriter::create(path)?;
        let mut rows = writer.float_rows::<f64>("X", &shape(self.trials(), inputs, n))?;
        self.each_covariances(features, recentre, progress, qualities, |covariances| {
            covariances.matrices().chunks_exact(inputs * n * n).try_for_each(|row| rows.push(row))
        })?;
        rows.finish()?;
        let about = self.about_covariances(features, recentre)?;
        write_about(&mut writer, &about, "covariances", &features.names(self.definition().interval))?;
        writer.finish()?;
        Ok(about)
    }

    /// Prepares trials and writes them subject by subject, without holding all in memory. `change`
    /// may align or scale the trials of each subject, and must then set their unit. Returns their
    /// metadata.
    ///
    /// # Errors
    /// As [`Plan::each_trials`], any error of `change`, and [`Error::File`].
    pub fn save_trials(
        &self,
        band: Band,
        path: &Path,
        progress: &impl Progress,
        mut change: impl FnMut(&mut Trials) -> Result<(), Error> + Send,
    ) -> Result<About, Error> {
        let n = self.channels().len();
        let mut writer = NpzWriter::create(path)?;
        let mut rows = writer.float_rows::<f32>("X", &[self.trials(), n, self.trial_length()])?;
        let mut about = About { making: self.making_of_trials(band)?, ..self.about(MICROVOLTS) };
        self.each_trials(band, progress, |mut trials| {
            // A subject without trials has nothing to change.
            if trials.is_empty() {
                return Ok(());
            }
            change(&mut trials)?;
            about.unit.clone_from(&trials.about.unit);
            about.making.clone_from(&trials.about.making);
            (0..trials.len()).try_for_each(|trial| rows.push(&channel_by_channel(&trials, trial)?))
        })?;
        rows.finish()?;
        write_about(&mut writer, &about, "trials", &[])?;
        writer.finish()?;
        Ok(about)
    }
}

/// The shape of covariances: no axis for inputs if there is only one.
fn shape(trials: usize, inputs: usize, n: usize) -> Vec<usize> {
    if inputs == 1 { vec![trials, n, n] } else { vec![trials, inputs, n, n] }
}

/// Transposes a trial from samples x channels to channels x samples.
fn channel_by_channel(trials: &Trials, trial: usize) -> Result<Vec<f32>, Error> {
    let (samples, channels) = (trials.trial(trial), &trials.about.channels);
    let mut row = Vec::with_capacity(samples.len());
    for (first, channel) in channels.iter().enumerate() {
        for &value in samples[first..].iter().step_by(channels.len()) {
            let stored = value as f32;
            if !stored.is_finite() {
                let (place, channel) = (trials.about.name(trial), channel.clone());
                return Err(Error::TooLarge { place, channel, value });
            }
            row.push(stored);
        }
    }
    Ok(row)
}

fn write_about(writer: &mut NpzWriter, about: &About, kind: &str, inputs: &[String]) -> Result<(), Error> {
    let trials = [about.origins.len()];
    let labels: Vec<i64> = about.origins.iter().map(|origin| origin.label.cast_signed() as i64).collect();
    writer.integers("y", &trials, &labels)?;
    write_ids(writer, "subject", about.origins.iter().map(|origin| &*origin.subject))?;
    write_ids(writer, "session", about.origins.iter().map(|origin| &*origin.session))?;
    write_ids(writer, "run", about.origins.iter().map(|origin| &*origin.run))?;
    writer.strings("classes", &[about.classes.len()], &about.classes)?;
    writer.strings("channels", &[about.channels.len()], &about.channels)?;
    if !inputs.is_empty() {
        writer.strings("inputs", &[inputs.len()], inputs)?;
    }
    writer.floats("sfreq", &[], &[about.sfreq])?;
    writer.strings("unit", &[], &[&about.unit])?;
    writer.strings("kind", &[], &[kind])?;
    write_making(writer, &about.making)
}

/// Writes the processing; unknown entries are left out.
fn write_making(writer: &mut NpzWriter, making: &Making) -> Result<(), Error> {
    if let Some(estimator) = making.estimator() {
        writer.strings("estimator", &[], &[estimator])?;
    }
    writer.strings("align", &[], &[making.alignment().map_or(NOT_ALIGNED, Alignment::name)])?;
    writer.integers("z_score", &[], &[i64::from(making.z_score())])?;
    for (name, list) in [("bands", making.bands()), ("windows", making.windows())] {
        if !list.is_empty() {
            writer.strings(name, &[list.len()], &list)?;
        }
    }
    writer.strings("preparation", &[], &[making.to_json()])
}

/// Writes ids as whole numbers if that keeps their spelling, otherwise as texts.
fn write_ids<'a>(
    writer: &mut NpzWriter,
    name: &str,
    ids: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), Error> {
    let number = |id: &str| id.parse::<i64>().ok().filter(|number| number.to_string() == id);
    if let Some(numbers) = ids.clone().map(number).collect::<Option<Vec<i64>>>() {
        return writer.integers(name, &[numbers.len()], &numbers);
    }
    let texts: Vec<&str> = ids.collect();
    writer.strings(name, &[texts.len()], &texts)
}
