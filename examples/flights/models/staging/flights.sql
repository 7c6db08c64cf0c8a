-- @kind: table
-- @description: Flights with real timestamps, and flags for those that never left or never arrived
-- @column: scheduled_departure = New York time
-- @column: actual_departure = New York time; NULL for a canceled flight
-- @column: departure_hour = Scheduled hour of departure, UTC: the key to the weather
-- @column: departure_delay_min = Minutes; negative for a flight that left early
-- @column: arrival_delay_min = Minutes; NULL where the flight did not arrive at its destination
-- @column: is_diverted = The flight left, and no arrival at its destination is on record

WITH scheduled AS (
    SELECT
        *,
        -- The file writes 05:17 as the number 517.
        make_timestamp(year, month, day, sched_dep_time // 100, sched_dep_time % 100, 0)
            AS scheduled_departure
    FROM raw.flights
)

SELECT
    carrier AS carrier_code,
    flight::INTEGER AS flight_number,
    tailnum AS tail_number,
    origin AS origin_code,
    dest AS destination_code,
    scheduled_departure,
    -- From the delay, not from dep_time: a clock reading does not say whether
    -- the flight left after midnight.
    scheduled_departure + to_minutes(dep_delay) AS actual_departure,
    time_hour AS departure_hour,
    dep_delay::INTEGER AS departure_delay_min,
    arr_delay::INTEGER AS arrival_delay_min,
    air_time::INTEGER AS air_time_min,
    distance::INTEGER AS distance_mi,
    dep_time IS NULL AS is_canceled,
    dep_time IS NOT NULL AND arr_delay IS NULL AS is_diverted
FROM scheduled
