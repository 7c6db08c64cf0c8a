//! One contract, run on all three databases (chapter 04 §2).

use state::BackendKind;

use super::{admin_cases, contract_cases, fixture};

// A case that fails is the one named last.
#[allow(clippy::print_stdout)]
fn exercise(kind: BackendKind) {
    let fixture = fixture(kind);
    let mut store = fixture.open("a");
    for (name, case) in contract_cases::CASES.iter().chain(&admin_cases::CASES) {
        println!("{}: {name}", kind.name());
        store.set_worker("a".to_owned().into());
        case(&mut store, name);
    }
}

#[test]
fn a_file_keeps_the_contract() {
    exercise(BackendKind::File);
}

#[test]
fn postgresql_keeps_the_contract() {
    exercise(BackendKind::Postgres);
}

#[test]
fn a_quack_server_keeps_the_contract() {
    exercise(BackendKind::Quack);
}
