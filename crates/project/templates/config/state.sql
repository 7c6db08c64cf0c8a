-- The state: the push queue, the rows fetched from APIs but not yet in the lake,
-- and the OAuth tokens. The alias has to be state. Attach exactly one. Paths are
-- relative to the project's folder. ${NAME} is read from the environment or from
-- .env.
--
--   State in      Processes                 Encrypted by
--   DuckDB file   one                       ENCRYPTION_KEY (the default)
--   PostgreSQL    many, on many machines    the server
--   Quack         many; other machines      the server's file
--                 through a tunnel or proxy
--
-- Another line is another state, and an empty one. To take everything along, write
-- the new line into a file of its own first: ondatrasql state copy --to FILE.sql

-- Without the key in .env this file cannot be opened again.
ATTACH 'state.duckdb' AS state (ENCRYPTION_KEY '${ONDATRA_STATE_KEY}');


-- ---- PostgreSQL -----------------------------------------------------------
-- The database has to exist. Add SCHEMA 'name' to keep the tables in a schema of
-- their own, which has to exist too.
--
-- ATTACH 'dbname=ondatra_state host=localhost user=ondatra password=${PG_STATE_PASSWORD}' AS state (TYPE postgres);


-- ---- Quack ----------------------------------------------------------------
-- Several workers without other software: `ondatrasql state serve` on one machine
-- serves its state file, and prints this line for the workers. The token has at
-- least 16 characters.
--
-- ATTACH 'quack:localhost:9494' AS state (TYPE quack, TOKEN '${ONDATRA_QUACK_TOKEN}');
