//! Leases in SQL.

use crate::failure::Fence;
use crate::leases::{Lease, LeaseAnswer, Leases};
use crate::retry::VerbError;
use crate::script::Arg;
use crate::sql_store::{SqlStore, text};
use crate::worker::new_term;
use crate::{StateError, WorkerId};

impl Leases for SqlStore {
    fn take_lease(&mut self, name: &str, run_id: &str) -> Result<LeaseAnswer, StateError> {
        // Who waits asks again and again: a refusal of the script would be an error in the server's log each time.
        if !self.backend.kind().is_exclusive() {
            let sql = self.fill(include_str!("../sql/lease_taken.sql"), &[("target", Arg::Text(name))]);
            if let Some(row) = self.values(&sql)?.first_mut() {
                return Ok(LeaseAnswer::Held(WorkerId::from(text(&mut row[0]))));
            }
        }
        let term = new_term()?;
        let args = [("target", Arg::Text(name)), ("term", Arg::Text(&term)), ("run_id", Arg::Text(run_id))];
        let script = self.fill(include_str!("../sql/take_lease.sql"), &args);
        match self.execute(&script, None) {
            Ok(()) => {
                self.held.add(&self.worker, &term);
                Ok(LeaseAnswer::Taken(Lease { name: name.to_owned(), term }))
            }
            Err(VerbError::State(error)) => Err(error),
            Err(VerbError::Fence(_)) => {
                let sql = self.fill(include_str!("../sql/lease_holder.sql"), &[("target", Arg::Text(name))]);
                let holder = self.values(&sql)?.first_mut().map(|row| text(&mut row[0])).unwrap_or_default();
                Ok(LeaseAnswer::Held(WorkerId::from(holder)))
            }
        }
    }

    fn release_lease(&mut self, lease: &Lease) -> Result<(), StateError> {
        let args = [("target", Arg::Text(&lease.name)), ("term", Arg::Text(&lease.term))];
        let script = self.fill(include_str!("../sql/release_lease.sql"), &args);
        self.execute(&script, Some(Fence::LeaseLost)).map_err(|error| error.lease_on(&lease.name))?;
        self.held.remove(&self.worker, &lease.term);
        Ok(())
    }
}
