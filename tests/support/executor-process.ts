import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startOurExecutor } from "./our-executor.ts";

/*
 * An executor without a task in a process of its own, under the shipped policy. Started with the address and the token
 * of a brain and a folder; it says which session it has when it was let in.
 */

const [url = "", token = "", folder = ""] = process.argv.slice(2);
const project = join(folder, "workspace");
mkdirSync(project, { recursive: true });
const { executor } = await startOurExecutor({ url, token, task: { id: "asleep" } }, { state: folder, project });
const { session_id: session } = await executor.joined;
process.stdout.write(`${JSON.stringify({ ready: true, session })}\n`);
