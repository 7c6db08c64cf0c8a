-- @kind: table
-- @fetch
-- @description: Hourly weather at the three New York airports, as the service of api/server.py gives it
-- @column: time_hour = Hour of the observation, UTC

SELECT
    origin::VARCHAR AS origin,
    year::INTEGER AS year,
    month::INTEGER AS month,
    day::INTEGER AS day,
    hour::INTEGER AS hour,
    temp::DOUBLE AS temp,
    dewp::DOUBLE AS dewp,
    humid::DOUBLE AS humid,
    wind_dir::INTEGER AS wind_dir,
    wind_speed::DOUBLE AS wind_speed,
    wind_gust::DOUBLE AS wind_gust,
    precip::DOUBLE AS precip,
    pressure::DOUBLE AS pressure,
    visib::DOUBLE AS visib,
    time_hour::TIMESTAMP AS time_hour
FROM weather_api()
