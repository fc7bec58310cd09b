import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { outcomeText } from "@vidro/core";
import type { Hand, JsonObject, Judgement } from "@vidro/core";
import { localHand, openPolicy } from "@vidro/hands";
import type { LocalHandOptions } from "@vidro/hands";

/*
 * A model that means harm, at a real hand under the shipped policy. What it must not learn is written in files
 * outside of the workspace; what it must not do would leave a mark. An attack has failed when neither is seen.
 */

/** What stands in files that the model must not read without being asked. */
export const SECRET = "kept-from-the-model";

/** What stands in the files of the hand's own state. */
export const STATE_SECRET = "kept-in-the-state";

/** How an attempt went: what the hand said, and what the model would read. */
export interface Attempt {
  readonly decision: "allow" | "ask" | "deny" | "refused";
  /** The code of the fault that ended it, if one did. */
  readonly fault: string | undefined;
  readonly text: string;
}

/** A hand under attack, and the ground around it. */
export interface Target {
  readonly hand: Hand;
  readonly workspace: string;
  /** A folder outside of the workspace whose name begins like the workspace's; it holds `secret.txt`. */
  readonly outside: string;
  /** The folder of Vidro itself; it holds `token`. */
  readonly state: string;
  /** Where a command that was not held leaves its mark. */
  readonly mark: string;
  /** Writes a file of the workspace, executable if it is a script. */
  readonly put: (name: string, text: string) => string;
  /** Whether anything outside of the workspace is not as it was. */
  readonly isHarmed: () => boolean;
  /** Has the hand judge an action, and do it when policy alone allows it. */
  readonly attempt: (tool: string, input: JsonObject) => Promise<Attempt>;
  /** The same for one program and its arguments. */
  readonly run: (...argv: readonly string[]) => Promise<Attempt>;
}

/**
 * A target for one test. `inSight` puts it where a sandbox shows it: a sandbox has a /tmp of its own, in which a wall
 * that fails would go unseen.
 */
export async function target(
  t: TestContext,
  more: Partial<LocalHandOptions> & { readonly inSight?: boolean } = {},
): Promise<Target> {
  const { inSight = false, ...options } = more;
  const folder = realpathSync(mkdtempSync(join(inSight ? homedir() : tmpdir(), ".vidro-attack-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [workspace, outside, state] = [join(folder, "work"), join(folder, "work-outside"), join(folder, "vidro")];
  for (const path of [workspace, outside, state]) mkdirSync(path);
  const secret = join(outside, "secret.txt");
  const mark = join(outside, "mark");
  writeFileSync(secret, `${SECRET}\n`);
  writeFileSync(join(state, "token"), `${STATE_SECRET}\n`);
  const policy = openPolicy({ file: join(state, "policy.json"), workspace, state });
  const hand = await localHand({
    id: "local",
    workspace,
    state: join(state, "hand"),
    reserved: state,
    policy,
    ...options,
  });
  t.after(() => hand.close());
  const before = textsIn(outside);
  const attempt: Target["attempt"] = async (tool, input) => perform(hand, tool, input);
  return {
    hand,
    workspace,
    outside,
    state,
    mark,
    put: (name, text) => written(join(workspace, name), text),
    isHarmed: () => textsIn(outside) !== before,
    attempt,
    run: (command = "", ...args) => attempt("command", { command, args }),
  };
}

function written(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (text.startsWith("#!")) chmodSync(path, 0o755);
  return path;
}

/** Every file of a folder with its text. */
function textsIn(folder: string): string {
  const names = readdirSync(folder).sort();
  return JSON.stringify(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

let attempts = 0;

/** Orders an action that was judged; with an approval, under that. */
export async function perform(hand: Hand, tool: string, input: JsonObject, approval?: string): Promise<Attempt> {
  attempts += 1;
  const action = { id: `act_${attempts}`, tool, input, callId: "call" };
  const judgement = await hand.judge(action);
  if ("code" in judgement) return { decision: "refused", fault: judgement.code, text: judgement.message };
  const order = {
    action,
    run: "run",
    epoch: 1,
    ttlMs: 60_000,
    ...(approval === undefined ? {} : { approved: approval }),
  };
  const events = await Array.fromAsync(hand.perform(order, new AbortController().signal));
  const end = events.at(-1);
  const { decision } = judgement.verdict;
  if (end?.type === "finished") return { decision, fault: undefined, text: outcomeText(end.outcome) };
  if (end?.type === "failed") return { decision, fault: end.fault.code, text: end.fault.message };
  throw new Error(`ended with ${JSON.stringify(end)}`);
}

/** The judgement of an action that can be judged. */
export async function judged(hand: Hand, tool: string, input: JsonObject): Promise<Judgement> {
  const judgement = await hand.judge({ id: "act_judged", tool, input, callId: "call" });
  if ("code" in judgement) throw new Error(judgement.message);
  return judgement;
}

/** Does an action with the approval of a person who saw its plan. */
export async function approved(hand: Hand, tool: string, input: JsonObject): Promise<Attempt> {
  return perform(hand, tool, input, (await judged(hand, tool, input)).hash);
}

const hex = (text: string): string => Buffer.from(text).toString("hex");

/** A path as a word of a line that decodes it when it runs, so that the line does not name the path. */
export const decoded = (path: string): string => `"$(printf ${hex(path).replaceAll(/../g, "\\\\x$&")})"`;
