//! Tokens in SQL.

use engine::Value;

use crate::StateError;
use crate::retry::VerbError;
use crate::script::Arg;
use crate::sql_store::{SqlStore, number, optional_text, text};
use crate::tokens::{StoredToken, Token, Tokens};

/// Ten years: no token is kept as long.
const SECONDS_MAX: i64 = 10 * 365 * 24 * 3_600;

impl Tokens for SqlStore {
    fn put_token(&mut self, token: &Token, replaces: Option<&str>) -> Result<bool, StateError> {
        // The engine multiplies an interval by no number beyond 32 bits: as milliseconds 25 days would be too much.
        let expires = token.expires_in_ms.map(|ms| {
            let (seconds, rest) = ((ms / 1000).min(SECONDS_MAX), ms % 1000);
            format!("now() + {seconds} * INTERVAL '1 second' + {rest} * INTERVAL '1 millisecond'")
        });
        let args = [
            ("provider", Arg::Text(&token.provider)),
            ("refresh_token", Arg::Text(&token.refresh_token)),
            ("access_token", Arg::Maybe(token.access_token.as_deref())),
            ("expires_at", Arg::Sql(expires.as_deref().unwrap_or("CAST(NULL AS TIMESTAMPTZ)"))),
            ("scope", Arg::Maybe(token.scope.as_deref())),
            ("token_url", Arg::Text(&token.token_url)),
            ("replaces", Arg::Maybe(replaces)),
        ];
        let script = self.fill(include_str!("../sql/put_token.sql"), &args);
        self.execute(&script, None).map_err(VerbError::unconditional)?;
        Ok(self.token(&token.provider)?.is_some_and(|stored| stored.refresh_token == token.refresh_token))
    }

    fn token(&mut self, provider: &str) -> Result<Option<Token>, StateError> {
        // There is a handful of providers.
        Ok(self.tokens()?.into_iter().map(|stored| stored.token).find(|token| token.provider == provider))
    }

    fn tokens(&mut self) -> Result<Vec<StoredToken>, StateError> {
        let token = |row: &mut Vec<Value>| Token {
            provider: text(&mut row[0]),
            refresh_token: text(&mut row[1]),
            access_token: optional_text(&mut row[2]),
            expires_in_ms: (row[3] != Value::Null).then(|| number(&row[3])),
            scope: optional_text(&mut row[4]),
            token_url: text(&mut row[5]),
        };
        let read = |mut row: Vec<Value>| StoredToken { token: token(&mut row), stored_ms_ago: number(&row[6]) };
        Ok(self.values(include_str!("../sql/tokens.sql"))?.into_iter().map(read).collect())
    }

    fn remove_token(&mut self, provider: &str, refresh_token: &str) -> Result<(), StateError> {
        let args = [("provider", Arg::Text(provider)), ("refresh_token", Arg::Text(refresh_token))];
        let script = self.fill(include_str!("../sql/remove_token.sql"), &args);
        self.execute(&script, None).map_err(VerbError::unconditional)
    }
}
