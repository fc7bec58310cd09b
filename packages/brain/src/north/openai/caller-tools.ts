import { CHAT_LIMITS, Fault } from "@vidro/core";
import type { CallerName, JsonObject, ToolChoice, ToolSpec } from "@vidro/core";
import { toolName } from "./tool-names.ts";

/* The tools that a caller brings, and which of them is to be called; the same for all its wires. */

/** A tool of a caller, and where the request has it. */
export interface CallerTool extends CallerName {
  readonly description?: string | null;
  /** JSON Schema of its input; absent for a tool that takes text. */
  readonly parameters?: JsonObject | null;
  /** The model's server is to hold each input to the schema. */
  readonly strict?: boolean | null;
  readonly path: string;
}

/** The tools of a caller as tools of a run; their schemas are shown to models and never compiled. */
export function toolSpecs(offered: readonly CallerTool[]): readonly ToolSpec[] {
  const tools = offered.map(specOf);
  const twice = tools.findIndex(({ name }, index) => tools.findIndex((tool) => tool.name === name) !== index);
  if (twice !== -1)
    throw refusalAt(
      `Two functions are named ${tools[twice]?.name}: leave one of them out.`,
      offered[twice]?.path ?? "",
    );
  return tools;
}

const INPUT: JsonObject = {
  type: "object",
  properties: { input: { type: "string", description: "The text that the tool takes." } },
  required: ["input"],
};

function specOf({ path, description, parameters, strict, ...called }: CallerTool): ToolSpec {
  const schema = called.custom === true ? INPUT : (parameters ?? { type: "object", properties: {} });
  if (JSON.stringify(schema).length > CHAT_LIMITS.schemaChars)
    throw new Fault(
      "PAYLOAD_TOO_LARGE",
      `The parameters of ${called.name} have more than ${CHAT_LIMITS.schemaChars} characters.`,
      { detail: { path } },
    );
  const name = toolName(called.name, called.namespace);
  const isPlain = name === called.name && called.custom !== true;
  return {
    name,
    description: description ?? "",
    parameters: schema,
    idempotent: false,
    caller: true,
    ...(typeof strict === "boolean" ? { strict } : {}),
    ...(isPlain ? {} : { called }),
  };
}

/** The tools of a request, and what the model must or must not call. */
export interface ToolOffer {
  readonly callerTools: readonly ToolSpec[];
  readonly choice: ToolChoice | undefined;
}

/** A choice of some tools of the caller: only those are offered, and with `required` one of them is called. */
export function allowedTools(
  tools: readonly ToolSpec[],
  { mode, names }: { readonly mode: unknown; readonly names: readonly string[] },
): ToolOffer {
  const unknown = names.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown !== undefined)
    throw refusalAt(`The tool ${unknown} is allowed, but it is not among the tools.`, "/tool_choice");
  return {
    callerTools: tools.filter(({ name }) => names.includes(name)),
    choice: mode === "required" ? "required" : undefined,
  };
}

/** The fault of a request that asks for what does not exist here. */
export function refusalAt(message: string, path: string): Fault {
  return new Fault("BAD_ARGUMENTS", message, { detail: { path } });
}
