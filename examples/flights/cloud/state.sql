-- The state on the same server, shared by all workers.
ATTACH 'host=${PG_HOST} port=${PG_PORT} user=${PG_USER} dbname=state' AS state (TYPE postgres);
