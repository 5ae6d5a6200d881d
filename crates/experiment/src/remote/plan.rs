//! What the server of sites asks for.

/// What a round asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Counted from 0.
    pub round: u32,
    /// How fast clients train.
    pub learning_rate: f64,
    /// Who is asked, in ascending order.
    pub clients: Vec<Asked>,
    /// What they start from.
    pub parameters: Vec<u8>,
}

/// One who is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// By number.
    pub client: usize,
    /// How many epochs it trains.
    pub epochs: u32,
    /// The last round in which its reply counted.
    pub since: Option<u32>,
}

/// What is asked of every site once a round is closed.
#[derive(Clone, Debug, PartialEq)]
pub struct Examination {
    /// The new model.
    pub parameters: Vec<u8>,
    /// Whether it is validated.
    pub validated: bool,
    /// Whether it is tested.
    pub tested: bool,
    /// Of each site, the last round in which its reply counted.
    pub since: Vec<Option<u32>>,
}
