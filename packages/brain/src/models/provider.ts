import type { LanguageModelV4, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { KeySource } from "./key-source.ts";

/** Base URL and key of a provider. */
export interface Access {
  /** Base URL of the API; the vendor's own when left out. */
  readonly url?: string;
  readonly key?: string;
  /** The key comes from there, and can be had anew. */
  readonly source?: KeySource;
  /** Folder of packages that are installed when they are first used. */
  readonly packages: string;
  /** Values of the variables in `details` of the provider. */
  readonly details: { readonly [variable: string]: string | undefined };
}

/** A provider without a key: its server is on this machine, or where a setting says. */
interface LocalServer {
  /** Base URL of the server, from the setting of its address. */
  url(address: string | undefined): string;
  /** The first model that the server has; undefined when there is no such server or model. */
  first(url: string): Promise<string | undefined>;
}

/** A provider of models: the part before the slash in `openai/gpt-5`. */
export interface Provider {
  readonly name: string;
  /** Default model; undefined where only the server knows its models. */
  readonly model?: string;
  /** Environment variables that may hold its key, the first one first; none when it needs no key. */
  readonly keys: readonly string[];
  /** Variable that names an account where the key is read from elsewhere, such as the credentials of this machine. */
  readonly account?: string;
  /** Environment variable that may hold the URL of its server. */
  readonly address: string;
  /** Path of a URL that has none. */
  readonly path: string;
  /** Whether a server at another URL may do without a key. */
  readonly keyless?: boolean;
  /** Present when it needs no key. */
  readonly local?: LocalServer;
  /** Whether its server has one model, which needs no name. */
  readonly single?: boolean;
  /** Further variables that it reads. */
  readonly details?: readonly string[];
  /** Not all of its models call tools. */
  readonly isMixed?: boolean;
  /** Its models take images in the results of calls; others take them only from the user. */
  readonly images?: "in-results";
  /** Its wire carries PDFs: at every address, or only at the vendor's own. */
  readonly pdfs?: "everywhere" | "at-vendor";
  /** It is used only when it is named, and not looked for. */
  readonly isNamedOnly?: boolean;
  readonly providerOptions?: SharedV4ProviderOptions;
  /** The same where they depend on the model. */
  readonly optionsFor?: (model: string) => SharedV4ProviderOptions;
  /** Brings a prompt into the form that only this vendor wants. */
  readonly shapePrompt?: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt;
  /** Loads the vendor's package and opens its model. */
  open(model: string, access: Access): Promise<LanguageModelV4>;
}
