import { Fault, FILE_LIMITS, imageFormat, imageMisfit } from "@vidro/core";
import type { FilePart } from "@vidro/core";

/** The files of a task after a check: images of the kinds that models take, within bounds. Throws BAD_ARGUMENTS. */
function checkFiles(files: readonly FilePart[]): readonly FilePart[] {
  if (files.length > FILE_LIMITS.files)
    throw new Fault("BAD_ARGUMENTS", `A task has at most ${FILE_LIMITS.files} files; this one has ${files.length}.`);
  const checked = files.map(checkImage);
  const chars = checked.reduce((sum, { data }) => sum + data.length, 0);
  if (chars > FILE_LIMITS.taskChars)
    throw new Fault("PAYLOAD_TOO_LARGE", `The files of a task have at most ${FILE_LIMITS.taskChars} bytes in base64.`);
  return checked;
}

/** An image as its bytes say that it is: the client's word for its type counts for nothing. */
function checkImage({ data, name }: FilePart, index: number): FilePart {
  const which = name ?? `file ${index + 1}`;
  const bytes = Buffer.from(data, "base64");
  const format = imageFormat(bytes);
  if (format === undefined)
    throw new Fault("BAD_ARGUMENTS", `${which} is not an image that models take: PNG, JPEG, GIF or WebP in base64.`);
  const misfit = imageMisfit(format, bytes.length);
  if (misfit !== undefined) throw new Fault("BAD_ARGUMENTS", `${which} cannot be shown to a model: ${misfit}.`);
  const { mediaType } = format;
  return { mediaType, data: bytes.toString("base64"), ...(name === undefined ? {} : { name }) };
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

/** The checked files of a task, as a field of its start; no field when there are none. */
export function filesField(files: readonly FilePart[] = []): { readonly files?: readonly FilePart[] } {
  return files.length === 0 ? {} : { files: checkFiles(files) };
}
