//! What a run may do to the world outside of its lake: everything, or nothing in a sandbox (chapter 04 §11).

use std::sync::Arc;

use oauth::TokenStore;
use state::{SharedStore, SqlStore, StateConfig, StateError, StateLook, WorkerId, look, open, open_in_memory};

use crate::StateSession;

/// What a run may do outside of its lake.
pub(crate) enum World<'a> {
    /// The state is opened, and changes are delivered.
    Real {
        /// Opens the state.
        open_state: &'a dyn Fn() -> Result<SqlStore, StateError>,
        /// Whether other processes may use the state at the same time.
        is_shared: bool,
    },
    /// The state is looked at, and nothing is delivered.
    Sandbox {
        /// Leads to the state.
        state: &'a StateConfig,
    },
}

/// What a run needs of the state.
pub(crate) struct Needs {
    /// Whether models fetch.
    pub fetches: bool,
    /// Whether models mask columns whose values the state may keep.
    pub masks: bool,
    /// The targets that are pushed.
    pub pushed: Vec<String>,
}

/// The state as a run has it.
pub(crate) struct WorldState {
    /// Where rows are staged, and where changes are queued if they are to be delivered.
    pub session: Option<StateSession>,
    /// What the state held, in a sandbox.
    pub look: Option<StateLook>,
}

impl World<'_> {
    /// Whether models are leased: other workers may run them.
    pub fn has_leases(&self) -> bool {
        matches!(self, Self::Real { is_shared: true, .. })
    }

    /// Opens as much of the state as is needed.
    pub fn enter(&self, needs: &Needs) -> Result<WorldState, StateError> {
        let is_needed = needs.fetches || !needs.pushed.is_empty();
        match self {
            Self::Real { open_state, is_shared } => {
                let session =
                    (is_needed || *is_shared || needs.masks).then(|| open_state().and_then(StateSession::start));
                Ok(WorldState { session: session.transpose()?, look: None })
            }
            Self::Sandbox { state } => {
                let worker = WorkerId::of_this_process()?;
                let config = || StateConfig::clone(state);
                let look = is_needed.then(|| look(config(), worker.clone(), &needs.pushed)).transpose()?;
                let memory = || open_in_memory(config(), worker.clone()).and_then(StateSession::start);
                let session = needs.fetches.then(memory).transpose()?;
                Ok(WorldState { session, look })
            }
        }
    }

    /// Where tokens are kept. In a sandbox the state is opened for the one thing that must not be lost: a token that the
    /// provider gave in the place of another.
    pub fn tokens(&self, entered: &WorldState) -> Option<TokenStore> {
        match (self, &entered.look) {
            (Self::Sandbox { state }, Some(look)) => {
                let config = StateConfig::clone(state);
                let open = move || {
                    let store = open(config.clone(), WorkerId::of_this_process()?)?;
                    Ok(SharedStore::new(Box::new(store)))
                };
                Some(TokenStore::on_demand(look.tokens.clone(), look.read_at, Arc::new(open)))
            }
            _ => entered.session.as_ref().map(|state| state.store.clone().into()),
        }
    }
}
