DELETE FROM tokens WHERE provider = {provider} AND refresh_token = {refresh_token};
