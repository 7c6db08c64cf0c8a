-- Times as they are seen from now: the clocks of workers differ.
SELECT provider, refresh_token, access_token,
    CAST((extract(epoch FROM expires_at) - extract(epoch FROM now())) * 1000 AS BIGINT) AS expires_in_ms,
    scope, token_url, CAST((extract(epoch FROM now()) - extract(epoch FROM updated_at)) * 1000 AS BIGINT) AS stored_ms_ago
FROM tokens ORDER BY provider
