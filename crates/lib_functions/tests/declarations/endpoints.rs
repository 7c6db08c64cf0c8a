//! The requests that a file makes, read off its text.

use crate::{good, project, registry};

/// `METHOD path function` of each call, in a file with these lines.
fn endpoints(text: &str) -> Vec<String> {
    let lib = good(&format!("API = {{\"fetch\": {{}}}}\n{text}\n\ndef fetch():\n    return fail('x')\n"));
    let told = lib.endpoints.into_iter().map(|endpoint| {
        let path = endpoint.path.unwrap_or_else(|| "-".into());
        format!("{} {path} {}", endpoint.method, endpoint.function.unwrap_or_else(|| "-".into()))
    });
    told.collect()
}

#[test]
fn every_method_is_found_with_its_path() {
    let text = "def f():\n    http.get('/a')\n    http.post(url = '/b')\n    http.put('/c', json = {})\n    \
                http.patch('/' + 'd')\n    http.delete(json = 1, url = '/e')\n    http.upload('/f', file = 'x.csv')\n    \
                http.get('/x'.strip())\n    json.decode('{}')\n";
    let expected = ["GET /a f", "POST /b f", "PUT /c f", "PATCH - f", "DELETE /e f", "POST /f f", "GET - f"];
    assert_eq!(endpoints(text), expected);
}

#[test]
fn the_innermost_named_function_is_told() {
    let text = "def outer():\n    def inner():\n        for x in [http.get('/in') for y in []]:\n            pass\n    \
                if http.get('/out').ok:\n        return [(lambda: http.get('/anonymous'))()]\n    \
                named = lambda u: http.get('/named')\n\
                top = lambda u: http.get('/top')\n\
                def with_default(x = http.get):\n    return None\n";
    let expected = ["GET /in inner", "GET /out outer", "GET /anonymous outer", "GET /named named", "GET /top top"];
    assert_eq!(endpoints(text), expected);
}

#[test]
fn other_names_of_the_module_and_its_functions_count_where_they_hold() {
    let text = "h = http\nsend = h.post\n\
                def f():\n    g = http.get\n    g('/a')\n    send('/b')\n    h.put('/c')\n\
                def other(g):\n    g('/no')\n    x.get('/no')\n    get('/no')\n";
    let text = text.replace("x.get", "time.get").replace("    get(", "    print(");
    assert_eq!(endpoints(&text), ["GET /a f", "POST /b f", "PUT /c f"]);
}

#[test]
fn the_requests_of_files_that_are_loaded_are_theirs() {
    let folder = project(&[
        ("lib/shared.star", "def call():\n    return http.get('/shared')\n"),
        (
            "lib/api.star",
            "load('lib/shared.star', 'call')\nAPI = {\"fetch\": {}}\ndef fetch():\n    return http.get('/own')\n",
        ),
    ]);
    let registry = registry(folder.path());
    let paths: Vec<_> = registry.get("api").unwrap().endpoints.iter().map(|endpoint| endpoint.path.clone()).collect();
    assert_eq!(paths, [Some("/own".to_owned())]);
}
