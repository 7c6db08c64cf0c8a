-- Renews what this worker knows that it holds.
UPDATE sync_claim SET heartbeat = now(), lease_until = {lease_end} WHERE worker = {worker} AND claim_id IN {held};
UPDATE sync_lease SET lease_until = {lease_end} WHERE worker = {worker} AND term IN {held};
UPDATE sync_fetch SET lease_until = {lease_end} WHERE worker = {worker} AND claim_id IN {held};
