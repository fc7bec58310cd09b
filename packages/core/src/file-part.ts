import { isObject } from "./json.ts";
import { FILE_LIMITS } from "./limits.ts";

/** A file that a model sees beside the words of a turn: an image, or a PDF whose text is among those words. */
export type FilePart = {
  /** As `image/png`. */
  readonly mediaType: string;
  /** Its bytes in base64; never redacted, and stored once under their hash like every long text. */
  readonly data: string;
  /** Its name, for people. */
  readonly name?: string;
};

/** Fetches the image at an address of the web; throws TOOL_FAILED with the reason. */
export type FetchImage = (address: string, signal: AbortSignal) => Promise<FilePart>;

/** Files as another party sends them; undefined unless each is one, within bounds. */
export function readFileParts(value: unknown): readonly FilePart[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > FILE_LIMITS.files) return undefined;
  return value.every(isFile) ? value : undefined;
}

function isFile(value: unknown): value is FilePart {
  if (!isObject(value)) return false;
  const { mediaType, data, name } = value;
  const isNamed = name === undefined || (typeof name === "string" && name.length <= FILE_LIMITS.nameChars);
  const isSized = typeof data === "string" && data.length <= FILE_LIMITS.taskChars && BASE64.test(data);
  return isNamed && isSized && typeof mediaType === "string" && MEDIA_TYPE.test(mediaType);
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const MEDIA_TYPE = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/;

/** The media type of PDFs. */
export const PDF_TYPE = "application/pdf";

/** The kind and size of an image, as its first bytes say. */
export interface ImageFormat {
  readonly mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  readonly width: number;
  readonly height: number;
}

/** Reads kind and size of an image from its bytes; undefined when it is none of the kinds that models take. */
export function imageFormat(bytes: Uint8Array): ImageFormat | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return pngFormat(view) ?? gifFormat(view) ?? webpFormat(view) ?? jpegFormat(view);
  } catch {
    // The header is cut off.
    return undefined;
  }
}

/** Whether bytes begin as a PDF does. */
export function isPdf(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(0, 5)) === "%PDF-";
}

/** Whether a file is a PDF, which a model that does not take PDFs reads as text. */
export function isPdfPart({ mediaType }: FilePart): boolean {
  return mediaType === PDF_TYPE;
}

/** What is wrong with a PDF for a model that takes PDFs; undefined when nothing is. */
export function pdfMisfit(pages: number, bytes: number): string | undefined {
  if (bytes > FILE_LIMITS.pdfBytes) return `it has ${bytes} bytes, and a model gets at most ${FILE_LIMITS.pdfBytes}`;
  if (pages > FILE_LIMITS.pdfPages) return `it has ${pages} pages, and a model gets at most ${FILE_LIMITS.pdfPages}`;
  return undefined;
}

/** Files without the PDFs that would be too many or too large beside the others: of those the text is enough. */
export function fitPdfs(files: readonly FilePart[]): readonly FilePart[] {
  const images = files.filter((file) => !isPdfPart(file));
  let room = images.reduce((left, { data }) => left - data.length, FILE_LIMITS.taskChars);
  let places = FILE_LIMITS.files - images.length;
  return files.filter((file) => {
    if (!isPdfPart(file)) return true;
    if (places === 0 || file.data.length > room) return false;
    places -= 1;
    room -= file.data.length;
    return true;
  });
}

/** The text of a file among the words of a turn, between two lines with its name. */
export function attachedText(name: string, text: string): string {
  return `--- ${name} ---\n${text}\n--- end of ${name} ---`;
}

/** Words with a note in the place of a file's text, for a model that is shown the file; the same where there is none. */
export function withoutAttachedText(words: string, name: string): string {
  const [begin, end] = [`--- ${name} ---\n`, `\n--- end of ${name} ---`];
  const from = words.indexOf(begin);
  const to = from === -1 ? -1 : words.indexOf(end, from);
  return to === -1 ? words : `${words.slice(0, from)}[${name} is shown as a file.]${words.slice(to + end.length)}`;
}

/** What is wrong with an image for a model; undefined when nothing is. */
export function imageMisfit({ width, height }: ImageFormat, bytes: number): string | undefined {
  if (bytes > FILE_LIMITS.imageBytes)
    return `it has ${bytes} bytes, and a model gets at most ${FILE_LIMITS.imageBytes}; make it smaller first`;
  if (width === 0 || height === 0 || Math.max(width, height) > FILE_LIMITS.imageSide)
    return `it is ${width} × ${height} pixels, and a side may have 1 to ${FILE_LIMITS.imageSide}`;
  return undefined;
}

/** Turns whose files together have a bounded size: the newest keep theirs, and a note stands for each that is left out. */
export function boundFiles<Turn extends { readonly text: string; readonly files?: readonly FilePart[] }>(
  turns: readonly Turn[],
  chars: number = FILE_LIMITS.historyChars,
): readonly Turn[] {
  let room = chars;
  return turns
    .toReversed()
    .map((turn) => {
      const size = (turn.files ?? []).reduce((sum, { data }) => sum + data.length, 0);
      room -= size;
      return size === 0 || room >= 0 ? turn : withoutFiles(turn);
    })
    .toReversed();
}

/** A turn with a note in the place of its files. */
export function withoutFiles<Turn extends { readonly text: string; readonly files?: readonly FilePart[] }>(
  turn: Turn,
): Turn {
  if (turn.files === undefined) return turn;
  const { files, ...bare } = turn;
  const notes = files.map(({ mediaType, name }) => `[${name ?? mediaType} was shown here]`);
  return { ...bare, text: [turn.text, ...notes].join("\n") } as Turn;
}

const PNG = 0x89504e470d0a1a0an;
const IHDR = 0x49484452;

function pngFormat(view: DataView): ImageFormat | undefined {
  if (view.byteLength < 24 || view.getBigUint64(0) !== PNG || view.getUint32(12) !== IHDR) return undefined;
  return { mediaType: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
}

function gifFormat(view: DataView): ImageFormat | undefined {
  const sign = asciiAt(view, 0, 6);
  if (sign !== "GIF87a" && sign !== "GIF89a") return undefined;
  return { mediaType: "image/gif", width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function webpFormat(view: DataView): ImageFormat | undefined {
  if (asciiAt(view, 0, 4) !== "RIFF" || asciiAt(view, 8, 4) !== "WEBP") return undefined;
  const mediaType = "image/webp";
  const uint24 = (at: number): number => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  switch (asciiAt(view, 12, 4)) {
    case "VP8X":
      return { mediaType, width: uint24(24) + 1, height: uint24(27) + 1 };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { mediaType, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return undefined;
  }
}

/** The frames of a JPEG that say its size: SOF0 to SOF15 without the tables among them. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function jpegFormat(view: DataView): ImageFormat | undefined {
  if (view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 < view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (isFrame(marker))
      return { mediaType: "image/jpeg", width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return undefined;
}

function asciiAt(view: DataView, at: number, length: number): string {
  if (view.byteLength < at + length) return "";
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, length));
}
