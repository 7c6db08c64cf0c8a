-- Helper macros, for use in models and in your own macros.
--
--   SELECT safe_divide(revenue, orders) AS revenue_per_order FROM mart.daily
--
-- Add your own with CREATE OR REPLACE MACRO in this file, or in any other file
-- in config/macros/. Files may use each other's macros, in any order. Macros
-- live in DuckDB's memory database: they are never stored in the lake.

-- a / b as a fraction: 7, 2 gives 3.5. NULL where b is 0 or either is NULL.
CREATE OR REPLACE MACRO safe_divide(a, b) AS
    a::DOUBLE / nullif(b::DOUBLE, 0);

-- An amount in cents as an amount in dollars: 1999 gives 19.99.
CREATE OR REPLACE MACRO cents_to_dollars(c) AS
    c::DOUBLE / 100;
