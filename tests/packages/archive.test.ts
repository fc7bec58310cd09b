import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { DaemonProcess } from "../support/daemon-process.ts";
import { runProgram } from "../support/installed-packages.ts";

/* The archive that `npm run package` makes, installed by its script on a machine that has sh and tar and no Node. */

const ROOT = resolve(import.meta.dirname, "../..");
/** What the script and the launchers use; a minimal system has them. */
const PROGRAMS = "sh tar gzip sha256sum mktemp mkdir mv rm ln cp uname dirname readlink printf cat env df";

let folder: string;
let env: NodeJS.ProcessEnv;
const install = (at: string, more: NodeJS.ProcessEnv = {}) =>
  runProgram("/bin/sh", [join(at, "install.sh")], { cwd: folder, env: { ...env, ...more } });

before(async () => {
  const { code, stderr } = await runProgram("npm", ["run", "package"], { cwd: ROOT });
  assert.equal(code, 0, stderr);
  folder = mkdtempSync(join(tmpdir(), "vidro-archive-"));
  const [bin, home] = [join(folder, "bin"), join(folder, "home")];
  for (const made of [bin, home]) mkdirSync(made);
  for (const name of PROGRAMS.split(" ")) {
    const found = ["/usr/bin", "/bin"].map((path) => join(path, name)).find((path) => existsSync(path));
    if (found !== undefined) symlinkSync(realpathSync(found), join(bin, name));
  }
  env = { PATH: bin, HOME: home, LANG: "C.UTF-8" };
});

after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

test("it installs where there is no Node, says where, and the commands work", async (t) => {
  const [archive = ""] = globSync(`${ROOT}/build/*.tar.gz`);
  t.diagnostic(`${basename(archive)}: ${(statSync(archive).size / 1024 / 1024).toFixed(1)} MiB`);
  assert.notEqual((await runProgram("/bin/sh", ["-c", "command -v node"], { cwd: folder, env })).code, 0);
  const { code, stdout, stderr } = await install(`${ROOT}/build`);
  assert.equal(code, 0, stderr);
  const bin = join(folder, "home/.local/bin");
  assert.match(stdout, /^0\.1\.0 is installed: .*\/\.local\/bin\/vidro\nPut it on PATH: /);
  const share = join(folder, "home/.local/share");
  assert.match(readFileSync(join(share, "man/man1/vidro.1"), "utf8"), /^\.TH VIDRO 1 "" "vidro 0\.1\.0"/);
  for (const path of [
    "bash-completion/completions/vidro",
    "zsh/site-functions/_vidro",
    "fish/vendor_completions.d/vidro.fish",
  ])
    assert.match(readFileSync(join(share, path), "utf8"), /Completion of vidro for/);
  for (const name of ["vidro", "vidro-hand"])
    assert.equal((await runProgram(join(bin, name), ["--version"], { cwd: folder, env })).stdout, "0.1.0\n");
  const home = { ...env, PATH: `${bin}:${env["PATH"]}`, VIDRO_HOME: join(folder, "state") };
  const run = await runProgram("vidro", ["run", "--json", "what is the working directory?"], {
    cwd: folder,
    env: home,
  });
  assert.equal(run.code, 0, run.stderr);
  assert.match(run.stdout, new RegExp(`The working folder is ${folder}`));
  await using daemon = await DaemonProcess.up(
    { command: { argv: [join(bin, "vidro")], env: home }, workspace: folder },
    { flags: ["--port", "0"] },
  );
  const agents = (await (await daemon.ask("/v1/agents")).json()) as readonly { readonly name: string }[];
  assert.deepEqual(agents.map(({ name }) => name).sort(), ["bunny", "scout"]);
  const refused = await daemon.ask("/v1/runs", { method: "POST", body: '{"task":{}}' });
  assert.equal(refused.status, 422, "schemas are checked");
});

test("it installs again beside what is there, and elsewhere, and leaves nothing half done", async () => {
  const again = await Promise.all([install(`${ROOT}/build`), install(`${ROOT}/build`)]);
  assert.deepEqual(
    again.map(({ code }) => code),
    [0, 0],
    again.map(({ stderr }) => stderr).join(""),
  );
  assert.equal(readdirSync(join(folder, "home/.local/lib/vidro")).length, 1, "one installation, and nothing unpacked");
  const elsewhere = await install(`${ROOT}/build`, { PREFIX: join(folder, "opt") });
  assert.equal(elsewhere.code, 0, elsewhere.stderr);
  assert.ok(existsSync(join(folder, "opt/bin/codegen")));
});

test("a damaged archive, and one that is missing, are refused and change nothing", async () => {
  const copy = join(folder, "copy");
  cpSync(`${ROOT}/build/install.sh`, join(copy, "install.sh"));
  const missing = await install(copy, { PREFIX: join(folder, "none") });
  assert.deepEqual([missing.code, existsSync(join(folder, "none"))], [1, false]);
  assert.match(missing.stderr, /is missing; it belongs beside this script/);
  const [archive = ""] = globSync(`${ROOT}/build/*.tar.gz`);
  cpSync(archive, join(copy, basename(archive)));
  appendFileSync(join(copy, basename(archive)), "x");
  const damaged = await install(copy, { PREFIX: join(folder, "none") });
  assert.deepEqual([damaged.code, existsSync(join(folder, "none"))], [4, false]);
  assert.match(damaged.stderr, /is damaged or another one: its sha256 is [0-9a-f]{64}, not [0-9a-f]{64}/);
});
