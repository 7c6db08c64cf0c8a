-- What was before a change is read as of the snapshot before it; what is after one, from the table as it is now; and of
-- a table that was dropped nothing.
SELECT target, why, min(snapshot_id) AS snapshot FROM (
    SELECT target, 'position' AS why, snapshot_id FROM sync_feed WHERE snapshot_id <> {beginning}
    UNION ALL
    SELECT target, 'queued', snapshot_id - 1 FROM sync_evt WHERE change_type IN ('delete', 'update_preimage')
    UNION ALL
    SELECT target, 'in_flight', snapshot_id - 1 FROM sync_inflight WHERE change_type IN ('delete', 'update_preimage')
    UNION ALL
    SELECT d.target, 'dead', d.snapshot_id - 1 FROM sync_dead AS d LEFT JOIN sync_feed AS f ON f.target = d.target
    WHERE d.change_type IN ('delete', 'update_preimage') AND d.seq > COALESCE(f.since_seq, 0)
) AS needed GROUP BY target, why ORDER BY target, snapshot, why
