//! What the shipped functions give (chapter 01 §4.6). They are there in every project, also in one whose files name none.

use crate::project;

const CASES: &[(&str, &str)] = &[
    ("safe_divide(7, 2)", "3.5"),
    ("safe_divide(7, 0)", "NULL"),
    ("safe_divide(NULL, 2)", "NULL"),
    ("safe_divide(7, NULL)", "NULL"),
    ("safe_divide(-1.5, 0.5)", "-3.0"),
    ("typeof(safe_divide(1, 2))", "DOUBLE"),
    ("cents_to_dollars(1999)", "19.99"),
    ("cents_to_dollars(NULL)", "NULL"),
    ("typeof(cents_to_dollars(1))", "DOUBLE"),
    ("mask_email('alice@example.com')", "a***@example.com"),
    ("mask_email('a@b@c.com')", "a***@c.com"),
    ("mask_email('é@b.com')", "é***@b.com"),
    ("mask_email('a' || chr(10) || 'b@c.com')", "a***@c.com"),
    ("mask_email('@example.com')", "***"),
    ("mask_email('noat')", "***"),
    ("mask_email('')", "***"),
    ("mask_email(42)", "***"),
    ("mask_email(NULL)", "NULL"),
    ("mask_ssn('123-45-6789')", "***-**-6789"),
    ("mask_ssn(123456789)", "***-**-6789"),
    ("mask_ssn('12345')", "***-**-2345"),
    ("mask_ssn('1234')", "***-**-****"),
    ("mask_ssn('12')", "***-**-****"),
    ("mask_ssn('')", "***-**-****"),
    ("mask_ssn(NULL)", "NULL"),
    ("hash_pii('a')", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
    ("hash_pii(DATE '2026-01-31')", "36dcad9e65708c8cadc08e2468efb1e41c4fb6160ed6f58445a9ff02829d9f5d"),
    ("hash_pii(NULL)", "NULL"),
    ("redact('x')", "[REDACTED]"),
    ("redact(NULL)", "[REDACTED]"),
    (
        "typeof(mask_email(NULL)) || typeof(mask_ssn(1)) || typeof(hash_pii(1)) || typeof(redact(1))",
        "VARCHARVARCHARVARCHARVARCHAR",
    ),
];

#[test]
fn shipped_functions_give_what_the_table_says() {
    let project = project();
    let list: Vec<String> = CASES.iter().map(|(call, _)| format!("({call})::VARCHAR")).collect();
    let output = project.run(&["sql", &format!("SELECT unnest([{}]) AS given", list.join(", ")), "--format", "json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&output.success().stdout).unwrap();
    assert_eq!(rows.len(), CASES.len());
    for ((call, expected), row) in CASES.iter().zip(rows) {
        assert_eq!(row["given"].as_str().unwrap_or("NULL"), *expected, "{call}");
    }
}

#[test]
fn a_macro_of_the_project_takes_the_place_of_a_shipped_one() {
    let project = project();
    project.write(
        "config/macros/own.sql",
        "CREATE MACRO Mask_Email(v) AS 'own';\nCREATE MACRO redact(v) AS mask_email(v);",
    );
    assert_eq!(project.rows("SELECT mask_email('a@b'), redact(1), mask_ssn('12')"), "own,own,***-**-****\n");
}

#[test]
fn macros_and_variables_of_the_configuration_may_use_the_shipped_ones() {
    let project = project();
    project.write("config/macros/a.sql", "CREATE MACRO half(v) AS safe_divide(v, 2);");
    project.write("config/variables/global.sql", "SET VARIABLE price = cents_to_dollars(250);");
    assert_eq!(project.rows("SELECT half(3), getvariable('price')"), "1.5,2.5\n");
}
