//! The processing of prepared data.

use super::archive::Archive;
use super::{NOT_ALIGNED, StoreFault};
use crate::filter::Band;
use crate::{Alignment, AlignmentFit, Branch, Error, Making};

impl Archive<'_> {
    /// Reads the processing of each input of a trial.
    pub(super) fn making(&mut self, inputs: usize) -> Result<Making, Error> {
        if !self.has("preparation") {
            return self.former_making(inputs);
        }
        let text = self.text("preparation")?;
        let making: Making = serde_json::from_str(&text)
            .map_err(|error| self.fault(StoreFault::Preparation { reason: error.to_string() }))?;
        let branches = making.branches.len();
        if branches != inputs && branches > 0 {
            return Err(self.fault(StoreFault::Branches { branches, inputs }));
        }
        Ok(making)
    }

    /// Reads the processing from the arrays of a file without `preparation`, as far as they tell it.
    fn former_making(&mut self, inputs: usize) -> Result<Making, Error> {
        let (mut common, mut known) = (Branch::default(), false);
        if self.has("estimator") {
            (common.estimator, known) = (Some(self.text("estimator")?), true);
        }
        if self.has("align") {
            let name = self.text("align")?;
            common.alignment = Alignment::ALL.into_iter().find(|align| align.name() == name);
            if common.alignment.is_none() && name != NOT_ALIGNED {
                return Err(self.fault(StoreFault::Align { name }));
            }
            // Only `fedspd data prepare` aligned such files, on all trials of each subject.
            common.fit = common.alignment.map(|_| AlignmentFit::All);
            known |= common.alignment.is_some();
        }
        if self.has("z_score") {
            common.z_score = match self.file.integers("z_score")?.values[..] {
                [0] => false,
                [1] => true,
                ref values => return Err(self.fault(StoreFault::ZScore { values: values.to_vec() })),
            };
            known |= common.z_score;
        }
        let mut list = |name| if self.has(name) { self.names(name) } else { Ok(Vec::new()) };
        let (bands, windows) = (list("bands")?, list("windows")?);
        // The inputs of a trial are bands first, then windows.
        if !bands.is_empty() && bands.len() * windows.len() == inputs {
            let branches = bands.iter().flat_map(|band| windows.iter().map(move |window| (band, window)));
            let branch = |(band, window): (&String, &String)| Branch {
                band: ends(band, "Hz").map(Band::from),
                window: ends(window, "s"),
                ..common.clone()
            };
            return Ok(Making { branches: branches.map(branch).collect(), ..Making::default() });
        }
        let branches = if known { vec![common; inputs] } else { Vec::new() };
        Ok(Making { branches, ..Making::default() })
    }
}

/// Reads the two numbers of a band or window, such as `8-32 Hz` or `-0.5..0.5 s`.
fn ends(text: &str, unit: &str) -> Option<[f64; 2]> {
    let text = text.strip_suffix(unit)?.trim_end();
    let (first, last) = text.split_once("..").or_else(|| text.split_once('-'))?;
    Some([first.parse().ok()?, last.parse().ok()?])
}
