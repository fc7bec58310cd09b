/**
 * A model's words on their way to somebody who wants only the prose of them. A model may also write lines for the
 * brain, each of them a JSON object; from the first line that could be one, everything is held back until the whole
 * reply is known and the brain has read it.
 */
export class Prose {
  #sent = "";
  /** White space that is sent only when words follow it, as the brain trims its reading. */
  #space = "";
  #held = false;
  #lineStart = true;

  /** The part of a piece that can be shown now. */
  push(piece: string): string {
    if (this.#held) return "";
    let shown = "";
    for (const part of piece.split(/(\s+)/)) {
      if (part === "") continue;
      if (/^\s/.test(part)) {
        this.#space += part;
        this.#lineStart ||= part.includes("\n");
        continue;
      }
      if (this.#lineStart && /^[{`]/.test(part)) {
        this.#held = true;
        break;
      }
      shown += (this.#sent === "" && shown === "" ? "" : this.#space) + part;
      this.#space = "";
      this.#lineStart = false;
    }
    this.#sent += shown;
    return shown;
  }

  /** What is missing when the whole is known; everything again where pieces were lost on the way. */
  end(whole: string): string {
    const sent = this.#sent;
    this.#sent = "";
    this.#space = "";
    this.#held = false;
    this.#lineStart = true;
    if (whole.startsWith(sent)) return whole.slice(sent.length);
    return `\n\n${whole}`;
  }
}
