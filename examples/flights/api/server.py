#!/usr/bin/env python3
"""Two small services for the demo, for who has the token (`Authorization: Bearer <token>`).

GET /observations?station=JFK&since=2013-01-31&cursor=0&limit=1000 answers the observations of data/weather.csv by pages:
{"observations": [...], "next_cursor": 1000 or null}, those after `since` if it is there. Every tenth request is turned
away with 429 and Retry-After, as busy services do.

POST /alerts takes {"alerts": [{"airport", "state", "late_pct"}]}, prints each alert and answers {"answers": {airport:
status}}. It knows all airports but one, until somebody registers it: POST /airports with {"airport": "CAE"}.

Needs nothing but Python.

    WEATHER_API_TOKEN=... ./server.py [port, 0 for any that is free]
"""

import csv
import http.server
import itertools
import json
import os
import pathlib
import sys
import urllib.parse

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "weather.csv"
NUMBERS = {"year", "month", "day", "hour", "temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip",
           "pressure", "visib"}
LIMIT_MAX = 2000
REQUESTS = itertools.count(1)
# Airports that nobody has registered for alerts.
UNKNOWN = {"CAE"}


def observations():
    with DATA.open(newline="") as file:
        return [{name: value_of(name, text) for name, text in row.items()} for row in csv.DictReader(file)]


def value_of(name, text):
    if text in ("", "NA"):
        return None
    if name in NUMBERS:
        number = float(text)
        return int(number) if number.is_integer() else number
    return text


def moment(text):
    """ISO texts, with a `T` or a blank between day and time, in a form that compares."""
    return text[:19].replace("T", " ")


def taken(alert):
    """Takes an alert, or says why not."""
    if alert["airport"] in UNKNOWN:
        print(f"refused  {alert['airport']}: nobody has registered it", flush=True)
        return f"reject: {alert['airport']} is not registered"
    print(f"alert    {alert['airport']} {alert['state']:<4} {alert['late_pct']} %", flush=True)
    return "ok"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path != "/observations":
            return self.answer(404, {"error": "there is nothing to get but /observations"})
        if not self.is_allowed():
            return None
        if next(REQUESTS) % 10 == 0:
            return self.answer(429, {"error": "too many requests"}, {"Retry-After": "0"})
        try:
            start, limit = int(query.get("cursor", 0)), min(int(query.get("limit", 1000)), LIMIT_MAX)
        except ValueError:
            return self.answer(400, {"error": "cursor and limit are numbers"})
        since = moment(query.get("since", ""))
        found = [row for row in ROWS
                 if query.get("station") in (None, row["origin"]) and moment(row["time_hour"]) > since]
        page = found[start:start + limit]
        following = start + limit
        self.answer(200, {"observations": page, "next_cursor": following if following < len(found) else None})

    def do_POST(self):
        # Read in any case: what stays would be taken for the next request.
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.is_allowed():
            return None
        try:
            asked = json.loads(body)
            if self.path == "/alerts":
                return self.answer(200, {"answers": {alert["airport"]: taken(alert) for alert in asked["alerts"]}})
            if self.path == "/airports":
                UNKNOWN.discard(asked["airport"])
                return self.answer(200, {})
        except (ValueError, KeyError, TypeError):
            return self.answer(400, {"error": "that is not what the service takes"})
        return self.answer(404, {"error": "there is nothing to post to but /alerts and /airports"})

    def is_allowed(self):
        if self.headers.get("Authorization") == f"Bearer {TOKEN}":
            return True
        self.answer(401, {"error": "the token is not right"})
        return False

    def answer(self, status, document, headers=None):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    TOKEN = os.environ.get("WEATHER_API_TOKEN", "")
    if not TOKEN:
        sys.exit("server.py: set WEATHER_API_TOKEN")
    ROWS = observations()
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8013
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"Serving {len(ROWS)} observations on http://127.0.0.1:{server.server_port}/observations", flush=True)
    server.serve_forever()
