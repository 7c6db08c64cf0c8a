CREATE TABLE IF NOT EXISTS {table} (claim_id {text} NOT NULL, seq BIGINT NOT NULL, "row" {text} NOT NULL{staging_key});
