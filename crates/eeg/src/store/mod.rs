//! Prepared data on disk: an `.npz` that NumPy reads with `allow_pickle=False`.
//!
//! | array | shape | content |
//! |---|---|---|
//! | `X` | trials x channels x channels | covariances, `float64` |
//! | | trials x inputs x channels x channels | several covariances per trial |
//! | | trials x channels x samples | trials, `float32` when written |
//! | `y` | trials | indices into `classes`, or names of classes |
//! | `subject`, `session`, `run` | trials, or one for all | texts or whole numbers |
//! | `classes`, `channels` | | names |
//! | `inputs` | inputs | name of each covariance of a trial |
//! | `sfreq`, `unit`, `kind` | scalars | hertz; `uV`, `uV^2` or `1`; `trials` or `covariances` |
//! | `estimator`, `align` | scalars | as on the command line; `none` if not aligned |
//! | `z_score` | scalar | 1 if every channel of every trial was z-scored, otherwise 0 |
//! | `bands`, `windows` | | names, such as `8-32 Hz` and `0-3 s` |
//! | `preparation` | scalar | the processing as JSON: a [`Making`](crate::Making) |
//!
//! Required are `X`, `y`, `subject`, `sfreq` and `unit`. Other programs may not know the rest. A
//! [`Note`] says which default replaces `session`, `run`, `classes` or `channels`, and whether `X`
//! was converted to microvolts. `preparation` counts more than the three rows
//! before it, which are for people and other programs.

mod archive;
mod fault;
mod labels;
mod load;
mod making;
mod note;
mod save;
mod unit;

/// The value of `align` for data that are not aligned.
const NOT_ALIGNED: &str = "none";

pub use fault::StoreFault;
pub use load::{Loaded, Prepared, load};
pub use note::Note;
