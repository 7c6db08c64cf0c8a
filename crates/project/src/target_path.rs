//! A model file's path → its target (chapter 01 §3.1).

use std::path::{Component, Path};

use types::{Target, is_identifier};

/// As schemas these would be shadowed by the engine's own.
const ENGINE_NAMES: [&str; 5] = ["temp", "memory", "system", "information_schema", "pg_catalog"];

/// The target of the file at `path`, relative to the `models/` folder.
pub fn target_of(path: &Path) -> Result<Target, String> {
    let stem = path.with_extension("");
    let segments: Vec<&str> = stem
        .components()
        .map(|component| match component {
            Component::Normal(segment) => {
                segment.to_str().ok_or_else(|| format!("invalid path segment `{}`", segment.display()))
            }
            _ => Err(format!("invalid path segment in `{}`", path.display())),
        })
        .collect::<Result<_, _>>()?;
    for segment in &segments {
        if !is_identifier(segment) {
            return Err(format!("invalid path segment `{segment}`"));
        }
        if segment.to_lowercase().starts_with("_ondatra_") {
            return Err(format!(
                "path segment `{segment}` begins with `_ondatra_`, which is reserved for the runtime's tables"
            ));
        }
        if segment.contains("__") {
            return Err(format!("path segment `{segment}` contains the reserved pattern '__'"));
        }
    }
    match &segments[..] {
        [] => Err("invalid path segment ``".into()),
        [name] => Ok(Target::new("main", *name)),
        [schema, ..] if ENGINE_NAMES.iter().any(|name| schema.eq_ignore_ascii_case(name)) => {
            Err(format!("folder `{schema}` is the name of a database or schema of the engine's own"))
        }
        [schema, rest @ ..] => Ok(Target::new(*schema, rest.join("__"))),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::target_of;

    #[test]
    fn folders_become_schema_and_name() {
        for (path, target) in [
            ("orders.sql", "main.orders"),
            ("staging/Orders.sql", "staging.Orders"),
            ("raw/api/v2/orders.sql", "raw.api__v2__orders"),
            ("order/x.sql", "order.x"),
        ] {
            assert_eq!(target_of(Path::new(path)).unwrap().to_string(), target);
        }
        assert!(target_of(Path::new("Temp/x.sql")).unwrap_err().contains("the engine's own"));
        assert!(target_of(Path::new("raw/a-b.sql")).unwrap_err().contains("invalid path segment"));
        assert!(target_of(Path::new("raw/1.sql")).unwrap_err().contains("invalid path segment"));
        assert!(target_of(Path::new("raw/a.b.sql")).unwrap_err().contains("invalid path segment"));
        assert!(target_of(Path::new("_Ondatra_registry.sql")).unwrap_err().contains("reserved for the runtime"));
        assert!(target_of(Path::new("raw/a__b.sql")).unwrap_err().contains("reserved pattern '__'"));
    }
}
