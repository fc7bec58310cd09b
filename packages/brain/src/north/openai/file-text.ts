import { inflateSync } from "node:zlib";
import { Fault, FILE_LIMITS, isPdf, PDF_LIMITS } from "@vidro/core";
import { pdfText } from "@vidro/core/pdf";
import { fileOfDataUrl } from "../../run/task-files.ts";
import type { SentFile } from "./schema.ts";

/** The text of a PDF in a message, under its name; BAD_ARGUMENTS for another file, and for one without text. */
export function textOfFile({ file_data: address = "", filename }: SentFile, path: string): string {
  const name = filename ?? "file.pdf";
  const refusal = (why: string): Fault => new Fault("BAD_ARGUMENTS", why, { detail: { path } });
  const bytes = Buffer.from(fileOfDataUrl(address, path).data, "base64");
  if (bytes.length > (FILE_LIMITS.taskChars / 4) * 3)
    throw refusal(
      `${name} has ${bytes.length} bytes; a file of a message has at most ${(FILE_LIMITS.taskChars / 4) * 3}.`,
    );
  if (!isPdf(bytes)) throw refusal(`${name} is no PDF. Send text as a part of type text, and an image as image_url.`);
  const read = pdfText(bytes, inflateSync);
  if ("misfit" in read) throw refusal(`${name} is a PDF whose text cannot be had: ${read.misfit}.`);
  const { text } = read;
  const cut = `\n[cut off after ${PDF_LIMITS.attachedChars} of ${text.length} characters]`;
  const given = text.length > PDF_LIMITS.attachedChars ? text.slice(0, PDF_LIMITS.attachedChars) + cut : text;
  return `\n\n--- ${name} ---\n${given}\n\n`;
}
