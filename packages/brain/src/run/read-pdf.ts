import { inflateSync } from "node:zlib";
import { attachedText, Fault, PDF_LIMITS, pdfMisfit } from "@vidro/core";
import type { FilePart } from "@vidro/core";
import { pdfText } from "@vidro/core/pdf";

/** A PDF for models. */
interface ReadPdf {
  /** Its text between two lines with its name. */
  readonly text: string;
  /** Whether a model may get the file: it is within bounds, and its text is whole. */
  readonly isShown: boolean;
}

/** Reads a PDF; BAD_ARGUMENTS for one that has neither text nor pages that can be looked at. */
export function readPdf({ data, name = "file.pdf" }: FilePart): ReadPdf {
  const bytes = Buffer.from(data, "base64");
  const read = pdfText(bytes, inflateSync);
  const isSeen = read.pages !== undefined && pdfMisfit(read.pages, bytes.length) === undefined;
  if ("misfit" in read && !isSeen)
    throw new Fault("BAD_ARGUMENTS", `${name} is a PDF whose text cannot be had: ${read.misfit}.`);
  const text = "misfit" in read ? `[The text of this PDF cannot be had: ${read.misfit}.]` : read.text;
  const isWhole = text.length <= PDF_LIMITS.attachedChars;
  const cut = `\n[cut off after ${PDF_LIMITS.attachedChars} of ${text.length} characters]`;
  const given = isWhole ? text : text.slice(0, PDF_LIMITS.attachedChars) + cut;
  return { text: attachedText(name, given), isShown: isSeen && isWhole };
}
