-- @kind: table
-- @description: Routes by punctuality and speed, ranked by average arrival delay
-- @column: destination = Name of the airport; its code where it is outside the airport table
-- @column: avg_speed_mph = Distance over time in the air
-- @column: delay_rank = 1 is the route with the highest average arrival delay; NULL below 100 flights

WITH routes AS (
    SELECT
        origin_code,
        destination_code,
        count(*) AS flights,
        count(DISTINCT carrier_code) AS carriers,
        max(distance_mi) AS distance_mi,
        round(100 * avg(is_canceled::INTEGER), 1) AS canceled_pct,
        round(avg(arrival_delay_min), 1) AS avg_arrival_delay_min,
        round(100 * avg((arrival_delay_min > 15)::INTEGER), 1) AS late_pct,
        round(
            60 * sum(distance_mi) FILTER (WHERE air_time_min IS NOT NULL) / sum(air_time_min), 0
        )::INTEGER AS avg_speed_mph
    FROM staging.flights
    GROUP BY origin_code, destination_code
)

SELECT
    r.*,
    coalesce(a.airport, r.destination_code) AS destination,
    CASE WHEN r.flights >= 100 THEN
        rank() OVER (
            PARTITION BY r.flights >= 100 ORDER BY r.avg_arrival_delay_min DESC NULLS LAST
        )
    END AS delay_rank
FROM routes AS r
LEFT JOIN staging.airports AS a ON a.airport_code = r.destination_code
