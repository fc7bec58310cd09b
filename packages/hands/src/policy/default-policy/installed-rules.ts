import type { ProcessRule } from "@vidro/core/policy";
import { flags, lines, looks } from "./rule-builders.ts";

/** What is installed, and in which version. */
export const INSTALLED_RULES: readonly ProcessRule[] = [
  looks(
    "versions",
    "node npm npx python3 python pip pip3 ruby perl php java gcc g++ clang make cmake git docker psql".concat(
      " redis-server sqlite3 systemctl rg bwrap",
    ),
    // Nothing else: to many of them the word `version` is the name of a file to run.
    { exact: [["--version"]] },
    {
      examples: lines(
        ["node --version", "npm --version"],
        ["node version", "make version", "java version", "node -e 1", "npm test", "make --version x"],
      ),
    },
  ),
  looks(
    "versions-by-word",
    "openssl docker",
    { exact: [["version"]] },
    { examples: lines(["openssl version", "docker version"], ["openssl version -a", "node version"]) },
  ),
  looks(
    "versions-of-toolchains",
    "go cargo rustc pnpm yarn",
    { exact: [["version"], ["--version"]] },
    {
      examples: lines(["go version", "cargo --version"], ["go run x", "yarn version --new-version 1.0.0"]),
    },
  ),
  looks("node-version", "node npm", { exact: [["-v"]] }, { examples: lines(["node -v"], ["node -v x.js", "node"]) }),
  looks(
    "debian-packages",
    "dpkg",
    { fit: { options: flags("-l -s -L -S --list --status --listfiles --search"), operands: ["text"], many: true } },
    {
      examples: lines(
        ["dpkg -l", "dpkg -s bash", "dpkg -S /bin/ls"],
        ["dpkg -i x.deb", "dpkg -r x", "dpkg --root=/x -l"],
      ),
    },
  ),
  looks(
    "package-index",
    "apt-cache",
    { fit: { commands: ["policy", "show", "search", "depends", "madison"], operands: ["text"], many: true } },
    { examples: lines(["apt-cache policy git"], ["apt-cache -o Dir=/x show git", "apt-cache gencaches"]) },
  ),
  looks(
    "containers",
    "docker podman",
    { exact: [["ps"], ["ps", "-a"], ["images"]] },
    {
      sees: "host",
      examples: lines(["docker ps -a"], ["docker run x", "docker ps -a --format x", "docker exec x sh"]),
    },
  ),
  looks(
    "where-programs-are",
    "which whereis",
    { fit: { options: flags("-a -b"), operands: ["text"], many: true } },
    { sees: "host", examples: lines(["which node git"], ["which --read-alias x"]) },
  ),
];
