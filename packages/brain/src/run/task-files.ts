import { Fault, FILE_LIMITS, imageFormat, imageMisfit, isPdf } from "@vidro/core";
import { fitPdfs, isPdfPart, PDF_TYPE } from "@vidro/core";
import type { FilePart } from "@vidro/core";

/** The files of a task after a check: images and PDFs that models take, within bounds. Throws BAD_ARGUMENTS. */
function checkFiles(files: readonly FilePart[]): readonly FilePart[] {
  const checked = files.map(checkFile);
  const images = checked.filter((file) => !isPdfPart(file));
  if (images.length > FILE_LIMITS.files)
    throw new Fault("BAD_ARGUMENTS", `A task has at most ${FILE_LIMITS.files} files; this one has ${images.length}.`);
  const chars = images.reduce((sum, { data }) => sum + data.length, 0);
  if (chars > FILE_LIMITS.taskChars)
    throw new Fault("PAYLOAD_TOO_LARGE", `The files of a task have at most ${FILE_LIMITS.taskChars} bytes in base64.`);
  return checked;
}

/** A file as its bytes say that it is: the client's word for its type counts for nothing. */
function checkFile({ data, name }: FilePart, index: number): FilePart {
  const which = name ?? `file ${index + 1}`;
  const bytes = Buffer.from(data, "base64");
  if (isPdf(bytes))
    return { mediaType: PDF_TYPE, data: bytes.toString("base64"), name: pdfName(name ?? `file ${index + 1}.pdf`) };
  const format = imageFormat(bytes);
  if (format === undefined)
    throw new Fault(
      "BAD_ARGUMENTS",
      `${which} is not an image that models take, PNG, JPEG, GIF or WebP in base64, and no PDF.`,
    );
  const misfit = imageMisfit(format, bytes.length);
  if (misfit !== undefined) throw new Fault("BAD_ARGUMENTS", `${which} cannot be shown to a model: ${misfit}.`);
  const { mediaType } = format;
  return { mediaType, data: bytes.toString("base64"), ...(name === undefined ? {} : { name }) };
}

/** The name of a PDF on one line: it stands in lines before and behind its text. */
export function pdfName(name: string): string {
  return name.replaceAll(/\p{Cc}+/gu, " ").slice(-FILE_LIMITS.nameChars);
}

const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=\s]*)$/i;

/** The file in a `data:` address; throws BAD_ARGUMENTS for any other address, since the brain fetches none. */
export function fileOfDataUrl(url: string, path: string): FilePart {
  const [, mediaType, data] = DATA_URL.exec(url) ?? [];
  if (mediaType === undefined || data === undefined)
    throw new Fault("BAD_ARGUMENTS", "A file is sent as a data: address in base64; others are not fetched.", {
      detail: { path },
    });
  return { mediaType, data };
}

/** The checked files of a turn, as a field of it; no field when there are none. PDFs beyond the bounds are left out. */
export function filesField(files: readonly FilePart[] = []): { readonly files?: readonly FilePart[] } {
  const fitting = fitPdfs(checkFiles(files));
  return fitting.length === 0 ? {} : { files: fitting };
}

/** A task with its checked files: the text of each PDF is among the words, and one that no model takes is only there. */
export async function taskWithFiles(
  task: string,
  files: readonly FilePart[] = [],
): Promise<{ readonly task: string; readonly files?: readonly FilePart[] }> {
  const checked = files.map(checkFile);
  const kept: FilePart[] = [];
  let words = task;
  for (const file of checked) {
    // A client that has read the PDF has put its text there.
    const isUnread = isPdfPart(file) && !words.includes(`--- ${file.name} ---\n`);
    // Loaded with the first PDF.
    const pdf = isUnread ? (await import("./read-pdf.ts")).readPdf(file) : undefined;
    if (pdf !== undefined) words = `${words}\n\n${pdf.text}`;
    if (pdf?.isShown !== false) kept.push(file);
  }
  return { task: words, ...filesField(kept) };
}
