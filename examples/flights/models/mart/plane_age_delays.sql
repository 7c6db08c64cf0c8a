-- @kind: table
-- @description: Delays by the age of the plane
-- @column: age_group = Years, in groups of five; unknown where the year of manufacture is not on record
-- @column: seats_flown = Seats on the flights that left, taken or not

SELECT
    CASE
        WHEN p.age_years IS NULL THEN 'unknown'
        WHEN p.age_years >= 25 THEN '25 and more'
        ELSE format('{:02d} to {:02d}', p.age_years // 5 * 5, p.age_years // 5 * 5 + 4)
    END AS age_group,
    count(*) AS flights,
    count(DISTINCT f.tail_number) AS planes,
    sum(p.seats) FILTER (WHERE NOT f.is_canceled)::BIGINT AS seats_flown,
    round(100 * avg(f.is_canceled::INTEGER), 1) AS canceled_pct,
    round(avg(f.departure_delay_min), 1) AS avg_departure_delay_min,
    round(avg(f.arrival_delay_min), 1) AS avg_arrival_delay_min
FROM staging.flights AS f
LEFT JOIN staging.planes AS p USING (tail_number)
GROUP BY age_group
