import { anyText, oneOf, textList, yesOrNo } from "./setting-kinds.ts";

/** What the brain reads elsewhere: folders of documents, the service that searches the web, images of messages. */
export const SEARCH_SETTINGS = {
  fetch_images: {
    group: "Daemon",
    kind: yesOrNo,
    variable: "VIDRO_FETCH_IMAGES",
    default: true,
    about:
      "whether images that a message of a chat or a response names by an http address are fetched, from public addresses and `privateHosts` of the policy",
  },
  documents: {
    group: "Knowledge",
    kind: textList,
    variable: "VIDRO_DOCUMENTS",
    about:
      "folders of this machine whose documents (Markdown, text, reStructuredText, AsciiDoc, HTML) every owner's runs find by `research`",
    otherwise: "none",
  },
  search: {
    group: "Web search",
    kind: oneOf("searxng", "brave", "tavily"),
    variable: "VIDRO_SEARCH",
    about: "service that searches the web",
    otherwise: "`searxng` when `search_url` is set, else the first that has a key, else none",
  },
  search_url: {
    group: "Web search",
    kind: anyText,
    variable: "VIDRO_SEARCH_URL",
    about: "address of a SearXNG server, or of a server in the place of the service's own",
    otherwise: "the service's own",
  },
  brave_api_key: searchKey("BRAVE_API_KEY", "Brave Search"),
  tavily_api_key: searchKey("TAVILY_API_KEY", "Tavily"),
} as const;

function searchKey(variable: string, service: string) {
  return {
    group: "Web search",
    kind: anyText,
    variable,
    secret: true,
    about: `key of ${service}`,
    otherwise: "it is not asked",
  } as const;
}
