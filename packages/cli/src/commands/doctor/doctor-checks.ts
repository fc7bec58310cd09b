import { accessSync, constants, existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SETTING_KEYS } from "@vidro/brain/config";
import { asFault, FAULTS, HEALTH_LIMITS, isObject, PAGE_LIMITS } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import { byteWords, countWords } from "@vidro/core/text";
import type { JsonObject } from "@vidro/core";
import { terminalName } from "../../view/terminal-kind.ts";
import { requireFolder } from "../../program/require-folder.ts";
import { commandConfig, homeFolder } from "../../program/settings.ts";

/** Result of one check. */
export interface CheckResult {
  readonly id: string;
  readonly status: "ok" | "warn" | "fail";
  readonly summary: string;
  /** How to fix it; empty when there is nothing to fix. */
  readonly fix: string;
}

type CheckFinding = Omit<CheckResult, "id">;

const NODE_MAJOR = 26;
const OWNER_ONLY = 0o077;

const ok = (summary: string): CheckFinding => ({ status: "ok", summary, fix: "" });
const warn = (summary: string, fix: string): CheckFinding => ({ status: "warn", summary, fix });
const fail = (summary: string, fix: string): CheckFinding => ({ status: "fail", summary, fix });

/** The checks in their order; each gets the folder of all state and changes nothing. */
const LOOKS: { readonly [id: string]: (home: string) => CheckFinding | Promise<CheckFinding> } = {
  node: () => {
    const { node } = process.versions;
    if (Number.parseInt(node, 10) >= NODE_MAJOR) return ok(`Node ${node}`);
    return fail(`Node ${node} is too old`, `Start Vidro through its own launcher, or install Node ${NODE_MAJOR}.`);
  },
  home: lookAtHome,
  config: lookAtConfig,
  store: lookAtStore,
  restored: lookAtRestored,
  disk: async (home) => {
    const { bavail, bfree, blocks, bsize } = await statfs(nearest(home));
    const free = bavail * bsize;
    const summary = `${byteWords(free)} free and ${byteWords((blocks - bfree) * bsize)} used for ${home}`;
    if (free < HEALTH_LIMITS.fullBytes) return fail(summary, "Free some disk: df -h");
    return free < HEALTH_LIMITS.lowBytes ? warn(summary, "Free some disk: df -h") : ok(summary);
  },
  daemon: lookAtDaemon,
  sandbox: async () => {
    const { findHostSandbox, canScreen } = await import("@vidro/hands");
    if ((await findHostSandbox()) === undefined)
      return warn(
        "bubblewrap does not work here, so every command is asked for",
        "Install bubblewrap: apt install bubblewrap",
      );
    if (process.getuid?.() === 0 && !(await canScreen()))
      return warn(
        "approved lines of root can look at Vidro's state through other processes: perl or Landlock 2 is missing",
        "Install perl on Linux 5.19 or newer, or run the hand as a user of its own.",
      );
    return ok("bubblewrap holds commands to what they may touch");
  },
  model: lookAtModel,
  policy: async (home) => {
    const { openPolicy } = await import("@vidro/hands");
    const places = { file: join(home, "policy.json"), workspace: requireFolder("."), state: nearest(home) };
    const { policy, file, warning } = openPolicy(places);
    const summary = `${file ?? "the shipped policy"}, ${countWords(policy.rules.length, "rule")}`;
    // The warning matters only to a person who wrote a policy.
    if (warning === undefined || file === undefined) return ok(summary);
    return warn(`${summary}: it holds against no brain that works as this user`, warning);
  },
  mcp: async (home) => {
    const { readMountFile } = await (await import("@vidro/hands")).loadMountFile();
    const servers = readMountFile(join(home, "mcp.json"), commandConfig().env);
    if (servers.length === 0) return ok("the hand of this machine mounts no MCP servers");
    return ok(`${countWords(servers.length, "MCP server")}: ${servers.map(({ name }) => name).join(", ")}`);
  },
  terminal: () => {
    const { stdin, stdout } = process;
    if (!stdin.isTTY || !stdout.isTTY)
      return ok("none: answers go to stdout, progress to stderr, and what asks a person first is not done");
    const colours = stdout.hasColors() ? "with colours" : "without colours";
    return ok(`${terminalName() ?? "unnamed"}, ${stdout.columns} × ${stdout.rows}, ${colours}`);
  },
};

/** Runs all checks. */
export async function* runChecks(): AsyncGenerator<CheckResult> {
  for (const [id, look] of Object.entries(LOOKS)) {
    try {
      yield { id, ...(await look(homeFolder())) };
    } catch (thrown) {
      const { code, message } = asFault(thrown);
      yield { id, ...fail(message, FAULTS[code].next) };
    }
  }
}

function lookAtHome(home: string): CheckFinding {
  const folder = nearest(home);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    return fail(`${folder} cannot be written`, "Make it yours, or point VIDRO_HOME elsewhere.");
  }
  if (folder !== home) return ok(`${home} is made by the first run`);
  const found = statSync(home);
  if (!found.isDirectory()) return fail(`${home} is not a folder`, "Point VIDRO_HOME elsewhere.");
  if ((found.mode & OWNER_ONLY) === 0) return ok(`${home}, closed to others`);
  return warn(`Others on this machine can look into ${home}`, `chmod 700 ${home}`);
}

/** Whether all settings can be used; a value that is not allowed is thrown as a fault. */
function lookAtConfig(): CheckFinding {
  const config = commandConfig();
  const set = SETTING_KEYS.filter((key) => (config.explain(key)?.source ?? "default") !== "default");
  return ok(set.length === 0 ? "every setting has its default" : `set: ${set.join(", ")} (vidro config list)`);
}

/** The health of the running daemon of this home. */
async function lookAtDaemon(home: string): Promise<CheckFinding> {
  const { findDaemon } = await import("@vidro/brain/daemon-file");
  const daemon = await findDaemon(home);
  if (daemon === undefined) return ok("none is up for this home");
  const { getFromBrain } = await import("../../brain-api/brain-http.ts");
  const { status, details } = await getFromBrain({ url: daemon.url }, "readyz");
  const why = isObject(details)
    ? Object.entries(details).map(([thing, said]) => `${thing}: ${JSON.stringify(said)}`)
    : [];
  const summary = [`${daemon.url} is ${JSON.stringify(status)}`, ...why].join("; ").replaceAll('"', "");
  if (status === "ready") return ok(summary);
  return (status === "degraded" ? warn : fail)(summary, "See its log, and what each message names.");
}

async function lookAtModel(): Promise<CheckFinding> {
  const { describeChoice } = await import("@vidro/brain/home");
  const { name, because, servers } = await describeChoice(commandConfig());
  const summary = `${name} decides, because ${because}`;
  const silent = servers.filter((server) => !server.listens).map(({ url }) => url);
  if (silent.length > 0) {
    const told = `${summary}; nothing listens at ${silent.join(", ")}`;
    const fix = "Start the server there, or choose another model: VIDRO_MODEL";
    // Of several models, one that is down is skipped.
    return silent.length < name.split(",").length ? warn(told, fix) : fail(told, fix);
  }
  if (servers.length > 0) return ok(`${summary}; a server listens at ${servers.map(({ url }) => url).join(", ")}`);
  return ok(name === "offline" ? summary : `${summary}; its key is set, and was not tried`);
}

async function lookAtStore(home: string): Promise<CheckFinding> {
  const path = join(home, "journal.db");
  if (!existsSync(path)) return ok("made by the first run");
  const { DatabaseSync } = await import("node:sqlite");
  const { STORE_VERSION } = await import("@vidro/brain/home");
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (version > STORE_VERSION) {
      const { says, next } = FAULTS.STORE_NEWER;
      return fail(`${says} ${path} has version ${version}; this one knows versions up to ${STORE_VERSION}.`, next);
    }
    const [found] = database.prepare("PRAGMA quick_check(1)").all();
    const damage = String(found?.["quick_check"] ?? "");
    if (damage !== "ok")
      return fail(
        `${path} is damaged: ${damage}`,
        "See which runs: vidro audit verify. Then restore a copy of the file.",
      );
    const runs = Number(database.prepare("SELECT count(*) AS runs FROM run").get()?.["runs"]);
    return ok(`${path}, version ${version}, ${countWords(runs, "run")}`);
  } catch (thrown) {
    return fail(
      `${path} cannot be read: ${asFault(thrown).message}`,
      "Restore it from a copy, or point VIDRO_HOME elsewhere.",
    );
  } finally {
    database.close();
  }
}

/** Whether the store was restored from a backup and its hands and tokens were not reviewed since. */
async function lookAtRestored(home: string): Promise<CheckFinding> {
  const path = join(home, "journal.db");
  if (!existsSync(path)) return ok("there is nothing that could have come back");
  const { DatabaseSync } = await import("node:sqlite");
  const { findUnreviewed } = await import("@vidro/brain/home");
  using database = new DatabaseSync(path, { readOnly: true });
  const rows = (sql: string, ...values: string[]) => database.prepare(sql).all(...values);
  const hasTable = rows("SELECT 1 FROM sqlite_schema WHERE name = 'incarnation'").length > 0;
  const [row] = hasTable ? rows("SELECT generation FROM incarnation") : [];
  if (row === undefined) return ok("it is of a version that could not tell");
  const unseen = await findUnreviewed(Number(row["generation"]), async (kind) =>
    rows("SELECT id, body FROM record WHERE kind = ? ORDER BY number LIMIT ?", kind, `${PAGE_LIMITS.items}`).map(
      ({ id, body }) => ({ id: String(id), body: parseJson(String(body)) as JsonObject }),
    ),
  );
  if (unseen === undefined) return ok("nothing that was revoked can have been forgotten");
  const who = [`hands: ${unseen.hands.join(", ") || "none"}`, countWords(unseen.tokens, "token")].join("; ");
  return warn(
    `It came back from a backup, and who was revoked after that may be let in again (${who})`,
    "Revoke who is to stay out: vidro hands revoke, vidro tokens revoke. Then say so: vidro hands reviewed",
  );
}

/** The folder itself, or its nearest parent that exists. */
function nearest(folder: string): string {
  return existsSync(folder) ? folder : nearest(dirname(folder));
}
