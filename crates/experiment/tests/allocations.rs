//! The memory that a configuration needs is proportional to its size.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use std::fmt::Write;

use fedspd_experiment::config::{Config, Override};

const DATA: &str = "data.name = \"sample\"\n";

/// Returns the bytes allocated while parsing a map of this many clients: in a file with a line for
/// each, in a file with one line, and in an override.
fn allocated(clients: usize) -> [u64; 3] {
    let entries: Vec<String> =
        (0..clients).map(|client| format!("client-{client:06} = [{client}]")).collect();
    let lines = entries.iter().fold(format!("{DATA}[federated.clients]\n"), |mut text, entry| {
        writeln!(text, "{entry}").unwrap();
        text
    });
    let inline = format!("{{ {} }}", entries.join(", "));
    let line = format!("{DATA}[federated]\nclients = {inline}\n");
    let parse = |text: &str, changes: &[Override]| {
        let config = Config::parse(text, "a/file/with/a/long/name.toml", changes).unwrap();
        assert!(config.to_toml().len() > 20 * clients);
    };
    let measure = |work: &dyn Fn()| allocation_counter::measure(work).bytes_total;
    [
        measure(&|| parse(&lines, &[])),
        measure(&|| parse(&line, &[])),
        measure(&|| parse(DATA, &[format!("federated.clients={inline}").parse().unwrap()])),
    ]
}

#[test]
fn a_configuration_needs_memory_in_proportion_to_its_size() {
    let (few, many) = (allocated(200), allocated(1600));
    for (few, many) in few.into_iter().zip(many) {
        assert!(many < 10 * few, "{few} bytes for 200 clients, {many} for 1600");
    }
}
