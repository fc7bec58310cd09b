import type { Brain } from "@vidro/brain";
import type { KeptToolRecord } from "@vidro/client";
import type { BrainApi } from "./brain-api.ts";

type Row = Awaited<ReturnType<Brain["keptTools"]["find"]>>;

/** The approved tools of this home, as the person at this machine sees them: those of all owners. */
export function embeddedKeptTools(open: () => Promise<Brain>): BrainApi["keptTools"] {
  const keptTools = async (): Promise<Brain["keptTools"]> => (await open()).keptTools;
  return {
    list: async () => (await (await keptTools()).list()).map(recordOf),
    async remove(id) {
      const tools = await keptTools();
      await tools.remove(await tools.find(id));
    },
    async promote(id) {
      const tools = await keptTools();
      return recordOf(await tools.promote(await tools.find(id)));
    },
  };
}

function recordOf({ tool, thread, ...row }: Row): KeptToolRecord {
  const { name, description, parameters, argv = [] } = tool;
  return { ...row, thread: thread ?? null, name, description, parameters, argv };
}
