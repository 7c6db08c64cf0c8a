-- @kind: table
-- @description: Flights that left New York in 2013, one row per scheduled flight, as in the file
-- @column: dep_time = Departure as a clock reading, 517 for 05:17; NULL for a canceled flight
-- @column: time_hour = Scheduled hour of departure, UTC

-- Only time_hour is typed here: what the file calls a time is a number, and
-- staging turns it into one.
SELECT *
FROM read_csv('data/flights.csv', nullstr => 'NA', types => {'time_hour': 'TIMESTAMP'})
