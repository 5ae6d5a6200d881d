//! Trials that are the same, or nearly the same, in two subjects.
//!
//! The fingerprint of a trial is the vector of correlations between some of its channels, of length
//! one. Scale and rounding to single precision do not change it; a shift by a few samples and a
//! little noise hardly do. Projections of fingerprints are hashed, so that only trials that may be
//! equal are compared: the time is in proportion to the number of trials.

use std::collections::{BTreeMap, HashMap};

use fedspd_eeg::About;
use rayon::prelude::*;

use super::Content;

/// The most channels of a fingerprint.
const CHANNELS: usize = 16;

/// The fewest channels with which trials that are nearly the same are told from similar ones. With
/// fewer, only exact copies are found.
const ENOUGH: usize = 8;

/// The largest distance between fingerprints of exact copies: that of rounding to single precision.
const EXACT: f64 = 1e-6;

/// The largest distance between fingerprints of trials that are nearly the same. On `PhysionetMI`,
/// noise of 1% in each covariance gives at most 0.022; the closest trials of two people have 0.035.
const CLOSE: f64 = 0.025;

/// Trials that are nearly the same are closer than this share of the distance to any other trial of
/// their own subject. On `PhysionetMI`, the smallest ratio of two people is 0.65.
const SHARE: f64 = 1.0 / 3.0;

/// The number of projections, and the reach of a search along each: three standard deviations of
/// the projected difference between trials that are nearly the same.
const PROJECTIONS: usize = 6;
const REACH: f64 = 3.0 * CLOSE;

/// Bounds of the work for one trial: members of a cell, and other trials of its subject.
const MEMBERS: usize = 64;
const OTHERS: usize = 256;

/// A trial's cell along each projection.
type Place = [i32; PROJECTIONS];

/// Copies across subjects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// Pairs of subjects, in the order of the data, with the number of trials that the second has
    /// from the first.
    pub pairs: Vec<([String; 2], usize)>,
    /// The number of trials that another subject has too, each counted once.
    pub trials: usize,
}

impl Copies {
    /// Finds trials that are the same, or nearly the same, in two subjects.
    pub fn find(content: &Content) -> Self {
        let about = content.about();
        let channels = chosen(about.channels.len());
        let fingerprints: Vec<Option<Fingerprint>> = (0..about.origins.len())
            .into_par_iter()
            .map(|trial| Fingerprint::new(content, trial, &channels))
            .collect();
        let search = Search {
            about,
            fingerprints: &fingerprints,
            own: own_trials(about),
            few: channels.len() < ENOUGH,
        };
        search.run()
    }

    /// Describes the copies in a warning; none without copies.
    pub fn warning(&self) -> Option<String> {
        /// The most pairs in a warning.
        const MOST: usize = 3;
        let named = self.pairs.iter().take(MOST).map(|([first, second], trials)| {
            format!(
                "subjects {first} and {second} share {trials} trial{}",
                if *trials == 1 { "" } else { "s" }
            )
        });
        let named = named.collect::<Vec<_>>().join(", ");
        let more = match self.pairs.len().saturating_sub(MOST) {
            0 => String::new(),
            1 => ", and 1 more pair shares trials".into(),
            more => format!(", and {more} more pairs share trials"),
        };
        (!self.pairs.is_empty()).then(|| {
            format!("{named}{more}: they are the same or nearly the same; leave one of each pair out with `data.exclude`")
        })
    }
}

/// Returns evenly spaced channels.
fn chosen(channels: usize) -> Vec<usize> {
    let count = channels.min(CHANNELS);
    (0..count).map(|place| if count > 1 { place * (channels - 1) / (count - 1) } else { 0 }).collect()
}

/// Returns the trials of each subject.
fn own_trials(about: &About) -> HashMap<&str, Vec<usize>> {
    let mut own: HashMap<&str, Vec<usize>> = HashMap::new();
    for (trial, origin) in about.origins.iter().enumerate() {
        own.entry(&origin.subject).or_default().push(trial);
    }
    own
}

/// The correlations of a trial and their projections.
struct Fingerprint {
    correlations: Vec<f64>,
    projected: [f64; PROJECTIONS],
}

impl Fingerprint {
    /// Returns none for a trial without correlations.
    fn new(content: &Content, trial: usize, channels: &[usize]) -> Option<Self> {
        let products = match content {
            Content::Covariances(covariances) => {
                let (matrix, n) = (covariances.matrix(trial, 0), covariances.about.channels.len());
                let products =
                    channels.iter().flat_map(|&a| channels.iter().map(move |&b| matrix[a * n + b]));
                products.collect()
            }
            Content::Trials(trials) => products(trials.trial(trial), trials.about.channels.len(), channels),
        };
        let correlations = correlations(&products, channels.len());
        let norm = correlations.iter().map(|value| value * value).sum::<f64>().sqrt();
        // Three numbers do not agree to six digits by chance.
        if norm == 0.0 || !norm.is_finite() || correlations.len() < 3 {
            return None;
        }
        let correlations: Vec<f64> = correlations.iter().map(|value| value / norm).collect();
        let mut projected = [0.0; PROJECTIONS];
        for (place, value) in correlations.iter().enumerate() {
            let signs = mixed(place as u64);
            for (axis, sum) in projected.iter_mut().enumerate() {
                *sum += if signs >> axis & 1 == 1 { *value } else { -value };
            }
        }
        Some(Self { correlations, projected })
    }

    fn distance(&self, other: &Self) -> f64 {
        let pairs = self.correlations.iter().zip(&other.correlations);
        pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    /// The cell of the trial.
    fn place(&self) -> Place {
        self.projected.map(|value| (value / (2.0 * REACH)).floor() as i32)
    }

    /// The cells that may hold trials within reach: up to two along each projection.
    fn places(&self) -> Vec<Place> {
        let mut places = vec![[0; PROJECTIONS]];
        for (axis, value) in self.projected.iter().enumerate() {
            let [low, high] = [-REACH, REACH].map(|step| ((value + step) / (2.0 * REACH)).floor() as i32);
            let count = places.len();
            if high > low {
                places.extend_from_within(..);
            }
            for (number, place) in places.iter_mut().enumerate() {
                place[axis] = if number < count { low } else { high };
            }
        }
        places
    }
}

/// Returns fixed pseudo-random bits for a number (`SplitMix64`).
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Returns the products of some channels of a trial around their means.
fn products(samples: &[f64], all: usize, channels: &[usize]) -> Vec<f64> {
    let count = channels.len();
    let length = (samples.len() / all.max(1)).max(1) as f64;
    let mut means = vec![0.0; count];
    for sample in samples.chunks_exact(all) {
        means.iter_mut().zip(channels).for_each(|(mean, &channel)| *mean += sample[channel] / length);
    }
    let (mut products, mut centred) = (vec![0.0; count * count], vec![0.0; count]);
    for sample in samples.chunks_exact(all) {
        for ((centred, mean), &channel) in centred.iter_mut().zip(&means).zip(channels) {
            *centred = sample[channel] - mean;
        }
        for (row, a) in products.chunks_exact_mut(count).zip(&centred) {
            row.iter_mut().zip(&centred).for_each(|(sum, b)| *sum += a * b);
        }
    }
    products
}

/// Returns the correlations of pairs of channels; zero for a flat channel.
fn correlations(products: &[f64], count: usize) -> Vec<f64> {
    let at = |a: usize, b: usize| products[a * count + b];
    let pairs = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
    let correlation = |(a, b): (usize, usize)| {
        let scale = (at(a, a) * at(b, b)).sqrt();
        if scale > 0.0 { at(a, b) / scale } else { 0.0 }
    };
    pairs.map(correlation).collect()
}

struct Search<'a> {
    about: &'a About,
    fingerprints: &'a [Option<Fingerprint>],
    own: HashMap<&'a str, Vec<usize>>,
    /// Whether there are too few channels to find more than exact copies.
    few: bool,
}

impl Search<'_> {
    fn run(&self) -> Copies {
        let mut cells: HashMap<Place, Vec<usize>> = HashMap::new();
        let mut pairs: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut nearest: HashMap<usize, f64> = HashMap::new();
        let mut copied = 0;
        for (trial, fingerprint) in self.fingerprints.iter().enumerate() {
            let Some(fingerprint) = fingerprint else { continue };
            let mut from: Vec<&str> = Vec::new();
            for member in fingerprint.places().iter().filter_map(|place| cells.get(place)).flatten() {
                let subject = &*self.about.origins[*member].subject;
                if subject != self.about.origins[trial].subject
                    && !from.contains(&subject)
                    && self.are_copies(trial, *member, &mut nearest)
                {
                    from.push(subject);
                }
            }
            copied += usize::from(!from.is_empty());
            for subject in from {
                let first = |subject: &str| self.own[subject][0];
                *pairs.entry((first(subject), first(&self.about.origins[trial].subject))).or_default() += 1;
            }
            let cell = cells.entry(fingerprint.place()).or_default();
            if cell.len() < MEMBERS {
                cell.push(trial);
            }
        }
        let name = |trial: usize| self.about.origins[trial].subject.clone();
        let pairs = pairs.into_iter().map(|((a, b), trials)| ([name(a), name(b)], trials));
        Copies { pairs: pairs.collect(), trials: copied }
    }

    fn are_copies(&self, a: usize, b: usize, nearest: &mut HashMap<usize, f64>) -> bool {
        let (Some(first), Some(second)) = (&self.fingerprints[a], &self.fingerprints[b]) else {
            return false;
        };
        let distance = first.distance(second);
        if distance <= EXACT {
            return true;
        }
        if self.few || distance > CLOSE {
            return false;
        }
        [a, b].iter().all(|&trial| {
            let own = *nearest.entry(trial).or_insert_with(|| self.nearest_of_own(trial));
            distance <= SHARE * own
        })
    }

    /// Returns the distance to the nearest other trial of the same subject; zero if there is none.
    /// Of many, some are compared.
    fn nearest_of_own(&self, trial: usize) -> f64 {
        let Some(fingerprint) = &self.fingerprints[trial] else { return 0.0 };
        let own = &self.own[&*self.about.origins[trial].subject];
        let others = own.iter().step_by(own.len().div_ceil(OTHERS)).filter(|&&other| other != trial);
        let distances =
            others.filter_map(|&other| Some(fingerprint.distance(self.fingerprints[other].as_ref()?)));
        distances.reduce(f64::min).unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use fedspd_eeg::{Covariances, Trials, sample};

    use super::*;

    fn embedded() -> Covariances {
        sample::sample().unwrap()
    }

    /// Returns the sample with some trials of subject 3 replaced by changed trials of subject 1.
    fn planted(trials: usize, change: impl Fn(usize, &mut [f64])) -> Content {
        let covariances = embedded();
        let about = covariances.about.clone();
        let inputs = covariances.inputs.clone();
        let mut numbers = covariances.into_matrices();
        let size = numbers.len() / about.origins.len();
        let [from, to] = ["1", "3"].map(|subject| about.trials_of(subject));
        for (&from, &to) in from.iter().zip(&to).take(trials) {
            let mut copy = numbers[from * size..][..size].to_vec();
            change(from, &mut copy);
            numbers[to * size..][..size].copy_from_slice(&copy);
        }
        Content::Covariances(Covariances::new(about, inputs, numbers).unwrap())
    }

    fn from_1_to_3(trials: usize) -> Copies {
        Copies { pairs: vec![(["1".into(), "3".into()], trials)], trials }
    }

    /// Returns a fixed pseudo-random number between -1 and 1.
    fn noise(number: u64) -> f64 {
        mixed(number) as f64 / u64::MAX as f64 * 2.0 - 1.0
    }

    #[test]
    fn the_sample_has_no_copies() {
        assert_eq!(Copies::find(&Content::Covariances(embedded())), Copies::default());
    }

    #[test]
    fn copies_of_covariances_are_found() {
        assert_eq!(Copies::find(&planted(1, |_, _| {})), from_1_to_3(1));
        let scaled = planted(90, |_, matrix| matrix.iter_mut().for_each(|x| *x *= 1e-12));
        assert_eq!(Copies::find(&scaled), from_1_to_3(90));
        let rounded = planted(90, |_, matrix| matrix.iter_mut().for_each(|x| *x = f64::from(*x as f32)));
        assert_eq!(Copies::find(&rounded), from_1_to_3(90));
        // Noise of 1% in each entry.
        let n = embedded().about.channels.len();
        let noisy = planted(90, |trial, matrix| {
            for place in 0..matrix.len() {
                let (a, b) = (place / n % n, place % n);
                let entry = (trial * n * n + a.min(b) * n + a.max(b)) as u64;
                matrix[place] *= 1.0 + 0.01 * 3.0_f64.sqrt() * noise(entry);
            }
        });
        let found = Copies::find(&noisy);
        assert_eq!(found.pairs.len(), 1);
        assert!(found.pairs[0].1 >= 80, "{found:?}");
    }

    /// Returns trials of three subjects: waves with random phases, mixed differently in each.
    fn waves(change: impl Fn(&mut Vec<Vec<f64>>)) -> Content {
        let (channels, length, of_subject) = (12, 320, 20);
        let mut trials: Vec<Vec<f64>> = (0..3 * of_subject as u64)
            .map(|trial| {
                let wave = |sample: usize, source: u64| {
                    let key = trial * 64 + source;
                    let hertz = 8.0 + 12.0 * (1.0 + noise(key));
                    (hertz * sample as f64 / 160.0 * std::f64::consts::TAU + 3.0 * noise(key + 7_000)).sin()
                };
                let value = |sample: usize, channel: u64| {
                    let mix = |source: u64| noise(trial / of_subject as u64 * 999 + channel * 31 + source);
                    (0..10).map(|source| mix(source) * wave(sample, source)).sum::<f64>()
                };
                (0..length)
                    .flat_map(|sample| (0..channels).map(move |channel| value(sample, channel)))
                    .collect()
            })
            .collect();
        change(&mut trials);
        let mut about = embedded().about;
        about.channels.truncate(channels as usize);
        about.origins.truncate(trials.len());
        for (trial, origin) in about.origins.iter_mut().enumerate() {
            origin.subject = (1 + trial / of_subject).to_string();
        }
        Content::Trials(Trials::new(about, length, trials.concat()).unwrap())
    }

    #[test]
    fn copies_of_samples_are_found() {
        assert_eq!(Copies::find(&waves(|_| {})), Copies::default());
        assert_eq!(Copies::find(&waves(|trials| trials[45] = trials[4].clone())), from_1_to_3(1));
        let changed = |change: &dyn Fn(usize, f64) -> f64| {
            Copies::find(&waves(|trials| {
                for trial in 0..20 {
                    trials[40 + trial] =
                        trials[trial].iter().enumerate().map(|(place, &x)| change(place, x)).collect();
                }
            }))
        };
        assert_eq!(changed(&|_, x| -3.0 * x), from_1_to_3(20));
        assert_eq!(changed(&|_, x| f64::from(x as f32)), from_1_to_3(20));
        assert_eq!(changed(&|place, x| x + 0.03 * noise(place as u64)), from_1_to_3(20));
        let shifted = Copies::find(&waves(|trials| {
            for trial in 0..20 {
                let mut copy = trials[trial].clone();
                copy.rotate_left(12 * 2);
                trials[40 + trial] = copy;
            }
        }));
        assert_eq!(shifted, from_1_to_3(20));
    }

    #[test]
    fn a_warning_names_the_subjects() {
        assert_eq!(Copies::default().warning(), None);
        assert_eq!(
            from_1_to_3(1).warning().unwrap(),
            "subjects 1 and 3 share 1 trial: they are the same or nearly the same; leave one of each pair out with `data.exclude`"
        );
        let pair = |second: usize| (["1".into(), second.to_string()], 2);
        let many = Copies { pairs: (2..7).map(pair).collect(), trials: 10 };
        let text = many.warning().unwrap();
        assert!(text.contains("subjects 1 and 4 share 2 trials, and 2 more pairs share trials: "), "{text}");
    }
}
