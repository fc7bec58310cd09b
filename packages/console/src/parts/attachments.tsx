import { useId } from "react";
import type { ReactNode } from "react";
import { FILE_LIMITS } from "@vidro/core";
import type { FilePart } from "@vidro/core";
import { translate } from "../words/translate.ts";
import { Line } from "./text.tsx";

/** Images for the next message: a button that takes them, and those that were taken. */
export function Attachments(props: {
  readonly files: readonly FilePart[];
  readonly change: (files: readonly FilePart[]) => void;
}): ReactNode {
  const { files, change } = props;
  const id = useId();
  const take = async (chosen: FileList | null): Promise<void> => {
    const read = await Promise.all([...(chosen ?? [])].map(readPart));
    change([...files, ...read].slice(0, FILE_LIMITS.files));
  };
  return (
    <>
      <label htmlFor={id} className="button attach" title={translate("Images for a model that sees")}>
        <span aria-hidden="true">+</span> {translate("Image")}
      </label>
      <input
        id={id}
        className="hidden"
        type="file"
        multiple
        accept="image/png,image/jpeg,image/gif,image/webp"
        onChange={({ target }) => {
          void take(target.files).then(() => (target.value = ""));
        }}
      />
      {files.length > 0 && (
        <p className="row">
          {files.map(({ name = "" }, index) => (
            <button
              key={index}
              type="button"
              className="small"
              title={translate("Leave it out")}
              onClick={() => change(files.filter((_, other) => other !== index))}
            >
              <Line text={name} chars={40} /> <span aria-hidden="true">×</span>
            </button>
          ))}
        </p>
      )}
    </>
  );
}

/** A file as a part of a task; the brain checks what it is. */
async function readPart(file: File): Promise<FilePart> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return { mediaType: file.type, data: btoa(text), name: file.name.slice(0, FILE_LIMITS.nameChars) };
}
