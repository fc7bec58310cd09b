import { createHash } from "node:crypto";
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";

/** What Mistral takes as the id of a call. */
const ID = /^[A-Za-z0-9]{9}$/;
const ID_CHARS = 9;

/**
 * The prompt in the form that Mistral takes: ids of calls have nine letters and digits, and a message of a person does
 * not follow a result at once.
 */
export function mistralPrompt(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.flatMap((message, index) => {
    const shaped = withShortIds(message);
    const isBetween = message.role === "user" && prompt[index - 1]?.role === "tool";
    return isBetween ? [{ role: "assistant", content: [{ type: "text", text: "Noted." }] }, shaped] : [shaped];
  });
}

function withShortIds(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role === "assistant") return { ...message, content: message.content.map(withShortId) };
  return message.role === "tool" ? { ...message, content: message.content.map(withShortId) } : message;
}

function withShortId<Part extends object>(part: Part): Part {
  if (!("toolCallId" in part) || typeof part.toolCallId !== "string" || ID.test(part.toolCallId)) return part;
  return { ...part, toolCallId: shortId(part.toolCallId) };
}

/** The same nine letters and digits for the same id. */
function shortId(id: string): string {
  const letters = createHash("sha256").update(id).digest("base64url").replaceAll(/[-_]/g, "");
  return letters.slice(0, ID_CHARS);
}
