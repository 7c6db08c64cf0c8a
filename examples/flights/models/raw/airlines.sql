-- @kind: table
-- @description: Airlines by their two-letter code, as in the file

SELECT *
FROM read_csv('data/airlines.csv', nullstr => 'NA')
