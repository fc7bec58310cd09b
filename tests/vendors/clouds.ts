import { gemini } from "./gemini.ts";
import { PACKAGES } from "./packages.ts";
import { responses } from "./responses.ts";
import type { Refusal, Vendor } from "./vendor.ts";

/* Vendors' models in the clouds of others: the same conversation, behind another door. */

const azureRefusal = (status: number, code: string, message: string): Refusal => ({
  status,
  body: { error: { code, message } },
});

function azureAt(name: string, env: { readonly [name: string]: string }, isLetIn: Door): Vendor {
  return {
    ...responses,
    name,
    env: (url) => ({
      VIDRO_MODEL: "azure/my-deployment",
      AZURE_BASE_URL: url.replace(/\/v1$/, "/openai/v1"),
      VIDRO_VENDOR_PACKAGES: PACKAGES,
      ...env,
    }),
    admit({ path, headers }) {
      if (path !== "/openai/v1/responses") return azureRefusal(404, "404", "Resource not found");
      if (isLetIn(headers)) return undefined;
      return azureRefusal(401, "401", "Access denied due to invalid subscription key or wrong API endpoint.");
    },
  };
}

type Door = (headers: { readonly [name: string]: string | readonly string[] | undefined }) => boolean;

/** Azure with a key of the resource: it goes into a header of its own, and in no other. */
export const azure = azureAt(
  "azure with a key",
  { AZURE_API_KEY: "azure-key-1" },
  ({ "api-key": key, authorization }) => key === "azure-key-1" && authorization === undefined,
);

const ENTRA = `eyJ${Buffer.from("a token of Entra").toString("base64url")}.body.signature`;

/** Azure with a token of Entra, which a command prints. */
export const azureEntra = azureAt(
  "azure with a token of Entra",
  { VIDRO_MODEL_KEY_COMMAND: `printf %s ${ENTRA}` },
  ({ "api-key": key, authorization }) => key === undefined && authorization === `Bearer ${ENTRA}`,
);

const VERTEX = "/v1beta1/projects/my-project/locations/europe-west4/publishers/google";
const TOKEN = "ya29.a-token-of-google";

/** Vertex: the project and the location are in the path, and a token of OAuth opens it. */
export const vertex: Vendor = {
  ...gemini,
  name: "vertex",
  env: (url) => ({
    VIDRO_MODEL: "vertex/gemini-3.8-flash",
    GOOGLE_VERTEX_PROJECT: "my-project",
    GOOGLE_VERTEX_LOCATION: "europe-west4",
    GOOGLE_VERTEX_BASE_URL: url.replace(/\/v1$/, VERTEX),
    VIDRO_MODEL_KEY_COMMAND: `printf %s ${TOKEN}`,
    VIDRO_VENDOR_PACKAGES: PACKAGES,
  }),
  admit({ path, headers }) {
    const refusal = (code: number, status: string, message: string): Refusal => ({
      status: code,
      body: { error: { code, message, status } },
    });
    const [place, query] = path.split("?");
    if (place !== `${VERTEX}/models/gemini-3.8-flash:streamGenerateContent` || query !== "alt=sse")
      return refusal(404, "NOT_FOUND", `${path} was not found`);
    if (headers.authorization === `Bearer ${TOKEN}` && headers["x-goog-api-key"] === undefined) return undefined;
    return refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials. Expected OAuth 2 token.");
  },
};
