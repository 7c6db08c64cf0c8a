-- What failed and is in front: the rest of its row waits for it.
SELECT e.target, e.last_error FROM sync_evt AS e JOIN (
    SELECT target, min(seq) AS seq FROM sync_evt WHERE last_error IS NOT NULL GROUP BY target
) AS f ON f.target = e.target AND f.seq = e.seq
