//! The work of a plan: filter, cut and estimate, subject by subject, in parallel, with results in
//! order.

use fedspd_manifold::SpdMetric;
use fedspd_manifold::simd::Simd;
use rayon::prelude::*;

use super::file::samples;
use super::{Features, Plan, PlannedRecording, Progress};
use crate::about::{MICROVOLTS, NO_UNIT, SQUARE_MICROVOLTS};
use crate::covariance::{CovarianceWorkspace, Quality};
use crate::filter::{Band, ZeroPhase, resample};
use crate::{About, AlignmentFit, Covariances, Error, Making, Trials};

/// Subjects per thread in one batch: enough that threads rarely wait for each other.
const SUBJECTS_PER_THREAD: usize = 4;

impl Plan {
    /// Returns the covariances of all trials, and the quality of each before recentring.
    ///
    /// # Errors
    /// As [`Plan::each_covariances`].
    pub fn covariances(
        &self,
        features: &Features,
        recentre: Option<SpdMetric>,
        progress: &impl Progress,
    ) -> Result<(Covariances, Vec<Quality>), Error> {
        let mut qualities = Vec::new();
        let mut all = Vec::with_capacity(self.trials() * features.inputs() * self.channels().len().pow(2));
        self.each_covariances(features, recentre, progress, &mut qualities, |covariances| {
            all.extend_from_slice(covariances.matrices());
            Ok(())
        })?;
        let names = features.names(self.definition().interval);
        Ok((Covariances::new(self.about_covariances(features, recentre)?, names, all)?, qualities))
    }

    /// Metadata of the covariances of all trials.
    ///
    /// # Errors
    /// As [`Features::ranges`].
    pub(crate) fn about_covariances(
        &self,
        features: &Features,
        recentre: Option<SpdMetric>,
    ) -> Result<About, Error> {
        let unit = if recentre.is_some() { NO_UNIT } else { SQUARE_MICROVOLTS };
        let mut making = features.making(self.definition())?;
        if let Some(metric) = recentre {
            making.align(metric.into());
            making.fitted_on(AlignmentFit::All);
        }
        Ok(About { making, ..self.about(unit) })
    }

    /// The processing of trials in one band.
    pub(crate) fn making_of_trials(&self, band: Band) -> Result<Making, Error> {
        let mut making = Features::whole_trial(band).making(self.definition())?;
        for branch in &mut making.branches {
            (branch.estimator, branch.centred) = (None, Some(false));
        }
        Ok(making)
    }

    /// Passes the covariances of each subject to `sink`, in order. With `recentre`, each subject is
    /// recentred on all its trials. The quality of each matrix before recentring is appended to
    /// `qualities`. If any covariance is not positive definite, the error comes after all were
    /// measured, so that users can repair all recordings at once.
    ///
    /// # Errors
    /// [`Error::Window`], [`Error::Band`] and [`Error::Setting`] for features that do not fit the
    /// trials; faults of files; [`Error::NotFinite`], [`Error::NotFiniteCovariance`] or
    /// [`Error::Deficient`] for a covariance that is not positive definite, in [`Error::Unfit`] if
    /// there are several; [`Error::Interrupted`]; any error of `sink`.
    pub fn each_covariances(
        &self,
        features: &Features,
        recentre: Option<SpdMetric>,
        progress: &impl Progress,
        qualities: &mut Vec<Quality>,
        mut sink: impl FnMut(Covariances) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let (definition, length) = (self.definition(), self.trial_length());
        let windows = features.ranges(definition.interval, definition.sfreq, length)?;
        let extents = features.extents(&windows, definition.sfreq);
        let names = features.names(definition.interval);
        let making = features.making(definition)?;
        let n = self.channels().len();
        let work = |runs: &[PlannedRecording],
                    about: About|
         -> Result<(Vec<Quality>, Result<Covariances, Error>), Error> {
            let mut broken = None;
            let mut workspace = CovarianceWorkspace::new(n)?;
            let mut matrices = vec![0.0; about.origins.len() * features.inputs() * n * n];
            let mut first = 0;
            for run in runs {
                let size = features.inputs() * n * n;
                let own = &mut matrices[first * size..(first + run.epochs.len()) * size];
                let done = self.bands(run, &features.bands, progress, |band, filtered| {
                    for (epoch, own) in run.epochs.iter().zip(own.chunks_exact_mut(size)) {
                        let trial = &filtered[epoch.start * n..(epoch.start + length) * n];
                        let places = own[band * windows.len() * n * n..].chunks_exact_mut(n * n);
                        for (window, place) in windows.iter().zip(places) {
                            let samples = &trial[window.start * n..window.end * n];
                            workspace.estimate(features.estimator, samples, place)?;
                        }
                    }
                    Ok(())
                });
                match done {
                    // A filter spreads the value over the whole run.
                    Err(error @ Error::NotFinite { .. }) => {
                        own.fill(f64::NAN);
                        broken.get_or_insert(error);
                    }
                    other => other?,
                }
                first += run.epochs.len();
                progress.file_done();
            }
            let about = About { making: making.clone(), ..about };
            let mut covariances = Covariances::new(about, names.clone(), matrices)?;
            let qualities = covariances.quality()?;
            let unfit = broken.or_else(|| covariances.check(&qualities, &extents).err());
            if let (Some(metric), None) = (recentre, &unfit) {
                covariances.recentre(metric)?;
            }
            Ok((qualities, unfit.map_or(Ok(covariances), Err)))
        };
        let (mut unfit, before) = (None, qualities.len());
        self.each_subject(SQUARE_MICROVOLTS, work, |(own, covariances)| {
            qualities.extend(own);
            match covariances {
                Ok(covariances) if unfit.is_none() => return sink(covariances),
                Ok(_) => {}
                Err(error) => drop(unfit.get_or_insert(error)),
            }
            Ok(())
        })?;
        let Some(first) = unfit else { return Ok(()) };
        let measured = &qualities[before..];
        match measured.iter().filter(|quality| !quality.is_fit(n)).count() {
            0 | 1 => Err(first),
            all => Err(Error::Unfit { first: Box::new(first), others: all - 1, all: measured.len() }),
        }
    }

    /// Returns the trials of all subjects in one band.
    ///
    /// # Errors
    /// As [`Plan::each_trials`].
    pub fn all_trials(&self, band: Band, progress: &impl Progress) -> Result<Trials, Error> {
        let mut all = Vec::with_capacity(self.trials() * self.trial_length() * self.channels().len());
        self.each_trials(band, progress, |trials| {
            for trial in 0..trials.len() {
                all.extend_from_slice(trials.trial(trial));
            }
            Ok(())
        })?;
        let making = self.making_of_trials(band)?;
        Trials::new(About { making, ..self.about(MICROVOLTS) }, self.trial_length(), all)
    }

    /// Passes the filtered trials of each subject to `sink`, in order.
    ///
    /// # Errors
    /// [`Error::Band`]; faults of files; [`Error::Interrupted`]; any error of `sink`.
    pub fn each_trials(
        &self,
        band: Band,
        progress: &impl Progress,
        sink: impl FnMut(Trials) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let (length, making) = (self.trial_length(), self.making_of_trials(band)?);
        let work = |runs: &[PlannedRecording], about: About| {
            let n = about.channels.len();
            let mut all = Vec::with_capacity(about.origins.len() * length * n);
            for run in runs {
                self.bands(run, &[band], progress, |_, filtered| {
                    for epoch in &run.epochs {
                        all.extend_from_slice(&filtered[epoch.start * n..(epoch.start + length) * n]);
                    }
                    Ok(())
                })?;
                progress.file_done();
            }
            Trials::new(About { making: making.clone(), ..about }, length, all)
        };
        self.each_subject(MICROVOLTS, work, sink)
    }

    /// Processes subjects in parallel batches, so that few are in memory. Results are passed to
    /// `sink` in order, while the next batch is processed.
    fn each_subject<B: Send>(
        &self,
        unit: &str,
        work: impl Fn(&[PlannedRecording], About) -> Result<B, Error> + Sync,
        mut sink: impl FnMut(B) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let mut pass_on = |done: Vec<Result<B, Error>>| done.into_iter().try_for_each(|result| sink(result?));
        let one = |runs: &Vec<PlannedRecording>| work(runs, self.about_runs(unit, runs));
        let mut waiting = Vec::new();
        for wave in self.subjects().chunks(SUBJECTS_PER_THREAD * rayon::current_num_threads()) {
            let (done, passed_on) = rayon::join(
                || wave.par_iter().with_max_len(1).map(one).collect(),
                || pass_on(std::mem::take(&mut waiting)),
            );
            passed_on?;
            waiting = done;
        }
        pass_on(waiting)
    }

    /// Reads a run, and passes it to `sink` once for each band, filtered.
    fn bands(
        &self,
        run: &PlannedRecording,
        bands: &[Band],
        progress: &impl Progress,
        mut sink: impl FnMut(usize, &[f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if progress.interrupted() {
            return Err(Error::Interrupted);
        }
        if run.epochs.is_empty() {
            return Ok(());
        }
        let (n, simd) = (self.channels().len(), Simd::detect()?);
        let mut raw = self.raw(run)?;
        for (index, &band) in bands.iter().enumerate() {
            let filter = ZeroPhase::band_pass(band, self.definition().sfreq)?;
            let mut filtered = if index + 1 < bands.len() { raw.clone() } else { std::mem::take(&mut raw) };
            for segment in &run.segments {
                filter.apply(simd, n, &mut filtered[segment.start * n..segment.end * n]);
            }
            sink(index, &filtered)?;
        }
        Ok(())
    }

    /// Reads the samples of a run at the rate of the definition. All of them are finite.
    fn raw(&self, run: &PlannedRecording) -> Result<Vec<f64>, Error> {
        let (definition, n) = (self.definition(), self.channels().len());
        let raw = samples(definition, &run.path, &run.places)?;
        // One pass without branches for the common case.
        let finite = raw.iter().fold(true, |finite, sample| finite & sample.is_finite());
        if !finite && let Some(place) = raw.iter().position(|sample| !sample.is_finite()) {
            let channel = self.channels()[place % n].clone();
            let place_name = format!("{}, sample {}", run.path.display(), place / n);
            return Err(Error::NotFinite { place: place_name, channel, value: raw[place] });
        }
        if run.sfreq == definition.sfreq { Ok(raw) } else { resample(n, &raw, run.sfreq, definition.sfreq) }
    }
}
