// npm run package: makes the archive that installs Vidro on a machine without Node: the bundled commands, their agents
// and the pinned Node of this platform, with its checksum and the script that installs it.
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { installPeers, NODE, ROOT, run, setUp } from "./setup.js";

setUp();
installPeers("scripts");
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
const platform = `${process.platform}-${process.arch}`;
const name = `vidro-${version}-${platform}`;
const out = `${ROOT}build/`;
const folder = `${out}${name}/`;

rmSync(out, { recursive: true, force: true });
for (const part of ["bin", "lib", "node/bin"]) mkdirSync(`${folder}${part}`, { recursive: true });
run(NODE, [`${ROOT}scripts/package/bundle.js`, `${folder}lib/vidro`]);
cpSync(`${ROOT}packages/brain/agents`, `${folder}agents`, { recursive: true });
for (const [from, command] of [
  ["cli", "vidro"],
  ["cli", "codegen"],
  ["hands", "vidro-hand"],
]) {
  copyFileSync(`${ROOT}packages/${from}/bin/${command}`, `${folder}bin/${command}`);
  chmodSync(`${folder}bin/${command}`, 0o755);
}
copyFileSync(NODE, `${folder}node/bin/node`);
copyFileSync(`${ROOT}LICENSE`, `${folder}LICENSE`);
writeFileSync(`${folder}VERSION`, `${version}\n`);

const archive = `${name}.tar.gz`;
// The same sources give the same bytes: no owner, no time, one order.
const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=2000-01-01T00:00:00Z"];
run("tar", ["-C", out, ...same, "--use-compress-program=gzip -6n", "-cf", `${out}${archive}`, name]);
const sha256 = createHash("sha256")
  .update(readFileSync(`${out}${archive}`))
  .digest("hex");
writeFileSync(`${out}${archive}.sha256`, `${sha256}  ${archive}\n`);
const script = readFileSync(`${ROOT}scripts/package/install.sh`, "utf8");
writeFileSync(`${out}install.sh`, script.replaceAll("@ARCHIVE@", archive).replaceAll("@SHA256@", sha256), {
  mode: 0o755,
});
const mebibytes = (statSync(`${out}${archive}`).size / 1024 / 1024).toFixed(1);
process.stdout.write(`build/${archive}  ${mebibytes} MiB  sha256 ${sha256}\nbuild/install.sh\n`);
