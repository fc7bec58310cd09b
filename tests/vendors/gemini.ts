import type { JsonObject } from "@vidro/core";
import { ANSWER, fileOf, list, send, STEPS } from "./vendor.ts";
import type { Refusal, Vendor } from "./vendor.ts";

const refuse = (message: string): Refusal => ({
  status: 400,
  body: { error: { code: 400, message, status: "INVALID_ARGUMENT" } },
});

const signatureOf = (step: number): string => Buffer.from(`thought ${step}`).toString("base64");

/** generateContent: each call comes back with its own thought signature, and with as many responses as calls. */
export const gemini: Vendor = {
  name: "gemini",
  env: (url) => ({
    VIDRO_MODEL: "google/gemini-3.8-flash",
    GEMINI_API_KEY: "x",
    GOOGLE_GEMINI_BASE_URL: url.replace("/v1", "/v1beta"),
  }),

  refuse(body) {
    const contents = list(body["contents"]);
    let step = 0;
    for (const [index, { role, parts }] of contents.entries()) {
      if (role !== (index % 2 === 0 ? "user" : "model"))
        return refuse("Please ensure that roles alternate between user and model.");
      const calls = list(parts).filter(({ functionCall }) => functionCall !== undefined);
      if (role !== "model" || calls.length === 0) continue;
      step += 1;
      const signature = calls[0]?.["thoughtSignature"];
      if (signature === undefined)
        return refuse(`Function call is missing a thought_signature in functionCall parts, position ${index}`);
      if (signature !== signatureOf(step)) return refuse("Corrupted thought signature.");
      const answers = list(contents[index + 1]?.["parts"]).filter((part) => part["functionResponse"] !== undefined);
      if (answers.length !== calls.length)
        return refuse(
          "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        );
    }
    return undefined;
  },

  repliesIn: (body) => list(body["contents"]).filter(({ role }) => role === "model").length,

  reply(response, _body, step) {
    const isLast = step > STEPS;
    const part: JsonObject = isLast
      ? { text: ANSWER }
      : {
          functionCall: { name: "read_file", args: { file_path: fileOf(step) } },
          thoughtSignature: signatureOf(step),
        };
    send(response, [
      {
        candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 18, thoughtsTokenCount: 3 },
        modelVersion: "gemini-3.8-flash",
      },
    ]);
  },
};
