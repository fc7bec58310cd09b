import { Fault } from "@vidro/core";
import type { FaultReport, HealTried, Model, ModelEvent, ModelRequest } from "@vidro/core";

/**
 * Several models as one: when a model fails, the next one answers in its place; the last one's fault is the chain's.
 */
export function chain(models: readonly Model[]): Model {
  const [only] = models;
  if (only !== undefined && models.length === 1) return only;
  const windows = models.flatMap(({ window }) => window ?? []);
  return {
    name: models.map((model) => model.name).join(","),
    // A conversation has to fit each of them.
    ...(windows.length === 0 ? {} : { window: Math.min(...windows) }),
    ...(models.every(({ isPriced }) => isPriced === true) ? { isPriced: true } : {}),
    ...(models.every(({ isFree }) => isFree === true) ? { isFree: true } : {}),
    ...(models.some(({ summarises }) => summarises === true) ? { summarises: true } : {}),
    ...(models.some(({ takesPdfs }) => takesPdfs === true) ? { takesPdfs: true } : {}),
    call: (request, signal) => firstAnswer(models, request, signal),
  };
}

async function* firstAnswer(
  models: readonly Model[],
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  let fault = new Fault("MODEL_UNKNOWN", "There is no model in the chain.").report();
  for (const [index, model] of models.entries()) {
    const before = models[index - 1];
    if (before !== undefined) {
      yield { type: "healed", heal: switchEvent({ from: before.name, to: model.name, fault, attempt: index }) };
    }
    for await (const event of model.call(request, signal)) {
      if (event.type !== "failed") {
        yield event;
        if (event.type === "replied") return;
      } else fault = event.fault;
    }
    // An aborted call is not passed on to the next model.
    if (signal.aborted) break;
  }
  yield { type: "failed", fault };
}

interface Switch {
  readonly from: string;
  readonly to: string;
  readonly fault: FaultReport;
  readonly attempt: number;
}

function switchEvent({ from, to, fault, attempt }: Switch): HealTried {
  return {
    type: "heal.tried",
    healing: "switch_model",
    description: `${from} failed (${fault.message}); ${to} answers in its place.`,
    severity: "medium",
    attempt,
    delayMs: 0,
    metadata: { from, to, code: fault.code },
  };
}
