//! Random texts for URLs.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::OAuthError;

/// 256 random bits as 43 characters that a URL takes as they are.
pub(crate) fn random_text() -> Result<String, OAuthError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| OAuthError::Random { cause: error.to_string() })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
