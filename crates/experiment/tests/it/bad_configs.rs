//! Every fault of a configuration, with its message and hint.

use fedspd_experiment::config::{Config, ConfigError, Override, PRESETS, template};

/// One valid line, to which tests append faults.
const DATA: &str = "data.name = 'weibo2014'\n";

struct Case {
    text: String,
    overrides: &'static [&'static str],
    message: &'static str,
    hint: &'static str,
}

/// A fault in the file, after one valid line.
fn file(text: &str, message: &'static str, hint: &'static str) -> Case {
    Case { text: format!("{DATA}{text}"), overrides: &[], message, hint }
}

/// A fault in a whole file.
fn whole(text: &str, message: &'static str, hint: &'static str) -> Case {
    Case { text: text.to_owned(), overrides: &[], message, hint }
}

/// A fault in overrides of a valid file.
fn set(overrides: &'static [&'static str], message: &'static str, hint: &'static str) -> Case {
    Case { text: DATA.to_owned(), overrides, message, hint }
}

fn fault(case: &Case) -> ConfigError {
    let overrides: Result<Vec<Override>, _> = case.overrides.iter().map(|text| text.parse()).collect();
    let outcome = overrides.and_then(|overrides| Config::parse(&case.text, "bad.toml", &overrides));
    outcome.err().unwrap_or_else(|| panic!("no fault found in {}{:?}", case.text, case.overrides))
}

fn all_are_as_written(cases: &[Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        let error = fault(case);
        let (message, hint) = (error.to_string(), error.hint().unwrap_or_default());
        if message != case.message || hint != case.hint {
            let Case { text, overrides, message: meant, hint: advice } = case;
            wrong.push(format!(
                "{text}{overrides:?}\n  is  {message}\n  not {meant}\n  is  {hint}\n  not {advice}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn syntax() {
    all_are_as_written(&[
        file("[model", "bad.toml, line 2, column 7: unclosed table, expected `]`", ""),
        file(
            "mode = local",
            "bad.toml, line 2, column 8: string values must be quoted, expected literal string",
            "put text in quotes, as in `name = \"sample\"`",
        ),
        file("mode", "bad.toml, line 2, column 5: key with no value, expected `=`", ""),
        file("[train]\nlr = 1\nlr = 2", "bad.toml, line 4, column 1: duplicate key", "keep one of the two"),
        file(
            "train.lr = 0,001",
            "bad.toml, line 2, column 13: unexpected key or value, expected newline, `#`",
            "write one key per line, and numbers with a decimal point, as in `lr = 0.001`",
        ),
        file(
            "data.resample = True",
            "bad.toml, line 2, column 17: invalid boolean, expected `true`",
            "write true or false, in lower case",
        ),
        file("mode = 'local", "bad.toml, line 2, column 14: invalid literal string, expected `'`", ""),
    ]);
}

#[test]
#[allow(clippy::too_many_lines)] // a table
fn unknown_keys_at_every_level() {
    all_are_as_written(&[
        file(
            "modes = 'local'",
            "unknown key `modes` in bad.toml, line 2, column 1",
            "did you mean `mode`? the top-level keys are align, covariance, data, federated, mode, model, run, split, train, version",
        ),
        file(
            "rounds = 3",
            "unknown key `rounds` in bad.toml, line 2, column 1",
            "did you mean `federated.rounds`? the top-level keys are align, covariance, data, federated, mode, model, run, split, train, version",
        ),
        file(
            "[report]\nformat = 'html'",
            "unknown key `report` in bad.toml, line 2, column 2",
            "the top-level keys are align, covariance, data, federated, mode, model, run, split, train, version",
        ),
        file(
            "data.band_pass = [8, 32]",
            "unknown key `data.band_pass` in bad.toml, line 2, column 6",
            "the keys of [data] are band, classes, exclude, generated, like, name, resample, root, subjects, window",
        ),
        file(
            "[data.generated]\nchanels = 4",
            "unknown key `data.generated.chanels` in bad.toml, line 3, column 1",
            "did you mean `channels`? the keys of [data.generated] are channels, classes, samples, sfreq, shift, strength, subjects, trials",
        ),
        file(
            "[covariance]\nestimater = 'oas'",
            "unknown key `covariance.estimater` in bad.toml, line 3, column 1",
            "did you mean `estimator`? the keys of [covariance] are bands, estimator, shrinkage, windows",
        ),
        file(
            "[align]\nmethod = 'riemannian'",
            "unknown key `align.method` in bad.toml, line 3, column 1",
            "did you mean `federated.method`? the keys of [align] are calibration, fit, kind, population",
        ),
        file(
            "[model]\nlr = 0.1",
            "unknown key `model.lr` in bad.toml, line 3, column 1",
            "did you mean `train.lr`? the keys of [model] are dims, dropout, epsilon, fedbn, head, kind, precision, z_score",
        ),
        file(
            "[train]\noptimiser = 'adam'",
            "unknown key `train.optimiser` in bad.toml, line 3, column 1",
            "did you mean `optimizer`? the keys of [train] are batch, early_stop, epochs, factor, final_share, lr, optimizer, patience, scheduler",
        ),
        file(
            "[federated]\n  agregation = 'rl-avg'",
            "unknown key `federated.agregation` in bad.toml, line 3, column 3",
            "did you mean `aggregation`? the keys of [federated] are aggregation, carry_state, clients, epochs_local, method, on_client_failure, participation, prox_mu, rounds, server_lr, server_momentum, subjects_per_client, weights",
        ),
        file(
            "split = { stratify = true }",
            "unknown key `split.stratify` in bad.toml, line 2, column 11",
            "the keys of [split] are fold, folds, held_out_subjects, kind, refit, seed, test, train, val",
        ),
        file(
            "[run]\nseed = 3",
            "unknown key `run.seed` in bad.toml, line 3, column 1",
            "did you mean `seeds`? the keys of [run] are checkpoint_every, eval_every, seeds, select, threads, validate_every",
        ),
        file(
            "run.\"a b\" = 3",
            "unknown key `run.\"a b\"` in bad.toml, line 2, column 5",
            "the keys of [run] are checkpoint_every, eval_every, seeds, select, threads, validate_every",
        ),
    ]);
}

#[test]
fn versions_and_missing_keys() {
    let hint =
        "name the data: sample, generated, physionet-mi, weibo2014, or the path of a .toml or .npz file";
    all_are_as_written(&[
        whole("", "`data.name` is missing in bad.toml", hint),
        whole("[data]\nsubjects = '1-3'", "`data.name` is missing in bad.toml", hint),
        file(
            "version = 2\n[new]\nkey = 1",
            "`version` is 2 in bad.toml, line 2, column 11; the newest known version is 1",
            "update fedspd, or write the file for version 1",
        ),
        file(
            "version = '1'",
            "`version` is '1' in bad.toml, line 2, column 11; it must be 1",
            "write it without quotes: 1",
        ),
    ]);
}

#[test]
fn unknown_values() {
    all_are_as_written(&[
        whole(
            "data.name = 'physionet'",
            "unknown value 'physionet' of `data.name` in bad.toml, line 1, column 13",
            "did you mean \"physionet-mi\"? choices: sample, generated, physionet-mi, weibo2014, or the path of a .toml or .npz file",
        ),
        whole(
            "data.name = 'bci.csv'",
            "unknown value 'bci.csv' of `data.name` in bad.toml, line 1, column 13",
            "choices: sample, generated, physionet-mi, weibo2014, or the path of a .toml or .npz file",
        ),
        file(
            "mode = 'centralized'",
            "unknown value 'centralized' of `mode` in bad.toml, line 2, column 8",
            "did you mean \"centralised\"? choices: federated, centralised, local",
        ),
        file(
            "covariance.estimator = 'scm'",
            "unknown value 'scm' of `covariance.estimator` in bad.toml, line 2, column 24",
            "choices: sample, oas, ledoit-wolf, shrinkage:S",
        ),
        file(
            "covariance.estimator = 'LedoitWolf'",
            "unknown value 'LedoitWolf' of `covariance.estimator` in bad.toml, line 2, column 24",
            "did you mean \"ledoit-wolf\"? choices: sample, oas, ledoit-wolf, shrinkage:S",
        ),
        file(
            "align.kind = 'riemann'",
            "unknown value 'riemann' of `align.kind` in bad.toml, line 2, column 14",
            "did you mean \"riemannian\"? choices: none, riemannian, log-euclidean, euclidean",
        ),
        file(
            "model.precision = 'f46'",
            "unknown value 'f46' of `model.precision` in bad.toml, line 2, column 19",
            "did you mean \"f64\"? choices: f64, f32",
        ),
        file(
            "train.optimizer = \"sgd\"",
            "unknown value \"sgd\" of `train.optimizer` in bad.toml, line 2, column 19",
            "choices: adam, riemannian-adam, riemannian-sgd, landing",
        ),
        file(
            "federated.aggregation = 'ProjAvg'",
            "unknown value 'ProjAvg' of `federated.aggregation` in bad.toml, line 2, column 25",
            "did you mean \"proj-avg\"? choices: proj-avg, rl-avg, ret-avg, qr-avg, karcher, euclidean",
        ),
        file(
            "federated.clients = 'random'",
            "unknown value 'random' of `federated.clients` in bad.toml, line 2, column 21",
            "choices: fixed, shuffled",
        ),
    ]);
}

#[test]
#[allow(clippy::too_many_lines)] // a table
fn wrong_types() {
    all_are_as_written(&[
        file("federated = 3", "`federated` is 3 in bad.toml, line 2, column 13; it must be a table", ""),
        file(
            "[[federated]]\nrounds = 3",
            "`federated` is [[federated]] in bad.toml, line 2, column 1; it must be a table",
            "write it in single brackets: [federated]",
        ),
        file(
            "[mode]\nkind = 'local'",
            "`mode` is a table in bad.toml, line 2, column 1; it must be \"federated\", \"centralised\" or \"local\"",
            "",
        ),
        file(
            "train.lr = '0.001'",
            "`train.lr` is '0.001' in bad.toml, line 2, column 12; it must be a number above 0",
            "write it without quotes: 0.001",
        ),
        file(
            "train.lr = 'fast'",
            "`train.lr` is 'fast' in bad.toml, line 2, column 12; it must be a number above 0",
            "",
        ),
        file(
            "federated.rounds = 150.0",
            "`federated.rounds` is 150.0 in bad.toml, line 2, column 20; it must be a whole number between 1 and 1000000",
            "write it without a point: 150",
        ),
        file(
            "federated.carry_state = 1",
            "`federated.carry_state` is 1 in bad.toml, line 2, column 25; it must be true or false",
            "",
        ),
        file(
            "model.dims = 18",
            "`model.dims` is 18 in bad.toml, line 2, column 14; it must be a list of whole numbers between 1 and 1024",
            "write it in brackets: [18]",
        ),
        file(
            "data.subjects = 4",
            "`data.subjects` is 4 in bad.toml, line 2, column 17; it must be text in quotes",
            "write it in quotes: \"4\"",
        ),
        file(
            "data.band = [8]",
            "`data.band` is [8] in bad.toml, line 2, column 13; it must be a list of 2 numbers",
            "",
        ),
        file(
            "covariance.windows = [0, 1.5]",
            "`covariance.windows[0]` is 0 in bad.toml, line 2, column 23; it must be a list of 2 numbers",
            "write a single one in two pairs of brackets, as in [[8, 32]]",
        ),
        file(
            "mode = 1979-05-27",
            "`mode` is 1979-05-27 in bad.toml, line 2, column 8; it must be \"federated\", \"centralised\" or \"local\"",
            "",
        ),
        file(
            "federated.clients = 5",
            "`federated.clients` is 5 in bad.toml, line 2, column 21; it must be \"fixed\" or \"shuffled\", or a table",
            "",
        ),
        file(
            "federated.clients.a = [1, 2.5]",
            "`federated.clients.a[1]` is 2.5 in bad.toml, line 2, column 27; it must be a whole number of at least 0 or text in quotes",
            "write it in quotes: \"2.5\"",
        ),
        file(
            "federated.epochs_local = { a = 'two' }",
            "`federated.epochs_local.a` is 'two' in bad.toml, line 2, column 32; it must be a whole number between 1 and 1000000",
            "",
        ),
        file(
            "run.threads = 99999999999999999999",
            "`run.threads` is 99999999999999999999 in bad.toml, line 2, column 15; it must be a whole number between -9223372036854775808 and 9223372036854775807",
            "",
        ),
    ]);
}

#[test]
#[allow(clippy::too_many_lines)] // a table
fn numbers_out_of_range() {
    all_are_as_written(&[
        file(
            "train.lr = 0",
            "`train.lr` is 0 in bad.toml, line 2, column 12; it must be a number above 0",
            "",
        ),
        file(
            "train.lr = nan",
            "`train.lr` is nan in bad.toml, line 2, column 12; it must be a number above 0",
            "",
        ),
        file(
            "data.band = [8, inf]",
            "`data.band[1]` is inf in bad.toml, line 2, column 17; it must be a number",
            "",
        ),
        file(
            "train.factor = 1",
            "`train.factor` is 1 in bad.toml, line 2, column 16; it must be a number above 0 and below 1",
            "",
        ),
        file(
            "train.batch = -64",
            "`train.batch` is -64 in bad.toml, line 2, column 15; it must be a whole number between 1 and 1000000",
            "",
        ),
        file(
            "model.dims = [18, 0]",
            "`model.dims[1]` is 0 in bad.toml, line 2, column 19; it must be a whole number between 1 and 1024",
            "",
        ),
        file(
            "model.epsilon = -1e-2",
            "`model.epsilon` is -1e-2 in bad.toml, line 2, column 17; it must be a number above 0",
            "",
        ),
        file(
            "model.dropout = 1.0",
            "`model.dropout` is 1.0 in bad.toml, line 2, column 17; it must be a number of at least 0 and below 1",
            "",
        ),
        file(
            "federated.participation = 0.0",
            "`federated.participation` is 0.0 in bad.toml, line 2, column 27; it must be a number above 0 and at most 1",
            "",
        ),
        file(
            "federated.rounds = 0",
            "`federated.rounds` is 0 in bad.toml, line 2, column 20; it must be a whole number between 1 and 1000000",
            "",
        ),
        file(
            "federated.server_momentum = 1",
            "`federated.server_momentum` is 1 in bad.toml, line 2, column 29; it must be a number of at least 0 and below 1",
            "",
        ),
        file(
            "covariance.shrinkage = 1.5",
            "`covariance.shrinkage` is 1.5 in bad.toml, line 2, column 24; it must be a number between 0 and 1",
            "",
        ),
        file(
            "covariance.estimator = 'shrinkage:2'",
            "`covariance.estimator` is 'shrinkage:2' in bad.toml, line 2, column 24; it must be \"shrinkage:S\" with a share S between 0 and 1",
            "",
        ),
        file(
            "align.calibration = 0",
            "`align.calibration` is 0 in bad.toml, line 2, column 21; it must be a whole number of at least 1",
            "",
        ),
        file(
            "split.val = 0",
            "`split.val` is 0 in bad.toml, line 2, column 13; it must be a number above 0 and below 1",
            "",
        ),
        file(
            "data.generated.sfreq = 20",
            "`data.generated.sfreq` is 20 in bad.toml, line 2, column 24; it must be a number above 20 and at most 1000000",
            "",
        ),
        file(
            "data.subjects = '1-3,2'",
            "`data.subjects` is '1-3,2' in bad.toml, line 2, column 17; it must be subjects such as \"1-10,12\"",
            "`1-3,2` names 2 twice",
        ),
        file(
            "run.checkpoint_every = 0",
            "`run.checkpoint_every` is 0 in bad.toml, line 2, column 24; it must be a whole number between 1 and 1000000",
            "",
        ),
        file(
            "run.seeds = []",
            "`run.seeds` is [] in bad.toml, line 2, column 13; it must be seeds such as [0, 1, 2], \"0..3\" or 4",
            "the list is empty",
        ),
        file(
            "run.seeds = [1, 2, 1]",
            "`run.seeds` is [1, 2, 1] in bad.toml, line 2, column 13; it must be seeds such as [0, 1, 2], \"0..3\" or 4",
            "seed 1 appears twice",
        ),
        file(
            "run.seeds = '3..3'",
            "`run.seeds` is '3..3' in bad.toml, line 2, column 13; it must be seeds such as [0, 1, 2], \"0..3\" or 4",
            "the range 3..3 is empty, because its end is excluded",
        ),
        file(
            "run.seeds = [-1]",
            "`run.seeds[0]` is -1 in bad.toml, line 2, column 14; it must be a whole number between 0 and 9223372036854775807",
            "",
        ),
    ]);
}

#[test]
#[allow(clippy::too_many_lines)] // a table
fn contradictions() {
    all_are_as_written(&[
        file(
            "data.band = [32, 8]",
            "`data.band` is [32, 8] in bad.toml, line 2, column 13; its lower edge must come first",
            "write [8, 32]",
        ),
        file(
            "data.band = [0, 8]",
            "`data.band` is [0, 8] in bad.toml, line 2, column 13; its lower edge must be above 0 Hz",
            "",
        ),
        file(
            "covariance.windows = [[0, 1],\n[2, 2]]",
            "`covariance.windows[1]` is [2, 2] in bad.toml, line 3, column 1; it must begin before it ends",
            "",
        ),
        file(
            "data.classes = ['rest']",
            "`data.classes` is [\"rest\"] in bad.toml, line 2, column 16; at least 2 classes are needed",
            "remove the key to use all classes of the data",
        ),
        file(
            "data.classes = ['rest', 'feet', 'rest']",
            "`data.classes` names \"rest\" twice in bad.toml, line 2, column 33; each class may appear only once",
            "",
        ),
        file(
            "data.subjects = '1-2'\ndata.exclude = '1,2,3'",
            "`data.exclude` excludes all of `data.subjects` (2 subjects) in bad.toml, line 3, column 16; at least one must remain",
            "",
        ),
        whole(
            "data.name = 'sample'\ndata.band = [8, 32]",
            "`data.band` is set for the embedded sample in bad.toml, line 2, column 13; the sample holds covariances of trials that are already filtered and cut",
            "use `data.name = \"physionet-mi\"` to start from the recordings",
        ),
        whole(
            "data.name = 'sample'\ncovariance.estimator = 'oas'",
            "`covariance.estimator` is set for the embedded sample in bad.toml, line 2, column 24; its covariances are already estimated, one for each whole trial",
            "use `data.name = \"physionet-mi\"` to start from the recordings",
        ),
        whole(
            "data.name = 'generated'\nmodel.dims = [8]\ncovariance.shrinkage = 0.1",
            "`covariance.shrinkage` is set for generated data in bad.toml, line 3, column 24; they are one covariance for each whole trial, or raw trials",
            "use a dataset of recordings",
        ),
        whole(
            "data.name = 'generated'\nmodel.dims = [8]\ndata.generated.trials = 1000000\ndata.generated.subjects = 1000000",
            "`data.generated` has 1000000 subjects with 1000000 trials of 16 x 16 numbers in bad.toml, line 3, column 25; all trials may have at most 8589934592 numbers (64 GB)",
            "",
        ),
        whole(
            "data.name = 'generated'\nmodel.kind = 'eegnet'\ndata.generated.samples = 1000000\ndata.generated.trials = 1000",
            "`data.generated` has 10 subjects with 1000 trials of 1000000 x 16 numbers in bad.toml, line 4, column 25; all trials may have at most 8589934592 numbers (64 GB)",
            "",
        ),
        whole(
            "data.name = 'sample'\nmodel.kind = 'eegnet'",
            "`model.kind` is \"eegnet\" with the embedded sample in bad.toml, line 2, column 14; the sample holds covariances, and EEGNet needs raw trials",
            "use `data.name = \"physionet-mi\"` or \"generated\", or the model \"spdnet\"",
        ),
        whole(
            "data.name = 'generated'",
            "`model.dims` begins with 18 for 16 generated channels in bad.toml, line 1, column 13; sizes must never increase: a BiMap with orthonormal columns cannot widen",
            "set `model.dims` to at most [16], or `data.generated.channels` to 18 or more",
        ),
        whole(
            "data.name = 'generated'\ndata.generated.channels = 3",
            "`data.generated.channels` is 3 with 4 classes in bad.toml, line 2, column 27; each class needs a channel of its own",
            "",
        ),
        file(
            "covariance.estimator = 'oas'\ncovariance.shrinkage = 0.1",
            "`covariance.shrinkage` is 0.1 with the estimator \"oas\" in bad.toml, line 3, column 24; a fixed share works only with the estimator \"sample\"",
            "remove one of the two",
        ),
        file(
            "model.dims = [32, 16, 18]",
            "`model.dims` increases from 16 to 18 in bad.toml, line 2, column 23; sizes must never increase: a BiMap with orthonormal columns cannot widen",
            "",
        ),
        file(
            "align.kind = 'euclidean'",
            "`align.kind` is \"euclidean\" with the model \"spdnet\" in bad.toml, line 2, column 14; euclidean alignment changes raw trials, which SPDnet does not read",
            "use `align.kind = \"riemannian\"` or \"log-euclidean\"",
        ),
        file(
            "align.kind = 'riemannian'\nmodel.kind = 'eegnet'",
            "`align.kind` is \"riemannian\" with the model \"eegnet\" in bad.toml, line 2, column 14; riemannian alignment changes covariances, which EEGNet does not read",
            "use `align.kind = \"euclidean\"`",
        ),
        file(
            "align.calibration = 20",
            "`align.calibration` is 20 without held-out subjects in bad.toml, line 2, column 21; only held-out subjects are calibrated",
            "hold out some subjects, as in `split.held_out_subjects = \"9-10\"` or `split.kind = \"leave-subject-out\"`",
        ),
        file(
            "run.validate_every = 5",
            "`run.validate_every` is 5 with `train.scheduler` \"plateau\" in bad.toml, line 2, column 22; the plateau schedule and early stopping need a validation after every round",
            "use `train.scheduler = \"cosine\"` or \"constant\", or leave `run.validate_every` at 1",
        ),
        set(
            &["run.validate_every=5", "train.scheduler=cosine", "mode=centralised"],
            "`run.validate_every` is 5 with `train.early_stop` 75 in the override `run.validate_every=5`; the plateau schedule and early stopping need a validation after every round",
            "set `train.early_stop = 0`, or leave `run.validate_every` at 1",
        ),
        file(
            "split.train = 0.8",
            "`split.train`, `val` and `test` are 0.8, 0.1 and 0.15, together 1.05, in bad.toml, line 2, column 15; they must add up to 1",
            "",
        ),
        file(
            "split = { kind = 'leave-run-out', fold = 5, folds = 5 }",
            "`split.fold` is 5 of 5 folds in bad.toml, line 2, column 42; it must be between 0 and 4",
            "",
        ),
        file(
            "split.refit = true",
            "`split.refit` is true with the split \"stratified\" in bad.toml, line 2, column 15; only leave-out splits train a second time",
            "use a leave-out split, such as `split.kind = \"leave-run-out\"`",
        ),
        file(
            "split = { kind = 'leave-subject-out', folds = 2 }",
            "`split.folds` is 2 with the split \"leave-subject-out\" in bad.toml, line 2, column 47; it needs at least 3 folds",
            "one fold is the test, one the validation, and the others are the training",
        ),
        file(
            "split = { kind = 'leave-client-out', held_out_subjects = '4' }",
            "`split.held_out_subjects` is set with the split \"leave-client-out\" in bad.toml, line 2, column 58; its folds hold out people already",
            "remove `split.held_out_subjects`, or use another `split.kind`",
        ),
        file(
            "mode = 'local'\nsplit.kind = 'leave-client-out'",
            "`split.kind` is \"leave-client-out\" with the mode \"local\" in bad.toml, line 3, column 14; a held-out client does not train, so it has no model of its own",
            "use `split.kind = \"leave-subject-out\"`, or another mode",
        ),
        file(
            "data.subjects = '1-4'\nsplit.held_out_subjects = '4-5'",
            "`split.held_out_subjects` names subject 5, which is not in `data.subjects`, in bad.toml, line 3, column 27; only selected subjects can be held out",
            "",
        ),
        file(
            "data.exclude = '4'\nsplit.held_out_subjects = '4'",
            "`split.held_out_subjects` names subject 4, which `data.exclude` excludes, in bad.toml, line 3, column 27; an excluded subject cannot be scored",
            "",
        ),
        file(
            "data.subjects = '1-3'\ndata.exclude = '1'\nsplit.held_out_subjects = '2-3'",
            "`split.held_out_subjects` names every subject of `data.subjects` in bad.toml, line 4, column 27; at least one must remain for training",
            "",
        ),
        file(
            "split.held_out_subjects = '2'\nfederated.clients.a = [1, 2]",
            "`split.held_out_subjects` names subject 2, which client a trains on, in bad.toml, line 2, column 27; held-out subjects must not be used for training",
            "",
        ),
        file(
            "[federated.clients]\na = [1, 2]\nb = [3, '2']",
            "`federated.clients.b` names subject 2, which client a has too, in bad.toml, line 4, column 9; each subject belongs to one client",
            "",
        ),
        file(
            "federated.clients = { a = [1, 1] }",
            "`federated.clients.a` names subject 1 twice in bad.toml, line 2, column 31; each subject belongs to one client",
            "",
        ),
        file(
            "federated.clients = { a = [] }",
            "`federated.clients.a` is empty in bad.toml, line 2, column 27; a client needs at least one subject",
            "remove the client, or give it a subject",
        ),
        file(
            "federated.clients = {}",
            "`federated.clients` is an empty table in bad.toml, line 2, column 21; it needs at least one client",
            "write `a = [1, 2]` in it, or `clients = \"fixed\"`",
        ),
        file(
            "federated.clients = { default = [1] }",
            "`federated.clients.default` is a client in bad.toml, line 2, column 33; `federated.epochs_local` uses this name for all other clients",
            "give the client another name",
        ),
        file(
            "data.band = 8",
            "`data.band` is 8 in bad.toml, line 2, column 13; it must be a list of 2 numbers",
            "",
        ),
        file(
            "[federated]\nclients = { north = [1], south = [2] }\nepochs_local = { noth = 3 }",
            "`federated.epochs_local.noth` is set in bad.toml, line 4, column 25; `federated.clients` has no client of that name",
            "did you mean `north`? the clients are north, south",
        ),
        file(
            "federated.method = 'fedprox'",
            "`federated.method` is \"fedprox\" in bad.toml, line 2, column 20; `federated.prox_mu`, the weight of its proximal term, is 0",
            "try `federated.prox_mu = 0.01`, or use `federated.method = \"fedavg\"`",
        ),
        file(
            "federated.method = 'scafold'",
            "unknown value 'scafold' of `federated.method` in bad.toml, line 2, column 20",
            "choices: fedavg, fedprox",
        ),
        file(
            "federated.server_momentum = 0.9",
            "`federated.server_momentum` is 0.9 in bad.toml, line 2, column 29; the server uses momentum and step size only with the aggregation \"rl-avg\"",
            "use `federated.aggregation = \"rl-avg\"`",
        ),
        file(
            "federated.server_lr = 0.5",
            "`federated.server_lr` is 0.5 in bad.toml, line 2, column 23; the server uses momentum and step size only with the aggregation \"rl-avg\"",
            "use `federated.aggregation = \"rl-avg\"`",
        ),
    ]);
}

#[test]
fn overrides() {
    let form = "write it as `federated.rounds=50`";
    all_are_as_written(&[
        set(&["federated.rounds"], "the override `federated.rounds` has no equals sign", form),
        set(&["=3"], "the override `=3` has no key before the equals sign", form),
        set(
            &["federated.rounds="],
            "the override `federated.rounds=` has no value after the equals sign",
            form,
        ),
        set(
            &["federated..rounds=3"],
            "the override `federated..rounds=3` has an invalid key before the equals sign",
            form,
        ),
        set(
            &["federated.agregation=rl-avg"],
            "unknown key `federated.agregation` in the override `federated.agregation=rl-avg`",
            "did you mean `aggregation`? the keys of [federated] are aggregation, carry_state, clients, epochs_local, method, on_client_failure, participation, prox_mu, rounds, server_lr, server_momentum, subjects_per_client, weights",
        ),
        set(
            &["federated.aggregation=rlavg"],
            "unknown value \"rlavg\" of `federated.aggregation` in the override `federated.aggregation=rlavg`",
            "did you mean \"rl-avg\"? choices: proj-avg, rl-avg, ret-avg, qr-avg, karcher, euclidean",
        ),
        set(
            &["federated.rounds=many"],
            "`federated.rounds` is \"many\" in the override `federated.rounds=many`; it must be a whole number between 1 and 1000000",
            "",
        ),
        set(
            &["federated.participation=2"],
            "`federated.participation` is 2 in the override `federated.participation=2`; it must be a number above 0 and at most 1",
            "",
        ),
        set(
            &["mode.x=3"],
            "`mode` is a table in the override `mode.x=3`; it must be \"federated\", \"centralised\" or \"local\"",
            "",
        ),
        set(
            &["model.kind=eegnet", "align.kind=log-euclidean"],
            "`align.kind` is \"log-euclidean\" with the model \"eegnet\" in the override `align.kind=log-euclidean`; log-euclidean alignment changes covariances, which EEGNet does not read",
            "use `align.kind = \"euclidean\"`",
        ),
        set(
            &["run.seeds=3..1"],
            "`run.seeds` is \"3..1\" in the override `run.seeds=3..1`; it must be seeds such as [0, 1, 2], \"0..3\" or 4",
            "the range 3..1 is empty, because its end is excluded",
        ),
        set(
            &["version=7"],
            "`version` is 7 in the override `version=7`; the newest known version is 1",
            "update fedspd, or write the file for version 1",
        ),
    ]);
}

/// A truncated file gives a configuration or a message, never a panic.
#[test]
fn torn_files() {
    let text = template("torn");
    for end in (0..text.len()).step_by(41) {
        if let Err(error) = Config::parse(&text[..end], "torn.toml", &[]) {
            assert!(error.to_string().contains("torn.toml"), "{error}");
        }
    }
}

/// A key without effect is refused if a person set it. Variants of presets, resolved configurations
/// and defaults are not.
#[test]
fn keys_without_effect_are_named() {
    let parse = |text: &str, overrides: &[&str]| {
        let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
        Config::parse_written(&format!("data.name = 'sample'\n{text}"), "bad.toml", &overrides)
    };
    for (text, overrides, message, hint) in [
        (
            "train.early_stop = 10",
            &[][..],
            "`train.early_stop` is 10 with the mode \"federated\" in bad.toml, line 2, column 20; it acts only in the modes \"centralised\" and \"local\"",
            "remove it, or change `mode`",
        ),
        (
            "",
            &["mode=local", "federated.rounds=150"],
            "`federated.rounds` is 150 with the mode \"local\" in the override `federated.rounds=150`; it acts only in the mode \"federated\"",
            "remove it, or change `mode`",
        ),
        (
            "train.scheduler = 'cosine'\ntrain.patience = 3",
            &[],
            "`train.patience` is 3 with the schedule \"cosine\" in bad.toml, line 3, column 18; it acts only with the schedule \"plateau\"",
            "remove it, or change `train.scheduler`",
        ),
        (
            "train.final_share = 0.5",
            &[],
            "`train.final_share` is 0.5 with the schedule \"plateau\" in bad.toml, line 2, column 21; it acts only with the schedule \"cosine\"",
            "remove it, or change `train.scheduler`",
        ),
        (
            "model.z_score = false",
            &[],
            "`model.z_score` is false with the model \"spdnet\" in bad.toml, line 2, column 17; it acts only with the model \"eegnet\"",
            "remove it, or change `model.kind`",
        ),
        (
            "",
            &["data.name=generated", "model.kind=eegnet", "model.head=vech"],
            "`model.head` is \"vech\" with the model \"eegnet\" in the override `model.head=vech`; it acts only with the model \"spdnet\"",
            "remove it, or change `model.kind`",
        ),
        (
            "",
            &["data.name=physionet-mi", "model.kind=eegnet", "covariance.shrinkage=0.2"],
            "`covariance.shrinkage` is 0.2 with the model \"eegnet\" in the override `covariance.shrinkage=0.2`; it acts only with the model \"spdnet\"",
            "remove it, or change `model.kind`",
        ),
        (
            "federated.clients = { a = [1, 2] }\nfederated.subjects_per_client = 5",
            &[],
            "`federated.subjects_per_client` is 5 with a table of clients in bad.toml, line 3, column 33; it acts only with clients that are \"fixed\" or \"shuffled\"",
            "remove it, or change `federated.clients`",
        ),
        (
            "split = { kind = 'leave-run-out', val = 0.2 }",
            &[],
            "`split.val` is 0.2 with the split \"leave-run-out\" in bad.toml, line 2, column 41; it acts only with the split \"stratified\"",
            "remove it, or change `split.kind`",
        ),
        (
            "split.folds = 3",
            &[],
            "`split.folds` is 3 with the split \"stratified\" in bad.toml, line 2, column 15; it acts only with leave-out splits, such as \"leave-run-out\"",
            "remove it, or change `split.kind`",
        ),
        (
            "align.fit = 'all'",
            &[],
            "`align.fit` is 'all' with no alignment in bad.toml, line 2, column 13; it acts only with an alignment",
            "remove it, or change `align.kind`",
        ),
        (
            "align.calibration = 9\nsplit.held_out_subjects = '4'",
            &[],
            "`align.calibration` is 9 with no alignment in bad.toml, line 2, column 21; it acts only with an alignment or a network with statistics",
            "remove it, or change `align.kind`",
        ),
    ] {
        let error = parse(text, overrides).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.hint().unwrap(), hint);
    }
    // Defaults, variants and resolved configurations.
    assert!(parse("train.early_stop = 75", &[]).is_ok());
    assert!(parse("federated.rounds = 7", &["mode=local"]).is_ok());
    let resolved = parse("federated.rounds = 7", &["mode=local"]).unwrap().to_toml();
    assert!(Config::parse_written(&resolved, "config.toml", &[]).is_ok());
    let former = resolved
        .replace("refit = false\n", "fold = 0\nfolds = 5\n")
        .replace("select = \"best-validation\"\n", "");
    assert!(Config::parse_written(&former, "config.toml", &[]).is_ok());
    for preset in PRESETS {
        assert_eq!(preset.changed(&[]), preset.config(&[]), "{}", preset.name);
    }
}
