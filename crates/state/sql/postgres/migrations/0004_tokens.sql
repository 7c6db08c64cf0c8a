-- OAuth tokens, one row per provider.
CREATE TABLE tokens (
    provider      TEXT NOT NULL PRIMARY KEY,
    refresh_token TEXT NOT NULL,
    access_token  TEXT,
    expires_at    TIMESTAMPTZ,
    scope         TEXT,
    token_url     TEXT NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL
);
