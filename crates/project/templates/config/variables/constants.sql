-- Constants of the project, for models, constraints, audits and warnings:
--
--   SELECT * FROM raw.orders WHERE amount > getvariable('alert_amount_threshold')
--
-- Runs once a session, before global.sql. In the files in this folder
-- {{catalog}} stands for the lake's alias.

-- The limit that the warning approaching_limit(col) compares with.
SET VARIABLE alert_amount_threshold = 1000000;
