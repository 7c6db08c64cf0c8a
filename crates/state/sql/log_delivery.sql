INSERT INTO sync_log (run_id, target, worker, delivered, rejected, to_retry, first_error, duration_ms, finished_at)
SELECT {run_id}, {target}, {worker}, {delivered}, {rejected}, {to_retry}, {first_error}, {duration_ms}, now()
WHERE NOT EXISTS (SELECT 1 FROM sync_log WHERE run_id = {run_id} AND target = {target});
