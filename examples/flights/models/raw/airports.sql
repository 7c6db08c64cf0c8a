-- @kind: table
-- @description: Airports of the United States by their FAA code, as in the file
-- @column: alt = Altitude in feet
-- @column: tz = Hours from UTC in winter

SELECT *
FROM read_csv('data/airports.csv', nullstr => 'NA')
