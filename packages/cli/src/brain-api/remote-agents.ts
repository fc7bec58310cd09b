import { Vidro } from "@vidro/client";
import type { Address } from "./address.ts";
import type { Catalog } from "./agent-api.ts";
import { told } from "./remote.ts";

/** The agents of a brain behind its wire. */
export function remoteCatalog({ url, token, retries }: Address): Catalog {
  const { agents } = new Vidro({
    url,
    ...(token === undefined ? {} : { token }),
    ...(retries === undefined ? {} : { retries }),
  });
  return {
    list: () => told(agents.list()),
    find: (uuidOrName) => told(agents.find(uuidOrName)),
    create: (draft) => told(agents.create(draft)),
    delete: (uuid) => told(agents.delete(uuid)),
  };
}
