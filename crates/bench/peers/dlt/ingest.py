"""Loads all pages of the API into DuckDB with dlt's REST source, as its documentation shows: the peer of the ingest
benchmark. The schema is declared, and Arrow-free JSON pages are extracted with its default settings."""

import sys

import dlt
from dlt.sources.rest_api import rest_api_source

source = rest_api_source({
    "client": {"base_url": sys.argv[1]},
    "resources": [{
        "name": "rows",
        "write_disposition": "replace",
        "endpoint": {
            "path": "rows",
            "params": {"page": 0},
            "data_selector": "rows",
            "paginator": {"type": "cursor", "cursor_path": "next", "cursor_param": "page"},
        },
    }],
})
pipeline = dlt.pipeline(pipeline_name="ingest", destination=dlt.destinations.duckdb("ingest.duckdb"), dataset_name="raw",
                        pipelines_dir="pipelines")
pipeline.run(source)
with pipeline.sql_client() as client:
    assert client.execute_sql("SELECT count(*) FROM rows")[0][0] == 1_000_000
