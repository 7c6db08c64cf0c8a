-- @kind: tracked
-- @group_key: airport_code
-- @push: alerts_api
-- @description: Destinations where more flights were late than data/limits.csv allows; a service is told of every change
-- @column: late_pct = Share of the arrived flights that were more than 15 minutes late

WITH destination AS (
    SELECT
        destination_code AS airport_code,
        count(*) AS flights,
        round(100 * avg((arrival_delay_min > 15)::INTEGER), 1) AS late_pct
    FROM staging.flights
    GROUP BY destination_code
)

SELECT
    d.airport_code::VARCHAR AS airport_code,
    a.airport::VARCHAR AS airport,
    d.flights::BIGINT AS flights,
    d.late_pct::DECIMAL(4,1) AS late_pct
FROM destination AS d
JOIN staging.airports AS a USING (airport_code)
JOIN read_csv('data/limits.csv', columns = {'airport_code': 'VARCHAR', 'late_pct_max': 'DOUBLE'}) AS l USING (airport_code)
WHERE d.late_pct > l.late_pct_max
