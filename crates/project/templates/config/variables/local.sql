-- Variables for a model's warnings. Runs for each model, after its commit and
-- before its warnings. current_model is the model's target (staging.orders).

-- The lake's newest snapshot, this model's commit included.
SET VARIABLE curr_snapshot = (SELECT max(id)::BIGINT FROM {{catalog}}.current_snapshot());

-- The model's commit before the one just made, 0 if there is none. The warnings
-- row_count_delta, sum_delta and mean_delta compare the table with its state
-- then. A commit of a model has its name as message.
SET VARIABLE prev_model_snapshot = coalesce((
    SELECT snapshot_id::BIGINT
    FROM {{catalog}}.snapshots()
    WHERE lower(commit_message) = lower('Pipeline run: ' || getvariable('current_model'))
    ORDER BY snapshot_id DESC
    LIMIT 1 OFFSET 1
), 0);
