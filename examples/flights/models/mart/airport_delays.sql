-- @kind: table
-- @description: Traffic and delays of the three New York airports by month
-- @column: month = First day of the month
-- @column: delayed_departure_pct = Share of the flights that left more than 15 minutes late

SELECT
    f.origin_code AS airport_code,
    a.airport,
    date_trunc('month', f.scheduled_departure)::DATE AS month,
    count(*) AS flights,
    count(DISTINCT f.destination_code) AS destinations,
    count(*) FILTER (WHERE f.is_canceled) AS canceled,
    count(*) FILTER (WHERE f.is_diverted) AS diverted,
    round(avg(f.departure_delay_min), 1) AS avg_departure_delay_min,
    round(100 * avg((f.departure_delay_min > 15)::INTEGER), 1) AS delayed_departure_pct
FROM staging.flights AS f
JOIN staging.airports AS a ON a.airport_code = f.origin_code
GROUP BY ALL
