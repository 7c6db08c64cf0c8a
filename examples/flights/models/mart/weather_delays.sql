-- @kind: table
-- @description: What wind, rain and visibility at the hour of departure do to delays
-- @column: conditions = The first that applies: low visibility, rain or snow, strong wind, fair
-- @column: extra_delay_min = Average departure delay above that of fair weather at the same airport

WITH departures AS (
    SELECT
        f.origin_code,
        f.departure_delay_min,
        f.is_canceled,
        CASE
            WHEN w.visibility_mi < 3 THEN 'low visibility'
            WHEN w.precipitation_in > 0 THEN 'rain or snow'
            WHEN w.wind_speed_mph >= 20 THEN 'strong wind'
            ELSE 'fair'
        END AS conditions
    FROM staging.flights AS f
    -- Flights of hours without a report are left out: 1,556 of 336,776.
    JOIN staging.weather AS w
        ON w.airport_code = f.origin_code AND w.observed_hour = f.departure_hour
),

by_conditions AS (
    SELECT
        origin_code,
        conditions,
        count(*) AS flights,
        round(100 * avg(is_canceled::INTEGER), 1) AS canceled_pct,
        round(avg(departure_delay_min), 1) AS avg_departure_delay_min
    FROM departures
    GROUP BY origin_code, conditions
)

SELECT
    b.*,
    round(b.avg_departure_delay_min - fair.avg_departure_delay_min, 1) AS extra_delay_min
FROM by_conditions AS b
JOIN by_conditions AS fair ON fair.origin_code = b.origin_code AND fair.conditions = 'fair'
