-- @kind: table
-- @description: Airlines, with the legal suffix taken off their names
-- @column: carrier_code = Two-letter code

SELECT
    carrier AS carrier_code,
    trim(regexp_replace(name, '\s+(Inc\.|Co\.|Corporation)$', '')) AS carrier
FROM raw.airlines
