import { SETTING_KEYS, settingOf } from "../../packages/brain/src/config.ts";
import type { SettingKey } from "../../packages/brain/src/config.ts";
import { page, table } from "./page.ts";

/** Every setting: where it may be set, what it does, and what holds without it. */
export function configPage(): string {
  const groups = [...new Set(SETTING_KEYS.map((key) => settingOf(key).group))];
  return page("Settings", "`packages/brain/src/config/settings.ts`", [
    "A flag wins over the environment, the environment over `config.json` in the folder of all state (`VIDRO_HOME`), and that over the default. A variable that is empty counts as not set. `vidro config list` shows all values, `vidro config explain <key>` where one comes from.",
    '`config.json` holds one object: `{"model": "ollama/qwen3", "port": 3200, "origins": ["https://app.example"]}`. An unknown key or a value that is not allowed is refused, and so is a file with secrets that other users can read.',
    ...groups.map((group) => {
      const rows = SETTING_KEYS.filter((key) => settingOf(key).group === group).map(row);
      return `## ${group}\n\n${table(["key", "flag", "variable", "what it does", "must be", "without it"], rows)}`;
    }),
    "## Set by Vidro\n\n`VIDRO_ACTION` is in the environment of every process that a hand starts: the action that it belongs to, by which a hand finds what it left behind.",
  ]);
}

function row(key: SettingKey): readonly string[] {
  const { flag, variable, inFile, kind, secret, about, otherwise = "", default: usual } = settingOf(key);
  return [
    inFile === false ? `\`${key}\` (not in the file)` : `\`${key}\``,
    flag === undefined ? "" : `\`${flag}\``,
    variable === undefined ? "" : `\`${variable}\``,
    secret === true ? `${about}; secret` : about,
    kind.allowed,
    usual === undefined ? otherwise : `\`${JSON.stringify(usual)}\``,
  ];
}
