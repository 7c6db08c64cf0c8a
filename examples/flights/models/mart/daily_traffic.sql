-- @kind: table
-- @description: Flights, cancellations and delays of each day
-- @column: day = New York time

SELECT
    scheduled_departure::DATE AS day,
    dayname(scheduled_departure) AS weekday,
    count(*) AS flights,
    count(*) FILTER (WHERE is_canceled) AS canceled,
    round(avg(departure_delay_min), 1) AS avg_departure_delay_min,
    max(departure_delay_min) AS longest_departure_delay_min
FROM staging.flights
GROUP BY ALL
