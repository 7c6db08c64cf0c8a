-- Replaces the tokens that it was made from, and no others: a request that comes late must not bring back a
-- refresh token that the provider has taken out of use. Whether it did is asked afterwards: an error, which would say it
-- here, has a server write the statement with its tokens into a log.
UPDATE tokens SET refresh_token = {refresh_token}, access_token = {access_token}, expires_at = {expires_at},
    scope = {scope}, token_url = {token_url}, updated_at = now()
WHERE provider = {provider} AND refresh_token IN ({replaces}, {refresh_token});
INSERT INTO tokens (provider, refresh_token, access_token, expires_at, scope, token_url, updated_at)
SELECT {provider}, {refresh_token}, {access_token}, {expires_at}, {scope}, {token_url}, now()
WHERE {replaces} IS NULL AND NOT EXISTS (SELECT 1 FROM tokens WHERE provider = {provider})
ON CONFLICT DO NOTHING;
