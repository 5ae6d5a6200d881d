//! Counts of trials and bytes. A damaged file may hold any number; these add up without overflow.

use serde::de::{Deserialize, Deserializer, Error, Unexpected};

/// The limit of a count.
const TOO_MANY: u64 = 1 << 40;

/// Reads a count.
pub(crate) fn one<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    let count = u64::deserialize(input)?;
    let refused = || D::Error::invalid_value(Unexpected::Unsigned(count), &"a count below 2^40");
    if count < TOO_MANY { Ok(count) } else { Err(refused()) }
}

/// Reads the counts of all classes.
pub(crate) fn by_class<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<usize>, D::Error> {
    let counts = Vec::<Count>::deserialize(input)?;
    Ok(counts.into_iter().map(|Count(count)| count as usize).collect())
}

#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Count(#[serde(deserialize_with = "one")] u64);
