import type { Database } from '../../../platform/db/tables.generated.ts';

/**
 * Relation of a table to an account (docs/decisions/privacy.md#table-inventory): rows of its workspaces, of
 * the account, of other rows that belong to it, or none. `books` rows must remain after an erasure, without
 * personal data.
 */
export type TableDataPolicy = Rows & {
  /**
   * Columns omitted from an export, in addition to binary ones: secrets, and values without meaning outside.
   */
  hidden?: readonly string[] | 'all';
};

type Rows =
  | { of: 'workspace' | 'books' | 'nobody' }
  | { of: 'account'; column?: string }
  /** Rows whose `column` is the ID (or the `key`) of another table's row that belongs to the account. */
  | { of: 'rows'; table: keyof Database; column: string; key?: string };

const workspace = { of: 'workspace' } as const;
const account = { of: 'account' } as const;
const books = { of: 'books' } as const;
const unowned = { of: 'nobody' } as const;
const stream = { of: 'rows', table: 'stream', column: 'stream_id' } as const;
const video = { of: 'rows', table: 'video', column: 'video_id' } as const;
const room = { of: 'rows', table: 'room', column: 'room_id' } as const;
const cohort = { of: 'rows', table: 'cohort', column: 'cohort_id' } as const;
const customer = { of: 'rows', table: 'customer', column: 'customer_id' } as const;

/** Policy of every table; a new table without an entry does not compile. */
export const DATA_INVENTORY: Readonly<Record<keyof Database, TableDataPolicy>> = {
  account: { of: 'account', column: 'id', hidden: ['password_hash', 'token_epoch'] },
  account_export: { ...account, hidden: 'all' },
  account_erasure: { ...books, hidden: 'all' },
  analytics_retention: workspace,
  analytics_unique_viewer: { ...workspace, hidden: 'all' },
  analytics_breakdown: workspace,
  analytics_total: workspace,
  api_key: workspace,
  api_key_retired_secret: { of: 'rows', table: 'api_key', column: 'key_id', hidden: 'all' },
  availability: workspace,
  avatar: account,
  banner: workspace,
  booking: workspace,
  booking_feed: { ...workspace, hidden: 'all' },
  booking_product: workspace,
  bridge: workspace,
  calendar_busy: {
    of: 'rows',
    table: 'workspace',
    column: 'calendar_number',
    key: 'calendar_number',
    hidden: 'all',
  },
  channel: workspace,
  chat_ban: stream,
  chat_message: stream,
  checkout: { ...workspace, hidden: ['operation_id', 'reserved_until'] },
  class_occurrence: workspace,
  cohort: workspace,
  cohort_session: cohort,
  cohort_session_tombstone: { ...cohort, hidden: 'all' },
  cohort_video: cohort,
  connect_account: workspace,
  /** Keyed hashes, deleted after a day. */
  counter_window: unowned,
  customer: { ...books, hidden: ['provider_ref', 'method_ref'] },
  delivery_job: { ...workspace, hidden: 'all' },
  delivery_log: workspace,
  deprecated_endpoint_usage: workspace,
  discount_code: workspace,
  dvr_segment: { ...stream, hidden: 'all' },
  email_token: { ...account, hidden: 'all' },
  event: { ...workspace, hidden: ['xid', 'seq'] },
  external_busy: { of: 'rows', table: 'external_calendar', column: 'calendar_id' },
  external_calendar: { ...workspace, hidden: ['etag', 'last_modified'] },
  usage_event: { ...workspace, hidden: ['xid'] },
  rollup_state: unowned,
  follow: workspace,
  follower_count: workspace,
  idempotency_record: { ...workspace, hidden: 'all' },
  import: { ...workspace, hidden: ['storage_state', 'validator'] },
  ingest_session: stream,
  integration_domain: workspace,
  job: unowned,
  job_turn: unowned,
  counter_delta: { ...workspace, hidden: 'all' },
  ledger_account: books,
  ledger_entry: { ...books, hidden: 'all' },
  ledger_revenue: books,
  ledger_revenue_item: books,
  ledger_transaction: books,
  email_link_request: unowned,
  mail: unowned,
  media_node: unowned,
  member_link: { ...customer, hidden: 'all' },
  member_link_request: workspace,
  member_session: { ...workspace, hidden: 'all' },
  migration: unowned,
  notification: account,
  notification_read: { of: 'account', column: 'user_id' },
  notification_preference: account,
  payment: { ...books, hidden: ['provider_key', 'request', 'action_url', 'payment_method'] },
  payout: books,
  playlist: workspace,
  playlist_item: { of: 'rows', table: 'playlist', column: 'playlist_id' },
  provider_event: unowned,
  provider_poll_state: unowned,
  purchase: books,
  quota_notification: workspace,
  recording: workspace,
  recording_part: { of: 'rows', table: 'recording', column: 'recording_id', hidden: 'all' },
  recovery_code: { ...account, hidden: 'all' },
  registration_invite: unowned,
  release_notice: unowned,
  request_log: workspace,
  restream: workspace,
  restream_target: { of: 'rows', table: 'restream', column: 'restream_id' },
  room: workspace,
  room_ban: room,
  room_message: { ...room, hidden: 'all' },
  room_node: unowned,
  room_participant: room,
  room_recording: workspace,
  sandbox_card: { ...books, hidden: 'all' },
  sandbox_payment: { ...books, hidden: 'all' },
  sandbox_refund: { ...books, hidden: 'all' },
  sign_in_challenge: { ...account, hidden: 'all' },
  sign_in_location: account,
  signal_simulation: { ...workspace, hidden: 'all' },
  signing_key: unowned,
  stream: workspace,
  stream_health_point: stream,
  stream_log: stream,
  stream_log_head: { ...stream, hidden: 'all' },
  stream_session: workspace,
  stream_viewer: { ...stream, hidden: 'all' },
  subscriber: workspace,
  subscriber_address: { ...workspace, hidden: 'all' },
  subscription: { ...workspace, hidden: ['payment_method'] },
  support_message: { of: 'rows', table: 'support_ticket', column: 'ticket_id' },
  support_ticket: account,
  team_activity: account,
  team_invitation: account,
  team_member: account,
  tier: workspace,
  transcode_node: unowned,
  two_factor: { ...account, hidden: 'all' },
  upload: { ...workspace, hidden: ['storage_state', 'writer', 'writer_heartbeat_at'] },
  usage_request: workspace,
  usage_total: workspace,
  user_session: account,
  user_token: { ...account, hidden: 'all' },
  video: workspace,
  video_caption: video,
  video_chunk: { ...video, hidden: 'all' },
  video_folder: { ...video, hidden: 'all' },
  video_processing: { ...video, hidden: 'all' },
  video_rendition: video,
  video_tag: { ...workspace, hidden: 'all' },
  video_replacement: video,
  video_transcription: video,
  video_view: { ...video, hidden: 'all' },
  viewer_salt: unowned,
  waitlist_entry: workspace,
  watched_stream: { ...stream, hidden: 'all' },
  webhook: workspace,
  whep_session: { ...stream, hidden: 'all' },
  whip_session: { ...stream, hidden: 'all' },
  workspace: { of: 'account' },
};

/** Tables that an erasure keeps: they record it, and link the ledger to its account by ID only. */
const TOMBSTONES: readonly (keyof Database)[] = ['account', 'workspace'];
/** Tables that are erased first, because their rows reference others without cascading. */
const EARLY: readonly (keyof Database)[] = ['waitlist_entry', 'booking', 'checkout', 'subscription'];

const TABLES = Object.keys(DATA_INVENTORY).filter((name): name is keyof Database => name in DATA_INVENTORY);

/** Exported tables in alphabetical order. */
export const EXPORTED: readonly (keyof Database)[] = TABLES.filter(
  (table) => DATA_INVENTORY[table].of !== 'nobody' && DATA_INVENTORY[table].hidden !== 'all',
);

/** Tables whose rows are erased with the account, in an order without foreign-key violations. */
export const ERASED: readonly (keyof Database)[] = [
  ...TABLES.filter((table) => DATA_INVENTORY[table].of === 'rows'),
  ...EARLY,
  ...TABLES.filter((table) => {
    const { of } = DATA_INVENTORY[table];
    return (of === 'workspace' || of === 'account') && ![...EARLY, ...TOMBSTONES].includes(table);
  }),
];
