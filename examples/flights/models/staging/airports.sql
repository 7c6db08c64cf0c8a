-- @kind: table
-- @description: Airports with their position and time zone
-- @column: airport_code = FAA code
-- @column: utc_offset_hours = Hours from UTC in winter

SELECT
    faa AS airport_code,
    name AS airport,
    lat AS latitude,
    lon AS longitude,
    alt::INTEGER AS altitude_ft,
    tz::INTEGER AS utc_offset_hours,
    tzone AS time_zone
FROM raw.airports
