import { anyText } from "./setting-kinds.ts";

/** Keys and addresses of vendors, by the variables that their own programs read. */
export const VENDOR_SETTINGS = {
  anthropic_api_key: vendorKey("ANTHROPIC_API_KEY", "Anthropic"),
  anthropic_base_url: vendorAddress("ANTHROPIC_BASE_URL", "Anthropic"),
  openai_api_key: vendorKey("OPENAI_API_KEY", "OpenAI"),
  openai_base_url: vendorAddress("OPENAI_BASE_URL", "OpenAI"),
  google_generative_ai_api_key: vendorKey("GOOGLE_GENERATIVE_AI_API_KEY", "Google"),
  gemini_api_key: vendorKey("GEMINI_API_KEY", "Google"),
  google_gemini_base_url: vendorAddress("GOOGLE_GEMINI_BASE_URL", "Google"),
  mistral_api_key: vendorKey("MISTRAL_API_KEY", "Mistral"),
  mistral_base_url: vendorAddress("MISTRAL_BASE_URL", "Mistral"),
  groq_api_key: vendorKey("GROQ_API_KEY", "Groq"),
  groq_base_url: vendorAddress("GROQ_BASE_URL", "Groq"),
  openrouter_api_key: vendorKey("OPENROUTER_API_KEY", "OpenRouter"),
  openrouter_base_url: vendorAddress("OPENROUTER_BASE_URL", "OpenRouter"),
  xai_api_key: vendorKey("XAI_API_KEY", "xAI"),
  xai_base_url: vendorAddress("XAI_BASE_URL", "xAI"),
  deepseek_api_key: vendorKey("DEEPSEEK_API_KEY", "DeepSeek"),
  deepseek_base_url: vendorAddress("DEEPSEEK_BASE_URL", "DeepSeek"),
  azure_api_key: vendorKey("AZURE_API_KEY", "Azure"),
  azure_resource_name: vendorDetail("AZURE_RESOURCE_NAME", "name of the Azure resource, the first part of its address"),
  azure_base_url: vendorAddress("AZURE_BASE_URL", "Azure"),
  aws_bearer_token_bedrock: vendorKey("AWS_BEARER_TOKEN_BEDROCK", "Bedrock"),
  aws_access_key_id: vendorKey("AWS_ACCESS_KEY_ID", "AWS, for Bedrock without a key of its own"),
  aws_secret_access_key: vendorKey("AWS_SECRET_ACCESS_KEY", "AWS, its secret part"),
  aws_session_token: vendorKey("AWS_SESSION_TOKEN", "AWS, of a session"),
  aws_region: vendorDetail("AWS_REGION", "region of AWS, for Bedrock"),
  bedrock_base_url: vendorAddress("BEDROCK_BASE_URL", "Bedrock"),
  google_vertex_api_key: vendorKey("GOOGLE_VERTEX_API_KEY", "Vertex in express mode"),
  google_vertex_project: vendorDetail(
    "GOOGLE_VERTEX_PROJECT",
    "project of Vertex, with the credentials of this machine",
  ),
  google_vertex_location: vendorDetail("GOOGLE_VERTEX_LOCATION", "location of Vertex"),
  google_vertex_base_url: vendorAddress("GOOGLE_VERTEX_BASE_URL", "Vertex"),
  lmstudio_host: vendorDetail("LMSTUDIO_HOST", "address of an LM Studio server", "`http://127.0.0.1:1234`"),
  vllm_host: vendorDetail("VLLM_HOST", "address of a vLLM server", "`http://127.0.0.1:8000`"),
} as const;

function vendorKey(variable: string, vendor: string) {
  return {
    group: "Models",
    kind: anyText,
    variable,
    secret: true,
    about: `key of ${vendor}`,
    otherwise: "none is used",
  } as const;
}

function vendorAddress(variable: string, vendor: string) {
  return {
    group: "Models",
    kind: anyText,
    variable,
    about: `address of a server in the place of ${vendor}'s own`,
    otherwise: "the vendor's own",
  } as const;
}

function vendorDetail(variable: string, about: string, otherwise = "none is used") {
  return { group: "Models", kind: anyText, variable, about, otherwise } as const;
}
