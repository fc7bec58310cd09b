/* What commands do with a home besides running tasks: agents, tokens, receipts, reviews. `vidro run` loads none of it. */

export { HomeAgents } from "./north/catalog/home-agents.ts";
export { describeChoice } from "./models/choose.ts";
export { describeModel, listModels } from "./models/model-list.ts";
export type { FactRow, ModelPage, ModelRow } from "./models/model-list.ts";
export { tryModel } from "./try-model.ts";
export type { ModelTrial } from "./try-model.ts";
export { checkReceipt, keysByHand, outcomeIn, OutcomeReader } from "./south/receipt-check.ts";
export type { KeysOfHands, OutcomeOnRecord, ReceiptVerdict } from "./south/receipt-check.ts";
export { markReviewed, findUnreviewed } from "./auth/revocation-review.ts";
export type { UnreviewedItems } from "./auth/revocation-review.ts";
export { ReceiptKeys } from "./south/receipt-keys.ts";
export type { ReceiptKey } from "./south/receipt-keys.ts";
export { homeCertificate } from "./south/agent-ws/hand-listener.ts";
export { Tokens } from "./auth/tokens.ts";
export type { NewToken, TokenRequest, TokenRow, TokensOptions } from "./auth/tokens.ts";
export { STORE_VERSION } from "./stores/sqlite/schema.ts";
export type { StoredAgent } from "./catalog/agent.ts";
export type { VerifiedCaller } from "./auth/caller.ts";
export { makeFolder } from "./daemon/home-folder.ts";
export { RunRetention } from "./daemon/run-retention.ts";
export { UNASKED_EVENTS, Webhooks } from "./webhooks/webhooks.ts";
export type { Webhook } from "./webhooks/webhooks.ts";
export { migrateHome } from "./daemon/migrate-home.ts";
export { backUpHome, restoreHome } from "./daemon/backup.ts";
