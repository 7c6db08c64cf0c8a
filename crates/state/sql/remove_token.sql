DELETE FROM tokens WHERE provider = {provider};
