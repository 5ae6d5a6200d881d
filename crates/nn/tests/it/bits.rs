//! Pinned bits of trained networks. A change that only reorders work must leave the tables
//! unchanged.
//!
//! The workspace tests run this file on every instruction set of the machine. A commit that changes
//! an algorithm updates the affected lines and says so.
#![allow(clippy::print_stderr)] // a failure prints the actual hashes

use fedspd_manifold::{Real, RetractionKind, Vectorisation};
use fedspd_nn::{
    AdamSettings, EegNet, EegNetConfig, Model, Optimiser, OptimiserConfig, Purpose, Seed, SpdNet,
    SpdNetConfig, SyntheticEeg, SyntheticTask, Trainer,
};

use crate::support::bits;

/// Returns the FNV-1a hash of the bits of some numbers.
fn hash(numbers: &[impl Real]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    bits(numbers).iter().fold(start, |hash, bits| (hash ^ bits).wrapping_mul(0x0100_0000_01b3))
}

/// Trains two epochs with batches of 29, which is no multiple of any vector width. Returns hashes
/// of the parameters and of the predictions of all trials and of one.
fn trained<T: Real, M: Model<T>>(
    model: &M,
    trials: M::Trials,
    optimiser: OptimiserConfig,
    threads: usize,
) -> (u64, u64) {
    let examples = model.prepare(trials).unwrap();
    let all: Vec<usize> = (0..model.labels(&examples).len()).collect();
    let mut parameters = model.initial(Seed(3)).unwrap();
    let mut optimiser = Optimiser::new(optimiser, &parameters).unwrap();
    let mut trainer = Trainer::new(model, 29, threads).unwrap();
    for epoch in 0..2 {
        let stream = Seed(3).stream(Purpose::Shuffle).epoch(epoch);
        trainer.epoch(&mut parameters, &mut optimiser, 1e-2, &examples, &all, stream).unwrap();
    }
    optimiser.finish(&mut parameters).unwrap();
    let mut logits = vec![T::ZERO; (all.len() + 1) * model.classes()];
    let (every, one) = logits.split_at_mut(all.len() * model.classes());
    let mut workspace = model.workspace(threads).unwrap();
    model.logits(&parameters, &examples, &all, &mut workspace, every).unwrap();
    model.logits(&parameters, &examples, &all[7..8], &mut workspace, one).unwrap();
    (hash(parameters.values()), hash(&logits))
}

/// Compares with the table on one thread and on two.
fn check(name: &str, expected: (u64, u64), trained: impl Fn(usize) -> (u64, u64) + Sync) -> bool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let found = trained(1);
    assert_eq!(found, pool.install(|| trained(2)), "{name}: one and two threads differ");
    if found != expected {
        eprintln!("{name}: (0x{:016x}, 0x{:016x})", found.0, found.1);
    }
    found == expected
}

macro_rules! spdnet {
    ($number:ty, $name:literal, $config:expr, $optimiser:expr, $expected:expr) => {{
        let config: SpdNetConfig = $config;
        let task = SyntheticTask::new(config.dimensions[0], config.classes).inputs(config.inputs).trials(61);
        let net = SpdNet::<$number>::new(config).unwrap();
        check($name, $expected, |threads| {
            trained(&net, task.client::<$number>(Seed(3), 0).unwrap(), $optimiser, threads)
        })
    }};
}

#[test]
#[allow(clippy::too_many_lines)] // a table
fn trained_spdnets_have_the_bits_they_had() {
    let adam = OptimiserConfig::default();
    let settings = AdamSettings { weight_decay: 1e-3, ..AdamSettings::default() };
    let qr = OptimiserConfig::Adam { adam: settings, retraction: RetractionKind::Qr, rebase_every: Some(2) };
    let riemannian = OptimiserConfig::RiemannianAdam { adam: settings, retraction: RetractionKind::Polar };
    let sgd = OptimiserConfig::RiemannianSgd {
        momentum: 0.9,
        weight_decay: 0.0,
        retraction: RetractionKind::Polar,
    };
    let landing =
        OptimiserConfig::Landing { attraction: 1.0, safe_distance: 0.5, momentum: 0.0, weight_decay: 0.0 };
    let paper =
        |dimensions: &[usize], classes| SpdNetConfig::new(dimensions.to_vec(), classes).threshold(1e-2);
    let isometric = |config: SpdNetConfig| config.head(Vectorisation::IsometricVech);
    let same = [
        spdnet!(
            f64,
            "the paper's 64->18",
            paper(&[64, 18], 4),
            adam,
            (0x46fd_213a_a605_f602, 0xeb56_1417_b294_4424)
        ),
        spdnet!(
            f32,
            "the paper's 64->18 in f32",
            paper(&[64, 18], 4),
            adam,
            (0x4a19_c843_be42_6735, 0x1825_5bd9_639b_b485)
        ),
        spdnet!(
            f64,
            "the paper's 60->22",
            paper(&[60, 22], 7),
            adam,
            (0x08d7_33d8_f5d5_4324, 0x7200_c988_2aa5_dcd6)
        ),
        spdnet!(
            f32,
            "the paper's 60->22 in f32",
            paper(&[60, 22], 7),
            adam,
            (0x5ea0_d8f1_55d8_e717, 0xf2c4_9ead_f381_07ad)
        ),
        spdnet!(
            f64,
            "21->7, clamped",
            paper(&[21, 7], 3).threshold(0.5),
            adam,
            (0xefcc_a429_94d8_5a2b, 0x0141_e9a2_e47d_f7e4)
        ),
        spdnet!(
            f64,
            "two blocks",
            paper(&[30, 19, 9], 4).threshold(0.5),
            adam,
            (0x61d1_f8a4_b684_6491, 0x0b5e_4052_6b32_a752)
        ),
        spdnet!(
            f32,
            "two blocks in f32",
            paper(&[30, 19, 9], 4).threshold(0.5),
            adam,
            (0x8cbc_0ec3_474c_30af, 0x97c8_969d_a39b_b485)
        ),
        spdnet!(
            f64,
            "three windows",
            isometric(paper(&[24, 11], 4).inputs(3).dropout(0.3)),
            adam,
            (0x33dd_5ed3_1cfc_b287, 0xc4c6_37b5_f6c6_1565)
        ),
        spdnet!(
            f32,
            "three windows in f32",
            isometric(paper(&[24, 11], 4).inputs(3)),
            adam,
            (0x6a2e_24b0_efe1_dbb5, 0x4010_3a26_039b_b485)
        ),
        spdnet!(
            f64,
            "a block that keeps its size",
            paper(&[33, 33], 2),
            adam,
            (0x0df4_ad66_9665_942b, 0xcc26_dde6_d9a7_cc8a)
        ),
        spdnet!(
            f64,
            "a block to one number",
            paper(&[5, 1], 2),
            adam,
            (0xbdd3_44dc_ccba_e86b, 0x4386_9762_2dd2_120d)
        ),
        spdnet!(
            f64,
            "no block",
            isometric(paper(&[33], 5)),
            adam,
            (0x68ef_269d_6e35_b93e, 0x53bf_07f7_dce5_51b2)
        ),
        spdnet!(f64, "QR retraction", paper(&[20, 6], 3), qr, (0x7860_4dd0_51e1_f4f0, 0x2e0c_2420_c935_2cd2)),
        spdnet!(
            f64,
            "Riemannian Adam",
            paper(&[20, 6], 3),
            riemannian,
            (0x0a50_d8d0_f3aa_97d5, 0x2b43_84f2_d907_bda9)
        ),
        spdnet!(
            f64,
            "Riemannian SGD",
            paper(&[20, 6], 3),
            sgd,
            (0xb375_777d_929c_abb6, 0x741e_f901_152b_5104)
        ),
        spdnet!(f64, "landing", paper(&[20, 6], 3), landing, (0x540c_2c2c_4057_004a, 0x4741_9152_7611_9415)),
    ];
    assert!(same.iter().all(|&same| same), "the bits of the networks above changed");
}

macro_rules! eegnet {
    ($number:ty, $name:literal, $rate:literal, $config:expr, $expected:expr) => {{
        let config: EegNetConfig = $config;
        let data = SyntheticEeg::new(config.channels, config.samples, $rate, config.classes).trials(37);
        let net = EegNet::<$number>::new(config).unwrap();
        check($name, $expected, |threads| {
            let trials = data.client::<$number>(Seed(3), 0).unwrap();
            trained(&net, trials, OptimiserConfig::default(), threads)
        })
    }};
}

#[test]
fn trained_eegnets_have_the_bits_they_had() {
    let paper = EegNetConfig::new;
    let narrow = EegNetConfig { filters: 3, rows: 5, ..paper(13, 150, 100.0, 3) };
    let same = [
        eegnet!(
            f32,
            "the paper's 64x480",
            160.0,
            paper(64, 480, 160.0, 4),
            (0xbcf5_0a44_a5bc_1275, 0x2cda_eb03_c146_ad05)
        ),
        eegnet!(
            f32,
            "the paper's 60x800",
            200.0,
            paper(60, 800, 200.0, 7),
            (0xcea8_f7fc_a4c1_36a7, 0xb801_6a2b_229a_238d)
        ),
        eegnet!(
            f64,
            "in f64",
            128.0,
            paper(22, 250, 128.0, 2),
            (0x328b_2bd3_99f7_0a10, 0x7040_0d39_c8a3_ec96)
        ),
        eegnet!(
            f32,
            "rows that fill no vector",
            100.0,
            narrow,
            (0x57cd_41a1_b672_90df, 0x5436_86c5_c588_e6ad)
        ),
    ];
    assert!(same.iter().all(|&same| same), "the bits of the networks above changed");
}
