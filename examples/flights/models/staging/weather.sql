-- @kind: table
-- @description: Weather by airport and hour, one row each, readings that cannot be true left out
-- @column: observed_hour = Hour of the observation, UTC
-- @column: wind_speed_mph = NULL above 150 miles an hour: one reading says 1,048

SELECT
    origin AS airport_code,
    time_hour AS observed_hour,
    temp AS temperature_f,
    humid AS humidity_pct,
    CASE WHEN wind_speed <= 150 THEN round(wind_speed, 1) END AS wind_speed_mph,
    round(wind_gust, 1) AS wind_gust_mph,
    precip AS precipitation_in,
    pressure AS pressure_mb,
    visib AS visibility_mi
FROM raw.weather
-- A report that was sent twice counts once.
QUALIFY row_number() OVER (PARTITION BY origin, time_hour ORDER BY temp, humid, wind_speed) = 1
