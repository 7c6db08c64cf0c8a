-- @kind: table
-- @description: Hourly weather at the three New York airports, as in the file
-- @column: time_hour = Hour of the observation, UTC

SELECT *
FROM read_csv('data/weather.csv', nullstr => 'NA', types => {'time_hour': 'TIMESTAMP'})
