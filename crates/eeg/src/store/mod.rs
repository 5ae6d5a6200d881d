//! Prepared data on disk: an `.npz` that NumPy reads with `allow_pickle=False`.
//!
//! | array | shape | what |
//! |---|---|---|
//! | `X` | trials x channels x channels | covariances, `float64` |
//! | | trials x inputs x channels x channels | several covariances per trial |
//! | | trials x channels x samples | trials, `float32` when written |
//! | `y` | trials | places in `classes` |
//! | `subject`, `session`, `run` | trials | whole numbers if all are, otherwise texts |
//! | `classes`, `channels` | | names |
//! | `inputs` | inputs | what each covariance of a trial is of |
//! | `sfreq`, `unit`, `kind` | scalars | hertz; `uV`, `uV^2` or `1`; `trials` or `covariances` |
//! | `estimator`, `align` | scalars | as on the command line; `none` if not aligned |
//! | `z_score` | scalar | 1 if every channel of every trial has mean 0 and deviation 1, otherwise 0 |
//! | `bands`, `windows` | | names, such as `8-32 Hz` and `0-3 s` |
//!
//! Files need not have `inputs`, `kind`, and what the last three rows list: other programs do not know how the data were made, or do not say.

mod fault;
mod load;
mod save;

/// What `align` says of data that are not aligned.
const NOT_ALIGNED: &str = "none";

pub use fault::StoreFault;
pub use load::{Prepared, load};
