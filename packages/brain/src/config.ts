import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { asFault, CONFIG_LIMITS, Fault, isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import { nearest } from "@vidro/core/text";
import type { Json, JsonObject } from "@vidro/core";
import { isSettingKey, SETTING_KEYS, settingOf } from "./config/settings.ts";
import type { SettingKey, SETTINGS } from "./config/settings.ts";
import type { SettingKind } from "./config/setting-kinds.ts";

export { isSettingKey, SETTING_KEYS, settingOf } from "./config/settings.ts";
export type { Setting, SettingKey } from "./config/settings.ts";

/** The variables of a process. */
export type Environment = { readonly [name: string]: string | undefined };

/** Values of flags, by the key of their setting. */
export type SettingFlags = { readonly [key in SettingKey]?: unknown };

/** Where settings are read from. */
interface ConfigSources {
  /** The folder of all state, in which `config.json` may lie; without it no file is read. */
  readonly home?: string;
  /** Default: the environment of this process. */
  readonly env?: Environment;
  readonly flags?: SettingFlags;
}

/** One place that sets a setting. */
export interface SettingOrigin {
  readonly source: "flag" | "environment" | "file" | "default";
  /** The flag, the variable or the path of the file; empty for a default. */
  readonly name: string;
}

/** The value of a setting, where it came from, and what it overrides. */
interface SettingValue extends SettingOrigin {
  readonly value: unknown;
  readonly overridden: readonly SettingOrigin[];
}

type Table = typeof SETTINGS;
type ValueOf<Key extends SettingKey> = Table[Key]["kind"] extends SettingKind<infer Value> ? Value : never;
type ResultOf<Key extends SettingKey> = Table[Key] extends { readonly default: unknown }
  ? ValueOf<Key>
  : ValueOf<Key> | undefined;

/** All settings of a process, checked: a flag wins over the environment, that over `config.json`, that over the default. */
export class Config {
  /** The whole environment, for the processes that a hand starts. */
  readonly env: Environment;
  readonly #values: ReadonlyMap<SettingKey, SettingValue>;

  constructor(env: Environment, values: ReadonlyMap<SettingKey, SettingValue>) {
    this.env = env;
    this.#values = values;
  }

  /** The value of a setting; undefined when nothing sets it and it has no default. */
  get<Key extends SettingKey>(key: Key): ResultOf<Key> {
    return this.#values.get(key)?.value as ResultOf<Key>;
  }

  /** The value of the setting that has this variable. */
  ofVariable(variable: string): string | undefined {
    const key = SETTING_KEYS.find((one) => settingOf(one).variable === variable);
    return key === undefined ? undefined : (this.get(key) as string | undefined);
  }

  /** The value of a setting and where it came from; undefined when nothing sets it. */
  explain(key: SettingKey): SettingValue | undefined {
    return this.#values.get(key);
  }

  /** Values that must not be kept or shown: those of secret settings, and of variables whose names tell of a secret. */
  secrets(): readonly string[] {
    const telling = /key|token|secret|passw|credential|auth/i;
    const variables = Object.entries(this.env).filter(([name]) => telling.test(name));
    const settings = SETTING_KEYS.filter((key) => settingOf(key).secret === true).map((key) => this.get(key));
    return [...variables.map(([, value]) => value), ...settings].filter((value) => typeof value === "string");
  }
}

/**
 * Reads and checks all settings. BAD_REQUEST names every value that is not allowed, where it was set and what is
 * allowed, every unknown key of the file, and a file with secrets that other users can read.
 */
export function readConfig({ home, env = process.env, flags = {} }: ConfigSources = {}): Config {
  const file = home === undefined ? undefined : readSettingsFile(home);
  const problems = file === undefined ? [] : fileProblems(file);
  const values = new Map<SettingKey, SettingValue>();
  for (const key of SETTING_KEYS) {
    const { kind, secret } = settingOf(key);
    const [strongest, ...weaker] = originsOf(key, { flags, env, file }).map(({ given, ...origin }) => {
      const value = given === undefined ? undefined : kind.read(given);
      const shown = secret === true ? "" : ` is ${JSON.stringify(given)}, but`;
      if (value === undefined) problems.push(`${placeOf(key, origin)}${shown} must be ${kind.allowed}.`);
      return { ...origin, value };
    });
    const overridden = weaker.map(({ source, name }) => ({ source, name }));
    if (strongest !== undefined) values.set(key, { ...strongest, overridden });
  }
  if (problems.length > 0) throw new Fault("BAD_REQUEST", problems.join(" "));
  // The caller knows the default of this one, since it found the file there.
  if (home !== undefined && !values.has("home"))
    values.set("home", { value: home, source: "default", name: "", overridden: [] });
  return new Config(env, values);
}

/** The content of `config.json`. */
interface SettingsFile {
  readonly path: string;
  readonly content: JsonObject;
  /** Whether users other than its owner can read it. */
  readonly isShared: boolean;
}

/** Sources of a setting, the strongest first. */
function originsOf(
  key: SettingKey,
  { flags, env, file }: { flags: SettingFlags; env: Environment; file: SettingsFile | undefined },
): readonly (SettingOrigin & { readonly given: unknown })[] {
  const { flag, variable, inFile, default: usual } = settingOf(key);
  // A variable that is empty counts as not set.
  const said = variable === undefined ? "" : (env[variable]?.trim() ?? "");
  const isInFile = file !== undefined && inFile !== false && Object.hasOwn(file.content, key);
  return [
    ...(flags[key] === undefined ? [] : [{ source: "flag", name: flag ?? "", given: flags[key] } as const]),
    ...(said === "" ? [] : [{ source: "environment", name: variable ?? "", given: said } as const]),
    ...(isInFile ? [{ source: "file", name: file.path, given: file.content[key] } as const] : []),
    ...(usual === undefined ? [] : [{ source: "default", name: "", given: usual } as const]),
  ];
}

function placeOf(key: SettingKey, { source, name }: SettingOrigin): string {
  return source === "file" ? `${JSON.stringify(key)} in ${name}` : name;
}

/** The settings file of a home; undefined when there is none. */
function readSettingsFile(home: string): SettingsFile | undefined {
  const path = join(home, "config.json");
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > CONFIG_LIMITS.fileBytes)
    throw new Fault("BAD_REQUEST", `${path} must be a file of at most ${CONFIG_LIMITS.fileBytes} bytes.`);
  const content = parseFile(path);
  if (!isObject(content)) throw new Fault("BAD_REQUEST", `${path} must hold one JSON object: {"<setting>": <value>}.`);
  return { path, content, isShared: process.platform !== "win32" && (found.mode & 0o077) !== 0 };
}

function parseFile(path: string): Json {
  try {
    return parseJson(readFileSync(path, "utf8"));
  } catch (cause) {
    const why = cause instanceof Fault ? "it is not JSON" : asFault(cause).message;
    throw new Fault("BAD_REQUEST", `${path} cannot be read: ${why}.`, { cause });
  }
}

function fileProblems({ path, content, isShared }: SettingsFile): string[] {
  const problems = Object.keys(content).flatMap((key) => {
    if (!isSettingKey(key)) {
      const near = nearest(key, SETTING_KEYS);
      const hint = near === undefined ? "vidro config list shows all settings." : `Did you mean ${near}?`;
      return [`${JSON.stringify(key)} in ${path} is no setting. ${hint}`];
    }
    const { inFile, variable } = settingOf(key);
    return inFile === false ? [`${JSON.stringify(key)} cannot be set in ${path}, only by ${variable}.`] : [];
  });
  const secrets = SETTING_KEYS.filter((key) => settingOf(key).secret === true && Object.hasOwn(content, key));
  if (isShared && secrets.length > 0)
    problems.push(`${path} holds ${secrets.join(", ")}, and other users can read it: chmod 600 ${path}`);
  return problems;
}
