import type { AccountTable, ApiKeyTable, WorkspaceTable } from './tables/accounts.ts';
import type { DeliveryJobTable, DeliveryLogTable, EventTable, WebhookTable } from './tables/events.ts';
import type { IngestSessionTable, StreamSessionTable, StreamTable } from './tables/streams.ts';

/** Every table, as Kysely sees it; the SQL itself is in `migrations/`. */
export interface Database {
  account: AccountTable;
  workspace: WorkspaceTable;
  api_key: ApiKeyTable;
  event: EventTable;
  webhook: WebhookTable;
  delivery_job: DeliveryJobTable;
  delivery_log: DeliveryLogTable;
  stream: StreamTable;
  stream_session: StreamSessionTable;
  ingest_session: IngestSessionTable;
}
