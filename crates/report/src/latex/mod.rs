//! Tables in LaTeX that compile with `booktabs` alone: plain ASCII, no wider than a page, no longer
//! than a page.

mod layout;
mod letters;
mod table;

pub(crate) use table::table;
