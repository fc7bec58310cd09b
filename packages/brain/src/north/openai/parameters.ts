import { isObject, REASONING_EFFORTS } from "@vidro/core";
import type { AnswerFormat, Json, JsonObject, ReasoningEffort, Sampling } from "@vidro/core";
import { refusalAt } from "./caller-tools.ts";

/*
 * What becomes of each parameter of both endpoints: passed on to the model, acted on, or refused by name. A parameter
 * that is in neither table is refused, too, so that none is dropped in silence.
 */

/** How a parameter is treated; a refusal says why. */
export type ParameterTreatment = "passed" | "acted" | { readonly refused: string };

const COMMON: { readonly [name: string]: ParameterTreatment } = {
  model: "acted",
  stream: "acted",
  tools: "acted",
  tool_choice: "acted",
  parallel_tool_calls: "acted",
  store: "acted",
  temperature: "passed",
  top_p: "passed",
  user: "passed",
  metadata: "passed",
  safety_identifier: "passed",
  prompt_cache_key: "passed",
  prompt_cache_retention: "passed",
  service_tier: "passed",
  stream_options: "acted",
  moderation: { refused: "Nothing is moderated here." },
  prompt_cache_options: { refused: "The cache of the model's server cannot be set from here." },
  top_logprobs: { refused: "Probabilities of tokens are not known here." },
};

/** The parameters of a chat completion. */
export const CHAT_PARAMETERS: { readonly [name: string]: ParameterTreatment } = {
  ...COMMON,
  messages: "acted",
  functions: "acted",
  function_call: "acted",
  n: "acted",
  response_format: "acted",
  modalities: "acted",
  provider: "acted",
  include_reasoning: "acted",
  max_tokens: "passed",
  max_completion_tokens: "passed",
  stop: "passed",
  repeat_penalty: "passed",
  frequency_penalty: "passed",
  presence_penalty: "passed",
  seed: "passed",
  reasoning_effort: "passed",
  verbosity: "passed",
  audio: { refused: "Answers are text." },
  logit_bias: { refused: "Tokens cannot be weighted here." },
  logprobs: { refused: "Probabilities of tokens are not known here." },
  prediction: { refused: "The model's server is not told what the answer may be." },
  web_search_options: { refused: "There is no web search on this wire." },
};

/** The parameters of a response. */
export const RESPONSE_PARAMETERS: { readonly [name: string]: ParameterTreatment } = {
  ...COMMON,
  input: "acted",
  instructions: "acted",
  previous_response_id: "acted",
  conversation: "acted",
  background: "acted",
  include: "acted",
  max_tool_calls: "acted",
  text: "acted",
  truncation: "acted",
  // Marks of one client's own session: they ask for nothing.
  client_metadata: "acted",
  max_output_tokens: "passed",
  reasoning: "passed",
  access_programs: { refused: "There are no access programs here." },
  context_management: { refused: "Long conversations are shortened by themselves." },
  image: { refused: "Only text is understood here." },
  prompt: { refused: "There are no stored prompts here: send `instructions`." },
};

/** Refuses the parameters that nothing is done with. */
export function refuseParameters(body: JsonObject, table: { readonly [name: string]: ParameterTreatment }): void {
  for (const [name, value] of Object.entries(body)) {
    const treatment = Object.hasOwn(table, name) ? table[name] : undefined;
    if (treatment === undefined) throw refusalAt(`There is no parameter ${JSON.stringify(name)} here.`, `/${name}`);
    if (typeof treatment === "object" && !isUnset(value)) throw refusalAt(`${name}: ${treatment.refused}`, `/${name}`);
  }
  const { stream_options: options } = body;
  if (isObject(options) && options["include_obfuscation"] === true)
    throw refusalAt(
      "Streams are not padded here: leave include_obfuscation out.",
      "/stream_options/include_obfuscation",
    );
}

/** Whether a value asks for nothing. */
function isUnset(value: Json | undefined): boolean {
  return value === undefined || value === null || value === false || value === 0;
}

const VENDOR_FIELDS = [
  "user",
  "metadata",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "service_tier",
];

/** The parameters that only the vendor of this wire knows; undefined when there are none. */
export function vendorFields(body: JsonObject): Pick<Sampling, "vendor"> {
  const fields = VENDOR_FIELDS.flatMap((name) => (isUnset(body[name]) ? [] : [[name, body[name]] as const]));
  return fields.length === 0 ? {} : { vendor: Object.fromEntries(fields) };
}

/** How long the model is to think. */
export function effortOf(effort: Json | undefined, path: string): Pick<Sampling, "reasoning"> {
  if (isUnset(effort)) return {};
  const known = REASONING_EFFORTS.find((name) => name === effort);
  if (known === undefined) throw refusalAt(`The effort is one of ${REASONING_EFFORTS.join(", ")}.`, path);
  return { reasoning: known satisfies ReasoningEffort };
}

/** How much the model is to say. */
export function verbosityOf(verbosity: Json | undefined, path: string): Pick<Sampling, "verbosity"> {
  if (isUnset(verbosity)) return {};
  if (typeof verbosity === "string" && ["low", "medium", "high"].includes(verbosity)) return { verbosity };
  throw refusalAt("The verbosity is low, medium or high.", path);
}

/** The form of the answer, from `response_format` or `text.format`; in the former a schema has a field of its own. */
export function formatOf(given: Json | undefined, path: string): Pick<Sampling, "format"> {
  if (isUnset(given)) return {};
  const { type, json_schema: nested } = isObject(given) ? given : {};
  if (type === "text") return {};
  if (type === "json_object") return { format: {} };
  const { schema, name, description } = isObject(nested) ? nested : isObject(given) ? given : {};
  if (type !== "json_schema" || !isObject(schema))
    throw refusalAt("A format is text, json_object, or json_schema with its schema.", path);
  const format: AnswerFormat = {
    schema,
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof description === "string" ? { description } : {}),
  };
  return { format };
}
