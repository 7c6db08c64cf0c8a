//! The state, on all three databases: one contract, faults of servers, kills, and the commands.

mod admin_cases;
mod admin_races;
mod commands;
mod contract;
mod contract_cases;
mod crash;
mod faults;
mod full_disk;
mod model;
mod worker;

use state::BackendKind;
use testkit::StateFixture;

use crate::BINARY;

fn fixture(kind: BackendKind) -> StateFixture {
    StateFixture::new(BINARY, kind)
}
