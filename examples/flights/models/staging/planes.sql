-- @kind: table
-- @description: Planes with their age and one spelling per manufacturer
-- @column: age_years = Age in 2013; NULL where the year of manufacture is unknown

SELECT
    tailnum AS tail_number,
    year::INTEGER AS built_year,
    (2013 - year)::INTEGER AS age_years,
    CASE
        WHEN manufacturer LIKE 'AIRBUS%' THEN 'AIRBUS'
        WHEN manufacturer LIKE 'MCDONNELL DOUGLAS%' THEN 'MCDONNELL DOUGLAS'
        ELSE manufacturer
    END AS manufacturer,
    model,
    engine,
    engines::INTEGER AS engines,
    seats::INTEGER AS seats
FROM raw.planes
