-- What was before a change is read as of the snapshot before it; what is after one, from the table as it is now.
SELECT target, why, min(snapshot_id) AS snapshot FROM (
    SELECT target, 'position' AS why, snapshot_id FROM sync_feed WHERE snapshot_id <> {beginning}
    UNION ALL
    SELECT target, 'queued', snapshot_id - 1 FROM sync_evt WHERE change_type IN ('delete', 'update_preimage')
    UNION ALL
    SELECT target, 'in_flight', snapshot_id - 1 FROM sync_inflight WHERE change_type IN ('delete', 'update_preimage')
    UNION ALL
    SELECT target, 'dead', snapshot_id - 1 FROM sync_dead WHERE change_type IN ('delete', 'update_preimage')
) AS needed GROUP BY target, why ORDER BY target, snapshot, why
