//! The preparation that a configuration asks for, compared with that of prepared data.

use std::path::Path;

use fedspd_eeg::filter::Band;
use fedspd_eeg::store::load as load_npz;
use fedspd_eeg::{Branch, Estimator, Preparation};
use fedspd_run::{Manifest, RunFolder};

use super::{Content, read_stored, same};
use crate::config::Config;
use crate::evaluate::Predictor;
use crate::{Error, data};

/// Checks that prepared data have the bands, windows and estimator that a configuration names.
pub(crate) fn check_asked(config: &Config, found: &Preparation, name: &str) -> Result<(), Error> {
    let (covariance, making) = (&config.covariance, &found.making);
    let bands = match (&covariance.bands[..], config.data.band) {
        ([], band) => band.map(|band| vec![band]),
        (bands, _) => Some(bands.to_vec()),
    };
    let windows = match (&covariance.windows[..], config.data.window) {
        ([], window) => window.map(|window| vec![window]),
        (windows, _) => Some(windows.to_vec()),
    };
    let is_default = covariance.resolved_estimator() == Estimator::default();
    let estimator = (!is_default).then(|| covariance.resolved_estimator().to_string());
    let asks = bands.is_some() || windows.is_some() || estimator.is_some();
    let Some(first) = making.branches.first().filter(|_| asks) else { return Ok(()) };
    let own = |value: fn(&Branch) -> Option<[f64; 2]>| {
        let mut all: Vec<Option<[f64; 2]>> = making.branches.iter().map(value).collect();
        all.dedup();
        all
    };
    let known = |asked: Option<Vec<[f64; 2]>>| asked.map(|all| all.into_iter().map(Some).collect());
    let bands: Vec<_> = known(bands).unwrap_or_else(|| own(|branch| branch.band.map(Into::into)));
    let windows: Vec<_> = known(windows).unwrap_or_else(|| {
        let per_band = making.branches.len() / bands.len().max(1);
        own(|branch| branch.window).into_iter().take(per_band.max(1)).collect()
    });
    let branch = |band: Option<[f64; 2]>, window| Branch {
        band: band.map(Band::from),
        window,
        samples: None,
        estimator: estimator.clone().or(first.estimator.clone()),
        ..first.clone()
    };
    let branches = bands.iter().flat_map(|&band| windows.iter().map(move |&window| (band, window)));
    let mut asked = found.clone();
    asked.making.branches = branches.map(|(band, window)| branch(band, window)).collect();
    same(&asked, "the configuration", found, name)
}

/// Reads the preparation of a model, a run folder or prepared data.
pub(super) fn preparation_of(path: &Path) -> Result<Preparation, Error> {
    if path.is_dir() {
        let manifest = RunFolder::open(path)?.manifest();
        return match Manifest::read(&manifest)?.preparation {
            Some(stored) => read_stored(&stored, &manifest),
            None => Err(Error::StoredPreparation { path: manifest, reason: data::OLDER.into() }),
        };
    }
    if path.extension().is_some_and(|extension| extension == "npz") {
        return Ok(Content::from(load_npz(path)?.content).preparation());
    }
    Ok(Predictor::load(path)?.preparation().clone())
}
