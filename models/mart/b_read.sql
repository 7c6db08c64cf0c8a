SELECT count(*) AS n FROM read_o()
