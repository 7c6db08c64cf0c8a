-- Everything that is still to be delivered: its number is noted before any of it goes.
INSERT INTO sync_receipt (term, done, stayed, made_at)
SELECT {term}, (SELECT count(*) FROM sync_evt WHERE target = {target})
    + (SELECT count(*) FROM sync_inflight AS i WHERE target = {target} AND NOT EXISTS (
        SELECT 1 FROM sync_apply_log AS l
        WHERE l.claim_id = i.claim_id AND l.seq = i.seq AND l.status <> 'error'
    )), 0, now();
DELETE FROM sync_evt WHERE target = {target};
