-- Queues and leases of the runtime, encrypted with the key in .env.
ATTACH 'state.duckdb' AS state (ENCRYPTION_KEY '${ONDATRA_STATE_KEY}');
