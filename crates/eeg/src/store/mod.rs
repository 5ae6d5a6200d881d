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

mod fault;
mod load;
mod save;

pub use fault::StoreFault;
pub use load::{Prepared, load};
