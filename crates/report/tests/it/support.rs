//! Synthetic run folders. Their numbers are a fixed function of their indices, so that files can be
//! compared.

use std::path::{Path, PathBuf};

use fedspd_report::CellRun;
use fedspd_run::{
    Event, EventLog, ExcludedSubject, HeldOutShard, InputInterpretation, Interpretation, LayerReport,
    Manifest, Pattern, Plane, ResultRow, ResultTable, Round, RunFolder, SCHEMA_VERSION, SeedShards, Shard,
    Shards, Spectrum, Status, TrialFacts, Unit, atomic,
};

pub(crate) const CLASSES: [&str; 4] = ["feet", "hands", "left_hand", "right_hand"];
const CHANNELS: [&str; 20] = [
    "Fp1", "Fp2", "F7", "F3", "Fz", "F4", "F8", "T7", "C3", "Cz", "C4", "T8", "P7", "P3", "Pz", "P4", "P8",
    "O1", "O2", "EOG",
];

/// The properties of a synthetic run.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) mode: &'static str,
    pub(crate) aggregation: &'static str,
    pub(crate) participation: f64,
    pub(crate) clients: usize,
    pub(crate) rounds: u32,
    pub(crate) seeds: u64,
    /// The number of seeds, from the last, that were stopped half-way.
    pub(crate) stopped: u64,
    pub(crate) interpretation: bool,
    pub(crate) lift: f64,
    /// The prefix of subject names.
    pub(crate) subject: &'static str,
    pub(crate) facts: Option<TrialFacts>,
    pub(crate) split: &'static str,
    pub(crate) classes: &'static [&'static str],
    /// The number of folds; 0 without folds.
    pub(crate) folds: usize,
    /// Stands for the test trials.
    pub(crate) test_hash: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            mode: "federated",
            aggregation: "proj-avg",
            participation: 1.0,
            clients: 5,
            rounds: 12,
            seeds: 3,
            stopped: 0,
            interpretation: true,
            lift: 0.0,
            subject: "",
            facts: Some(TrialFacts {
                runs: 60,
                partial_runs: 60,
                shared_subjects: 10,
                shared_runs: 60,
                ..TrialFacts::default()
            }),
            split: "stratified",
            classes: &CLASSES,
            folds: 0,
            test_hash: 0,
        }
    }
}

/// Returns a deterministic pseudo-random number between 0 and 1.
fn noise(a: u64, b: u64, c: u64) -> f64 {
    let mut x =
        a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x85eb_ca6b) ^ c.wrapping_mul(0xc2b2_ae35) ^ 0x27d4_eb2f;
    for _ in 0..3 {
        x ^= x >> 15;
        x = x.wrapping_mul(0x2c1b_3c6d) & 0xffff_ffff;
    }
    x as f64 / f64::from(u32::MAX)
}

impl Plan {
    /// The F1 of a seed after a round.
    fn f1(&self, seed: u64, round: u32) -> f64 {
        let progress = 1.0 - (-f64::from(round) / f64::from(self.rounds) * 3.0).exp();
        0.25 + (0.15 + self.lift) * progress + 0.02 * noise(seed, round.into(), 1)
    }

    fn done(&self) -> u64 {
        self.seeds - self.stopped
    }

    /// The units of a seed: its folds, or the seed itself.
    fn units(&self, seed: u64) -> Vec<Unit> {
        if self.folds == 0 {
            return vec![seed.into()];
        }
        (0..self.folds).map(|fold| Unit { seed, fold: Some(fold), stage: None }).collect()
    }

    fn class_names(&self) -> Vec<String> {
        self.classes.iter().map(ToString::to_string).collect()
    }

    fn client(place: usize) -> String {
        format!("site {}", char::from(b'A' + (place % 26) as u8)) + &"x".repeat(place / 26)
    }

    fn subjects(&self, place: usize) -> Vec<String> {
        [2 * place + 1, 2 * place + 2].map(|number| format!("{}{number}", self.subject)).into()
    }

    /// Writes the folder.
    pub(crate) fn write(&self, root: &Path, name: &str) -> PathBuf {
        let folder = RunFolder::create(root.join(name), |folder| self.fill(folder)).unwrap();
        folder.0.root().to_owned()
    }

    fn fill(&self, folder: &RunFolder) -> Result<(), fedspd_run::Error> {
        self.manifest().write(&folder.manifest())?;
        self.shards().write(&folder.shards())?;
        let epochs = format!("{{ default = 2, \"{}\" = 5 }}", Self::client(0));
        let config = format!(
            "version = 1\nmode = \"{}\"\n[data]\nname = \"/home/someone/{s}study.npz\"\nsubjects = \"{s}1,{s}2\"\nexclude = \"{s}99\"\n[federated]\nclients = {{ \"{}\" = [\"{s}1\"] }}\n\
             rounds = {}\nepochs_local = {epochs}\n[train]\noptimizer = \"adam\"\nlr = 0.001\nbatch = 64\nepochs = 24\n[split]\nkind = \"{}\"\ntrain = 0.75\nval = 0.1\ntest = 0.15\nheld_out_subjects = \"{s}77\"\n",
            self.mode,
            Self::client(0),
            self.rounds,
            self.split,
            s = self.subject
        );
        atomic::write(&folder.config(), config.as_bytes())?;
        let mut log = EventLog::open(folder.events())?;
        log.append(&Event::Started)?;
        log.append(&Event::Warning { text: format!("subject {}5 has no client", self.subject) })?;
        for seed in 0..self.seeds {
            let rounds = if seed < self.done() { self.rounds } else { self.rounds / 2 };
            for unit in self.units(seed) {
                for round in 1..=rounds {
                    log.append(&Event::Round(Round { unit, ..self.round(seed, round) }))?;
                }
            }
        }
        log.append(&Event::Finished)?;
        self.results().write(&folder.results())?;
        if self.interpretation { interpretation().write(&folder.interpretation(0)) } else { Ok(()) }
    }

    fn manifest(&self) -> Manifest {
        let excluded = |number: usize, reason: &str| ExcludedSubject {
            subject: format!("{}{number}", self.subject),
            reason: reason.into(),
        };
        let own = format!("recording {}98 is damaged", self.subject);
        Manifest {
            schema: SCHEMA_VERSION,
            fedspd_version: "0.1.0".into(),
            name: "study".into(),
            config_hash: "c".repeat(64),
            seeds: (0..self.seeds).collect(),
            dataset: "physionet-mi".into(),
            data_sha256: Some("d".repeat(64)),
            unit: "uV^2".into(),
            classes: self.class_names(),
            channels: CHANNELS.map(String::from).into(),
            subjects: (0..self.clients).flat_map(|place| self.subjects(place)).collect(),
            excluded: vec![excluded(99, "recorded at 128 Hz instead of 160 Hz"), excluded(98, &own)],
            alignment: if self.lift > 0.05 { "riemannian".into() } else { "none".into() },
            transductive: self.lift > 0.05,
            held_out: Some("recentred on their own trials".into()),
            facts: self.facts,
            weights: "uniform".into(),
            model: "spdnet".into(),
            parameters: 2452,
            cpu_path: "avx2".into(),
            threads: 2,
            wall_seconds: Some(15.4),
            peak_memory_bytes: Some(79_650_816),
            status: if self.stopped > 0 { Status::Running } else { Status::Done },
            preparation: None,
        }
    }

    fn shards(&self) -> Shards {
        let client = |place: usize| Shard {
            name: Self::client(place),
            subjects: self.subjects(place),
            train: vec![34; self.classes.len()],
            val: vec![5; self.classes.len()],
            test: vec![7; self.classes.len()],
        };
        let held_out = vec![HeldOutShard {
            subject: format!("{}77", self.subject),
            trials: vec![20; self.classes.len()],
        }];
        let shards = |unit: Unit| SeedShards {
            seed: unit.seed,
            fold: unit.fold,
            clients: (0..self.clients).map(client).collect(),
            held_out: held_out.clone(),
            test_sha256: Some(format!("{:064x}", unit.seed + self.test_hash)),
        };
        let units = (0..self.seeds).flat_map(|seed| self.units(seed));
        Shards { classes: self.class_names(), seeds: units.map(shards).collect() }
    }

    fn round(&self, seed: u64, round: u32) -> Round {
        let federated = self.mode == "federated";
        let takes_part =
            |place: &usize| noise(seed, round.into(), *place as u64 + 9) <= self.participation || *place == 0;
        let bytes = if federated { 19_616 * self.clients as u64 } else { 0 };
        let layer = LayerReport {
            name: "block0.weight".into(),
            consensus: 1.0 - 1e-4 * noise(seed, round.into(), 2),
            drift_mean: 0.07 + 0.02 * noise(seed, round.into(), 3),
            drift_max: 0.1,
            proj_rl_distance: 1e-5 * (1.0 + noise(seed, round.into(), 4)),
        };
        Round {
            unit: seed.into(),
            round,
            learning_rate: 1e-3,
            participants: (0..self.clients).filter(takes_part).map(Self::client).collect(),
            dropped: Vec::new(),
            train_loss: 1.3,
            validation_loss: 1.35,
            validation_f1: Some(self.f1(seed, round)),
            test_f1: Some(self.f1(seed, round)),
            bytes_up: bytes,
            bytes_down: bytes,
            layers: if federated { vec![layer] } else { Vec::new() },
            fallback: false,
            metrics: std::collections::BTreeMap::new(),
        }
    }

    fn results(&self) -> ResultTable {
        let mut rows = Vec::new();
        for seed in 0..self.done() {
            let mut add = |client: &str, split: &str, metric: String, value: f64| {
                rows.push(ResultRow {
                    dataset: "physionet-mi".into(),
                    model: "spdnet".into(),
                    mode: self.mode.into(),
                    aggregation: self.aggregation.into(),
                    participation: self.participation,
                    align: if self.lift > 0.05 { "riemannian".into() } else { "none".into() },
                    seed,
                    fold: None,
                    round: self.rounds,
                    client: client.into(),
                    split: split.into(),
                    metric,
                    value,
                });
            };
            let f1 = self.f1(seed, self.rounds);
            let missing = if self.folds > 0 { f64::NAN } else { f1 / 2.0 };
            for (client, factor) in [("pooled", 1.0), ("mean", 0.95), ("worst", 0.6)] {
                add(client, "test", "final_macro_f1".into(), f1 * factor);
            }
            add("pooled", "test", "final_accuracy".into(), f1 + 0.02);
            add("pooled", "test", "final_kappa".into(), missing);
            add("pooled", "held-out", "final_macro_f1".into(), f1 - 0.03);
            add(&format!("{}77", self.subject), "held-out", "final_macro_f1".into(), f1 - 0.03);
            add("pooled", "model", "final_feasibility_error".into(), 1.4e-14);
            for (truth, name) in self.classes.iter().enumerate() {
                add("pooled", "test", format!("final_f1:{name}"), f1 + 0.05 * noise(seed, truth as u64, 5));
                for (predicted, other) in self.classes.iter().enumerate() {
                    let count = if truth == predicted {
                        14.0
                    } else {
                        (7.0 * noise(seed, truth as u64, predicted as u64)).round()
                    };
                    add("pooled", "test", format!("final_confusion:{name}:{other}"), count);
                }
            }
            for place in 0..self.clients {
                let f1 = f1 * (0.6 + 0.8 * noise(seed / 9, place as u64, 6));
                add(&Self::client(place), "test", "final_macro_f1".into(), f1);
                add(&Self::client(place), "test", "final_accuracy".into(), f1);
                add(&Self::client(place), "test", "final_trials".into(), 28.0);
            }
        }
        // A fold lies above or below the pooled score by as much as its neighbour.
        let pooled =
            rows.clone().into_iter().filter(|row| row.client == "pooled" && row.metric == "final_macro_f1");
        for row in pooled.filter(|row| row.split == "test") {
            rows.extend((0..self.folds).map(|fold| ResultRow {
                fold: Some(fold),
                value: row.value + if fold % 2 == 0 { 0.05 } else { -0.05 },
                ..row.clone()
            }));
        }
        ResultTable { rows }
    }
}

fn interpretation() -> Interpretation {
    let pattern = |number: u64, weight: f64| {
        let value = |channel: usize| 2.0 * noise(number, channel as u64, 7) - 1.0;
        Pattern { weight, channels: (0..CHANNELS.len()).map(value).collect() }
    };
    let spectrum = |count: usize, low: f64| {
        let median: Vec<f64> =
            (0..count).map(|place| low * 1e5_f64.powf(place as f64 / (count - 1) as f64)).collect();
        let times = |factor: f64| median.iter().map(|value| value * factor).collect();
        Spectrum { low: times(0.5), high: times(2.0), median }
    };
    let point = |trial: u64| {
        [4.0 * noise(trial, 1, 8) + noise(trial % 4, 0, 0), 2.0 * noise(trial, 2, 8) + noise(trial % 4, 1, 0)]
    };
    Interpretation {
        inputs: vec![InputInterpretation {
            name: "0 to 3 s, 8 to 32 Hz".into(),
            columns: (0..7).map(|number| pattern(number, 1.0 / (1.0 + number as f64))).collect(),
            classes: (10..14)
                .map(|number| pattern(number, if number % 2 == 0 { 0.8 } else { -0.7 }))
                .collect(),
            spectrum: spectrum(CHANNELS.len(), 2e-2),
            mapped: spectrum(8, 8e-3),
            epsilon: 1e-2,
            clamped: 0.034,
        }],
        plane: Plane {
            explained: [0.31, 0.12],
            points: (0..400).map(point).collect(),
            classes: (0..400).map(|trial| trial % 4).collect(),
        },
    }
}

/// Writes the paper's grid for one network: both averages, full and half participation, the two
/// other training modes, and alignment.
pub(crate) fn grid(root: &Path, base: &Plan) -> Vec<PathBuf> {
    let plans = [
        ("proj-full", Plan { lift: 0.02, ..base.clone() }),
        ("rl-full", Plan { aggregation: "rl-avg", interpretation: false, ..base.clone() }),
        ("proj-half", Plan { participation: 0.5, interpretation: false, ..base.clone() }),
        (
            "rl-half",
            Plan { aggregation: "rl-avg", participation: 0.5, interpretation: false, ..base.clone() },
        ),
        ("centralised", Plan { mode: "centralised", interpretation: false, lift: 0.04, ..base.clone() }),
        ("local", Plan { mode: "local", interpretation: false, lift: 0.01, ..base.clone() }),
        ("aligned", Plan { lift: 0.1, ..base.clone() }),
    ];
    plans.iter().map(|(name, plan)| plan.write(root, name)).collect()
}

/// Writes the runs of a reproduction: every cell of the paper's table, and ours with whole runs or
/// subjects held out.
pub(crate) fn reproduction(root: &Path) -> Vec<CellRun> {
    let base = Plan { clients: 53, rounds: 150, seeds: 2, subject: "person-", ..Plan::default() };
    let half = Plan { participation: 0.5, interpretation: false, ..base.clone() };
    let rl_avg = |plan: &Plan| Plan { aggregation: "rl-avg", ..plan.clone() };
    let centralised = Plan { mode: "centralised", lift: 0.05, interpretation: false, ..base.clone() };
    let best = Plan { lift: 0.15, ..base.clone() };
    let mut plans = vec![
        ("spdnet".to_owned(), base.clone()),
        ("spdnet-half".into(), half.clone()),
        ("spdnet-rl-avg".into(), rl_avg(&base)),
        ("spdnet-half-rl-avg".into(), rl_avg(&half)),
        ("spdnet-centralised".into(), centralised.clone()),
        ("eegnet".into(), Plan { lift: -0.02, ..base.clone() }),
        ("eegnet-half".into(), Plan { lift: -0.02, ..half }),
        ("eegnet-centralised".into(), Plan { lift: 0.1, ..centralised }),
        ("tangent".into(), Plan { lift: 0.1, ..base }),
        ("best".into(), best.clone()),
    ];
    for kind in ["run", "subject", "client"] {
        plans.push((format!("best-leave-{kind}-out"), Plan { lift: 0.12, seeds: 1, ..best.clone() }));
    }
    let cell = |(name, plan): &(String, Plan)| CellRun {
        name: format!("physionet-mi-{name}"),
        folder: plan.write(root, name),
        missing: None,
    };
    plans.iter().map(cell).collect()
}
