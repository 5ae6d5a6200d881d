//! The same bytes on any number of threads.

use fedspd_federated::{Aggregation, LocalEpochs, ServerConfig};

use crate::support::{Clients, adam, fast};

#[test]
fn the_number_of_threads_does_not_matter() {
    let clients = Clients::small();
    for (aggregation, participation) in
        [(Aggregation::ProjAvg, 1.0), (Aggregation::RlAvg, 0.5), (Aggregation::Karcher, 1.0)]
    {
        let config = ServerConfig { aggregation, participation, ..fast() };
        let solver = LocalEpochs { carry_state: true, ..adam() };
        let one = clients.train(config.clone(), solver, 5, 1);
        for workers in [2, 3, 7] {
            assert_eq!(one, clients.train(config.clone(), solver, 5, workers));
        }
    }
}

/// A worker that trained other clients before gives the same result as a new one.
#[test]
fn workers_leave_no_trace() {
    let clients = Clients::small();
    let mut workers = clients.workers(1);
    let after = |workers: &mut [fedspd_federated::Worker<'_, f64, fedspd_nn::SpdNet<f64>>]| {
        let mut federation = clients.federation(fast(), adam());
        federation.round(workers, true).unwrap();
        federation.state()
    };
    let fresh = after(&mut workers);
    assert_eq!(fresh, after(&mut workers));
}
