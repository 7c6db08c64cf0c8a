//! The macros of the shipped checks, made when they are needed: making all of them would cost every session.

use checks::{Check, create_macros};
use engine::EngineError;

use crate::Session;

impl Session {
    /// Makes the macros of `needed` that are not there yet. Not within a transaction: they live in another database than
    /// the lake, and a transaction writes to one.
    pub(crate) fn make_checks(&self, needed: &[&'static Check]) -> Result<(), EngineError> {
        let mut made = self.made_checks.borrow_mut();
        let is_new = |sql: &String| !made.contains(sql);
        let statements: Vec<String> = create_macros(needed).into_iter().filter(is_new).collect();
        if statements.is_empty() {
            return Ok(());
        }
        // One transaction, as each of its own would look for the newest snapshot of the lake.
        if let Err(error) = self.connection.execute(&format!("BEGIN;\n{}\nCOMMIT", statements.join("\n"))) {
            // The first error tells; the next model finds no transaction.
            let _ = self.connection.execute("ROLLBACK");
            return Err(error);
        }
        made.extend(statements);
        Ok(())
    }
}
