//! The rules that find trials in recordings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::dataset::{EventTable, Pattern, built_in};
use crate::filter::Band;
use crate::{Definition, Error, Preparation};

/// The rules that find trials in recordings. A model keeps them, so that it takes recordings of
/// new subjects. They hold nothing about files or subjects, because sites send them to the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The dataset, if it is built in. Its definition says how file names give subject and run.
    pub dataset: Option<String>,
    /// The unit of values in files without a unit.
    pub unit: Option<String>,
    /// New names of channels, by their names in the files.
    pub rename: BTreeMap<String, String>,
    /// Start and end of a trial in seconds after its event.
    pub interval: [f64; 2],
    /// The events that begin trials, and their classes.
    pub events: Vec<EventTable>,
}

impl Recipe {
    /// Returns the rules of a definition.
    pub fn of(definition: &Definition) -> Self {
        let is_built_in = find(&definition.name).is_ok_and(|found| found.is_some());
        Self {
            dataset: is_built_in.then(|| definition.name.clone()),
            unit: definition.unit.clone(),
            rename: definition.rename.clone(),
            interval: definition.interval,
            events: definition.events.clone(),
        }
    }

    /// Returns the definition of a built-in dataset: its file names and the order of its runs.
    ///
    /// # Errors
    /// None, unless a built-in definition is faulty.
    pub fn built_in(&self) -> Result<Option<Definition>, Error> {
        self.dataset.as_deref().map_or(Ok(None), find)
    }

    /// Returns a definition by which EDF files are read for a preparation, at its rate and with its
    /// channels. Its pattern of file names matches every name.
    ///
    /// # Errors
    /// None: the pattern is valid.
    pub fn definition(&self, preparation: &Preparation, sfreq: f64, band: Band) -> Result<Definition, Error> {
        let files = Pattern::try_from("{subject}".to_owned())
            .map_err(|reason| Error::Definition { path: "recipe".into(), reason })?;
        Ok(Definition {
            name: "recordings".into(),
            title: String::new(),
            licence: String::new(),
            citations: Vec::new(),
            format: crate::dataset::Format::Edf,
            files,
            subjects: None,
            sessions: None,
            runs: None,
            sfreq,
            unit: self.unit.clone(),
            reference: preparation.making.reference.clone(),
            channels: Some(preparation.channels.clone()),
            rename: self.rename.clone(),
            interval: self.interval,
            band,
            events: self.events.clone(),
            excluded: Vec::new(),
            mat: None,
            source: None,
            checksums: BTreeMap::new(),
        })
    }
}

fn find(name: &str) -> Result<Option<Definition>, Error> {
    Ok(built_in()?.into_iter().find(|definition| definition.name == name))
}
