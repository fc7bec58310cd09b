import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { EXIT } from "./exit-codes.ts";
import { sayFailure } from "./failure.ts";
import { buildProgram } from "./program.ts";

/** What a newcomer types, and what is then said: an exit code, the words of the error, and the next step. */
interface Mistake {
  readonly typed: string;
  readonly exit: number;
  readonly says: RegExp;
  readonly next: string;
  readonly env?: { readonly [name: string]: string };
  /** Files in the home folder. */
  readonly files?: { readonly [name: string]: string };
}

const LOOK = (kind: string): string => `Look it up: vidro ${kind} list`;
const DEAD = "http://127.0.0.1:9";

const MISTAKES: readonly Mistake[] = [
  { typed: "foo", exit: 2, says: /unknown command 'foo'$/, next: "vidro --help" },
  { typed: "rnu x", exit: 2, says: /unknown command 'rnu'\. Did you mean run\?$/, next: "vidro --help" },
  { typed: "how much disk is free", exit: 2, says: /'how'$/, next: 'vidro "how much disk is free"' },
  { typed: "version", exit: 2, says: /unknown command 'version'$/, next: "vidro --version" },
  { typed: "foo --bar", exit: 2, says: /unknown command 'foo'$|unknown option '--bar'$/, next: "vidro --help" },
  {
    typed: "run --model openai/gpt-x y",
    exit: 4,
    says: /openai\/gpt-x needs a key: set OPENAI_API_KEY\.$/,
    next: "Set the key where the brain starts; a running daemon is told by vidro restart, or choose another: VIDRO_MODEL",
  },
  { typed: "runs lst", exit: 2, says: /'lst'\. Did you mean list\?$/, next: "vidro runs --help" },
  { typed: "runs", exit: 2, says: /a sub-command is missing$/, next: "vidro runs --help" },
  { typed: "run", exit: 2, says: /missing required argument 'task'$/, next: "vidro run --help" },
  { typed: "run --agnet b x", exit: 2, says: /'--agnet'\. Did you mean --agent\?$/, next: "vidro run --help" },
  { typed: "run --zzz x", exit: 2, says: /unknown option '--zzz'$/, next: "vidro run --help" },
  { typed: "run --agent buny x", exit: 3, says: /There is no agent "buny"\.$/, next: LOOK("agents") },
  { typed: "run --on web-9 x", exit: 3, says: /There is no hand "web-9"\.$/, next: LOOK("hands") },
  { typed: "runs show nope", exit: 3, says: /ends with nope\.$/, next: LOOK("runs") },
  { typed: "runs abort nope", exit: 3, says: /ends with nope\.$/, next: LOOK("runs") },
  { typed: "attach nope", exit: 3, says: /ends with nope\.$/, next: LOOK("runs") },
  { typed: "attach", exit: 2, says: /Say which run/, next: "vidro attach <run>, or vidro attach --last" },
  { typed: "attach --last", exit: 3, says: /There is no run yet/, next: 'vidro run "how much disk is free here?"' },
  { typed: "audit verify nope", exit: 3, says: /ends with nope\.$/, next: LOOK("runs") },
  { typed: "status", exit: 7, says: /No daemon is up for this home/, next: "vidro up" },
  { typed: "hands exec web -- ls", exit: 3, says: /There is no hand "web"\.$/, next: LOOK("hands") },
  { typed: "hands exec local", exit: 2, says: /missing required argument 'command'$/, next: "vidro hands exec --help" },
  { typed: "logs", exit: 3, says: /No daemon has run in the background/, next: "vidro up -d" },
  { typed: "agents show nope", exit: 3, says: /There is no agent "nope"\.$/, next: LOOK("agents") },
  { typed: "agents delete bunny", exit: 6, says: /cannot be deleted\.$/, next: LOOK("agents") },
  { typed: "tokens revoke nope", exit: 3, says: /There is no token nope\.$/, next: LOOK("tokens") },
  { typed: "tokens create --expires soon", exit: 2, says: /soon is no time/, next: "Correct what the message names." },
  { typed: "config explain modle", exit: 3, says: /Did you mean model\?$/, next: LOOK("config") },
  { typed: "config explain zzzz", exit: 3, says: /There is no setting "zzzz"\.$/, next: LOOK("config") },
  { typed: "processes stop nope", exit: 3, says: /No hand has a process "nope"/, next: "vidro processes list" },
  { typed: "kb show nope", exit: 3, says: /No entry has an id that ends with nope/, next: "vidro kb list" },
  { typed: "policy check uname", exit: 3, says: /There is no file uname/, next: "vidro policy explain -- uname" },
  { typed: "policy explain", exit: 2, says: /missing required argument/, next: "vidro policy explain --help" },
  { typed: "policy add /nope", exit: 2, says: /no decision/, next: "vidro policy add allow|ask|deny -- <command>" },
  { typed: "policy remove nope", exit: 3, says: /nope/, next: "See the rules in force: vidro policy show" },
  {
    typed: "completion tcsh",
    exit: 2,
    says: /Allowed choices are bash, zsh, fish\.$/,
    next: "vidro completion --help",
  },
  { typed: "worker", exit: 2, says: /--model <path>' not specified$/, next: "vidro worker --help" },
  { typed: "worker --model /nope.gguf", exit: 2, says: /nothing at \/nope/, next: "Correct what the message names." },
  {
    typed: "tcp 127.0.0.1:9 GET_OS_INFO",
    exit: 7,
    says: /cannot be reached/,
    next: "See whether a hand listens there: vidro hands serve --tcp <address>",
  },
  { typed: "up --port 99999", exit: 2, says: /A port is at most 65535\.$/, next: "vidro up --help" },
  { typed: "up --prot 0", exit: 2, says: /'--prot'\. Did you mean --port\?$/, next: "vidro up --help" },
  { typed: "run --url notaurl x", exit: 2, says: /no address of a brain/, next: "Correct what the message names." },
  {
    typed: `run --url ${DEAD} x`,
    exit: 7,
    says: /Nothing answers at http/,
    next: "Check the address (--url, VIDRO_URL); on that machine: vidro up",
  },
  {
    typed: "status",
    exit: 7,
    says: /Nothing answers at http/,
    next: "Check the address (--url, VIDRO_URL); on that machine: vidro up",
    env: { VIDRO_URL: DEAD },
  },
  {
    typed: "run x",
    exit: 2,
    says: /config\.json cannot be read: it is not JSON\.$/,
    next: "Mend that file, or move it away.",
    files: { "config.json": "{bad" },
  },
  {
    typed: "run x",
    exit: 2,
    says: /"modle" in .*config\.json is no setting\. Did you mean model\?$/,
    next: "Mend that file, or move it away.",
    files: { "config.json": '{"modle":"x"}' },
  },
  {
    typed: "run x",
    exit: 1,
    says: /\/proc\/nope cannot be made/,
    next: "See what is off: vidro doctor",
    env: { VIDRO_HOME: "/proc/nope" },
  },
  {
    typed: "run x",
    exit: 1,
    says: /\/etc\/passwd cannot be made/,
    next: "See what is off: vidro doctor",
    env: { VIDRO_HOME: "/etc/passwd" },
  },
];

describe("a newcomer's mistake is named, with the step that fits and an exit code:", () => {
  let home = "";
  const own = { ...process.env };
  before(() => {
    home = mkdtempSync(join(tmpdir(), "vidro-mistakes-"));
  });
  after(() => rmSync(home, { recursive: true, force: true }));

  for (const { typed, exit, says, next, env = {}, files = {} } of MISTAKES) {
    const around = Object.entries({ ...env, ...files }).map(([name, value]) => `${name}=${value} `);
    test(`${around.join("")}vidro ${typed}`, async (t) => {
      const written: string[] = [];
      t.mock.method(process.stderr, "write", (text: string | Uint8Array) => written.push(String(text)) > 0);
      Object.assign(process.env, { VIDRO_HOME: home, VIDRO_MODEL: "offline", ...env });
      for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text);
      t.after(() => {
        for (const name of Object.keys(files)) rmSync(join(home, name));
        for (const name of Object.keys(env)) delete process.env[name];
        Object.assign(process.env, own);
      });
      const code = await exitOf(typed.split(" "));
      t.mock.restoreAll();
      const lines = written.join("").trimEnd().split("\n");
      const said = lines.filter((line) => /^(vidro: | {2}why: )/.test(line)).at(-1) ?? "";
      assert.match(said, says, written.join(""));
      assert.equal(lines.at(-1), `  next: ${next}`);
      assert.equal(code, exit);
    });
  }
});

async function exitOf(argv: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  try {
    await buildProgram("0", (given) => (code = given)).parseAsync([...argv], { from: "user" });
    return code;
  } catch (thrown) {
    return sayFailure(thrown, argv);
  }
}
