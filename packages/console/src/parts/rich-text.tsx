import { useMemo } from "react";
import type { ReactNode } from "react";
import { blocksOf, piecesOf } from "../run/rich-text.ts";
import type { TextBlock } from "../run/rich-text.ts";
import { visible } from "./text.tsx";

/** What a model wrote, with the signs of Markdown that matter for reading; all else is text. */
export function RichText({ text }: { readonly text: string }): ReactNode {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className="rich">
      {blocks.map((block, index) => (
        <Part key={index} block={block} />
      ))}
    </div>
  );
}

function Part({ block }: { readonly block: TextBlock }): ReactNode {
  if (block.kind === "code")
    return (
      <pre tabIndex={0}>
        <bdi>{visible(block.text)}</bdi>
      </pre>
    );
  if (block.kind !== "points")
    return (
      <p className={block.kind === "heading" ? "prose heading" : "prose"}>
        <Pieces text={block.text} />
      </p>
    );
  const points = block.points.map((point, index) => (
    <li key={index} className="prose">
      <Pieces text={point} />
    </li>
  ));
  return block.isCounted ? <ol start={block.first}>{points}</ol> : <ul>{points}</ul>;
}

function Pieces({ text }: { readonly text: string }): ReactNode {
  return (
    <bdi>
      {piecesOf(text).map(({ kind, text: words }, index) => {
        if (kind === "code") return <code key={index}>{visible(words)}</code>;
        return kind === "strong" ? <b key={index}>{visible(words)}</b> : visible(words);
      })}
    </bdi>
  );
}
