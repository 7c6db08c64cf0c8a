-- @kind: table
-- @description: The year of each carrier: flights, cancellations, punctuality
-- @column: late_pct = Share of the arrived flights that were more than 15 minutes late
-- @column: total_delay_hours = Hours lost by late arrivals; early ones make up for nothing
-- @column: worst_local_hour = Scheduled hour of departure with the highest average arrival delay, of those with 100 flights or more

WITH worst_hour AS (
    SELECT carrier_code, local_hour AS worst_local_hour
    FROM mart.carrier_hour_delays
    WHERE flights >= 100
    QUALIFY row_number() OVER (
        PARTITION BY carrier_code ORDER BY avg_arrival_delay_min DESC, local_hour
    ) = 1
)

SELECT
    f.carrier_code,
    c.carrier,
    count(*) AS flights,
    round(100 * avg(f.is_canceled::INTEGER), 1) AS canceled_pct,
    round(avg(f.arrival_delay_min), 1) AS avg_arrival_delay_min,
    round(100 * avg((f.arrival_delay_min > 15)::INTEGER), 1) AS late_pct,
    -- sum() of integers is a HUGEINT; what reads the lake expects a BIGINT.
    (sum(greatest(f.arrival_delay_min, 0)) // 60)::BIGINT AS total_delay_hours,
    any_value(w.worst_local_hour) AS worst_local_hour
FROM staging.flights AS f
JOIN staging.carriers AS c USING (carrier_code)
LEFT JOIN worst_hour AS w USING (carrier_code)
GROUP BY f.carrier_code, c.carrier
