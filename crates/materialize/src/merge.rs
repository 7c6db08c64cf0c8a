//! Kind `merge`: upsert by a key; rows gone from the source stay (chapter 02 §3.3).

use engine::{Connection, EngineError};
use types::{Column, quote};

use crate::refill::{differs, select_list};
use crate::result::ModelResult;

/// Upserts the result; an equal row is not touched, so it makes no change event.
pub(crate) fn merge(connection: &Connection, table: &str, result: &ModelResult, key: &str) -> Result<i64, EngineError> {
    connection.execute(&merge_statement(table, result, key))?;
    Ok(result.rows)
}

fn merge_statement(table: &str, result: &ModelResult, key: &str) -> String {
    let key_column = quote(key);
    let columns: Vec<&Column> = result.columns.iter().filter(|column| !column.name.eq_ignore_ascii_case(key)).collect();
    let data: Vec<String> = columns.iter().map(|column| quote(&column.name)).collect();
    let matched = if data.is_empty() {
        String::new()
    } else {
        let differs: Vec<String> = columns.iter().map(|column| differs(column)).collect();
        let sets: Vec<String> = data.iter().map(|name| format!("{name} = s.{name}")).collect();
        format!("WHEN MATCHED AND ({}) THEN UPDATE SET {} ", differs.join(" OR "), sets.join(", "))
    };
    format!(
        "MERGE INTO {table} t USING (SELECT {} FROM {}) s ON t.{key_column} = s.{key_column} \
         {matched}WHEN NOT MATCHED THEN INSERT BY NAME",
        select_list(&result.columns),
        result.table()
    )
}

#[cfg(test)]
mod tests {
    use types::Column;

    use super::merge_statement;
    use crate::ModelResult;

    #[test]
    fn the_sql_of_kind_merge() {
        let result = |names: &[&str]| {
            let columns = names.iter().map(|&name| Column { name: name.into(), type_name: "INTEGER".into() });
            ModelResult { name: "r".into(), columns: columns.collect(), rows: 0 }
        };
        assert_eq!(
            merge_statement("t", &result(&["Id", "a"]), "id"),
            "MERGE INTO t t USING (SELECT \"Id\", \"a\" FROM temp.main.\"r\") s ON t.\"id\" = s.\"id\" WHEN MATCHED AND \
             ((t.\"a\" IS DISTINCT FROM s.\"a\" OR t.\"a\" IS DISTINCT FROM s.\"a\")) THEN UPDATE SET \"a\" = s.\"a\" WHEN NOT MATCHED THEN INSERT BY NAME"
        );
        assert_eq!(
            merge_statement("t", &result(&["id"]), "id"),
            "MERGE INTO t t USING (SELECT \"id\" FROM temp.main.\"r\") s ON t.\"id\" = s.\"id\" WHEN NOT MATCHED THEN INSERT BY NAME"
        );
    }
}
