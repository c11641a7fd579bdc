// A client of the PrivySeal gateway. It needs only Node.js 18 or later.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { setTimeout as sleep } from "node:timers/promises";

// Shorter than the time after which the gateway closes an idle connection (60 s).
const idleMilliseconds = 30_000;

export class PrivySealError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * An error answer of the gateway (RFC 9457). `field` is the wrong member of the request, or undefined. `retryAfter` is in
 * seconds; undefined if the answer has no Retry-After, and infinite if it is not a number of at most 9 digits.
 */
export class Problem extends PrivySealError {
  constructor(members) {
    super(`the gateway answered ${members.status} ${members.type}: ${members.detail} (request ${members.requestId})`);
    Object.assign(this, members);
  }
}

/** An answer that does not follow the HTTP API. */
export class InvalidAnswer extends PrivySealError {
  constructor(reason, requestId) {
    super(`the answer is invalid: ${reason} (request ${requestId})`);
    Object.assign(this, { reason, requestId });
  }
}

/** An attempt without a complete answer: no connection, a broken one, or a timeout. */
export class NoAnswer extends PrivySealError {}

export class Client {
  #base;
  #agent;
  #transport;
  #tls;
  #options;
  #tokens = new Map();

  /**
   * @param url of the public listener, such as https://gateway.example.com:8443
   * @param tokenFile contains the client's bearer token; read for each request, so the token can be replaced
   * @param caFile trusted certificates in PEM, by default those of Node.js
   * @param timeout milliseconds for each attempt; the gateway's own limit is 10 s
   * @param maxWait the longest Retry-After, in milliseconds, that the client waits for
   */
  constructor({ url, tokenFile, caFile, timeout = 15_000, maxWait = 10_000, maxAnswerBytes = 1 << 20 }) {
    const { protocol, username } = (this.#base = new URL(url));
    if (!["https:", "http:"].includes(protocol) || username || /[?#]/.test(url)) {
      throw new TypeError("the URL must be https://HOST or http://HOST, with an optional port and path");
    }
    this.#transport = protocol === "https:" ? https : http;
    const ca = caFile ? readFileSync(caFile) : undefined;
    if (ca && !ca.includes("-----BEGIN CERTIFICATE-----")) throw new TypeError(`${caFile} contains no certificate in PEM`);
    this.#tls = { ca, minVersion: "TLSv1.2" };
    this.#agent = new this.#transport.Agent({ keepAlive: true, timeout: idleMilliseconds });
    this.#options = { tokenFile, timeout, maxWait, maxAnswerBytes };
  }

  /** The gateway of PRIVYSEAL_URL, PRIVYSEAL_TOKEN_FILE and, if it is set, PRIVYSEAL_CA_FILE. An option replaces its variable. */
  static fromEnvironment(options = {}) {
    const { PRIVYSEAL_URL, PRIVYSEAL_TOKEN_FILE, PRIVYSEAL_CA_FILE } = process.env;
    const { url = PRIVYSEAL_URL, tokenFile = PRIVYSEAL_TOKEN_FILE, caFile = PRIVYSEAL_CA_FILE } = options;
    for (const [value, name] of [[url, "PRIVYSEAL_URL"], [tokenFile, "PRIVYSEAL_TOKEN_FILE"]]) {
      if (!value) throw new TypeError(`the environment variable ${name} is not set`);
    }
    return new Client({ ...options, url, tokenFile, caFile });
  }

  /** The answer of a feature, with the members of docs/http-api.md. */
  async offer(bundleId, feature, fields) {
    const path = `/v1/apps/${encodeURIComponent(bundleId)}/${encodeURIComponent(feature)}`;
    return (await this.#post(path, JSON.stringify(fields), offers[feature] ?? {})).answer;
  }

  /** A token for the App Store Server API. */
  appToken(bundleId) {
    return this.#token(`/v1/apps/${encodeURIComponent(bundleId)}/app-store-server-api`, "{}");
  }

  /** A token for a service of the gateway's configuration. */
  serviceToken(name, fields = {}) {
    return this.#token(`/v1/services/${encodeURIComponent(name)}/token`, JSON.stringify(fields));
  }

  async #token(path, body) {
    for (const [key, { received }] of this.#tokens) if (received && isOver(received)) this.#tokens.delete(key);
    const key = `${path}\n${body}`;
    const known = this.#tokens.get(key);
    if (known) {
      const received = await known.promise;
      // If Apple wants a new token for each request, only the caller that asked may use this one.
      return { ...(isOver(received) ? await this.#post(path, body, token) : received).answer };
    }
    const entry = { promise: this.#post(path, body, token) };
    this.#tokens.set(key, entry);
    try {
      entry.received = await entry.promise;
    } catch (error) {
      this.#tokens.delete(key);
      throw error;
    }
    return { ...entry.received.answer };
  }

  /** The answer, and for a token the end of its use by the monotonic clock. */
  async #post(path, body, members) {
    for (let attempt = 1; ; attempt++) {
      let wait;
      try {
        return await this.#attempt(path, body, members, attempt);
      } catch (error) {
        wait = waitBeforeRetry(error, attempt, this.#options.maxWait);
        if (wait === undefined) throw error;
      }
      await sleep(wait);
    }
  }

  async #attempt(path, body, members, attempt) {
    const { tokenFile, timeout, maxAnswerBytes } = this.#options;
    const authorization = `Bearer ${await readToken(tokenFile)}`;
    const options = {
      ...this.#tls,
      method: "POST",
      path: this.#base.pathname.replace(/\/+$/, "") + path,
      headers: { Authorization: authorization, "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) },
      // The gateway may have closed an idle connection, so a retry does not use one.
      agent: attempt === 1 ? this.#agent : false,
      signal: AbortSignal.timeout(timeout),
    };
    const begun = performance.now();
    let response, content;
    try {
      response = await new Promise((resolve, reject) => {
        // `http` reads no proxy from the environment, and follows no redirect to another server.
        this.#transport.request(this.#base, options, resolve).on("error", reject).end(body);
      });
      content = await readContent(response, maxAnswerBytes);
    } catch (error) {
      if (options.signal.aborted) error = new Error(`no complete answer in ${timeout} ms`);
      throw new NoAnswer(`no answer from the gateway: ${error.message || error.code}`, { cause: error });
    }
    const answer = readAnswer(response, content, members, maxAnswerBytes);
    return { answer, end: members === token ? begun + millisecondsToKeep(answer, response.headers.date) : undefined };
  }
}

/** Milliseconds, or undefined for no retry; as "Retrying" of docs/http-api.md says. */
function waitBeforeRetry(error, attempt, maxWait) {
  if (attempt === 3) return undefined;
  if (error instanceof NoAnswer) return 0;
  const after = error.retryAfter === undefined ? undefined : error.retryAfter * 1000;
  if (!(error instanceof Problem) || after > maxWait || after === Infinity) return undefined;
  // Callers that were refused together must not return together.
  const randomPart = Math.random() * 1000;
  switch (error.status) {
    case 408: return 0;
    case 500: return attempt === 1 ? 0 : undefined;
    case 504: return after ?? 0;
    case 429: return after === undefined ? undefined : after + randomPart;
    // The gateway always sends Retry-After. A proxy may not.
    case 503: return (after ?? 1000) + randomPart;
  }
}

const isOver = ({ answer, end }) => Date.now() >= answer.refreshAfter * 1000 || performance.now() >= end;

/**
 * Compares only times of the gateway, because the clock of this machine may be wrong. `issuedAt` is not enough: the gateway
 * may have issued the token long before this answer.
 */
function millisecondsToKeep({ issuedAt, refreshAfter }, date) {
  // The date is NaN if it is absent or invalid.
  return refreshAfter * 1000 - Math.max(issuedAt * 1000, Date.parse(date) || 0);
}

async function readToken(path) {
  const token = (await readFile(path, "utf8")).trim();
  // RFC 6750 §2.1.
  if (!/^[A-Za-z0-9._~+/=-]+$/.test(token)) throw new TypeError(`${path} does not contain a bearer token`);
  return token;
}

/** The body, or undefined if it has more bytes. */
async function readContent(response, limit) {
  const chunks = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    if ((size += chunk.length) > limit) return undefined;
  }
  return Buffer.concat(chunks);
}

function readAnswer(response, content, members, limit) {
  const requestId = response.headers["x-request-id"];
  if (content === undefined) throw new InvalidAnswer(`it has more than ${limit} bytes`, requestId);
  if (response.statusCode >= 400) throw readProblem(response, content);
  if (response.statusCode !== 200) throw new InvalidAnswer(`its status is ${response.statusCode}`, requestId);
  const value = readObject(content);
  if (!value) throw new InvalidAnswer("it is not a JSON object", requestId);
  for (const [name, [isValid, kind]] of Object.entries(members)) {
    if (!Object.hasOwn(value, name)) throw new InvalidAnswer(`"${name}" is missing`, requestId);
    if (!isValid(value[name])) throw new InvalidAnswer(`"${name}" is not ${kind}`, requestId);
  }
  if (members === token && (value.issuedAt > value.refreshAfter || value.refreshAfter > value.expiresAt)) {
    throw new InvalidAnswer('"issuedAt", "refreshAfter" and "expiresAt" are not in order', requestId);
  }
  return value;
}

function readProblem(response, content) {
  const after = response.headers["retry-after"];
  const members = {
    type: "about:blank", title: "", status: response.statusCode, detail: "", field: undefined,
    requestId: response.headers["x-request-id"],
    retryAfter: after === undefined ? undefined : /^\d{1,9}$/.test(after) ? Number(after) : Infinity,
  };
  // A proxy may answer with another content type. Then only the status is known.
  if (/^application\/problem\+json\s*(;|$)/i.test(response.headers["content-type"])) {
    const document = readObject(content) ?? {};
    for (const name of ["type", "title", "detail", "field", "requestId"]) {
      // RFC 9457 §3.1: a member of the wrong kind is ignored.
      if (typeof document[name] === "string") members[name] = document[name];
    }
  }
  return new Problem(members);
}

function readObject(content) {
  try {
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

// Node.js ignores what it cannot decode, so only a text that encodes to itself is right.
const isEncoded = (encoding) => (text) =>
  typeof text === "string" && text !== "" && Buffer.from(text, encoding).toString(encoding) === text;
const isBase64 = isEncoded("base64");
const isBase64Url = isEncoded("base64url");
const isJws = (text) => typeof text === "string" && text.split(".").length === 3 && text.split(".").every(isBase64Url);

// The required members of an answer: the check of a value, and what the value is.
const text = [(value) => typeof value === "string" && value !== "", "a text that is not empty"];
const time = [(value) => Number.isSafeInteger(value) && value > 0, "a positive integer"];
const nonce = [(value) => typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value), "a UUID in lower case"];
const jws = [isJws, "a JWS in compact serialization"];
const base64 = [isBase64, "padded Base64"];
const token = { token: jws, keyId: text, issuedAt: time, expiresAt: time, refreshAfter: time };
const jwsOffer = { jws, keyId: text, nonce, issuedAt: time };
const offers = {
  "legacy-promotional-offer": { keyIdentifier: text, nonce, timestamp: time, signature: base64 },
  "promotional-offer": jwsOffer,
  "introductory-offer-eligibility": jwsOffer,
  "advanced-commerce-api": { ...jwsOffer, advancedCommerceData: base64 },
  "app-store-server-api": token,
};
