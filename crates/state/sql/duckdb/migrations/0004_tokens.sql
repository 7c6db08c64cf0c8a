-- OAuth tokens, one row per provider.
CREATE TABLE tokens (
    provider      VARCHAR NOT NULL PRIMARY KEY,
    refresh_token VARCHAR NOT NULL,
    access_token  VARCHAR,
    expires_at    TIMESTAMPTZ,
    scope         VARCHAR,
    token_url     VARCHAR NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL
);
