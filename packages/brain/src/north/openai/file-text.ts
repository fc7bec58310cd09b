import { Fault, FILE_LIMITS, isPdf, PDF_TYPE } from "@vidro/core";
import type { FilePart } from "@vidro/core";
import { readPdf } from "../../run/read-pdf.ts";
import { fileOfDataUrl, pdfName } from "../../run/task-files.ts";
import type { SentFile } from "./schema.ts";

/** A PDF in a message. */
interface SentPdf {
  /** Its text, under its name. */
  readonly text: string;
  /** The file for models that take PDFs; absent when it is beyond their bounds. */
  readonly file?: FilePart;
}

/** PDFs that were read: a message is asked for its text and for its files. */
const known = new WeakMap<SentFile, SentPdf>();

/** Reads a PDF in a message; BAD_ARGUMENTS for another file, and for one that no model could read. */
export function readSentPdf(sent: SentFile, path: string): SentPdf {
  const read = known.get(sent) ?? readAnew(sent, path);
  known.set(sent, read);
  return read;
}

function readAnew({ file_data: address = "", filename = "file.pdf" }: SentFile, path: string): SentPdf {
  const name = pdfName(filename);
  const refusal = (why: string): Fault => new Fault("BAD_ARGUMENTS", why, { detail: { path } });
  const bytes = Buffer.from(fileOfDataUrl(address, path).data, "base64");
  if (bytes.length > (FILE_LIMITS.taskChars / 4) * 3)
    throw refusal(
      `${name} has ${bytes.length} bytes; a file of a message has at most ${(FILE_LIMITS.taskChars / 4) * 3}.`,
    );
  if (!isPdf(bytes)) throw refusal(`${name} is no PDF. Send text as a part of type text, and an image as image_url.`);
  const file = { mediaType: PDF_TYPE, data: bytes.toString("base64"), name };
  try {
    const { text, isShown } = readPdf(file);
    return { text: `\n\n${text}\n\n`, ...(isShown ? { file } : {}) };
  } catch (thrown) {
    throw thrown instanceof Fault ? refusal(thrown.message) : thrown;
  }
}
