"""Dashboards, alert rules and documentation name only metrics that exist."""

import json
import pathlib
import re

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
OPERATIONS = ROOT / "docs" / "operations"
CATALOGUE = ROOT / "Sources" / "Observability" / "PrometheusMetrics" / "MetricCatalogue.swift"
# Labels that Prometheus adds, and the label of a histogram's buckets.
COMMON_LABELS = {"job", "instance", "le"}
PROMQL = {
    *"absent changes count histogram_quantile increase max min rate sum time topk".split(),
    *"and or unless on by offset group_left".split(),
}


def catalogue():
    entry = re.compile(r'MetricDescription\(\s*"(\w+)",\s*\.(\w+),(?:\s*by: \[([^\]]*)\],)?\s*"')
    text = CATALOGUE.read_text()
    found = {name: (kind, set(re.findall(r'"(\w+)"', labels))) for name, kind, labels in entry.findall(text)}
    assert len(found) == text.count("MetricDescription(")
    return found


METRICS = catalogue()
# The series that a query may name: a histogram has series with three names.
SERIES = {
    name + suffix: (kind, labels)
    for name, (kind, labels) in METRICS.items()
    for suffix in (["_bucket", "_sum", "_count"] if kind == "histogram" else [""])
}


def rules():
    groups = yaml.safe_load((OPERATIONS / "prometheus-alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard():
    return json.loads((OPERATIONS / "grafana-dashboard.json").read_text())


def queries():
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for annotation in dashboard()["annotations"]["list"]:
        if "expr" in annotation:
            yield annotation["name"], annotation["expr"]


@pytest.mark.parametrize("origin, query", list(queries()))
def test_each_query_names_only_existing_metrics_and_labels(origin, query):
    bare = re.sub(r'"[^"]*"', '""', query)
    selectors = re.findall(r"(\w+)\{([^}]*)\}", bare)
    grouped = re.findall(r"\b(?:by|on|group_left)\s*\(([^)]*)\)", bare)
    rest = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(by|on|group_left)\s*\([^)]*\)|\boffset \w+", " ", bare)
    names = set(re.findall(r"(?<![\w.$])[a-zA-Z_]\w*", rest)) - PROMQL
    assert names and names <= SERIES.keys(), origin
    for name, matchers in selectors:
        used = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers))
        assert used <= SERIES[name][1] | COMMON_LABELS, origin
    known = set().union(*(SERIES[name][1] for name in names)) | COMMON_LABELS
    for labels in grouped:
        assert set(re.findall(r"\w+", labels)) <= known, origin


@pytest.mark.parametrize("origin, query", list(queries()))
def test_each_rate_is_of_a_counter_or_histogram(origin, query):
    for name in re.findall(r"\b(?:rate|increase)\((\w+)", query):
        assert SERIES[name][0] in ("counter", "histogram"), origin
    for name in re.findall(r"\bhistogram_quantile\([\d.]+,\s*sum by \([^)]*\ble\b[^)]*\) \(rate\((\w+)", query):
        assert name.endswith("_bucket"), origin


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_each_alert_has_a_severity_a_summary_and_a_description(rule):
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["annotations"].keys() == {"summary", "description"}
    text = " ".join(rule["annotations"].values())
    for label in re.findall(r"\$labels\.(\w+)", text):
        assert re.search(rf"\b{label}\b", rule["expr"]) or any(
            label in labels | COMMON_LABELS for name, (_, labels) in SERIES.items() if name in rule["expr"]
        )
    for name in re.findall(r"\b(?:privyseal|process)_\w+", text):
        assert name in METRICS


def test_the_documentation_has_each_metric_once_with_its_type_and_labels():
    row = re.compile(r"^\| `(\w+)` \| (\w+) \|([^|]*)\| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
    rows = row.findall((OPERATIONS / "metrics.md").read_text())
    assert len(rows) == len(METRICS)
    documented = {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels, _, _ in rows}
    assert documented == METRICS


def test_every_metric_is_on_the_dashboard():
    named = set(re.findall(r"\w+", json.dumps(dashboard())))
    assert not [name for name, (kind, _) in METRICS.items() if name + "_bucket" * (kind == "histogram") not in named]


def test_the_dashboard_can_be_imported():
    content = dashboard()
    assert content["schemaVersion"] >= 38 and content["title"] and content["uid"]
    assert "id" not in content
    panels = content["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    rows = [panel["title"] for panel in panels if panel["type"] == "row"]
    assert rows == ["Traffic", "Latency", "Tokens and keys", "Clients and limits", "Audit log", "Process"]
    taken = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert all(x < 24 for x, _ in cells) and not cells & taken, panel["title"]
        taken |= cells
        for target in panel.get("targets", []):
            assert target["datasource"]["uid"] == panel["datasource"]["uid"] == "${datasource}"
    assert content["templating"]["list"][0]["type"] == "datasource"
