import { asFault, DOCUMENT_LIMITS } from "@vidro/core";
import type { FoundDocument, ScanDocuments } from "@vidro/core";
import { DocumentIndex } from "./document-index.ts";
import type { DocumentMatch, FolderStatus } from "./document-index.ts";

/** The documents of the configured folders, as far as they were indexed. Rejections are Faults. */
export class Documents {
  readonly #index: DocumentIndex;
  readonly #folders: readonly string[];
  readonly #scan: ScanDocuments;
  readonly #ended = new AbortController();
  #indexing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `path` is that of the index; the folders are those of the settings. */
  constructor(path: string, folders: readonly string[], scan: ScanDocuments) {
    this.#index = new DocumentIndex(path);
    this.#folders = folders.slice(0, DOCUMENT_LIMITS.folders);
    this.#scan = scan;
  }

  /** The sections that hold all words, best first; those that hold some of them if none holds all. */
  async search(text: string, limit: number): Promise<readonly DocumentMatch[]> {
    return this.#folders.length === 0 ? [] : this.#index.search(text, limit);
  }

  /** What is indexed of each configured folder. */
  async status(): Promise<readonly FolderStatus[]> {
    return this.#folders.length === 0 ? [] : this.#index.status(this.#folders);
  }

  /** Looks through all folders and indexes what has changed; a look that is under way is waited for. */
  async refresh(): Promise<void> {
    this.#indexing ??= this.#look().finally(() => (this.#indexing = undefined));
    return this.#indexing;
  }

  /** Refreshes at once and from time to time; a failure is in the status of its folder. */
  start(failed: (thrown: unknown) => void): void {
    if (this.#folders.length === 0) return;
    const look = (): void => {
      void this.refresh()
        .catch(failed)
        .finally(() => {
          if (!this.#ended.signal.aborted) this.#timer = setTimeout(look, DOCUMENT_LIMITS.everyMs).unref();
        });
    };
    look();
  }

  /** Stops a look between two documents, and closes the index. */
  async close(): Promise<void> {
    this.#ended.abort();
    clearTimeout(this.#timer);
    await this.#indexing?.catch(() => undefined);
    await this.#index.close();
  }

  async #look(): Promise<void> {
    if (this.#folders.length === 0) return;
    await this.#index.keepFolders(this.#folders);
    for (const folder of this.#folders) await this.#lookIn(folder);
  }

  async #lookIn(folder: string): Promise<void> {
    const known = await this.#index.identities(folder);
    const gone = new Set(known.keys());
    const leftOut: string[] = [];
    let fault: string | undefined;
    const take = async (found: FoundDocument): Promise<void> => {
      if ("leftOut" in found) leftOut.push(found.leftOut);
      else {
        gone.delete(found.path);
        if (found.sections !== undefined) await this.#index.put(folder, { ...found, sections: found.sections });
      }
    };
    try {
      for await (const found of this.#scan(folder, (path) => known.get(path), this.#ended.signal)) await take(found);
      for (const path of gone) await this.#index.remove(folder, path);
    } catch (thrown) {
      // What was indexed stays: a disk that is not mounted now has not lost its documents.
      if (this.#ended.signal.aborted) return;
      fault = asFault(thrown).message;
    }
    await this.#index.settle(folder, { leftOut, fault });
  }
}
