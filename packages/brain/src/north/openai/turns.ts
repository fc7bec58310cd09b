import { Fault, isObject } from "@vidro/core";
import type { FilePart, JsonObject, Turn } from "@vidro/core";
import { fileOfDataUrl, filesField } from "../../run/task-files.ts";
import { readSentPdf } from "./file-text.ts";
import type { ChatCall, ChatMessage, ContentPart } from "./schema.ts";
import { toolName } from "./tool-names.ts";

const IMAGE = "image_url";
const FILE = "file";

/** A call in a message, with the id that pairs it with its result. */
interface IdentifiedCall extends ChatCall {
  readonly id: string;
}

/** The text of a message, with that of its PDFs; BAD_ARGUMENTS for other content than text, or than files of the user. */
export function messageText({ content, role }: ChatMessage, index: number): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  const isTaken = ({ type }: ContentPart): boolean =>
    type === "text" || ((type === IMAGE || type === FILE) && role === "user");
  const other = content.find((part) => !isTaken(part));
  if (other !== undefined) {
    const taken = role === "user" ? "text, image_url and file" : "text";
    const message = `Only parts of type ${taken} are understood here, not ${JSON.stringify(other.type)}.`;
    throw new Fault("BAD_ARGUMENTS", message, { detail: { path: `/messages/${index}/content` } });
  }
  return content
    .map(({ type, text, file }, at) =>
      type === FILE ? readSentPdf(file ?? {}, `/messages/${index}/content/${at}/file`).text : (text ?? ""),
    )
    .join("");
}

/** The images and PDFs of a user's message, as a field of a turn; BAD_ARGUMENTS for one that is not sent along. */
export function messageFiles({ content, role }: ChatMessage, index: number): { readonly files?: readonly FilePart[] } {
  if (typeof content === "string" || !content || role !== "user") return {};
  const files = content.flatMap(({ type, image_url: image, file = {} }, at) => {
    const path = `/messages/${index}/content/${at}`;
    if (type === IMAGE) return [fileOfDataUrl(image?.url ?? "", `${path}/image_url`)];
    return type === FILE ? (readSentPdf(file, `${path}/file`).file ?? []) : [];
  });
  return filesField(files);
}

/**
 * A conversation as turns for a model: each call is followed by its result. A call without a result is left out, and so
 * is a result without a call, since model servers refuse both.
 */
export function messageTurns(messages: readonly ChatMessage[]): readonly Turn[] {
  const answers = answersOf(messages);
  return messages.flatMap((message, index): Turn[] => {
    const text = messageText(message, index);
    if (message.role === "user") return [{ role: "user", text, ...messageFiles(message, index) }];
    if (message.role !== "assistant") return [];
    const answered = callsOf(message, index).filter(({ id }) => answers.has(id));
    const pairs = answered.flatMap(({ id, name, arguments: input }, at): Turn[] => [
      {
        role: "assistant",
        text: at === 0 ? text : "",
        action: { id: "", tool: name, input: inputOf(input), callId: id },
      },
      { role: "tool", callId: id, tool: name, text: answers.get(id) ?? "", failed: false },
    ]);
    return pairs.length > 0 || text === "" ? pairs : [{ role: "assistant", text }];
  });
}

/** The calls of a message, in both forms; the earlier form has no ids, so the index of the message serves as one. */
export function callsOf({ tool_calls, function_call }: ChatMessage, index: number): readonly IdentifiedCall[] {
  if (function_call) return [{ ...function_call, name: toolName(function_call.name), id: `call_${index}` }];
  return (tool_calls ?? []).map(({ id, function: called, custom }) =>
    custom === undefined
      ? { name: toolName(called?.name ?? ""), arguments: called?.arguments ?? "", id }
      : { name: toolName(custom.name), arguments: JSON.stringify({ input: custom.input }), id },
  );
}

/** The input of a call; an empty one when its text is no JSON object. */
export function inputOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function answersOf(messages: readonly ChatMessage[]): ReadonlyMap<string, string> {
  const answers = new Map<string, string>();
  let latest = "";
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant") latest = callsOf(message, index).at(-1)?.id ?? latest;
    if (message.role === "tool" || message.role === "function")
      answers.set(message.tool_call_id ?? latest, messageText(message, index));
  }
  return answers;
}
