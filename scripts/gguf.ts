// node scripts/gguf.ts random|scripted <file.gguf> [reply ...]: writes a tiny model file that the real engine loads.
// `random` has random weights; `scripted` says one reply after the other, by the number of its own turns so far.
import { writeFileSync } from "node:fs";

/** A value of the metadata, with its type in the file. */
type Field =
  | readonly ["u32" | "f32", number]
  | readonly ["bool", boolean]
  | readonly ["string", string]
  | readonly ["strings", readonly string[]]
  | readonly ["f32s" | "i32s", readonly number[]];

/** Numbers of the types in a GGUF file. */
const TYPE = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;
const ALIGNMENT = 32;
const VERSION = 3;

/** Collects little-endian bytes. */
class Bytes {
  readonly parts: Buffer[] = [];
  size = 0;

  add(part: Buffer): this {
    this.parts.push(part);
    this.size += part.length;
    return this;
  }

  u32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value);
    return this.add(part);
  }

  u64(value: number): this {
    const part = Buffer.alloc(8);
    part.writeBigUInt64LE(BigInt(value));
    return this.add(part);
  }

  numbers(values: Float32Array | Int32Array): this {
    return this.add(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
  }

  text(value: string): this {
    const part = Buffer.from(value);
    return this.u64(part.length).add(part);
  }

  pad(): this {
    return this.add(Buffer.alloc((ALIGNMENT - (this.size % ALIGNMENT)) % ALIGNMENT));
  }

  field([type, value]: Field): this {
    switch (type) {
      case "u32":
        return this.u32(TYPE.u32).u32(value);
      case "f32":
        return this.u32(TYPE.f32).numbers(Float32Array.of(value));
      case "bool":
        return this.u32(TYPE.bool).add(Buffer.of(value ? 1 : 0));
      case "string":
        return this.u32(TYPE.string).text(value);
      case "strings":
        this.u32(TYPE.array).u32(TYPE.string).u64(value.length);
        for (const text of value) this.text(text);
        return this;
      case "f32s":
        return this.u32(TYPE.array).u32(TYPE.f32).u64(value.length).numbers(Float32Array.from(value));
      case "i32s":
        return this.u32(TYPE.array).u32(TYPE.i32).u64(value.length).numbers(Int32Array.from(value));
    }
  }
}

/** A tensor: its name, its sizes, its values. */
type Tensor = readonly [name: string, sizes: readonly number[], values: Float32Array];

function writeGguf(path: string, fields: { readonly [key: string]: Field }, tensors: readonly Tensor[]): void {
  const head = new Bytes().add(Buffer.from("GGUF")).u32(VERSION).u64(tensors.length).u64(Object.keys(fields).length);
  for (const [key, field] of Object.entries(fields)) head.text(key).field(field);
  let offset = 0;
  for (const [name, sizes, values] of tensors) {
    head.text(name).u32(sizes.length);
    for (const size of sizes) head.u64(size);
    // Type 0: numbers of 32 bits.
    head.u32(0).u64(offset);
    offset += Math.ceil(values.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  head.pad();
  for (const [, , values] of tensors) head.numbers(values).pad();
  writeFileSync(path, Buffer.concat(head.parts));
}

/** Kinds of tokens in a vocabulary. */
const KIND = { normal: 1, unknown: 2, control: 3, byte: 6 } as const;
const END = 2;

/** A vocabulary: unknown, begin, end, and one token for each byte. */
function byteVocabulary(): { readonly tokens: string[]; readonly kinds: number[] } {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
  return {
    tokens: ["<unk>", "<s>", "</s>", ...bytes],
    kinds: [KIND.unknown, KIND.control, KIND.control, ...bytes.map(() => KIND.byte)],
  };
}

/** Shape of a small model of the Llama kind. */
interface Shape {
  readonly tokens: readonly string[];
  readonly kinds: readonly number[];
  readonly width: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly context: number;
  readonly template: string;
}

function writeLlama(path: string, shape: Shape, fill: (name: string, values: Float32Array) => void): void {
  const { tokens, kinds, width, hidden, layers, heads, context, template } = shape;
  const tensor = (name: string, ...sizes: readonly number[]): Tensor => {
    const values = new Float32Array(sizes.reduce((product, size) => product * size));
    if (name.endsWith("norm.weight")) values.fill(1);
    else fill(name, values);
    return [name, sizes, values];
  };
  const layer = (at: number): readonly Tensor[] => [
    tensor(`blk.${at}.attn_norm.weight`, width),
    ...["attn_q", "attn_k", "attn_v", "attn_output"].map((name) => tensor(`blk.${at}.${name}.weight`, width, width)),
    tensor(`blk.${at}.ffn_norm.weight`, width),
    tensor(`blk.${at}.ffn_gate.weight`, width, hidden),
    tensor(`blk.${at}.ffn_up.weight`, width, hidden),
    tensor(`blk.${at}.ffn_down.weight`, hidden, width),
  ];
  const fields: { readonly [key: string]: Field } = {
    "general.architecture": ["string", "llama"],
    "general.name": ["string", "tiny"],
    "llama.context_length": ["u32", context],
    "llama.embedding_length": ["u32", width],
    "llama.block_count": ["u32", layers],
    "llama.feed_forward_length": ["u32", hidden],
    "llama.attention.head_count": ["u32", heads],
    "llama.attention.head_count_kv": ["u32", heads],
    "llama.attention.layer_norm_rms_epsilon": ["f32", 1e-5],
    "llama.rope.dimension_count": ["u32", width / heads],
    "llama.vocab_size": ["u32", tokens.length],
    "tokenizer.ggml.model": ["string", "llama"],
    "tokenizer.ggml.tokens": ["strings", tokens],
    "tokenizer.ggml.scores": ["f32s", tokens.map((_, at) => -at)],
    "tokenizer.ggml.token_type": ["i32s", kinds],
    "tokenizer.ggml.bos_token_id": ["u32", 1],
    "tokenizer.ggml.eos_token_id": ["u32", END],
    "tokenizer.ggml.unknown_token_id": ["u32", 0],
    "tokenizer.ggml.add_bos_token": ["bool", true],
    "tokenizer.ggml.add_space_prefix": ["bool", false],
    "tokenizer.chat_template": ["string", template],
  };
  const tensors = [
    tensor("token_embd.weight", width, tokens.length),
    tensor("output_norm.weight", width),
    tensor("output.weight", width, tokens.length),
    ...Array.from({ length: layers }, (_, at) => layer(at)).flat(),
  ];
  writeGguf(path, fields, tensors);
}

/** Writes a model with random weights, the same ones for the same seed. */
export function writeRandomGguf(
  path: string,
  { seed = 1, width = 64, hidden = 64, layers = 1, heads = 2, context = 8192 } = {},
): void {
  let state = seed >>> 0;
  // Mulberry32.
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const template = `{% for m in messages %}<s>{{ m['role'] }}\n{{ m['content'] }}</s>{% endfor %}{% if add_generation_prompt %}<s>assistant\n{% endif %}`;
  writeLlama(path, { ...byteVocabulary(), width, hidden, layers, heads, context, template }, (_, values) => {
    for (let at = 0; at < values.length; at++) values[at] = (random() - 0.5) * 0.2;
  });
}

/**
 * Writes a model that says given replies: each token of a reply has the next one as its only successor. The chat
 * template opens the n-th turn of the model with a token of its own, from which the n-th reply follows; beyond the last
 * reply it is said again.
 */
export function writeScriptedGguf(path: string, replies: readonly string[], context = 8192): void {
  const { tokens, kinds } = byteVocabulary();
  const successors: (readonly [from: number, to: number])[] = [];
  const taken = new Set(tokens);
  const opening = (at: number): string => `<|reply-${at}|>`;
  for (const [at, reply] of replies.entries()) {
    let before = tokens.push(opening(at)) - 1;
    kinds.push(KIND.control);
    for (const piece of uniquePieces(reply, taken)) {
      const token = tokens.push(piece) - 1;
      kinds.push(KIND.normal);
      successors.push([before, token]);
      before = token;
    }
    successors.push([before, END]);
  }
  const width = Math.ceil(tokens.length / ALIGNMENT) * ALIGNMENT;
  const shape = {
    tokens,
    kinds,
    width,
    hidden: ALIGNMENT,
    layers: 1,
    heads: 1,
    context,
    template: turnTemplate(replies),
  };
  // One number of a token's vector is 1, and nothing is added to it on its way to the output.
  writeLlama(path, shape, (name, values) => {
    if (name === "token_embd.weight") for (const at of tokens.keys()) values[at * width + at] = 1;
    if (name === "output.weight") for (const [from, to] of successors) values[to * width + from] = 10;
  });
}

/** Cuts a text into pieces of which no vocabulary has two. */
function uniquePieces(text: string, taken: Set<string>): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const char of text.replaceAll(" ", "\u2581")) {
    piece += char;
    if (piece.length < 2 || taken.has(piece)) continue;
    taken.add(piece);
    pieces.push(piece);
    piece = "";
  }
  return piece === "" ? pieces : [...pieces.slice(0, -1), `${pieces.at(-1) ?? ""}${piece}`];
}

/** A chat template in which the turns of the model open with tokens of their own. */
function turnTemplate(replies: readonly string[]): string {
  const choose = replies
    .map(
      (_, at) =>
        `{% ${at === 0 ? "if" : "elif"} turn.n ${at === replies.length - 1 ? ">=" : "=="} ${at} %}<|reply-${at}|>`,
    )
    .join("");
  return (
    `{% set turn = namespace(n=0) %}{% for m in messages %}{% if m['role'] == 'assistant' %}${choose}{% endif %}` +
    `{% set turn.n = turn.n + 1 %}{{ m['content'] }}</s>{% else %}{{ m['role'] }}: {{ m['content'] }}\n{% endif %}{% endfor %}` +
    `{% if add_generation_prompt %}${choose}{% endif %}{% endif %}`
  );
}

if (import.meta.main) {
  const [kind, path, ...replies] = process.argv.slice(2);
  if (path === undefined || !(kind === "random" || (kind === "scripted" && replies.length > 0))) {
    process.stderr.write("usage: gguf.ts random|scripted <file.gguf> [reply ...]\n");
    process.exitCode = 2;
  } else if (kind === "random") writeRandomGguf(path);
  else writeScriptedGguf(path, replies);
}
