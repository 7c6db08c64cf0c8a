-- @kind: table
-- @description: Planes by their tail number, as in the file
-- @column: year = Year of manufacture

SELECT *
FROM read_csv('data/planes.csv', nullstr => 'NA')
