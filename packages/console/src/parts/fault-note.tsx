import type { ReactNode } from "react";
import { faultText } from "@vidro/core/text";
import { faultTable } from "../words/translate.ts";
import { visible } from "./text.tsx";

/** A fault of a journal: what happened, what to do next where a person is to do it, and its English words below. */
export function FaultNote(props: {
  readonly fault: { readonly code: string; readonly message: string };
  readonly hasNext: boolean;
}): ReactNode {
  const { says, next, detail } = faultText(props.fault, faultTable());
  return (
    <div className="body fault-note">
      <p>
        <bdi>{visible(says)}</bdi>
      </p>
      {props.hasNext && next !== undefined && <p className="quiet">{next}</p>}
      {detail !== undefined && (
        <p className="quiet small">
          <bdi>{visible(detail)}</bdi>
        </p>
      )}
    </div>
  );
}
