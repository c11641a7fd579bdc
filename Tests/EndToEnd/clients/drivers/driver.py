"""Calls the client for a test: one call for each line of standard input, as JSON."""

import concurrent.futures
import json
import sys

sys.path.insert(0, sys.argv[1])
import privyseal  # noqa: E402

url, token_file, ca_file, timeout, max_wait, max_answer_bytes = sys.argv[2:]
client = privyseal.Client(url, token_file, ca_file, float(timeout), float(max_wait), int(max_answer_bytes))


def answer(call):
    if call["call"] == "offer":
        return client.offer(call["bundleId"], call["feature"], call["fields"])
    if call["call"] == "appToken":
        return client.app_token(call["bundleId"])
    return client.service_token(call["name"], call["fields"])


def result(call):
    try:
        return {"answer": answer(call)}
    except Exception as error:
        kinds = {privyseal.Problem: "problem", privyseal.InvalidAnswer: "answer", privyseal.NoAnswer: "connection"}
        found = {"error": kinds.get(type(error), "other"), "message": str(error)}
        if isinstance(error, privyseal.Problem):
            found.update(type=error.type, title=error.title, status=error.status, detail=error.detail)
            found.update(field=error.field or "", requestId=error.request_id)
        return found


with client:
    for line in sys.stdin:
        call = json.loads(line)
        with concurrent.futures.ThreadPoolExecutor(call["callers"]) as callers:
            print(json.dumps(list(callers.map(result, [call] * call["callers"]))), flush=True)
