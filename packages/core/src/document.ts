/** A part of a document, and where it begins. */
export interface DocumentSection {
  /** Line of the file, from 1 on. */
  readonly line: number;
  /** Its heading, or the first words of it. */
  readonly title: string;
  readonly text: string;
}

/** A document that a look at a folder came across, or the reason why something was left out. */
export type FoundDocument =
  | {
      readonly path: string;
      /** Changes with the content. */
      readonly identity: string;
      /** Undefined when the identity is the known one. */
      readonly sections: readonly DocumentSection[] | undefined;
    }
  | { readonly leftOut: string };

/** Looks through a folder; `known` gives the identity of a document that was read before. Rejections are Faults. */
export type ScanDocuments = (
  folder: string,
  known: (path: string) => string | undefined,
  signal: AbortSignal,
) => AsyncIterable<FoundDocument>;
