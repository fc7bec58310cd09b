import { Fault, RUN_LIMITS } from "@vidro/core";

/** The most bytes that UTF-8 needs for one character. */
const BYTES_PER_CHAR = 4;

/** The task: the words of the command joined, or stdin when the only word is `-`. */
export async function readTask(words: readonly string[]): Promise<string> {
  return words.length === 1 && words[0] === "-" ? taskFromStdin() : words.join(" ");
}

async function taskFromStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > RUN_LIMITS.taskChars * BYTES_PER_CHAR) {
      throw new Fault("PAYLOAD_TOO_LARGE", `A task has at most ${RUN_LIMITS.taskChars} characters; stdin gave more.`);
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new Fault("BAD_REQUEST", "The task on stdin is not text: it is no UTF-8.", { cause });
  }
}
