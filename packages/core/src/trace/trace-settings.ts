import { Fault } from "../fault.ts";

/** Where spans are sent, and which traces are recorded. */
export interface TraceSettings {
  /** Address that takes OTLP/HTTP in JSON. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly service: string;
  /** More facts about this process, of OTEL_RESOURCE_ATTRIBUTES. */
  readonly resource: { readonly [name: string]: string };
  /** Whether a trace is recorded; `parent` is what the caller decided, undefined without a caller. */
  readonly samples: (traceId: string, parent: boolean | undefined) => boolean;
}

/** Variables of an environment. */
type Environment = { readonly [name: string]: string | undefined };

/**
 * The settings in OpenTelemetry's own variables; undefined when they name no receiver, or switch traces off.
 * BAD_REQUEST for a value that cannot be used.
 */
export function traceSettings(env: Environment): TraceSettings | undefined {
  const read = (name: string): string | undefined => env[name]?.trim() || undefined;
  const isOff = read("OTEL_SDK_DISABLED")?.toLowerCase() === "true" || read("OTEL_TRACES_EXPORTER") === "none";
  const base = read("OTEL_EXPORTER_OTLP_ENDPOINT");
  const own = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const address = own ?? (base === undefined ? undefined : `${base.replace(/\/+$/, "")}/v1/traces`);
  if (isOff || address === undefined) return undefined;
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ""))
    throw new Fault(
      "BAD_REQUEST",
      `The receiver of traces is an http or https address, not ${JSON.stringify(address)}.`,
    );
  const resource = pairs(read("OTEL_RESOURCE_ATTRIBUTES"));
  return {
    url: address,
    headers: pairs(read("OTEL_EXPORTER_OTLP_TRACES_HEADERS") ?? read("OTEL_EXPORTER_OTLP_HEADERS")),
    service: read("OTEL_SERVICE_NAME") ?? resource["service.name"] ?? "vidro",
    resource,
    samples: samplerOf(read("OTEL_TRACES_SAMPLER") ?? "parentbased_always_on", read("OTEL_TRACES_SAMPLER_ARG")),
  };
}

/** `name=value` with commas between, values percent-encoded, as these variables have it. */
function pairs(text: string | undefined): { readonly [name: string]: string } {
  const found = (text ?? "").split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at <= 0 ? [] : [[pair.slice(0, at).trim(), decodeValue(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(found);
}

function decodeValue(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function samplerOf(name: string, argument: string | undefined): TraceSettings["samples"] {
  const [, parentBased, rule] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? [];
  if (rule === undefined)
    throw new Fault(
      "BAD_REQUEST",
      `OTEL_TRACES_SAMPLER is always_on, always_off, traceidratio, or one of these behind parentbased_, not ${name}.`,
    );
  const ratio = rule === "always_off" ? 0 : rule === "always_on" ? 1 : Number(argument ?? 1);
  if (!(ratio >= 0 && ratio <= 1))
    throw new Fault("BAD_REQUEST", `OTEL_TRACES_SAMPLER_ARG is a number from 0 to 1, not ${argument}.`);
  return (traceId, parent) => {
    if (parentBased !== undefined && parent !== undefined) return parent;
    // The last 13 digits fit a number; every process decides alike about one trace.
    return Number.parseInt(traceId.slice(-13), 16) < ratio * 16 ** 13;
  };
}
