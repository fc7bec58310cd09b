import { CLIENT_LIMITS, LONGEST_TIMER_MS, RETENTION_LIMITS } from "@vidro/core";
import { INVITATION_VARIABLE } from "@vidro/core/wire/enrolment";
import { WORKER_SOCKET } from "@vidro/core/wire/worker";
import { dollars, factsByModel, modelPrice } from "./model-kinds.ts";
import { textList, oneOf, anyText, wholeNumber, yesOrNo } from "./setting-kinds.ts";
import type { SettingKind } from "./setting-kinds.ts";
import { SEARCH_SETTINGS } from "./search-settings.ts";
import { VENDOR_SETTINGS } from "./vendor-settings.ts";

/** One thing that can be set. */
export interface Setting {
  readonly group: "General" | "Daemon" | "Knowledge" | "Signed tokens" | "Models" | "Web search";
  readonly kind: SettingKind<unknown>;
  readonly about: string;
  /** The flag of the commands that have one. */
  readonly flag?: string;
  /** The variable of the environment. */
  readonly variable?: string;
  /** Whether `config.json` may set it; unsaid, it may. */
  readonly inFile?: false;
  /** Its value is never printed. */
  readonly secret?: true;
  /** The value when nothing sets it. */
  readonly default?: unknown;
  /** What happens when nothing sets it and there is no default value. */
  readonly otherwise?: string;
}

const PORT_MOST = 65_535;

/** Every setting by its key: the name in `config.json` and in `vidro config`. */
export const SETTINGS = {
  home: {
    group: "General",
    kind: anyText,
    variable: "VIDRO_HOME",
    inFile: false,
    about: "folder of all state: journal, tokens, policy, agents, `config.json`; closed to other users",
    otherwise:
      "`$XDG_STATE_HOME/vidro`, else `~/.local/state/vidro`; `vidro-hand` uses `$STATE_DIRECTORY` of its service before these, and `joined` below the home",
  },
  url: {
    group: "General",
    kind: anyText,
    flag: "--url",
    variable: "VIDRO_URL",
    about: "address of the brain that the commands talk to",
    otherwise: "the running daemon of this home, else a brain inside the command",
  },
  token: {
    group: "General",
    kind: anyText,
    flag: "--token",
    variable: "VIDRO_TOKEN",
    secret: true,
    about: "token that the commands send to the brain, and `vidro tcp` to its server",
    otherwise: "the token of the running daemon of this home",
  },
  retries: {
    group: "General",
    kind: wholeNumber(0, 999),
    variable: "VIDRO_RETRIES",
    default: CLIENT_LIMITS.retries,
    about: "how often a request to the brain is sent again when the connection is lost",
  },
  invitation: {
    group: "General",
    kind: anyText,
    variable: INVITATION_VARIABLE,
    inFile: false,
    secret: true,
    about: "invitation of a brain, for `vidro hands join` and `vidro-hand join`; it is in no list of processes there",
    otherwise: "`--token-file`, standard input, or `--token`",
  },
  port: {
    group: "Daemon",
    kind: wholeNumber(0, PORT_MOST),
    flag: "--port",
    default: 3120,
    about: "port that `vidro up` listens on; 0 picks a free one",
  },
  host: {
    group: "Daemon",
    kind: anyText,
    flag: "--host",
    default: "127.0.0.1",
    about: "address that `vidro up` listens on; beyond this machine only with TLS",
  },
  tls_cert: {
    group: "Daemon",
    kind: anyText,
    flag: "--tls-cert",
    about: "file with the daemon's certificate in PEM; needs `tls_key`",
    otherwise: "no TLS",
  },
  tls_key: {
    group: "Daemon",
    kind: anyText,
    flag: "--tls-key",
    about: "file with the key of that certificate in PEM",
    otherwise: "no TLS",
  },
  store: {
    group: "Daemon",
    kind: anyText,
    flag: "--store",
    variable: "VIDRO_STORE",
    secret: true,
    about:
      "address of a PostgreSQL database that keeps journals and records, and that several brains may share: `postgres://user:password@host:5432/database`, with `sslmode` and the other words of libpq, and `schema` (default `vidro`)",
    otherwise: "a file of SQLite in the home",
  },
  bus: {
    group: "Daemon",
    kind: anyText,
    flag: "--bus",
    variable: "VIDRO_BUS",
    secret: true,
    about:
      "address of a Redis through which brains on one `store` reach each other: `redis://user:password@host:6379/0`, `rediss://` with TLS, `redis+sentinel://host:26379,host:26379/master`, `redis+cluster://host:6379,host:6379`; with `prefix` of its keys, and `sslrootcert`",
    otherwise: "brains on one `store` wake each other through PostgreSQL; hands and live output stay with their brain",
  },
  keep_days: {
    group: "Daemon",
    kind: wholeNumber(0, 36_500),
    variable: "VIDRO_KEEP_DAYS",
    default: RETENTION_LIMITS.days,
    about:
      "days for which an ended run is kept; 0 keeps every run. `vidro audit verify` knows deleted runs by the seals",
  },
  keep_store_mib: {
    group: "Daemon",
    kind: wholeNumber(0, 1_000_000_000),
    variable: "VIDRO_KEEP_STORE_MIB",
    default: RETENTION_LIMITS.storeMib,
    about:
      "size of the store in the home, in MiB, beyond which its oldest ended runs are deleted earlier, but not within a day; 0 sets no bound",
  },
  keep_export: {
    group: "Daemon",
    kind: anyText,
    variable: "VIDRO_KEEP_EXPORT",
    about: "folder that a run is written to, as NDJSON, before it is deleted",
    otherwise: "it is not written",
  },
  on_restart: {
    group: "Daemon",
    kind: oneOf("resume", "hold"),
    flag: "--on-restart",
    default: "resume",
    about: "whether runs that were open when the last daemon ended go on, or wait until they are attached to",
  },
  local_hand: {
    group: "Daemon",
    kind: yesOrNo,
    flag: "--no-local-hand",
    default: true,
    about: "whether the daemon executes on its own machine",
  },
  southbound_port: {
    group: "Daemon",
    kind: wholeNumber(0, PORT_MOST),
    flag: "--southbound-port",
    about: "port that hands on other machines connect to",
    otherwise: "3121, opened with the first invitation",
  },
  southbound_hosts: {
    group: "Daemon",
    kind: textList,
    flag: "--southbound-host",
    variable: "VIDRO_SOUTHBOUND_HOSTS",
    about: "names and addresses by which hands on other machines reach the daemon",
    otherwise: "only this machine",
  },
  hosts: {
    group: "Daemon",
    kind: textList,
    variable: "VIDRO_HOSTS",
    about: "names that the header `Host` of a request may have",
    otherwise: "the address it listens on, and `localhost`",
  },
  origins: {
    group: "Daemon",
    kind: textList,
    variable: "VIDRO_ORIGINS",
    about: "origins of web pages that may call the daemon (`https://app.example`); they get CORS headers",
    otherwise: "only its own pages",
  },
  owners_approve: {
    group: "Daemon",
    kind: yesOrNo,
    variable: "VIDRO_OWNERS_APPROVE",
    default: false,
    about: "whether the owner of a run may approve what it asks without the scope `approve`",
  },
  answer_links: {
    group: "Daemon",
    kind: yesOrNo,
    variable: "VIDRO_ANSWER_LINKS",
    default: false,
    about:
      "whether a person who may approve can make a link that answers one question, once and within ten minutes, without a sign-in",
  },
  node_env: {
    group: "Daemon",
    kind: anyText,
    variable: "NODE_ENV",
    inFile: false,
    about: "`production`: only administrators see how an intent was analysed",
    otherwise: "every caller sees it",
  },
  jwt_secret: {
    group: "Signed tokens",
    kind: anyText,
    variable: "VIDRO_JWT_SECRET",
    secret: true,
    about: "secret that signs people's tokens (HS256); at most one of this and the next two may be set",
    otherwise: "signed tokens are refused",
  },
  jwt_public_key: {
    group: "Signed tokens",
    kind: anyText,
    variable: "VIDRO_JWT_PUBLIC_KEY",
    about: "file in PEM with the public key that checks signed tokens",
    otherwise: "signed tokens are refused",
  },
  jwt_key_set: {
    group: "Signed tokens",
    kind: anyText,
    variable: "VIDRO_JWT_KEY_SET",
    about: "address or file of a set of such keys (JWKS)",
    otherwise: "signed tokens are refused",
  },
  jwt_issuer: {
    group: "Signed tokens",
    kind: anyText,
    variable: "VIDRO_JWT_ISSUER",
    about: "what `iss` of a signed token must be",
    otherwise: "it is not checked",
  },
  jwt_audience: {
    group: "Signed tokens",
    kind: anyText,
    variable: "VIDRO_JWT_AUDIENCE",
    about: "what `aud` of a signed token must be",
    otherwise: "it is not checked",
  },
  jwt_roles_claim: {
    group: "Signed tokens",
    kind: anyText,
    variable: "VIDRO_JWT_ROLES_CLAIM",
    default: "roles",
    about: "claim of a signed token that names its roles",
  },
  model: {
    group: "Models",
    kind: anyText,
    variable: "VIDRO_MODEL",
    about:
      "the model, or several with commas, each tried when the one before fails: `anthropic/…`, `openai/…`, `google/…`, `worker`, `ollama/…`, `offline`, or a name at `model_url`",
    otherwise:
      "the first of: `model_url`, a vendor whose key is set, a worker on its socket, an Ollama on this machine, `offline`",
  },
  model_url: {
    group: "Models",
    kind: anyText,
    variable: "VIDRO_MODEL_URL",
    about: "address of an OpenAI-compatible server",
    otherwise: "none",
  },
  model_key: {
    group: "Models",
    kind: anyText,
    variable: "VIDRO_MODEL_KEY",
    secret: true,
    about: "key for `model_url`, or for a vendor whose own key is not set",
    otherwise: "no key is sent",
  },
  model_key_file: {
    group: "Models",
    kind: anyText,
    variable: "VIDRO_MODEL_KEY_FILE",
    about:
      "file with that key or token; it is read again when a server refuses the key, so that another program may renew it",
    otherwise: "`model_key_command`, if it is set",
  },
  model_key_command: {
    group: "Models",
    kind: anyText,
    variable: "VIDRO_MODEL_KEY_COMMAND",
    about:
      "command line that prints that key or a token that ends, such as `gcloud auth print-access-token`; it is run again when a server refuses the key. For Bedrock it may print the JSON of a `credential_process`",
    otherwise: "no key is read from elsewhere",
  },
  model_timeout_ms: {
    group: "Models",
    kind: wholeNumber(1, LONGEST_TIMER_MS),
    variable: "VIDRO_MODEL_TIMEOUT_MS",
    about: "how long a model may be silent, in milliseconds",
    otherwise: "`MODEL_LIMITS` in [limits.md](limits.md)",
  },
  model_window: {
    group: "Models",
    kind: wholeNumber(1000, 100_000_000),
    variable: "VIDRO_MODEL_WINDOW",
    about: "tokens that the model can read at once; the conversation is shortened before it is longer",
    otherwise: "what is known of the model; else the server's refusal of a prompt that is too long",
  },
  model_answer: {
    group: "Models",
    kind: wholeNumber(1, 100_000_000),
    variable: "VIDRO_MODEL_ANSWER",
    about: "tokens of the model's longest answer; the model is told to end there",
    otherwise: "the vendor's own bound",
  },
  model_price: {
    group: "Models",
    kind: modelPrice,
    variable: "VIDRO_MODEL_PRICE",
    about:
      "US dollars per million tokens, as `input/output`, `input/output/cached` or `input/output/cached/cache-write`",
    otherwise: "what is known of the model; a model of this machine costs nothing",
  },
  max_thread_cost: {
    group: "Models",
    kind: dollars,
    variable: "VIDRO_MAX_THREAD_COST",
    about:
      "US dollars that all runs of one conversation may cost; looked at before each call of a model, which needs a known price then",
    otherwise: "not bounded",
  },
  max_day_cost: {
    group: "Models",
    kind: dollars,
    variable: "VIDRO_MAX_DAY_COST",
    about:
      "US dollars that all runs of this brain, and of others on the same `store`, may cost in a day of UTC; looked at before each call of a model, which needs a known price then",
    otherwise: "not bounded",
  },
  model_facts: {
    group: "Models",
    kind: factsByModel,
    variable: "VIDRO_MODEL_FACTS",
    about:
      'facts by the name of a model: `{"my-model": {"window": 32768, "answer": 4096, "prices": [{"input": 1, "output": 2}]}}`; also `tools`, `images`, `pdfs`, `thinking`, `showsThinking`, `parallelCalls`, `refusesForcedTools`',
    otherwise: "what the server says and the catalogue has",
  },
  vendor_packages: {
    group: "Models",
    kind: anyText,
    variable: "VIDRO_VENDOR_PACKAGES",
    about: "folder of the packages for Azure, Bedrock, Vertex and Mistral; installed there when one is first used",
    otherwise: "`vendors` in the home",
  },
  worker_socket: {
    group: "Models",
    kind: anyText,
    flag: "--socket",
    variable: "FAZAI_GEMMA_SOCK",
    default: WORKER_SOCKET,
    about: "Unix socket of a model worker, for `vidro worker` and for the brain",
  },
  worker_engine: {
    group: "Models",
    kind: anyText,
    variable: "VIDRO_WORKER_ENGINE",
    about: "folder of the engine that `vidro worker` runs models with; installed there when it is missing",
    otherwise: "`engine` in the home",
  },
  ...VENDOR_SETTINGS,
  ollama_host: {
    group: "Models",
    kind: anyText,
    variable: "OLLAMA_HOST",
    about: "address of an Ollama server",
    otherwise: "`127.0.0.1:11434`",
  },
  ...SEARCH_SETTINGS,
} as const satisfies { readonly [key: string]: Setting };

/** The name of a setting. */
export type SettingKey = keyof typeof SETTINGS;

/** The names of all settings, in the order of the table. */
export const SETTING_KEYS = Object.keys(SETTINGS) as readonly SettingKey[];

/** Whether a word is the name of a setting. */
export function isSettingKey(word: string): word is SettingKey {
  return Object.hasOwn(SETTINGS, word);
}

/** A setting as every setting can be looked at. */
export function settingOf(key: SettingKey): Setting {
  return SETTINGS[key];
}
