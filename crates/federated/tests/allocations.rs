//! Memory of a server for its clients' replies.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use fedspd_federated::{
    Aggregation, LocalEpochs, Member, MethodConfig, ParameterScopes, Server, ServerConfig,
};
use fedspd_nn::{Model, OptimiserConfig, Seed, SpdNet, SpdNetConfig};

/// Memory does not grow with the number of replies, except for averages that declare to keep them.
#[test]
fn replies_are_taken_in_one_by_one() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![16, 8], 3)).unwrap();
    let parameters = net.initial(Seed(0)).unwrap();
    let scopes = ParameterScopes::new(net.layout().clone());
    // Bytes that the server still holds of the replies after the first two.
    let growth = |aggregation| {
        let members = (0..100).map(|client| Member { name: client.to_string(), trials: 1 }).collect();
        let config = ServerConfig { aggregation, ..ServerConfig::default() };
        let local = LocalEpochs::new(OptimiserConfig::default());
        let method = MethodConfig::FedAvg.build(local, &config, &scopes).unwrap().server;
        let mut server = Server::new(config, members, parameters.clone(), method, Seed(0)).unwrap();
        let mut submit = |client| server.submit(client, Ok(scopes.message(&parameters))).unwrap();
        (0..2).for_each(&mut submit);
        allocation_counter::measure(|| (2..100).for_each(&mut submit)).bytes_current
    };
    for aggregation in Aggregation::ALL {
        let kept = i64::try_from(98 * aggregation.kept_numbers(&scopes) * 8).unwrap();
        assert_eq!(kept > 0, aggregation == Aggregation::Karcher);
        // The lists of kept replies grow by doubling.
        let grown = growth(aggregation);
        assert!((kept..=kept + 8192 * kept.signum()).contains(&grown), "{aggregation:?}: {grown}, {kept}");
    }
}
