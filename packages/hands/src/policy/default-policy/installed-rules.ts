import type { ProcessRule } from "@vidro/core/policy";
import { flags, exampleLines, readOnlyRule } from "./rule-builders.ts";

/** Commands that show what is installed, and its version. */
export const INSTALLED_RULES: readonly ProcessRule[] = [
  readOnlyRule(
    "versions",
    "node npm npx python3 python pip pip3 ruby perl php java gcc g++ clang make cmake git docker psql".concat(
      " redis-server sqlite3 systemctl rg bwrap",
    ),
    // Only --version: for many of these programs the word `version` names a file to run.
    {
      arguments: { exact: [["--version"]] },

      examples: exampleLines(
        ["node --version", "npm --version"],
        ["node version", "make version", "java version", "node -e 1", "npm test", "make --version x"],
      ),
    },
  ),
  readOnlyRule("versions-by-word", "openssl docker", {
    arguments: { exact: [["version"]] },
    examples: exampleLines(["openssl version", "docker version"], ["openssl version -a", "node version"]),
  }),
  readOnlyRule("versions-of-toolchains", "go cargo rustc pnpm yarn", {
    arguments: { exact: [["version"], ["--version"]] },
    examples: exampleLines(["go version", "cargo --version"], ["go run x", "yarn version --new-version 1.0.0"]),
  }),
  readOnlyRule("node-version", "node npm", {
    arguments: { exact: [["-v"]] },
    examples: exampleLines(["node -v"], ["node -v x.js", "node"]),
  }),
  readOnlyRule("debian-packages", "dpkg", {
    arguments: {
      fit: { options: flags("-l -s -L -S --list --status --listfiles --search"), operands: ["text"], many: true },
    },
    examples: exampleLines(
      ["dpkg -l", "dpkg -s bash", "dpkg -S /bin/ls"],
      ["dpkg -i x.deb", "dpkg -r x", "dpkg --root=/x -l"],
    ),
  }),
  readOnlyRule("package-index", "apt-cache", {
    arguments: {
      fit: { commands: ["policy", "show", "search", "depends", "madison"], operands: ["text"], many: true },
    },
    examples: exampleLines(["apt-cache policy git"], ["apt-cache -o Dir=/x show git", "apt-cache gencaches"]),
  }),
  readOnlyRule("containers", "docker podman", {
    arguments: { exact: [["ps"], ["ps", "-a"], ["images"]] },
    sees: "host",
    examples: exampleLines(["docker ps -a"], ["docker run x", "docker ps -a --format x", "docker exec x sh"]),
  }),
  readOnlyRule("where-programs-are", "which whereis", {
    arguments: { fit: { options: flags("-a -b"), operands: ["text"], many: true } },
    sees: "host",
    examples: exampleLines(["which node git"], ["which --read-alias x"]),
  }),
];
