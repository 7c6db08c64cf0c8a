-- @kind: table
-- @description: Delays by carrier and scheduled hour of departure
-- @column: local_hour = Scheduled hour of departure, New York time
-- @column: late_pct = Share of the arrived flights that were more than 15 minutes late

SELECT
    f.carrier_code,
    c.carrier,
    hour(f.scheduled_departure)::INTEGER AS local_hour,
    count(*) AS flights,
    count(*) FILTER (WHERE f.is_canceled) AS canceled,
    round(avg(f.departure_delay_min), 1) AS avg_departure_delay_min,
    round(avg(f.arrival_delay_min), 1) AS avg_arrival_delay_min,
    round(100 * avg((f.arrival_delay_min > 15)::INTEGER), 1) AS late_pct
FROM staging.flights AS f
JOIN staging.carriers AS c USING (carrier_code)
GROUP BY ALL
