import { KNOWLEDGE_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { Route, Surface } from "../http/route.ts";
import type { Documents } from "../knowledge/documents.ts";
import { plainFault } from "./ops.ts";

/* Documents of folders that the operator has named for the runs of every owner. */

/** Dependencies of this surface. */
export interface DocumentDependencies {
  readonly documents: Pick<Documents, "search" | "status" | "refresh">;
}

/** Searches documents, and tells and renews what is indexed. */
export function documentsSurface({ documents }: DocumentDependencies): Surface {
  const folders = async (): Promise<{ readonly json: JsonObject }> => ({
    json: { folders: (await documents.status()).map((row): JsonObject => ({ ...row })) },
  });
  const routes: readonly Route[] = [
    {
      method: "GET",
      path: "/v1/documents",
      scope: "runs",
      summary: "Sections of documents in the configured folders, the best matches first",
      query: SEARCH,
      answer: FOUND,
      async handle({ query }) {
        const found = await documents.search(query["q"] ?? "", Number(query["limit"]));
        return { json: { documents: found.map((match): JsonObject => ({ ...match })) } };
      },
    },
    {
      method: "GET",
      path: "/v1/documents/folders",
      scope: "runs",
      summary: "What is indexed of each configured folder",
      answer: FOLDERS,
      handle: folders,
    },
    {
      method: "POST",
      path: "/v1/documents/index",
      scope: "admin",
      summary: "Look through the configured folders now; the answer comes when that is done",
      answer: FOLDERS,
      async handle() {
        await documents.refresh();
        return folders();
      },
    },
  ];
  return { name: "documents", faultBody: plainFault, routes };
}

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };
const SEARCH = {
  type: "object",
  additionalProperties: false,
  properties: {
    q: { type: "string", minLength: 1, maxLength: KNOWLEDGE_LIMITS.titleChars, description: "Words." },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: KNOWLEDGE_LIMITS.ranked,
      default: KNOWLEDGE_LIMITS.docsUnasked,
    },
  },
  required: ["q"],
};
const FOUND = {
  type: "object",
  properties: {
    documents: {
      type: "array",
      items: {
        type: "object",
        properties: { path: TEXT, line: COUNT, title: TEXT, snippet: TEXT },
        required: ["path", "line", "title", "snippet"],
      },
    },
  },
  required: ["documents"],
};
const FOLDERS = {
  type: "object",
  properties: {
    folders: {
      type: "array",
      items: {
        type: "object",
        properties: {
          folder: TEXT,
          documents: COUNT,
          sections: COUNT,
          at: { type: ["integer", "null"], description: "End of the last look, in milliseconds since the epoch." },
          leftOut: { type: "array", items: TEXT, description: "Why documents were left out; the first reasons." },
          fault: { type: ["string", "null"], description: "Why the folder could not be looked through." },
        },
        required: ["folder", "documents", "sections", "at", "leftOut", "fault"],
      },
    },
  },
  required: ["folders"],
};
