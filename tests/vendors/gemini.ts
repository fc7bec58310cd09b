import { isObject } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { imageRefusal, ANSWER, fileOf, list, PARALLEL_STEP, pdfRefusal, send, STEPS, unknownField } from "./vendor.ts";
import type { Refusal, Vendor } from "./vendor.ts";

const refuse = (message: string): Refusal => ({
  status: 400,
  body: { error: { code: 400, message, status: "INVALID_ARGUMENT" } },
});

const FIELDS = "contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent labels";

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
    const unknown = unknownField(body, FIELDS);
    if (unknown !== undefined) return refuse(`Invalid JSON payload received. Unknown name "${unknown}"`);
    const { thinkingConfig = {} } = (body["generationConfig"] ?? {}) as { readonly thinkingConfig?: JsonObject };
    if (thinkingConfig["thinkingLevel"] === "minimal" || thinkingConfig["thinkingBudget"] !== undefined)
      return refuse("Thinking level is not supported for this model.");
    const contents = list(body["contents"]);
    let step = 0;
    for (const [index, { role, parts }] of contents.entries()) {
      if (role !== (index % 2 === 0 ? "user" : "model"))
        return refuse("Please ensure that roles alternate between user and model.");
      const inResults = list(parts).flatMap(({ functionResponse = {} }) =>
        list((functionResponse as JsonObject)["parts"]),
      );
      for (const { inlineData } of [...list(parts), ...inResults]) {
        if (inlineData === undefined) continue;
        const { mimeType, data, ...rest } = inlineData as JsonObject;
        const refusal = mimeType === "application/pdf" ? pdfRefusal : imageRefusal;
        const why = Object.keys(rest).length > 0 ? "Unknown name in inline_data" : refusal(mimeType, data);
        if (why !== undefined) return refuse(why);
      }
      const calls = list(parts).filter(({ functionCall }) => functionCall !== undefined);
      if (role !== "model" || calls.length === 0) continue;
      step += 1;
      const signature = calls[0]?.["thoughtSignature"];
      if (signature === undefined)
        return refuse(`Function call is missing a thought_signature in functionCall parts, position ${index}`);
      if (signature !== signatureOf(step)) return refuse("Corrupted thought signature.");
      if (calls.slice(1).some((part) => part["thoughtSignature"] !== undefined))
        return refuse("Corrupted thought signature: a parallel call had none.");
      const answers = list(contents[index + 1]?.["parts"]).filter((part) => part["functionResponse"] !== undefined);
      const isObjectEach = answers.every(({ functionResponse }) =>
        isObject((functionResponse as JsonObject)["response"]),
      );
      if (!isObjectEach) return refuse("Invalid value at functionResponse.response: it is no Struct");
      if (answers.length !== calls.length)
        return refuse(
          "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        );
    }
    return undefined;
  },

  prefix: ({ systemInstruction, tools, contents }) => ({
    fixed: [systemInstruction, tools],
    growing: list(contents),
  }),

  repliesIn: (body) => list(body["contents"]).filter(({ role }) => role === "model").length,

  reply(response, _body, step) {
    const isLast = step > STEPS;
    const call = (more: JsonObject = {}): JsonObject => ({
      functionCall: { name: "read_file", args: { file_path: fileOf(step) } },
      ...more,
    });
    const signed = call({ thoughtSignature: signatureOf(step) });
    // Of parallel calls only the first is signed.
    const said: readonly JsonObject[] = isLast
      ? [{ text: ANSWER }]
      : step === PARALLEL_STEP
        ? [signed, call()]
        : [signed];
    const parts = [{ text: `Now ${fileOf(step)}.`, thought: true }, ...said];
    send(response, [
      {
        candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 18, thoughtsTokenCount: 3 },
        modelVersion: "gemini-3.8-flash",
      },
    ]);
  },
};
