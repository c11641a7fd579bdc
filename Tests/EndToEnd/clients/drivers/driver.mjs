// Calls the client for a test: one call for each line of standard input, as JSON.

import { createInterface } from "node:readline";

const [file, url, tokenFile, caFile, timeout, maxWait, maxAnswerBytes] = process.argv.slice(2);
const { Client, Problem, InvalidAnswer, NoAnswer } = await import(file);
const client = new Client({
  url, tokenFile, caFile, timeout: timeout * 1000, maxWait: maxWait * 1000, maxAnswerBytes: Number(maxAnswerBytes),
});

function answer({ call, bundleId, feature, name, fields }) {
  if (call === "offer") return client.offer(bundleId, feature, fields);
  return call === "appToken" ? client.appToken(bundleId) : client.serviceToken(name, fields);
}

async function result(call) {
  try {
    return { answer: await answer(call) };
  } catch (error) {
    const { type, title, status, detail, field = "", requestId, message } = error;
    if (error instanceof Problem) return { error: "problem", type, title, status, detail, field, requestId, message };
    return { error: error instanceof InvalidAnswer ? "answer" : error instanceof NoAnswer ? "connection" : "other", message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line);
  console.log(JSON.stringify(await Promise.all(Array.from({ length: call.callers }, () => result(call)))));
}
