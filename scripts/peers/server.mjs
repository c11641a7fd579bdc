// What an app would run without PrivySeal: a JWS for promotional offers from Node's own crypto. For scripts/bench --peers.
//
//   node server.mjs --key FILE --port PORT           reads and parses the key for each request, as Apple's example does
//   node server.mjs --key FILE --port PORT --cache   reads it once
import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const options = Object.fromEntries(
  process.argv.slice(2).flatMap((word, index, words) => (word.startsWith("--") ? [[word.slice(2), words[index + 1]]] : [])),
);
const isCached = process.argv.includes("--cache");
const readKey = () => createPrivateKey(readFileSync(options.key));
const cached = isCached ? readKey() : null;

const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const header = encode({ alg: "ES256", kid: "2X9R4HXF34", typ: "JWT" });

function answer(request) {
  const payload = {
    aud: "promotional-offer",
    bid: "com.example.app",
    iat: Math.floor(Date.now() / 1000),
    iss: "57246542-96fe-1a63-e053-0824d011072a",
    nonce: randomUUID(),
    offerIdentifier: request.offerIdentifier,
    productId: request.productId,
    transactionId: request.transactionId,
  };
  const input = `${header}.${encode(payload)}`;
  const signature = sign("sha256", Buffer.from(input), { key: cached ?? readKey(), dsaEncoding: "ieee-p1363" });
  return JSON.stringify({ jws: `${input}.${signature.toString("base64url")}` });
}

createServer((request, response) => {
  if (request.url === "/readyz") return response.end("{}");
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    response.setHeader("Content-Type", "application/json");
    response.end(answer(JSON.parse(Buffer.concat(chunks))));
  });
}).listen(Number(options.port), "127.0.0.1");
