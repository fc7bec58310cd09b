import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "@vidro/core";
import { calls, callsAfter, fakeOpenAi, status, text } from "./fake-openai.ts";
import type { FakeAnswer, FakeOpenAi, FakeReply, FakeRequest } from "./fake-openai.ts";

/* What the pages of the console are looked at with: a scripted model behind a real socket, and files to work on. */

/** The task that ends with a question about a change of a file. */
export const SHOP_TASK = "The shop answers 502 since this morning. Find out why and mend it.";
/** What the model says before it asks for that change. */
export const STORY_WORDS =
  "The shop listens on 8081 since its update at 06:58; nginx still sends to 8080. One line in shop.conf has to change.";
/** The task that runs a command that needs a person. */
export const RELOAD_TASK = "Reload nginx and say how long it took.";
/** The task whose model does not answer. */
export const FAILING_TASK = "Rotate the certificates of all web hosts.";
/** The task that only reads. */
export const LOG_TASK = "Which hosts asked for the shop today?";
/** The task that is given to two helpers. */
export const AUDIT_TASK = "Audit the shop: let helpers look at its log and at its configuration.";
/** The tasks of the helpers. */
export const HELPER_TASKS = ["Count the errors in the log of the shop.", "Say where nginx sends the shop to."];

const LOG = [
  "06:58:02 [notice] signal process started",
  '07:02:11 [error] connect() failed (111: Connection refused) while connecting to upstream, upstream: "http://127.0.0.1:8080/"',
  ...Array.from({ length: 40 }, (_, n) => `07:0${3 + (n % 6)}:${10 + n} [error] 502 GET /cart/${n} from 10.1.0.${n}`),
].join("\n");

const SHOP_CONF = "upstream shop {\n  server 127.0.0.1:8080;\n}\n";

function call(name: string, input: object): { id: string; name: string; input: string } {
  return { id: `call_${name}_${JSON.stringify(input).length}`, name, input: JSON.stringify(input) };
}

/** The replies to each task, in order; the last one serves all that follow. */
const REPLIES: { readonly [task: string]: readonly FakeReply[] } = {
  [SHOP_TASK]: [
    calls(
      call("plan", {
        steps: [
          "Read the error log",
          "See where the shop is configured",
          "Point the upstream at the right port",
          "Say what was wrong",
        ],
      }),
      call("command", { command: "tail", args: ["-n", "4", "error.log"] }),
    ),
    calls(call("command", { command: "cat", args: ["shop.conf"] })),
    callsAfter(
      [STORY_WORDS],
      call("edit", {
        file_path: "shop.conf",
        old_string: "  server 127.0.0.1:8080;",
        new_string: "  server 127.0.0.1:8081;",
      }),
    ),
    text("The shop had moved to port 8081. shop.conf sends to it now, and /cart answers again."),
  ],
  [RELOAD_TASK]: [
    calls(call("shell", { command: "echo reloaded >> reload.log && date +%s >> reload.log" })),
    text("Reloaded; it took 20 ms."),
  ],
  [FAILING_TASK]: [status(400, "The model refuses this request: its prompt breaks the rules of the vendor.")],
  [AUDIT_TASK]: [
    calls(call("delegate", { tasks: HELPER_TASKS.map((task) => ({ task })) })),
    text("The log has 41 errors; nginx sends to port 8080, where nothing listens."),
  ],
  [HELPER_TASKS[0] ?? ""]: [
    calls(call("command", { command: "grep", args: ["-c", "error", "error.log"] })),
    text("41 errors."),
  ],
  [HELPER_TASKS[1] ?? ""]: [text("To port 8080.")],
  [LOG_TASK]: [
    calls(call("command", { command: "grep", args: ["-c", "GET /cart", "error.log"] })),
    text("40 requests came from 40 addresses, all of them for /cart."),
  ],
};

/** The task of a request, and how many replies the model has given to it. */
function placeOf({ body }: FakeRequest): { readonly task: string; readonly given: number } {
  const messages = Array.isArray(body["messages"]) ? body["messages"].filter(isObject) : [];
  const isTask = (message: object): boolean =>
    Object.keys(REPLIES).some((task) => JSON.stringify(message).includes(task));
  const at = messages.findLastIndex((message) => message["role"] === "user" && isTask(message));
  const words = JSON.stringify(messages[at] ?? {});
  return {
    task: Object.keys(REPLIES).find((task) => words.includes(task)) ?? "",
    given: messages.slice(at + 1).filter((message) => message["role"] === "assistant").length,
  };
}

const answer: FakeAnswer = (response, request) => {
  const { task, given } = placeOf(request);
  const replies = REPLIES[task] ?? [text("I do not know this task.")];
  (replies[given] ?? replies.at(-1)!)(response);
};

/** Starts the model of the story. */
export function storyModel(): Promise<FakeOpenAi> {
  return fakeOpenAi(answer);
}

/** Puts the files of the story into a workspace. */
export function storyFiles(workspace: string): void {
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "error.log"), `${LOG}\n`);
  writeFileSync(join(workspace, "shop.conf"), SHOP_CONF);
}
