//! Requests to APIs: retries, rate limits, redirects, digest, bounded bodies (chapter 03 §3.3 *http*).
//!
//! Boundary: knows nothing of scripts, models or tables; reads no environment variable and prints nothing.
