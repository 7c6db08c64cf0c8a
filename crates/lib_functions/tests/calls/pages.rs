//! Pagination as people write it, and what `fetch` is called with.

use lib_functions::{CallError, HostValue, Page};
use testkit::http::{Answer, Seen, Server};

use crate::scene::{Scene, call_error, fetch, keep};

/// Fetches pages until there is no cursor.
fn all_pages(scene: Scene, arguments: &[(&str, HostValue)]) -> (Vec<String>, Vec<Page>) {
    let mut rows = Vec::new();
    let pages = scene.stage().with(|running| {
        let (mut pages, mut cursor) = (Vec::new(), HostValue::None);
        loop {
            let page = fetch(running, arguments, &cursor, &mut rows).unwrap();
            let next = page.next.clone();
            pages.push(page);
            match next {
                Some(next) => cursor = next,
                None => return pages,
            }
        }
    });
    (rows, pages.unwrap())
}

fn query(seen: &Seen) -> String {
    seen.target().to_owned()
}

fn paths(server: &Server) -> Vec<String> {
    server.seen().iter().map(query).collect()
}

#[test]
fn pages_by_cursor() {
    let server = Server::new(|_, seen| {
        Answer::ok(match seen.target() {
            "/items?limit=2" => "{\"items\": [{\"id\": 1}, {\"id\": 2}], \"next\": \"c/2\"}",
            "/items?limit=2&cursor=c%2F2" => "{\"items\": [{\"id\": 3}], \"next\": null}",
            _ => "{}",
        })
    });
    let text = format!(
        "API = {{\"base_url\": \"{}\", \"fetch\": {{\"args\": [\"resource\"], \"page_size\": 2}}}}\n\n\
         def fetch(resource, page):\n    \
         resp = http.get(resource, params = {{\"limit\": page.size, \"cursor\": page.cursor}})\n    \
         return {{\"rows\": resp.json[\"items\"], \"next\": resp.json.get(\"next\")}}\n",
        server.url("")
    );
    let (rows, pages) = all_pages(Scene::of(&text), &[("resource", HostValue::text(Some("items")))]);
    assert_eq!(rows, ["id=1", "id=2", "id=3"]);
    assert_eq!(pages.iter().map(|page| page.rows).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(paths(&server), ["/items?limit=2", "/items?limit=2&cursor=c%2F2"]);
}

/// Trap 14 of chapter 03 §3.6 among others.
#[test]
fn pages_by_offset() {
    let server = Server::new(|number, _| Answer::ok(if number < 2 { "[{\"n\": 1}, {\"n\": 2}]" } else { "[]" }));
    let body = "offset = page.cursor or 0\nrows = http.get(\"o\", params={\"offset\": offset, \"limit\": page.size}).json\n\
                if rows:\n    return {\"rows\": rows, \"next\": offset + len(rows)}";
    let (rows, _) = all_pages(Scene::new(&format!("\"base_url\": \"{}\"", server.url("")), body), &[]);
    assert_eq!(rows.len(), 4);
    assert_eq!(paths(&server), ["/o?offset=0&limit=100", "/o?offset=2&limit=100", "/o?offset=4&limit=100"]);
}

#[test]
fn pages_by_link_header() {
    let server = Server::new(|number, _| match number {
        0 => {
            Answer::new(200, &[("Link", "</l?page=2&x=1,2>; rel=\"next\", </l?page=9>; rel=\"last\"")], "[{\"n\": 1}]")
        }
        _ => Answer::new(200, &[("Link", "</l?page=1>; rel=\"prev\"")], "[{\"n\": 2}]"),
    });
    let body = "resp = http.get(page.cursor or \"/l\")\nlinks = resp.headers.get(\"_links\", {})\n\
                return {\"rows\": resp.json, \"next\": links.get(\"next\")}";
    let api = format!("\"base_url\": \"{}\", \"auth\": {{\"env\": \"KEY\", \"param\": \"key\"}}", server.url(""));
    let (rows, _) = all_pages(Scene::new(&api, body).variable("KEY", "k3y1"), &[]);
    assert_eq!(rows, ["n=1", "n=2"]);
    assert_eq!(paths(&server), ["/l?key=k3y1", "/l?page=2&x=1,2&key=k3y1"]);
}

#[test]
fn a_cursor_comes_back_as_it_was_returned() {
    let body =
        "print(type(page.cursor), page.cursor)\nif page.cursor == None:\n    return {\"rows\": [], \"next\": NEXT}";
    for (next, shown) in [
        ("0", "int 0"),
        ("False", "bool False"),
        ("{}", "dict {}"),
        ("{\"a\": [1, (2, 3.5)]}", "dict {\"a\": [1, (2, 3.5)]}"),
        ("1 << 70", "int 1180591620717411303424"),
        ("b\"x\"", "bytes x"),
        ("time.from_timestamp(0)", "time.time 1970-01-01"),
    ] {
        let stage = Scene::new("", &body.replace("NEXT", next)).stage();
        let ended = stage.with(|running| {
            let first = fetch(running, &[], &HostValue::None, &mut Vec::new()).unwrap();
            fetch(running, &[], &first.next.unwrap(), &mut Vec::new()).unwrap().next
        });
        assert_eq!(ended.unwrap(), None);
        let lines = stage.lines();
        assert_eq!(lines[0], "NoneType None");
        assert!(lines[1].starts_with(shown), "{lines:?}");
    }
}

#[test]
fn page_is_read_only() {
    for line in ["page.cursor = 1", "page.size = 1", "page.number", "page[\"cursor\"]"] {
        let error = Scene::new("", line).error();
        assert!(error.starts_with("x.fetch: "), "{line}: {error}");
    }
}

/// What the runtime passes.
fn injected() -> Vec<(&'static str, HostValue)> {
    let text = |text: &str| HostValue::Text(text.to_owned());
    let column = vec![(text("name"), text("id")), (text("type"), text("BIGINT"))];
    vec![
        ("a", text("1.50")),
        ("b", HostValue::None),
        ("columns", HostValue::List(vec![HostValue::Dict(column)])),
        ("target", text("raw.x")),
        ("is_backfill", HostValue::Bool(true)),
        ("cursor", text("")),
        ("initial_value", text("1970-01-01T00:00:00Z")),
        ("last_value", text("2026-01-02 10:00:00")),
        ("last_run", text("")),
    ]
}

fn called(signature: &str, show: &str) -> Result<Vec<String>, CallError> {
    let text = format!(
        "API = {{\"fetch\": {{\"args\": [\"a\", \"b\"]}}}}\n\ndef fetch({signature}):\n    print({show})\n    return {{\"rows\": []}}\n"
    );
    let stage = Scene::of(&text).stage();
    stage.with(|running| fetch(running, &injected(), &HostValue::None, &mut Vec::new())).unwrap()?;
    Ok(stage.lines())
}

/// Trap 20 of chapter 03 §3.6 among others.
#[test]
fn a_function_gets_the_parameters_that_it_declares() {
    for (signature, show, shown) in [
        ("a, b", "a, b", "1.50 None"),
        ("b, a", "a, b", "1.50 None"),
        ("page, is_backfill, b = 7, *, a, target", "a, b, target, is_backfill, page.size", "1.50 None raw.x True 0"),
        ("a, b, columns, last_value", "columns[0][\"type\"], last_value", "BIGINT 2026-01-02 10:00:00"),
        (
            "**kwargs",
            "sorted(kwargs)",
            "[\"a\", \"b\", \"columns\", \"cursor\", \"initial_value\", \"is_backfill\", \"last_run\", \"last_value\", \"page\", \"target\"]",
        ),
        ("a, **rest", "a, \"a\" in rest, rest[\"b\"], len(rest)", "1.50 False None 9"),
    ] {
        assert_eq!(called(signature, show).unwrap(), [shown], "{signature}");
    }
}

#[test]
fn an_argument_that_is_left_out_has_its_default() {
    let text = "API = {\"fetch\": {\"args\": [\"a\", \"b\"]}}\n\ndef fetch(a, b=\"of the file\"):\n    return {\"rows\": [{\"a\": a, \"b\": b}]}\n";
    let mut rows = Vec::new();
    let stage = Scene::of(text).stage();
    let given = [("a", HostValue::text(Some("x")))];
    stage.with(|running| fetch(running, &given, &HostValue::None, &mut rows).unwrap()).unwrap();
    assert_eq!(rows, ["a=\"x\",b=\"of the file\""]);
    let missing = stage.with(|running| fetch(running, &[], &HostValue::None, &mut Vec::new()).unwrap_err()).unwrap();
    assert!(
        matches!(missing, CallError::Failed(error) if error.to_string().starts_with("x.fetch: ") && error.to_string().contains('a'))
    );
}

#[test]
fn a_row_that_is_refused_ends_the_page() {
    let stage = Scene::new("", "return {\"rows\": [{\"n\": 1}, {\"n\": 2}, {\"n\": 3}]}").stage();
    let mut rows = Vec::new();
    let refused = stage.with(|running| {
        running.fetch(&[], &HostValue::None, 1, |number, row, _| {
            let _ = keep(&row, &mut rows);
            if number == 2 { Err("full") } else { Ok(()) }
        })
    });
    assert!(matches!(refused.unwrap(), Err(lib_functions::PageError::Row("full"))));
    assert_eq!(rows, ["n=1", "n=2"]);
}

#[test]
fn an_abort_ends_the_fetch_wherever_it_is_called() {
    for body in ["abort()", "for n in [1]:\n    [abort() for x in [1]]", "sorted([2, 1], key=lambda x: abort())"] {
        assert_eq!(Scene::new("", body).error(), "aborted", "{body}");
    }
    let stage =
        Scene::of("API = {\"fetch\": {}}\nX = abort()\n\ndef fetch(page):\n    return {\"rows\": []}\n").stage();
    let error = stage.with(|running| {
        running.fetch(&[], &HostValue::None, 1, |_, row, _| keep(&row, &mut Vec::new())).map_err(call_error).is_ok()
    });
    assert!(error.unwrap_err().to_string().contains("abort() is called outside of a function"));
}

#[test]
fn the_last_page_says_what_an_empty_fetch_means() {
    let page = Scene::new("", "return {\"rows\": [], \"empty_result\": \"delete_missing\"}").run().page.unwrap();
    assert_eq!((page.rows, page.empty_result.as_deref(), page.next), (0, Some("delete_missing"), None));
}
