import { isSettingKey, SETTING_KEYS, settingOf } from "@vidro/brain/config";
import type { Config, SettingKey, SettingOrigin } from "@vidro/brain/config";
import { Fault } from "@vidro/core";
import { redactor } from "@vidro/core/redact";
import { nearest } from "@vidro/core/text";
import { EXIT } from "../program/exit-codes.ts";
import { print, writeJson } from "../program/output.ts";
import { commandConfig } from "../program/settings.ts";
import { paint } from "../view/symbols.ts";

/** Flags of the commands below `vidro config`. */
interface ConfigFlags {
  readonly json?: boolean;
}

/** Lists every setting with its value and where the value came from. */
export async function listSettings(flags: ConfigFlags): Promise<number> {
  const config = commandConfig();
  const width = Math.max(...SETTING_KEYS.map((key) => key.length));
  if (flags.json !== true) print(paint("dim", `${"SETTING".padEnd(width)}  VALUE, AND WHERE IT COMES FROM`));
  for (const key of SETTING_KEYS) {
    if (flags.json === true) writeJson(lineOf(config, key));
    else print(`${key.padEnd(width)}  ${valueWords(config, key)}  ${paint("dim", originWords(config, key))}`.trimEnd());
  }
  return EXIT.ok;
}

/** Explains one setting, or all: value, origin, what it does, and where it may be set. */
export async function explainSettings(word: string | undefined, flags: ConfigFlags): Promise<number> {
  const config = commandConfig();
  const keys = word === undefined ? SETTING_KEYS : [settingNamed(word)];
  for (const [index, key] of keys.entries()) {
    if (flags.json === true) writeJson(lineOf(config, key));
    else print(...(index === 0 ? [] : [""]), ...explanation(config, key));
  }
  return EXIT.ok;
}

/** The setting of that key or variable; NOT_FOUND with the nearest name when there is none. */
function settingNamed(word: string): SettingKey {
  const key = SETTING_KEYS.find((one) => one === word.toLowerCase() || settingOf(one).variable === word);
  if (key !== undefined && isSettingKey(key)) return key;
  const near = nearest(word, [...SETTING_KEYS, ...SETTING_KEYS.flatMap((one) => settingOf(one).variable ?? [])]);
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  throw new Fault("NOT_FOUND", `There is no setting ${JSON.stringify(word)}.${hint}`);
}

function explanation(config: Config, key: SettingKey): readonly string[] {
  const { about, kind, otherwise } = settingOf(key);
  const found = config.explain(key);
  const overridden = (found?.overridden ?? []).filter(({ source }) => source !== "default");
  return [
    `${paint("bold", key)} = ${valueWords(config, key)}`,
    `  from:     ${found === undefined ? `nothing sets it: ${plain(otherwise ?? "")}` : originWords(config, key)}`,
    ...overridden.map((origin) => `  ignored:  ${placeWords(origin)}`),
    `  does:     ${plain(about)}`,
    `  must be:  ${kind.allowed}`,
    `  settable: ${placesOf(key).join(", ")}`,
  ];
}

/** Where a setting may be set, the strongest first. */
function placesOf(key: SettingKey): readonly string[] {
  const { flag, variable, inFile } = settingOf(key);
  return [flag, variable, inFile === false ? undefined : `"${key}" in config.json`].filter(
    (place) => place !== undefined,
  );
}

function originWords(config: Config, key: SettingKey): string {
  const found = config.explain(key);
  return found === undefined ? "" : placeWords(found);
}

function placeWords({ source, name }: SettingOrigin): string {
  return source === "default" ? "default" : `${source} ${name}`;
}

/** A value for people: secrets are only said to be set. */
function valueWords(config: Config, key: SettingKey): string {
  const found = config.explain(key);
  if (found === undefined) return "(not set)";
  if (settingOf(key).secret === true) return "(set; secret)";
  const value = shownValue(found.value);
  return Array.isArray(value) ? value.join(",") : String(value);
}

/** A setting as a line of JSON; `value` is null for secrets and for what is not set. */
function lineOf(config: Config, key: SettingKey) {
  const { secret, about, variable = null, flag = null, inFile } = settingOf(key);
  const { value, source = null, name = "", overridden = [] } = config.explain(key) ?? {};
  return {
    key,
    value: secret === true || value === undefined ? null : shownValue(value),
    is_set: value !== undefined,
    secret: secret === true,
    source,
    from: name === "" ? null : name,
    overridden: overridden.filter(({ source: weaker }) => weaker !== "default").map(({ name: weaker }) => weaker),
    about: plain(about),
    flag,
    variable,
    in_file: inFile !== false,
  };
}

/** An address may hold a password. */
function shownValue(value: unknown): unknown {
  return redactor([]).value(value);
}

/** The words of the table without the marks of Markdown. */
function plain(words: string): string {
  return words.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
}
