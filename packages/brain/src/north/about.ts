import { CHAT_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { RouteCall, Surface } from "../http/route.ts";
import { plainFault } from "./ops.ts";

/* What a brain is made of: its store, its bus and its models, and a test of each model; for administrators. */

/** The models of a brain in the order in which they are asked, and why it is these. */
interface ModelChain {
  readonly models: readonly string[];
  readonly because: string;
}

/** Dependencies of this surface. */
export interface AboutDependencies {
  readonly version: string;
  /** Kinds of the store and of the bus, without their addresses, which may hold passwords. */
  readonly storage: { readonly store: string; readonly bus: string | null };
  readonly modelChain: () => Promise<ModelChain>;
  /** Calls a model with a small task and tells what came of it; a Fault when there is no such model. */
  readonly tryModel: (name: string, signal: AbortSignal) => Promise<object>;
}

/** Tells what the brain is made of, and tries its models. */
export function aboutSurface(deps: AboutDependencies): Surface {
  return {
    name: "about",
    faultBody: plainFault,
    routes: [
      {
        method: "GET",
        path: "/v1/about",
        summary: "The store, the bus and the models of this brain",
        scope: "admin",
        answer: ABOUT,
        async handle() {
          const { models, because } = await deps.modelChain();
          return { json: { version: deps.version, ...deps.storage, models: [...models], because } };
        },
      },
      {
        method: "POST",
        path: "/v1/models/test",
        summary: "Call a model with a small task and tell what came of it",
        scope: "admin",
        body: MODEL,
        answer: TRIAL,
        async handle({ body, signal }: RouteCall) {
          const { model } = body as { readonly model: string };
          return { json: { ...(await deps.tryModel(model, signal)) } as JsonObject };
        },
      },
    ],
  };
}

const TEXT = { type: "string" };
const TEXTS = { type: "array", items: TEXT };
const ABOUT = object({ version: TEXT, store: TEXT, bus: { type: ["string", "null"] }, models: TEXTS, because: TEXT });
const MODEL: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["model"],
  properties: { model: { type: "string", minLength: 1, maxLength: CHAT_LIMITS.nameChars } },
};
const TRIAL: JsonObject = {
  type: "object",
  required: ["model", "isRight", "thinks", "tookMs", "usage", "healed", "answer"],
  properties: {
    model: TEXT,
    isRight: { type: "boolean", description: "It called a tool and gave the word of its result." },
    calls: { enum: ["natively", "in text"] },
    thinks: { type: "boolean" },
    tookMs: { type: "array", items: { type: "integer" } },
    usage: { type: "object" },
    healed: TEXTS,
    window: { type: "integer" },
    answer: TEXT,
    fault: { type: "object", description: "Why it failed." },
  },
};

function object(properties: JsonObject): JsonObject {
  return { type: "object", required: Object.keys(properties), properties };
}
