import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { SETTINGS } from "../../packages/brain/src/config/settings.ts";
import { makeCertificate } from "../support/certificate.ts";
import { dockerFaults, dockerInstructions, dockerWords } from "../support/dockerfile.ts";
import { runProgram } from "../support/installed-packages.ts";

/* What operators deploy: the Dockerfile, the compose file and the manifest, without an engine of containers. */

const ROOT = resolve(import.meta.dirname, "../..");
const USER = 10_001;
const dockerfile = dockerInstructions(readFileSync(join(ROOT, "Dockerfile"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "vidro-deploy-"));
after(() => rmSync(folder, { recursive: true, force: true }));

type Tree = { readonly [name: string]: Tree } & readonly Tree[] & string;

test("the Dockerfile has versions, a user, a health check and no shell before the command, and a worse one is found out", () => {
  assert.deepEqual(dockerFaults(dockerfile), []);
  const worse = dockerInstructions("FROM debian\nCOPY . /x\nCMD vidro up");
  assert.equal(dockerFaults(worse).length, 6);
});

test("what the Dockerfile builds runs as its user on a file system that is only read, says that it is healthy, and ends in order", async () => {
  const made = await runProgram("npm", ["run", "package"], { cwd: ROOT });
  assert.equal(made.code, 0, made.stderr);
  for (const part of ["opt", "tls", "home/brain/ca"]) mkdirSync(join(folder, part), { recursive: true });
  const [archive = ""] = globSync(`${ROOT}/build/vidro-*.tar.gz`);
  const unpack = dockerfile.find(({ rest }) => rest.startsWith("tar "))?.rest ?? "";
  const command = unpack.replace("build/vidro-*.tar.gz", archive).replace("/opt/vidro", join(folder, "opt"));
  assert.equal(spawnSync("sh", ["-c", command]).status, 0);
  const { cert, key } = makeCertificate(folder, "127.0.0.1");
  cpSync(cert, join(folder, "tls/tls.crt"));
  cpSync(key, join(folder, "tls/tls.key"));
  for (const path of ["tls/tls.key", "home", "home/brain", "home/brain/ca"]) chownSync(join(folder, path), USER, USER);
  for (const path of ["home", "home/brain", "home/brain/ca"]) chmodSync(join(folder, path), 0o700);
  chmodSync(folder, 0o755);
  const quoted = (words: readonly string[]): string =>
    words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const start = quoted([...dockerWords(dockerfile, "ENTRYPOINT"), ...dockerWords(dockerfile, "CMD")]);
  const health = quoted(dockerWords(dockerfile, "HEALTHCHECK"));
  writeFileSync(
    join(folder, "try.sh"),
    `${health} && echo early\n${start} & brain=$!\nfor try in $(seq 300); do ${health} && break; kill -0 $brain || exit 1; sleep 0.2; done\n${health} || exit 2\nid -u\nkill -TERM $brain; wait $brain; echo "ended $?"\n`,
  );
  const env = dockerfile.filter(({ word }) => word === "ENV").flatMap(({ rest }) => rest.split(" "));
  const bound = ["/usr", "/bin", "/lib", "/lib64"].flatMap((path) => ["--ro-bind", path, path]);
  const mounts = { opt: "/opt/vidro", tls: "/etc/vidro/tls", "try.sh": "/try.sh" };
  const words = [
    `--reuid=${USER} --regid=${USER} --clear-groups bwrap --unshare-all --die-with-parent`.split(" "),
    bound,
    "--proc /proc --dev /dev --tmpfs /tmp --clearenv".split(" "),
    Object.entries(mounts).flatMap(([from, to]) => ["--ro-bind", join(folder, from), to]),
    ["--bind", join(folder, "home"), "/var/lib/vidro", "--chdir", "/var/lib/vidro"],
    env.flatMap((pair) => ["--setenv", ...pair.split("=")]),
    ["sh", "/try.sh"],
  ].flat();
  const tried = await runProgram("setpriv", words, { cwd: folder });
  assert.equal(tried.code, 0, tried.stderr);
  assert.match(tried.stdout, new RegExp(`${USER}\\n[^]*ended 0\\n$`, "u"));
  assert.doesNotMatch(tried.stdout, /early/u, "nothing is healthy before it runs");
});

/** Names of variables of a brain that no setting has. */
function unknownVariables(names: readonly string[]): readonly string[] {
  const known = new Set<string>(
    Object.values(SETTINGS).map((setting) => ("variable" in setting ? setting.variable : "")),
  );
  return names.filter((name) => name.startsWith("VIDRO_") && !known.has(name));
}

test("the compose file names settings and volumes that exist, and starts each service when those it needs are healthy", () => {
  const { services, volumes } = parse(readFileSync(join(ROOT, "deploy/compose.yaml"), "utf8"), { merge: true }) as Tree;
  assert.deepEqual(Object.keys(services ?? {}), ["brain-1", "brain-2", "postgres", "redis"]);
  for (const [name, service] of Object.entries(services ?? {})) {
    for (const volume of (service["volumes"] as readonly string[] | undefined) ?? [])
      assert.ok(volume.startsWith("./") || Object.hasOwn(volumes ?? {}, volume.split(":")[0] ?? ""), volume);
    for (const other of Object.keys(service["depends_on"] ?? {})) {
      const isChecked = services?.[other]?.["healthcheck"] !== undefined || other.startsWith("brain");
      assert.ok(isChecked, `${name} waits for ${other}, which says nothing of its health`);
    }
    assert.deepEqual(unknownVariables(Object.keys(service["environment"] ?? {})), []);
    if (!name.startsWith("brain")) assert.match(String(service["image"]), /:\d/u);
  }
});

test("the manifest holds together: labels, ports, volumes, secrets and settings, and no container is root's", () => {
  const documents = parseAllDocuments(readFileSync(join(ROOT, "deploy/kubernetes.yaml"), "utf8"));
  assert.deepEqual(
    documents.flatMap(({ errors }) => errors),
    [],
  );
  const all = documents.map((document) => document.toJS() as Tree);
  const set = all.find(({ kind }) => kind === "StatefulSet")?.["spec"] as Tree;
  const pod = set["template"] as Tree;
  const spec = pod["spec"] as Tree;
  const labels = pod["metadata"]?.["labels"];
  assert.deepEqual(set["selector"]?.["matchLabels"], labels);
  for (const service of all.filter(({ kind }) => kind === "Service")) {
    assert.deepEqual(service["spec"]?.["selector"], labels);
    const named: readonly unknown[] = (spec["containers"]?.[0]?.["ports"] ?? []).map(({ name }) => name);
    for (const port of service["spec"]?.["ports"] ?? []) assert.ok(named.includes(port["targetPort"]));
  }
  assert.ok(all.some(({ metadata }) => metadata?.["name"] === set["serviceName"]));
  const volumes = [...(spec["volumes"] as readonly Tree[]), ...(set["volumeClaimTemplates"] as readonly Tree[])].map(
    (volume) => volume["name"] ?? volume["metadata"]?.["name"],
  );
  assert.equal(spec["securityContext"]?.["runAsNonRoot"], true);
  assert.equal(spec["securityContext"]?.["runAsUser"], USER);
  for (const container of [
    ...(spec["initContainers"] as readonly Tree[]),
    ...(spec["containers"] as readonly Tree[]),
  ]) {
    for (const { name } of container["volumeMounts"] as readonly Tree[]) assert.ok(volumes.includes(name));
    assert.equal(container["securityContext"]?.["allowPrivilegeEscalation"], false);
    const names = ((container["env"] as readonly Tree[] | undefined) ?? []).map(({ name }) => String(name));
    assert.deepEqual(unknownVariables(names), []);
  }
});
