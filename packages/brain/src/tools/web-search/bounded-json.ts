import { Fault } from "@vidro/core";
import type { Json } from "@vidro/core";

/** The JSON of a response; throws TOOL_FAILED when it is longer than the bound or no JSON. */
export async function readBoundedJson(response: Response, bytes: number): Promise<Json> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > bytes) throw new Fault("TOOL_FAILED", `The answer is longer than ${bytes} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  try {
    return JSON.parse(text + decoder.decode()) as Json;
  } catch (cause) {
    throw new Fault("TOOL_FAILED", "The answer is no JSON.", { cause });
  }
}
