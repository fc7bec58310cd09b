import { mendInput } from "@vidro/aon/boxes";
import type { Schema } from "@vidro/aon/boxes";
import { Fault } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import type { Route, ProgressReporter } from "./route.ts";
import type { Validator } from "./validate.ts";

/** A body that fits its schema, and the changes made to it; changes name fields and never values. */
interface AcceptedBody {
  readonly body: JsonObject;
  readonly changes: readonly string[];
}

/** Names that callers use for our fields, in English, Portuguese and Spanish. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["sessionid", "session", "sessao", "sesion", "threadid", "thread"],
  ["prompt", "task", "tarefa", "tarea", "instruction", "instrucao", "instruccion", "pergunta", "pregunta"],
  ["objective", "goal", "objetivo", "meta"],
  ["history", "historico", "historial"],
  ["agentuuid", "agent", "agentid", "agente"],
  ["toolsenabled", "tools", "ferramentas", "herramientas"],
  ["prompt", "instructions", "instrucoes", "instrucciones"],
  ["image", "picture", "imagem", "imagen"],
  ["model", "modelo"],
  ["params", "parameters", "parametros"],
  ["temperature", "temperatura"],
];

/**
 * Checks the body of a route and mends it if it does not fit and the route allows that: fields by a synonym, values
 * that convert to the right type without loss. A body that still does not fit is refused.
 */
export function acceptBody(route: Route, checks: Pick<Validator, "body">, brought: Json): AcceptedBody {
  try {
    return { body: checks.body(brought), changes: [] };
  } catch (thrown) {
    if (route.mends !== true || !(thrown instanceof Fault)) throw thrown;
    const { value, changes } = mendInput(brought, route.body as Schema, { synonyms: SYNONYMS });
    if (changes.length === 0) throw thrown;
    return { body: checks.body(value), changes };
  }
}

/** Reports the mending of a body, after the route has accepted it. */
export function reportMending(tell: ProgressReporter, route: Route, { changes }: AcceptedBody): void {
  if (changes.length === 0) return;
  const action = "fix_schema_validation";
  const intent = `${route.method} ${route.path}`;
  tell.intent({
    original_intent: intent,
    detected_issue: "invalid_schema",
    decision: "apply_semantic_mapping",
  });
  const attempt = 1;
  const description = "The input did not fit its schema: names and types were mapped.";
  tell.healing({ severity: "medium", action, description, metadata: { attempt, changes } });
  tell.healing({ severity: "low", action, description: "It helped.", metadata: { attempt, success: true } });
}
