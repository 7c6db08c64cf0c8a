-- The state: the push queue, the rows fetched from APIs but not yet in the lake,
-- and the OAuth tokens. The alias has to be state. Attach exactly one. Paths are
-- relative to the project's folder. ${NAME} is read from the environment or from
-- .env.
--
--   State in      Processes                 Encrypted by
--   DuckDB file   one                       ENCRYPTION_KEY (the default)
--   PostgreSQL    many, on many machines    the server
--   Quack         many, on many machines    the server (a DuckDB server)
--
-- Changing the line below starts a new, empty state: what still waits in the old
-- push queue stays there. Let it drain first.

-- Without the key in .env this file cannot be opened again.
ATTACH 'state.duckdb' AS state (ENCRYPTION_KEY '${ONDATRA_STATE_KEY}');


-- ---- PostgreSQL -----------------------------------------------------------
-- The database has to exist. Add SCHEMA 'name' to keep the tables in a schema of
-- their own.
--
-- INSTALL postgres;
-- LOAD postgres;
-- ATTACH 'dbname=ondatra_state host=localhost user=ondatra password=${PG_STATE_PASSWORD}' AS state (TYPE postgres);


-- ---- Quack ----------------------------------------------------------------
-- A DuckDB server: one machine serves the state file to the workers. The token has at least 16 characters.
--
-- INSTALL quack;
-- LOAD quack;
-- ATTACH 'quack:localhost:9494' AS state (TYPE quack, TOKEN '${ONDATRA_QUACK_TOKEN}');
