UPDATE tokens SET refresh_token = {refresh_token}, access_token = {access_token}, expires_at = {expires_at},
    scope = {scope}, token_url = {token_url}, updated_at = now()
WHERE provider = {provider};
INSERT INTO tokens (provider, refresh_token, access_token, expires_at, scope, token_url, updated_at)
SELECT {provider}, {refresh_token}, {access_token}, {expires_at}, {scope}, {token_url}, now()
WHERE NOT EXISTS (SELECT 1 FROM tokens WHERE provider = {provider});
