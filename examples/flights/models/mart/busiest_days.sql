-- @kind: table
-- @description: The twenty days with the most flights
-- @column: traffic_rank = 1 is the busiest day; of two equal ones the earlier comes first

SELECT
    row_number() OVER (ORDER BY flights DESC, day) AS traffic_rank,
    *
FROM mart.daily_traffic
QUALIFY traffic_rank <= 20
