"""The metrics listener's answer, checked by Prometheus' own tool."""

import subprocess

import requests

from conftest import BUNDLE_ID


def scrape(gateway):
    answer = requests.get(f"{gateway.metrics_url}/metrics", timeout=10)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return answer.text


def test_promtool_accepts_the_metrics_of_a_gateway_that_has_signed(gateway):
    path = f"{gateway.url}/v1/apps/{BUNDLE_ID}/promotional-offer"
    assert gateway.http.post(path, json={"productId": "p", "offerIdentifier": "o"}, timeout=10).status_code == 200
    assert gateway.http.post(path, json={}, timeout=10).status_code == 422
    assert requests.post(path, json={}, timeout=10).status_code == 401
    text = scrape(gateway)
    check = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=30)
    assert (check.returncode, check.stdout + check.stderr) == (0, "")
    for name in ("requests_total", "request_duration_seconds", "http_responses_total", "unauthenticated_total", "keys"):
        assert f"# HELP privyseal_{name} " in text


def test_no_metric_names_a_product_an_offer_or_a_token(gateway):
    path = f"{gateway.url}/v1/apps/{BUNDLE_ID}/promotional-offer"
    body = {"productId": "com.example.remarkable", "offerIdentifier": "remarkable-offer"}
    assert gateway.http.post(path, json=body, timeout=10).status_code == 200
    text = scrape(gateway)
    assert "remarkable" not in text
    assert gateway.token not in text
