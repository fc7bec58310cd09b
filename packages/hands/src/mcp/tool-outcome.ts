import { Fault, isObject, MOUNT_LIMITS } from "@vidro/core";
import type { Json, JsonObject, Outcome } from "@vidro/core";

/** The outcome of a call from its result; throws TOOL_FAILED when the server says that the call failed. */
export function outcomeOfResult({ content, structuredContent, isError }: JsonObject): Outcome {
  const parts = Array.isArray(content) ? content.map((part: Json) => partText(part)) : [];
  const hasData =
    structuredContent !== undefined && JSON.stringify(structuredContent).length <= MOUNT_LIMITS.resultChars;
  const whole = parts.length === 0 && hasData ? JSON.stringify(structuredContent) : parts.join("\n");
  const cut = whole.length - MOUNT_LIMITS.resultChars;
  const text = cut > 0 ? `${whole.slice(0, MOUNT_LIMITS.resultChars)}\n[${cut} more characters were cut]` : whole;
  if (isError === true) throw new Fault("TOOL_FAILED", text.slice(0, FAULT_CHARS) || "The server says that it failed.");
  return { kind: "value", text, ...(hasData ? { data: structuredContent } : {}) };
}

const FAULT_CHARS = 8000;

/** A part of a result as text: what is no text is named with its size. */
function partText(part: Json): string {
  if (!isObject(part)) return "";
  const { type, text, data, mimeType, uri, resource } = part;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource_link") return `[resource ${wordOf(uri)}]`;
  if (type === "resource" && isObject(resource))
    return typeof resource["text"] === "string" ? resource["text"] : `[resource ${wordOf(resource["uri"])}]`;
  const size = typeof data === "string" ? `, ${Buffer.byteLength(data, "base64")} bytes` : "";
  return `[${wordOf(type)} ${wordOf(mimeType)}${size}]`;
}

const WORD_CHARS = 500;

function wordOf(value: Json | undefined): string {
  return typeof value === "string" ? value.slice(0, WORD_CHARS) : "unnamed";
}
