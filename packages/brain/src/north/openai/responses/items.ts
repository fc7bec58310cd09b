import { FILE_LIMITS, isObject, textIn } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { refusalAt } from "../caller-tools.ts";
import type { CallerTool } from "../caller-tools.ts";
import type { ChatMessage, SentFile } from "../schema.ts";
import { toolName } from "../tool-names.ts";

/* Items of the responses wire as messages of a conversation, and its tools as tools of a caller. */

/** The messages of an input; consecutive items of the assistant are one message, as calls belong to what was said. */
export function inputMessages(input: Json | undefined): readonly ChatMessage[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  const messages: ChatMessage[] = [];
  for (const [index, item] of (Array.isArray(input) ? (input as readonly Json[]) : []).entries()) {
    const path = `/input/${index}`;
    const message = messageOf(isObject(item) ? item : {}, path);
    const last = messages.at(-1);
    if (message === undefined) continue;
    if (message.role !== "assistant" || last?.role !== "assistant") messages.push(message);
    else messages[messages.length - 1] = joinMessages(last, message);
  }
  return messages;
}

const ROLES: readonly string[] = ["user", "assistant", "system", "developer"];

function messageOf(item: JsonObject, path: string): ChatMessage | undefined {
  const { type = "message", role } = item;
  switch (type) {
    case "message":
      if (typeof role !== "string" || !ROLES.includes(role))
        throw refusalAt("The role of a message is user, assistant, system or developer.", `${path}/role`);
      return { role: role as ChatMessage["role"], content: contentOf(item["content"], role, `${path}/content`) };
    case "function_call": {
      const name = toolName(requireField(item, "name", path), textIn(item, "namespace"));
      return messageOfCall({
        id: requireField(item, "call_id", path),
        function: { name, arguments: textIn(item, "arguments") ?? "" },
      });
    }
    case "custom_tool_call": {
      const name = toolName(requireField(item, "name", path), textIn(item, "namespace"));
      return messageOfCall({
        id: requireField(item, "call_id", path),
        custom: { name, input: textIn(item, "input") ?? "" },
      });
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const content = contentText(item["output"], `${path}/output`);
      return { role: "tool", tool_call_id: requireField(item, "call_id", path), content };
    }
    // Thoughts of a model are its vendor's: they come back without signatures, and no vendor takes them so.
    case "reasoning":
      return undefined;
    default:
      throw refusalAt(`Items of the type ${JSON.stringify(type)} are not understood here.`, `${path}/type`);
  }
}

function messageOfCall(call: NonNullable<ChatMessage["tool_calls"]>[number]): ChatMessage {
  return { role: "assistant", content: null, tool_calls: [call] };
}

function joinMessages(one: ChatMessage, other: ChatMessage): ChatMessage {
  const words = [one.content, other.content].flatMap((text) => (typeof text === "string" && text !== "" ? [text] : []));
  return {
    role: "assistant",
    content: words.length === 0 ? null : words.join("\n\n"),
    tool_calls: [...(one.tool_calls ?? []), ...(other.tool_calls ?? [])],
  };
}

function requireField(item: JsonObject, field: string, path: string): string {
  const value = textIn(item, field);
  if (value === undefined || value === "") throw refusalAt(`An item of this type needs ${field}.`, `${path}/${field}`);
  return value;
}

/** The content of a message: text, and images and files of the user. */
function contentOf(content: Json | undefined, role: string, path: string): NonNullable<ChatMessage["content"]> {
  const parts: readonly Json[] = Array.isArray(content) ? content : [];
  const isOf = (type: string, part: Json): part is JsonObject => isObject(part) && part["type"] === type;
  const isFile = (part: Json): boolean => isOf("input_image", part) || isOf("input_file", part);
  if (role !== "user" || !parts.some(isFile)) return contentText(content, path);
  return parts.map((part, at) => {
    if (isOf("input_file", part)) return { type: "file", file: fileIn(part, `${path}/${at}`) };
    if (!isOf("input_image", part)) return { type: "text", text: contentText([part], path) };
    const url = textIn(part, "image_url");
    if (url === undefined) throw refusalAt("An image needs its image_url, a data: address.", `${path}/${at}`);
    return { type: "image_url", image_url: { url } };
  });
}

function fileIn(part: JsonObject, path: string): SentFile {
  const [data, filename] = [textIn(part, "file_data"), textIn(part, "filename")];
  if (data === undefined) throw refusalAt("A file needs its file_data, a data: address.", path);
  return { file_data: data, ...(filename === undefined ? {} : { filename: filename.slice(-FILE_LIMITS.nameChars) }) };
}

const TEXT_PARTS: readonly unknown[] = ["input_text", "output_text", "text", "summary_text"];

function contentText(content: Json | undefined, path: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw refusalAt("Content is text, or a list of parts.", path);
  return (content as readonly Json[])
    .map((part) => {
      const { type, text, refusal } = isObject(part) ? part : {};
      if (TEXT_PARTS.includes(type) && typeof text === "string") return text;
      if (type === "refusal" && typeof refusal === "string") return refusal;
      throw refusalAt(`Only parts with text are understood here, not ${JSON.stringify(type)}.`, path);
    })
    .join("");
}

/** The tools of a request, and the types of those that are left out. */
interface ResponseTools {
  readonly offered: readonly CallerTool[];
  readonly leftOut: readonly string[];
}

/**
 * The tools that a caller brings. A web search of the vendor is a permission to its own model, which this brain cannot
 * give: it is left out, and the answer says so. Any other tool that the vendor would run is refused.
 */
export function responseTools(tools: Json | undefined): ResponseTools {
  const offered: CallerTool[] = [];
  const leftOut: string[] = [];
  for (const [index, tool] of (Array.isArray(tools) ? (tools as readonly Json[]) : []).entries()) {
    const path = `/tools/${index}`;
    const { type } = isObject(tool) ? tool : {};
    if (typeof type === "string" && type.startsWith("web_search")) leftOut.push(type);
    else offered.push(...offeredBy(isObject(tool) ? tool : {}, path));
  }
  return { offered, leftOut };
}

function offeredBy(tool: JsonObject, path: string): readonly CallerTool[] {
  const { type, tools } = tool;
  if (type === "function" || type === "custom") return [offeredTool(tool, path)];
  if (type !== "namespace" || !Array.isArray(tools))
    throw refusalAt(`A tool is a function, a custom tool or a namespace of them, not ${JSON.stringify(type)}.`, path);
  const namespace = requireField(tool, "name", path);
  return (tools as readonly Json[]).map((each, index) => ({
    ...offeredTool(isObject(each) ? each : {}, `${path}/tools/${index}`),
    namespace,
  }));
}

function offeredTool(tool: JsonObject, path: string): CallerTool {
  const { parameters, strict, type } = tool;
  return {
    name: requireField(tool, "name", path),
    description: textIn(tool, "description") ?? "",
    ...(isObject(parameters) ? { parameters } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
    ...(type === "custom" ? { custom: true as const } : {}),
    path,
  };
}
