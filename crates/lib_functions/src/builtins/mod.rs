//! What every lib file can call besides the language's own functions. A file per module of chapter 03 §3.3.
