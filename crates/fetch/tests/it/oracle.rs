//! Random values, compared with what others make of them: the engine itself, where its CAST is the rule, and `jiff`.
