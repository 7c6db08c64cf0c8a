//! Kind `merge`: upsert by a key; rows gone from the source stay (chapter 02 §3.3).

use engine::{Connection, EngineError};
use types::{Column, quote};

use crate::refill::{NEW, OLD, differs, select_list};
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
        let sets: Vec<String> = data.iter().map(|name| format!("{name} = {NEW}.{name}")).collect();
        format!("WHEN MATCHED AND ({}) THEN UPDATE SET {} ", differs.join(" OR "), sets.join(", "))
    };
    format!(
        "MERGE INTO {table} {OLD} USING (SELECT {} FROM {}) {NEW} ON {OLD}.{key_column} = {NEW}.{key_column} \
         {matched}WHEN NOT MATCHED THEN INSERT BY NAME",
        select_list(&result.columns),
        result.table
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
            ModelResult { name: "r".into(), table: "temp.main.\"r\"".into(), columns: columns.collect(), rows: 0 }
        };
        let on = "USING (SELECT \"id\" FROM temp.main.\"r\") __ondatra_s ON __ondatra_t.\"id\" = __ondatra_s.\"id\"";
        assert_eq!(
            merge_statement("t", &result(&["id"]), "id"),
            format!("MERGE INTO t __ondatra_t {on} WHEN NOT MATCHED THEN INSERT BY NAME")
        );
        let with_data = merge_statement("t", &result(&["Id", "a"]), "id");
        assert!(
            with_data.contains("WHEN MATCHED AND ((")
                && with_data.contains("UPDATE SET \"a\" = __ondatra_s.\"a\" WHEN NOT")
        );
    }
}
