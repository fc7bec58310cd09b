import { Fault, isObject, PAGE_LIMITS, PROPOSAL_LIMITS } from "@vidro/core";
import type { JsonObject, Records, StoredRecord, ToolSpec } from "@vidro/core";

/** A tool that a model proposed and a person approved. */
export interface KeptTool {
  readonly tool: ToolSpec;
  /** Who approved it. */
  readonly by: string;
  readonly at: number;
  /** The proposal in its journal. */
  readonly source: { readonly run: string; readonly seq: number };
}

/** A kept tool in a list. */
export interface KeptToolRow extends KeptTool {
  /** Its name, and behind a dot its thread, unless all threads of its owner have it. */
  readonly id: string;
  readonly owner: string;
  /** Its thread; absent when all threads of its owner have it. */
  readonly thread?: string;
}

/** Whose tools are looked at: those of one thread, or those that all threads of the owner have. */
interface Place {
  readonly owner: string;
  readonly thread?: string;
}

/** One record holds the tools of a thread, or those of all threads of an owner: a run reads two, however many there are. */
const KIND = "kept_tools";

/** How often a change is tried again when another process changed the same record. */
const TRIES = 5;

/** The tools that models proposed and people approved, by thread and by owner. */
export class KeptTools {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** The tools for a run of a thread: its own, and those of all threads, of which its own take the place. */
  async of(place: Required<Place>): Promise<readonly ToolSpec[]> {
    const [own, shared] = await Promise.all([this.#read(place), this.#read({ owner: place.owner })]);
    const names = new Set(own.tools.map(({ tool }) => tool.name));
    return [...own.tools, ...shared.tools.filter(({ tool }) => !names.has(tool.name))].map(({ tool }) => tool);
  }

  /** Keeps an approved tool; one of the same name is replaced. CONFLICT when there are too many. */
  async keep(place: Place, kept: KeptTool): Promise<void> {
    const most = place.thread === undefined ? PROPOSAL_LIMITS.promoted : PROPOSAL_LIMITS.perThread;
    await this.#change(place, (tools) => {
      const others = tools.filter(({ tool }) => tool.name !== kept.tool.name);
      if (others.length < most) return [...others, kept];
      throw new Fault("CONFLICT", `At most ${most} approved tools are kept there; remove one first: vidro tools list`);
    });
  }

  /** Kept tools, of one owner or of all; those of threads whose tools changed last come first. */
  async list(owner?: string): Promise<readonly KeptToolRow[]> {
    const filter = { limit: PAGE_LIMITS.items, order: "newest", ...(owner === undefined ? {} : { owner }) } as const;
    const rows: KeptToolRow[] = [];
    for (let after: string | undefined; ;) {
      const page = await this.#records.list(KIND, { ...filter, ...(after === undefined ? {} : { after }) });
      rows.push(...page.flatMap((record) => rowsOf(record)));
      after = page.at(-1)?.id;
      if (page.length < PAGE_LIMITS.items) return rows;
    }
  }

  /** The tool of an id; NOT_FOUND when there is none, or it is another owner's. */
  async find(id: string, owner?: string): Promise<KeptToolRow> {
    const found = (await this.list(owner)).find((row) => row.id === id);
    if (found === undefined) throw new Fault("NOT_FOUND", `There is no approved tool ${JSON.stringify(id)}.`);
    return found;
  }

  /** Removes a tool: later runs do not have it. */
  async remove({ tool: { name }, ...place }: KeptToolRow): Promise<void> {
    await this.#change(place, (tools) => tools.filter(({ tool }) => tool.name !== name));
  }

  /** Makes the tool of a thread one of all threads of its owner. CONFLICT when those have another of that name. */
  async promote(row: KeptToolRow): Promise<KeptToolRow> {
    const { id: _, owner, thread, ...kept } = row;
    const { name } = kept.tool;
    if (thread === undefined) throw new Fault("CONFLICT", `All threads have the tool ${name} already.`);
    if ((await this.#read({ owner })).tools.some(({ tool }) => tool.name === name))
      throw new Fault("CONFLICT", `All threads have another tool named ${name}; remove that one first.`);
    await this.keep({ owner }, kept);
    await this.remove(row);
    return { ...kept, id: name, owner };
  }

  async #read(place: Place): Promise<{ readonly tools: readonly KeptTool[]; readonly version: number }> {
    const record = await this.#records.get(KIND, recordId(place));
    return { tools: record === undefined ? [] : toolsIn(record), version: record?.version ?? 0 };
  }

  async #change(place: Place, change: (tools: readonly KeptTool[]) => readonly KeptTool[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const { tools, version } = await this.#read(place);
      const body = { tools: change(tools), ...(place.thread === undefined ? {} : { thread: place.thread }) };
      const record = { kind: KIND, id: recordId(place), owner: place.owner, body: body as unknown as JsonObject };
      try {
        await this.#records.put(record, version);
        return;
      } catch (thrown) {
        if (!(thrown instanceof Fault && thrown.code === "CONFLICT") || attempt === TRIES) throw thrown;
      }
    }
  }
}

function recordId({ owner, thread = "" }: Place): string {
  return `${owner}/${thread}`;
}

/** The tools of a record; none of a record that a newer version wrote in another form. */
function toolsIn({ body }: StoredRecord): readonly KeptTool[] {
  const tools = isObject(body) ? body["tools"] : undefined;
  return Array.isArray(tools) ? tools : [];
}

function rowsOf(record: StoredRecord): readonly KeptToolRow[] {
  const { owner, body } = record;
  const thread = typeof body["thread"] === "string" ? { thread: body["thread"] } : {};
  return toolsIn(record).map((kept) => {
    const { name } = kept.tool;
    return { ...kept, id: thread.thread === undefined ? name : `${name}.${thread.thread}`, owner, ...thread };
  });
}
