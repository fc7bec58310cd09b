import { redactor } from "@vidro/core/redact";
import type { Json } from "@vidro/core";
import type { Redactor } from "@vidro/core/redact";
import { BOX_LIMITS } from "./limits.ts";

/** Takes out of telemetry what must never leave: credentials, keys, tokens, connection strings. */
export interface Sanitiser {
  /** Adds secrets; very short ones are ignored because they occur in ordinary words. */
  readonly hide: (...secrets: readonly string[]) => void;
  /** The value as plain JSON without its secrets. */
  readonly clean: (value: unknown) => Json;
}

const REDACTED = "[redacted]";
const DATABASES =
  "postgres(?:ql)?|cockroachdb|mysqlx?|mariadb|mongodb(?:\\+srv)?|rediss?|valkeys?|amqps?|mssql|sqlserver|oracle|" +
  "clickhouse|cassandra|couchbases?|neo4j(?:\\+s)?|bolt|nats|kafka|ldaps?|ftps?|sftp|smtps?";
const KEYWORDS =
  "server|data source|host|hostname|addr(?:ess)?|endpoint|database|dbname|initial catalog|uid|user|user id|username|" +
  "pwd|password|accountname|accountkey|sharedaccesskey(?:name)?|defaultendpointsprotocol|driver|port";
const PAIR = "(?:host|hostaddr|port|user|dbname|password|passfile|sslmode|connect_timeout)=\\S{1,256}";

/** Connection strings; they are removed whole, because the address of a database must not be shown either. */
const CONNECTIONS: readonly RegExp[] = [
  new RegExp(`\\b(?:jdbc:|odbc:)?(?:${DATABASES}):(?://|thin:)[^\\s"'<>\`]+`, "gi"),
  new RegExp(`\\b${PAIR}(?: ${PAIR}){1,16}`, "gi"),
  new RegExp(`\\b(?:${KEYWORDS}) ?=[^;\\s"'=]{1,512};(?: ?[a-z ]{2,32}=[^;"'\\n]{0,512};?){1,32}`, "gi"),
];

/** A sanitiser that knows these secrets from the start. */
export function sanitiser(secrets: readonly string[] = []): Sanitiser {
  let known = new Set(secrets);
  let redact: Redactor = redactor([...known]);
  return {
    hide(...more) {
      const fresh = more.filter((secret) => secret !== "" && !known.has(secret));
      if (fresh.length === 0) return;
      if (known.size + fresh.length > secrets.length + BOX_LIMITS.secrets) {
        throw new RangeError(`A request may hide at most ${BOX_LIMITS.secrets} secrets.`);
      }
      known = new Set([...known, ...fresh]);
      redact = redactor([...known]);
    },
    // Serialised first: a value with its own JSON form, such as a URL, shows its secrets only there.
    clean: (value) => withoutConnections(redact.value(JSON.parse(JSON.stringify(value) ?? "null") as Json)),
  };
}

function withoutConnections(value: Json): Json {
  if (typeof value === "string") return CONNECTIONS.reduce((text, pattern) => text.replace(pattern, REDACTED), value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => withoutConnections(item));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [withoutConnections(name), withoutConnections(field ?? null)]),
  );
}
