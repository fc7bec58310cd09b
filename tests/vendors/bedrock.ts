import { createHash, createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { crc32 } from "node:zlib";
import type { JsonObject } from "@vidro/core";
import type { FakeRequest } from "../support/fake-openai.ts";
import { PACKAGES } from "./packages.ts";
import { ANSWER, fileOf, list, PARALLEL_STEP, STEPS, textOf, unknownField } from "./vendor.ts";
import type { Refusal, Vendor } from "./vendor.ts";

/* Converse of Bedrock: signed requests, and events in frames with checksums. */

const MODEL = "anthropic.claude-opus-5-5-v1:0";
const PATH = `/model/${encodeURIComponent(MODEL)}/converse-stream`;
const [KEY_ID, SECRET, SESSION] = ["AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session-token-1"];
const [REGION, SERVICE] = ["eu-west-1", "bedrock"];

const refuse = (message: string, status = 400): Refusal => ({ status, body: { message } });

const FIELDS =
  "messages system inferenceConfig toolConfig additionalModelRequestFields additionalModelResponseFieldPaths requestMetadata";
const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const thoughtOf = (step: number): string => `Step ${step}: look at ${fileOf(step)}.`;
const signatureOf = (step: number): string => Buffer.from(`signed ${step}`).toString("base64");

function bedrockWith(name: string, env: { readonly [name: string]: string }, admit: Vendor["admit"]): Vendor {
  return {
    name,
    streamType: "application/vnd.amazon.eventstream",
    env: (url) => ({
      VIDRO_MODEL: `bedrock/${MODEL}`,
      AWS_REGION: REGION,
      BEDROCK_BASE_URL: url.replace(/\/v1$/, ""),
      VIDRO_VENDOR_PACKAGES: PACKAGES,
      ...env,
    }),
    admit: (request) =>
      request.path === PATH ? admit?.(request) : refuse(`<UnknownOperationException/> ${request.path}`, 404),
    refuse: refuseBody,
    prefix: ({ system, toolConfig, messages }) => ({ fixed: [system, toolConfig], growing: list(messages) }),
    repliesIn: (body) => list(body["messages"]).filter(({ role }) => role === "assistant").length,
    reply(response, _body, step) {
      for (const [type, event] of eventsOf(step)) response.write(frameOf(type, event));
    },
  };
}

/** Bedrock with keys of AWS: the signature of each request is computed anew and compared. */
export const bedrock = bedrockWith(
  "bedrock with a signature",
  { AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET, AWS_SESSION_TOKEN: SESSION },
  refuseSignature,
);

/** The same with credentials that a command prints as a `credential_process` does. */
export const bedrockProcess = bedrockWith(
  "bedrock with a credential process",
  {
    VIDRO_MODEL_KEY_COMMAND: `printf %s '${JSON.stringify({ Version: 1, AccessKeyId: KEY_ID, SecretAccessKey: SECRET, SessionToken: SESSION })}'`,
  },
  refuseSignature,
);

/** Bedrock with a key of its own. */
export const bedrockBearer = bedrockWith(
  "bedrock with a bearer token",
  { AWS_BEARER_TOKEN_BEDROCK: "bedrock-api-key-1" },
  ({ headers }) =>
    headers.authorization === "Bearer bedrock-api-key-1"
      ? undefined
      : refuse("Authentication failed: Please make sure your API Key is valid.", 403),
);

function refuseBody(body: JsonObject): Refusal | undefined {
  const unknown = unknownField(body, FIELDS);
  if (unknown !== undefined) return refuse(`Unknown field ${unknown}`);
  const messages = list(body["messages"]);
  let step = 0;
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== (index % 2 === 0 ? "user" : "assistant"))
      return refuse("A conversation must alternate between user and assistant roles.");
    const blocks = list(content);
    if (blocks.length === 0) return refuse(`The content field in the Message object at messages.${index} is empty.`);
    if (role !== "assistant") continue;
    step += 1;
    const reasoning = (blocks[0]?.["reasoningContent"] ?? {}) as { readonly reasoningText?: JsonObject };
    const { text, signature } = reasoning.reasoningText ?? {};
    if (text !== thoughtOf(step) || signature !== signatureOf(step))
      return refuse("messages: Expected `thinking` with its signature in the first block of the assistant's message");
    const calls = blocks.flatMap(({ toolUse }) => (toolUse === undefined ? [] : [toolUse as JsonObject]));
    if (calls.some(({ toolUseId }) => !ID.test(textOf(toolUseId)))) return refuse("toolUseId has a wrong form");
    const answers = list(messages[index + 1]?.["content"]).flatMap(({ toolResult }) =>
      toolResult === undefined ? [] : [(toolResult as JsonObject)["toolUseId"]],
    );
    if (answers.length !== calls.length || calls.some(({ toolUseId }) => !answers.includes(toolUseId)))
      return refuse("Expected toolResult blocks for the toolUse blocks of the previous turn");
  }
  return undefined;
}

/** Signature Version 4, computed as AWS documents it; undefined when the request carries the same one. */
function refuseSignature({ path, headers, raw }: FakeRequest): Refusal | undefined {
  const [, keyId, day, region, service, names = "", signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    ) ?? [];
  if (keyId !== KEY_ID || day === undefined)
    return refuse("The security token included in the request is invalid.", 403);
  if (region !== REGION || service !== SERVICE)
    return refuse(`Credential should be scoped to ${REGION}/${SERVICE}.`, 403);
  if (headers["x-amz-security-token"] !== SESSION) return refuse("The security token is missing.", 403);
  const signed = names.split(";");
  if (!["host", "x-amz-date", "x-amz-security-token"].every((name) => signed.includes(name)))
    return refuse("'Host', 'X-Amz-Date' and the token must be signed headers.", 403);
  const expected = signatureFor({ path, headers, raw, signed, day });
  return expected === signature
    ? undefined
    : refuse("The request signature we calculated does not match the signature you provided.", 403);
}

interface SignedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly signed: readonly string[];
  readonly day: string;
}

function signatureFor({ path, headers, raw, signed, day }: SignedRequest): string {
  const time = textOf(headers["x-amz-date"]);
  // All services but S3 encode each part of the path once more.
  const place = path
    .split("/")
    .map((part) => encodeURIComponent(part))
    .join("/");
  const lines = signed.map((name) => `${name}:${textOf(headers[name]).trim()}\n`).join("");
  const canonical = ["POST", place, "", lines, signed.join(";"), sha256(raw)].join("\n");
  const scope = `${day}/${REGION}/${SERVICE}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [day, REGION, SERVICE, "aws4_request"].reduce<Buffer | string>(
    (secret, word) => createHmac("sha256", secret).update(word).digest(),
    `AWS4${SECRET}`,
  );
  return createHmac("sha256", key).update(toSign).digest("hex");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function eventsOf(step: number): readonly (readonly [type: string, event: JsonObject])[] {
  const isLast = step > STEPS;
  const call = (contentBlockIndex: number, toolUseId: string): (readonly [string, JsonObject])[] => {
    const input = JSON.stringify({ file_path: fileOf(step) });
    return [
      ["contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId, name: "read_file" } } }],
      ["contentBlockDelta", { contentBlockIndex, delta: { toolUse: { input: input.slice(0, 5) } } }],
      ["contentBlockDelta", { contentBlockIndex, delta: { toolUse: { input: input.slice(5) } } }],
      ["contentBlockStop", { contentBlockIndex }],
    ];
  };
  const delta = (contentBlockIndex: number, said: JsonObject): readonly [string, JsonObject] => [
    "contentBlockDelta",
    { contentBlockIndex, delta: said },
  ];
  return [
    ["messageStart", { role: "assistant" }],
    delta(0, { reasoningContent: { text: thoughtOf(step) } }),
    delta(0, { reasoningContent: { signature: signatureOf(step) } }),
    ["contentBlockStop", { contentBlockIndex: 0 }],
    ...(isLast
      ? [delta(1, { text: ANSWER }), ["contentBlockStop", { contentBlockIndex: 1 }] as const]
      : call(1, `tooluse_${step}`)),
    ...(step === PARALLEL_STEP ? call(2, `tooluse_${step}b`) : []),
    ["messageStop", { stopReason: isLast ? "end_turn" : "tool_use" }],
    ["metadata", { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 }, metrics: { latencyMs: 1 } }],
  ];
}

/** An event in a frame of AWS: lengths with their checksum, headers, the payload, and a checksum of it all. */
function frameOf(type: string, event: JsonObject): Buffer {
  const text = (name: string, value: string): Buffer => {
    const size = Buffer.alloc(2);
    size.writeUInt16BE(Buffer.byteLength(value));
    return Buffer.concat([
      Buffer.from([Buffer.byteLength(name)]),
      Buffer.from(name),
      Buffer.from([7]),
      size,
      Buffer.from(value),
    ]);
  };
  const headers = Buffer.concat([
    text(":event-type", type),
    text(":content-type", "application/json"),
    text(":message-type", "event"),
  ]);
  const payload = Buffer.from(JSON.stringify(event));
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value >>> 0);
    return bytes;
  };
  const lengths = Buffer.concat([number(16 + headers.length + payload.length), number(headers.length)]);
  const body = Buffer.concat([lengths, number(crc32(lengths)), headers, payload]);
  return Buffer.concat([body, number(crc32(body))]);
}
