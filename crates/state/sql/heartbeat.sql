-- Renews everything that names this worker as its holder.
UPDATE sync_claim SET heartbeat = now(), lease_until = now() + {lease_ms} * INTERVAL '1 millisecond'
WHERE worker = {worker};
UPDATE sync_lease SET lease_until = now() + {lease_ms} * INTERVAL '1 millisecond' WHERE worker = {worker};
UPDATE sync_fetch SET lease_until = now() + {lease_ms} * INTERVAL '1 millisecond' WHERE worker = {worker};
