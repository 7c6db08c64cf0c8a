SELECT provider, refresh_token, access_token, CAST(extract(epoch FROM expires_at) * 1000 AS BIGINT) AS expires_ms,
    scope, token_url
FROM tokens ORDER BY provider
