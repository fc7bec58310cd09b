import { useMemo, useState } from "react";
import type { ReactNode } from "react";
import { byteWords } from "@vidro/core/text";
import { faultWords } from "../brain/connection.ts";
import { loadOutput, outputPath } from "../brain/evidence.ts";
import type { LoadedOutput } from "../brain/evidence.ts";
import { pagesOf } from "../run/output-pages.ts";
import { translate } from "../words/translate.ts";
import { OutputText } from "./text.tsx";

/** The output of which the journal has the beginning and the end: all of it, from the hand, when a person asks. */
export function WholeOutput(props: {
  readonly run: string;
  readonly action: string;
  readonly bytes: number;
}): ReactNode {
  const { run, action, bytes } = props;
  const [output, setOutput] = useState<LoadedOutput | "reading" | undefined>();
  const [fault, setFault] = useState("");
  const show = (): void => {
    setFault("");
    setOutput("reading");
    loadOutput(run, action).then(setOutput, (thrown: unknown) => {
      setFault(faultWords(thrown));
      setOutput(undefined);
    });
  };
  return (
    <div className="whole">
      {output === undefined && (
        <button type="button" className="fold" onClick={show}>
          {translate("Show all output ({size})", { size: byteWords(bytes) })}
        </button>
      )}
      {output === "reading" && <p className="stream">{translate("Reading the output from the hand…")}</p>}
      {typeof output === "object" && <OutputPages output={output} path={outputPath(run, action)} />}
      {fault !== "" && (
        <p role="alert" className="fault body">
          {fault}
        </p>
      )}
    </div>
  );
}

function OutputPages({ output, path }: { readonly output: LoadedOutput; readonly path: string }): ReactNode {
  const pages = useMemo(() => pagesOf(output.text), [output]);
  const [at, setAt] = useState(0);
  const page = pages[at] ?? { text: "", from: 0, to: 0 };
  const last = pages.at(-1)?.to ?? 0;
  return (
    <section aria-label={translate("All output")}>
      <div className="row pager">
        <span className="grow" role="status">
          {translate("lines {from} to {to} of {last}", { from: page.from, to: page.to, last })}
        </span>
        <button type="button" className="small" disabled={at === 0} onClick={() => setAt(at - 1)}>
          {translate("Earlier lines")}
        </button>
        <button type="button" className="small" disabled={at >= pages.length - 1} onClick={() => setAt(at + 1)}>
          {translate("Later lines")}
        </button>
        <a className="button small" href={path} download="">
          {translate("Save all")}
        </a>
      </div>
      <div className="block">
        <pre tabIndex={0}>
          <bdi>
            <OutputText text={page.text} />
          </bdi>
        </pre>
      </div>
      {output.isCut && at === pages.length - 1 && (
        <p className="stream">{translate("There is more than a page can hold: save all of it.")}</p>
      )}
    </section>
  );
}
