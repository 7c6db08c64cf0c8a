//! Keys that nobody knows: a remark that names the closest one.

use crate::good;

#[test]
fn an_unknown_key_is_a_remark_with_the_closest_known_one() {
    for (api, path, closest) in [
        ("{\"fetch\": {}, \"timeot\": 1}", "API[\"timeot\"]", "timeout"),
        ("{\"fetch\": {}, \"Base_URL\": \"\"}", "API[\"Base_URL\"]", "base_url"),
        ("{\"fetch\": {\"pagesize\": 1}}", "API[\"fetch\"][\"pagesize\"]", "page_size"),
        ("{\"fetch\": {}, \"push\": {\"batchsize\": 1}}", "API[\"push\"][\"batchsize\"]", "batch_size"),
        ("{\"fetch\": {}, \"auth\": {\"env\": \"K\", \"headr\": 1}}", "API[\"auth\"][\"headr\"]", "header"),
        (
            "{\"fetch\": {}, \"rate_limit\": {\"requests\": 1, \"per\": \"1s\", \"request\": 2}}",
            "API[\"rate_limit\"][\"request\"]",
            "requests",
        ),
        (
            "{\"fetch\": {\"rate_limit\": {\"requests\": 1, \"per\": \"1s\", \"pre\": 2}}}",
            "API[\"fetch\"][\"rate_limit\"][\"pre\"]",
            "per",
        ),
    ] {
        let lib = good(&format!("API = {api}\ndef fetch(): pass\ndef push(rows): pass\n"));
        let [remark] = &lib.remarks[..] else { panic!("{:?}", lib.remarks) };
        assert_eq!(remark.rule.id(), "blueprint.unknown_key");
        assert!(remark.message.starts_with(path), "{}", remark.message);
        assert!(remark.message.ends_with(&format!("\"{closest}\"")), "{}", remark.message);
        let key = path.rsplit_once('[').unwrap().1.trim_end_matches(']');
        assert_eq!(&remark.place.source()[remark.place.span()], key);
    }
}

#[test]
fn a_key_that_was_removed_is_never_the_closest() {
    let lib = good("API = {\"fetch\": {\"column\": 1}}\ndef fetch(): pass\n");
    assert!(!lib.remarks[0].message.contains("columns\""), "{}", lib.remarks[0].message);
}

#[test]
fn a_key_far_from_all_others_still_names_one() {
    let lib = good("API = {\"fetch\": {}, \"x\": [None, {\"y\": -1.5}]}\ndef fetch(): pass\n");
    assert!(lib.remarks[0].message.contains("closest"), "{}", lib.remarks[0].message);
}

#[test]
fn known_keys_are_no_remarks() {
    let lib = good(
        "API = {\n  'base_url': 'https://x.y', 'auth': {'env': 'K', 'header': 'X', 'hosts': []}, 'headers': {'X-Any': ''},\n  \
         'timeout': 1, 'retry': 0, 'backoff': 0, 'rate_limit': {'requests': 1, 'per': '1s'}, 'max_response_bytes': 1,\n  \
         'fetch': {'args': [], 'page_size': 0, 'supported_columns': [], 'supported_kinds': [], 'async': False,\n    \
         'mode': 'sync', 'poll_interval': '1s', 'poll_timeout': '1s', 'poll_backoff': 1, 'max_pages': 1, 'headers': {},\n    \
         'timeout': 1, 'retry': 0, 'backoff': 0, 'rate_limit': None},\n  \
         'push': {'args': [], 'supported_kinds': [], 'batch_size': 1, 'max_concurrent': 1, 'batch_mode': 'async',\n    \
         'poll_interval': '1s', 'poll_timeout': '1s', 'headers': {}, 'timeout': 1, 'retry': 0, 'backoff': 0,\n    \
         'rate_limit': None, 'retry_backoff': 1, 'max_attempts': 0, 'changes': 'raw', 'idempotency_header': 'I'},\n}\n\
         def fetch(): pass\ndef push(rows): pass\ndef poll(job_ref): pass\n",
    );
    assert!(lib.remarks.is_empty(), "{:?}", lib.remarks);
}
