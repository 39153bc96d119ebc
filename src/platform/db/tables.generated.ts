/** The tables of the migrated database, written by npm run generate. JSON columns: `json-columns.ts`. */
import type { ColumnType } from 'kysely';
import type { JsonColumns } from './json-columns.ts';

type Generated<T> =
  T extends ColumnType<infer S, infer I, infer U>
    ? ColumnType<S, I | undefined, U>
    : ColumnType<T, T | undefined, T>;

/** The values that a column may have, in the order of its CHECK. */
export const VALUES = {
  account: {
    role: ['USER', 'ADMIN'],
    plan: ['FREE', 'STAR', 'PRO', 'VIP'],
    embed_mode: ['OPEN', 'ALLOWLIST'],
  },
  account_export: {
    status: ['PENDING', 'READY', 'FAILED'],
  },
  analytics_breakdown: {
    subject_kind: ['ACCOUNT', 'VIDEO', 'STREAM'],
    dimension: ['country', 'device', 'browser', 'os', 'referrer', 'quality', 'source'],
    interval_min: [15, 60, 240, 1440, 5760, 23040, 92160],
  },
  analytics_retention: {
    interval_min: [1440, 5760, 23040, 92160],
  },
  analytics_total: {
    subject_kind: ['ACCOUNT', 'VIDEO', 'STREAM'],
    interval_min: [15, 60, 240, 1440, 5760, 23040, 92160],
  },
  api_key: {
    scope: ['READ_ONLY', 'STANDARD', 'FULL_ACCESS'],
  },
  booking: {
    type: ['ONE_TO_ONE', 'LIVE_CLASS', 'COHORT'],
    status: ['PENDING_PAYMENT', 'CONFIRMED', 'COMPLETED', 'CANCELED', 'NO_SHOW', 'EXPIRED'],
    canceled_by: ['CUSTOMER', 'CREATOR', 'SYSTEM'],
  },
  booking_product: {
    type: ['ONE_TO_ONE', 'LIVE_CLASS', 'COHORT'],
    status: ['DRAFT', 'PUBLISHED', 'ARCHIVED'],
  },
  bridge: {
    type: ['ROOM_TO_STREAM', 'PULL_TO_STREAM', 'STREAM_TO_ROOM'],
    layout: ['GRID', 'SPEAKER', 'SINGLE'],
    status: ['PENDING', 'CONNECTING', 'ACTIVE', 'FAILED', 'STOPPED'],
    end_reason: [
      'SOURCE_ENDED',
      'TARGET_ENDED',
      'TARGET_TAKEN',
      'EXPIRED',
      'SUSPENDED',
      'REMOVED',
      'DELETED',
    ],
  },
  chat_message: {
    kind: ['MESSAGE', 'SYSTEM'],
  },
  checkout: {
    kind: ['SUBSCRIPTION', 'VIDEO', 'BOOKING'],
    status: ['OPEN', 'COMPLETED', 'EXPIRED', 'CANCELED'],
    interval: ['MONTH', 'YEAR'],
  },
  cohort: {
    status: ['SCHEDULED', 'OPEN', 'FULL', 'RUNNING', 'COMPLETED', 'CANCELED'],
  },
  connect_account: {
    provider: ['SANDBOX', 'STRIPE'],
  },
  counter_delta: {
    name: [
      'VIDEOS',
      'VIDEOS_READY',
      'VIDEOS_PROCESSING',
      'VIDEOS_FAILED',
      'VIDEO_MS',
      'STREAMS',
      'PLAYLISTS',
      'SUBSCRIBERS',
    ],
  },
  customer: {
    provider: ['SANDBOX', 'STRIPE'],
  },
  delivery_job: {
    trigger: ['EVENT', 'TEST', 'REPLAY', 'RECOVER'],
  },
  delivery_log: {
    trigger: ['EVENT', 'TEST', 'REPLAY', 'RECOVER'],
    status: ['SUCCESS', 'FAILED', 'EXHAUSTED', 'CANCELED'],
  },
  email_link_request: {
    purpose: ['VERIFY_EMAIL', 'RESET_PASSWORD'],
  },
  email_token: {
    purpose: ['VERIFY_EMAIL', 'RESET_PASSWORD', 'CHANGE_EMAIL', 'KEEP_EMAIL'],
  },
  external_calendar: {
    status: ['PENDING', 'OK', 'FAILED'],
  },
  import: {
    provider: ['URL', 'S3', 'YOUTUBE', 'VIMEO', 'TWITCH', 'PEERTUBE'],
    status: ['PENDING', 'DOWNLOADING', 'PROCESSING', 'COMPLETED', 'FAILED', 'CANCELED'],
    visibility: ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'],
  },
  integration_domain: {
    status: ['PENDING', 'VERIFIED', 'FAILED', 'LAPSED'],
    method: ['DNS_TXT', 'WELL_KNOWN'],
  },
  job: {
    state: ['waiting', 'active', 'completed', 'failed', 'canceled'],
  },
  ledger_account: {
    provider: ['SANDBOX', 'STRIPE'],
    kind: ['BUYERS', 'CREATOR', 'FEES', 'DISPUTED', 'PAID_OUT'],
  },
  ledger_revenue_item: {
    sale_kind: ['VIDEO', 'BOOKING', 'SUBSCRIPTION'],
  },
  ledger_transaction: {
    kind: [
      'CHARGE',
      'REFUND',
      'DISPUTE_OPENED',
      'DISPUTE_WON',
      'DISPUTE_LOST',
      'PAYOUT',
      'PAYOUT_FAILED',
      'ADJUSTMENT',
    ],
    sale_kind: ['VIDEO', 'BOOKING', 'SUBSCRIPTION'],
  },
  mail: {
    status: ['QUEUED', 'SENT', 'KEPT', 'FAILED'],
  },
  notification: {
    severity: ['INFO', 'WARNING', 'CRITICAL'],
  },
  payment: {
    type: ['CHARGE', 'REFUND', 'DISPUTE', 'FEE', 'ADJUSTMENT'],
    status: ['PENDING', 'SUCCEEDED', 'FAILED', 'CANCELED'],
    provider: ['SANDBOX', 'STRIPE', 'NONE'],
    outcome: ['WON', 'LOST'],
  },
  payout: {
    provider: ['SANDBOX', 'STRIPE'],
    status: ['PENDING', 'IN_TRANSIT', 'PAID', 'FAILED', 'CANCELED'],
  },
  playlist: {
    visibility: ['PUBLIC', 'UNLISTED', 'PRIVATE'],
  },
  provider_event: {
    provider: ['SANDBOX', 'STRIPE'],
    kind: ['PAYMENT', 'REFUND', 'DISPUTE', 'PAYOUT', 'ACCOUNT', 'CARD'],
  },
  provider_poll_state: {
    provider: ['SANDBOX', 'STRIPE'],
  },
  purchase: {
    kind: ['VIDEO', 'BOOKING', 'SUBSCRIPTION'],
    status: ['PENDING', 'PAID', 'FAILED', 'REFUNDED', 'PARTIALLY_REFUNDED', 'DISPUTED'],
    status_before_dispute: ['PAID', 'PARTIALLY_REFUNDED'],
  },
  quota_notification: {
    notified_level: [0, 80, 95, 100],
  },
  restream: {
    start_mode: ['WITH_BROADCAST', 'WITH_SIGNAL', 'MANUAL'],
    manual_override: ['AUTO', 'STARTED', 'STOPPED'],
  },
  restream_target: {
    platform: ['YOUTUBE', 'TWITCH', 'FACEBOOK', 'KICK', 'X', 'CUSTOM'],
    state: ['IDLE', 'CONNECTING', 'BROADCASTING', 'ERRORED'],
    error_severity: ['NORMAL', 'FATAL'],
  },
  room: {
    status: ['CREATED', 'ACTIVE', 'ENDED'],
    record_layout: ['GRID', 'SPEAKER'],
    end_reason: ['CALL', 'DELETED', 'MAX_DURATION', 'EXPIRED', 'ALONE', 'SUSPENDED'],
  },
  room_participant: {
    role: ['HOST', 'SPEAKER', 'VIEWER'],
    state: ['JOINING', 'ACTIVE', 'LEFT'],
    leave_reason: ['CLIENT', 'KICKED', 'DENIED', 'ROOM_ENDED', 'TIMEOUT', 'DUPLICATE_IDENTITY'],
  },
  room_recording: {
    layout: ['GRID', 'SPEAKER'],
    end_reason: ['QUOTA_EXCEEDED', 'DISK_FULL', 'TOO_LONG'],
  },
  sandbox_payment: {
    status: ['ACTION', 'SUCCEEDED', 'FAILED', 'CANCELED'],
    dispute_status: ['OPEN', 'WON', 'LOST'],
  },
  stream: {
    visibility: ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'],
    latency_mode: ['STANDARD', 'LOW'],
    record_visibility: ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'],
    chat_mode: ['OPEN', 'FOLLOWERS', 'TIER', 'OFF'],
  },
  stream_log: {
    tail: ['CHAT', 'RESTREAM', 'STATUS'],
  },
  stream_log_head: {
    tail: ['CHAT', 'RESTREAM', 'STATUS'],
  },
  subscriber: {
    status: ['PENDING', 'CONFIRMED', 'UNSUBSCRIBED'],
  },
  subscription: {
    status: ['TRIALING', 'ACTIVE', 'PAST_DUE', 'CANCELED', 'EXPIRED'],
    interval: ['MONTH', 'YEAR'],
    pending_interval: ['MONTH', 'YEAR'],
    cancel_reason: ['MEMBER_CANCELED', 'CREATOR_CANCELED', 'REFUNDED', 'DISPUTE_LOST', 'PAYMENT_FAILED'],
    charge_kind: ['RENEWAL', 'CONFIRMATION', 'SWITCH'],
    charge_interval: ['MONTH', 'YEAR'],
  },
  support_message: {
    author: ['PARTNER', 'STAFF'],
  },
  support_ticket: {
    category: ['BILLING', 'TECHNICAL', 'ACCOUNT', 'ABUSE', 'OTHER'],
    priority: ['LOW', 'NORMAL', 'HIGH'],
    status: ['OPEN', 'PENDING', 'RESOLVED', 'CLOSED'],
    reported_type: ['VIDEO', 'STREAM', 'CHANNEL'],
  },
  team_invitation: {
    team_role: ['ADMIN', 'EDITOR', 'ANALYST'],
    status: ['PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED'],
  },
  team_member: {
    team_role: ['ADMIN', 'EDITOR', 'ANALYST'],
  },
  tier: {
    interval: ['MONTH', 'YEAR'],
  },
  upload: {
    status: ['WAITING', 'UPLOADING', 'COMPLETED', 'CANCELED', 'EXPIRED', 'FAILED'],
    protocol: ['TUS', 'PUT'],
  },
  usage_event: {
    kind: [
      'BEACON',
      'VIEW',
      'IMPRESSION',
      'JOIN',
      'LEAVE',
      'PRESENCE',
      'CHAT',
      'FOLLOW',
      'UNFOLLOW',
      'BROADCAST',
      'LIVE',
      'REQUEST',
      'DELIVERY',
      'EGRESS',
      'ENCODE',
      'ROOM',
      'STORAGE',
    ],
  },
  usage_total: {
    metric: ['STORAGE', 'EGRESS', 'ENCODE', 'LIVE', 'ROOM', 'REQUEST', 'DELIVERY'],
    interval_min: [15, 1440],
  },
  video: {
    status: ['UPLOADING', 'QUEUED', 'PROCESSING', 'READY', 'FAILED'],
    visibility: ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'],
    source: ['UPLOAD', 'IMPORT', 'RECORDING', 'CLIP'],
  },
  video_processing: {
    mode: ['WHOLE', 'SPLIT', 'CHUNKS'],
  },
  video_rendition: {
    kind: ['VIDEO', 'AUDIO'],
    status: ['PENDING', 'PROCESSING', 'READY'],
    codec: ['H264', 'HEVC', 'AV1'],
    video_range: ['SDR', 'PQ', 'HLG'],
  },
  video_replacement: {
    status: ['UPLOADING', 'QUEUED', 'PROCESSING', 'READY', 'FAILED', 'CANCELED'],
  },
  video_transcription: {
    status: ['QUEUED', 'PROCESSING', 'READY', 'FAILED'],
  },
  waitlist_entry: {
    status: ['WAITING', 'OFFERED', 'CONVERTED', 'EXPIRED', 'REMOVED'],
  },
  whep_session: {
    state: ['OFFERED', 'ANSWERED', 'REFUSED', 'ENDING'],
    refusal: ['OFFER', 'SIGNAL', 'FULL'],
  },
  whip_session: {
    state: ['OFFERED', 'ANSWERED', 'REFUSED', 'ENDING'],
  },
  workspace: {
    mode: ['live', 'test'],
  },
} as const;

export type AccountRole = (typeof VALUES.account.role)[number];
export type AccountPlan = (typeof VALUES.account.plan)[number];
export type AccountEmbedMode = (typeof VALUES.account.embed_mode)[number];
export type AccountExportStatus = (typeof VALUES.account_export.status)[number];
export type AnalyticsBreakdownSubjectKind = (typeof VALUES.analytics_breakdown.subject_kind)[number];
export type AnalyticsBreakdownDimension = (typeof VALUES.analytics_breakdown.dimension)[number];
export type AnalyticsBreakdownIntervalMin = (typeof VALUES.analytics_breakdown.interval_min)[number];
export type AnalyticsRetentionIntervalMin = (typeof VALUES.analytics_retention.interval_min)[number];
export type AnalyticsTotalSubjectKind = (typeof VALUES.analytics_total.subject_kind)[number];
export type AnalyticsTotalIntervalMin = (typeof VALUES.analytics_total.interval_min)[number];
export type ApiKeyScope = (typeof VALUES.api_key.scope)[number];
export type BookingType = (typeof VALUES.booking.type)[number];
export type BookingStatus = (typeof VALUES.booking.status)[number];
export type BookingCanceledBy = (typeof VALUES.booking.canceled_by)[number];
export type BookingProductType = (typeof VALUES.booking_product.type)[number];
export type BookingProductStatus = (typeof VALUES.booking_product.status)[number];
export type BridgeType = (typeof VALUES.bridge.type)[number];
export type BridgeLayout = (typeof VALUES.bridge.layout)[number];
export type BridgeStatus = (typeof VALUES.bridge.status)[number];
export type BridgeEndReason = (typeof VALUES.bridge.end_reason)[number];
export type ChatMessageKind = (typeof VALUES.chat_message.kind)[number];
export type CheckoutKind = (typeof VALUES.checkout.kind)[number];
export type CheckoutStatus = (typeof VALUES.checkout.status)[number];
export type CheckoutInterval = (typeof VALUES.checkout.interval)[number];
export type CohortStatus = (typeof VALUES.cohort.status)[number];
export type ConnectAccountProvider = (typeof VALUES.connect_account.provider)[number];
export type CounterDeltaName = (typeof VALUES.counter_delta.name)[number];
export type CustomerProvider = (typeof VALUES.customer.provider)[number];
export type DeliveryJobTrigger = (typeof VALUES.delivery_job.trigger)[number];
export type DeliveryLogTrigger = (typeof VALUES.delivery_log.trigger)[number];
export type DeliveryLogStatus = (typeof VALUES.delivery_log.status)[number];
export type EmailLinkRequestPurpose = (typeof VALUES.email_link_request.purpose)[number];
export type EmailTokenPurpose = (typeof VALUES.email_token.purpose)[number];
export type ExternalCalendarStatus = (typeof VALUES.external_calendar.status)[number];
export type ImportProvider = (typeof VALUES.import.provider)[number];
export type ImportStatus = (typeof VALUES.import.status)[number];
export type ImportVisibility = (typeof VALUES.import.visibility)[number];
export type IntegrationDomainStatus = (typeof VALUES.integration_domain.status)[number];
export type IntegrationDomainMethod = (typeof VALUES.integration_domain.method)[number];
export type JobState = (typeof VALUES.job.state)[number];
export type LedgerAccountProvider = (typeof VALUES.ledger_account.provider)[number];
export type LedgerAccountKind = (typeof VALUES.ledger_account.kind)[number];
export type LedgerRevenueItemSaleKind = (typeof VALUES.ledger_revenue_item.sale_kind)[number];
export type LedgerTransactionKind = (typeof VALUES.ledger_transaction.kind)[number];
export type LedgerTransactionSaleKind = (typeof VALUES.ledger_transaction.sale_kind)[number];
export type MailStatus = (typeof VALUES.mail.status)[number];
export type NotificationSeverity = (typeof VALUES.notification.severity)[number];
export type PaymentType = (typeof VALUES.payment.type)[number];
export type PaymentStatus = (typeof VALUES.payment.status)[number];
export type PaymentProvider = (typeof VALUES.payment.provider)[number];
export type PaymentOutcome = (typeof VALUES.payment.outcome)[number];
export type PayoutProvider = (typeof VALUES.payout.provider)[number];
export type PayoutStatus = (typeof VALUES.payout.status)[number];
export type PlaylistVisibility = (typeof VALUES.playlist.visibility)[number];
export type ProviderEventProvider = (typeof VALUES.provider_event.provider)[number];
export type ProviderEventKind = (typeof VALUES.provider_event.kind)[number];
export type ProviderPollStateProvider = (typeof VALUES.provider_poll_state.provider)[number];
export type PurchaseKind = (typeof VALUES.purchase.kind)[number];
export type PurchaseStatus = (typeof VALUES.purchase.status)[number];
export type PurchaseStatusBeforeDispute = (typeof VALUES.purchase.status_before_dispute)[number];
export type QuotaNotificationNotifiedLevel = (typeof VALUES.quota_notification.notified_level)[number];
export type RestreamStartMode = (typeof VALUES.restream.start_mode)[number];
export type RestreamManualOverride = (typeof VALUES.restream.manual_override)[number];
export type RestreamTargetPlatform = (typeof VALUES.restream_target.platform)[number];
export type RestreamTargetState = (typeof VALUES.restream_target.state)[number];
export type RestreamTargetErrorSeverity = (typeof VALUES.restream_target.error_severity)[number];
export type RoomStatus = (typeof VALUES.room.status)[number];
export type RoomRecordLayout = (typeof VALUES.room.record_layout)[number];
export type RoomEndReason = (typeof VALUES.room.end_reason)[number];
export type RoomParticipantRole = (typeof VALUES.room_participant.role)[number];
export type RoomParticipantState = (typeof VALUES.room_participant.state)[number];
export type RoomParticipantLeaveReason = (typeof VALUES.room_participant.leave_reason)[number];
export type RoomRecordingLayout = (typeof VALUES.room_recording.layout)[number];
export type RoomRecordingEndReason = (typeof VALUES.room_recording.end_reason)[number];
export type SandboxPaymentStatus = (typeof VALUES.sandbox_payment.status)[number];
export type SandboxPaymentDisputeStatus = (typeof VALUES.sandbox_payment.dispute_status)[number];
export type StreamVisibility = (typeof VALUES.stream.visibility)[number];
export type StreamLatencyMode = (typeof VALUES.stream.latency_mode)[number];
export type StreamRecordVisibility = (typeof VALUES.stream.record_visibility)[number];
export type StreamChatMode = (typeof VALUES.stream.chat_mode)[number];
export type StreamLogTail = (typeof VALUES.stream_log.tail)[number];
export type StreamLogHeadTail = (typeof VALUES.stream_log_head.tail)[number];
export type SubscriberStatus = (typeof VALUES.subscriber.status)[number];
export type SubscriptionStatus = (typeof VALUES.subscription.status)[number];
export type SubscriptionInterval = (typeof VALUES.subscription.interval)[number];
export type SubscriptionPendingInterval = (typeof VALUES.subscription.pending_interval)[number];
export type SubscriptionCancelReason = (typeof VALUES.subscription.cancel_reason)[number];
export type SubscriptionChargeKind = (typeof VALUES.subscription.charge_kind)[number];
export type SubscriptionChargeInterval = (typeof VALUES.subscription.charge_interval)[number];
export type SupportMessageAuthor = (typeof VALUES.support_message.author)[number];
export type SupportTicketCategory = (typeof VALUES.support_ticket.category)[number];
export type SupportTicketPriority = (typeof VALUES.support_ticket.priority)[number];
export type SupportTicketStatus = (typeof VALUES.support_ticket.status)[number];
export type SupportTicketReportedType = (typeof VALUES.support_ticket.reported_type)[number];
export type TeamInvitationTeamRole = (typeof VALUES.team_invitation.team_role)[number];
export type TeamInvitationStatus = (typeof VALUES.team_invitation.status)[number];
export type TeamMemberTeamRole = (typeof VALUES.team_member.team_role)[number];
export type TierInterval = (typeof VALUES.tier.interval)[number];
export type UploadStatus = (typeof VALUES.upload.status)[number];
export type UploadProtocol = (typeof VALUES.upload.protocol)[number];
export type UsageEventKind = (typeof VALUES.usage_event.kind)[number];
export type UsageTotalMetric = (typeof VALUES.usage_total.metric)[number];
export type UsageTotalIntervalMin = (typeof VALUES.usage_total.interval_min)[number];
export type VideoStatus = (typeof VALUES.video.status)[number];
export type VideoVisibility = (typeof VALUES.video.visibility)[number];
export type VideoSource = (typeof VALUES.video.source)[number];
export type VideoProcessingMode = (typeof VALUES.video_processing.mode)[number];
export type VideoRenditionKind = (typeof VALUES.video_rendition.kind)[number];
export type VideoRenditionStatus = (typeof VALUES.video_rendition.status)[number];
export type VideoRenditionCodec = (typeof VALUES.video_rendition.codec)[number];
export type VideoRenditionVideoRange = (typeof VALUES.video_rendition.video_range)[number];
export type VideoReplacementStatus = (typeof VALUES.video_replacement.status)[number];
export type VideoTranscriptionStatus = (typeof VALUES.video_transcription.status)[number];
export type WaitlistEntryStatus = (typeof VALUES.waitlist_entry.status)[number];
export type WhepSessionState = (typeof VALUES.whep_session.state)[number];
export type WhepSessionRefusal = (typeof VALUES.whep_session.refusal)[number];
export type WhipSessionState = (typeof VALUES.whip_session.state)[number];
export type WorkspaceMode = (typeof VALUES.workspace.mode)[number];

export interface AccountTable {
  id: string;
  email: string;
  password_hash: string;
  name: string | null;
  username: string;
  bio: string | null;
  locale: Generated<string>;
  timezone: Generated<string>;
  role: Generated<AccountRole>;
  plan: Generated<AccountPlan>;
  token_epoch: Generated<number>;
  embed_mode: Generated<AccountEmbedMode>;
  embed_domains: Generated<string[]>;
  embed_updated_at: Date | null;
  terms_url: string | null;
  terms_accepted_at: Date | null;
  email_verified_at: Date | null;
  suspended_at: Date | null;
  created_at: Generated<Date>;
}

export interface AccountErasureTable {
  account_id: string;
  requested_at: Date;
  due_at: Date;
  undo_token_hash: Uint8Array | null;
  started_at: Date | null;
  erased_at: Date | null;
}

export interface AccountExportTable {
  id: string;
  account_id: string;
  status: AccountExportStatus;
  size_bytes: number | null;
  created_at: Date;
  ready_at: Date | null;
  expires_at: Date | null;
}

export interface AnalyticsBreakdownTable {
  workspace_id: string;
  subject_kind: AnalyticsBreakdownSubjectKind;
  subject_id: string;
  dimension: AnalyticsBreakdownDimension;
  value: string;
  interval_min: AnalyticsBreakdownIntervalMin;
  at: Date;
  is_owner: boolean;
  views: Generated<number>;
  unique_viewers: Generated<number>;
  watch_ms: Generated<number>;
}

export interface AnalyticsRetentionTable {
  workspace_id: string;
  video_id: string;
  interval_min: AnalyticsRetentionIntervalMin;
  at: Date;
  is_owner: boolean;
  watch_counts: number[];
}

export interface AnalyticsTotalTable {
  workspace_id: string;
  subject_kind: AnalyticsTotalSubjectKind;
  subject_id: string;
  interval_min: AnalyticsTotalIntervalMin;
  at: Date;
  is_owner: boolean;
  views: Generated<number>;
  unique_viewers: Generated<number>;
  watch_ms: Generated<number>;
  impressions: Generated<number>;
  plays: Generated<number>;
  joins: Generated<number>;
  leaves: Generated<number>;
  chat_messages: Generated<number>;
  new_followers: Generated<number>;
  lost_followers: Generated<number>;
  broadcasts: Generated<number>;
  live_ms: Generated<number>;
  peak_viewers: Generated<number>;
  viewer_samples_sum: Generated<number>;
  viewer_samples: Generated<number>;
  bitrate_kbit: Generated<number>;
}

export interface AnalyticsUniqueViewerTable {
  at: Date;
  workspace_id: string;
  subject_id: string;
  dimension_filter: string;
  viewer: Uint8Array;
  is_owner: boolean;
  first_at: Date;
}

export interface ApiKeyTable {
  id: string;
  workspace_id: string;
  account_id: string;
  name: string;
  hash: Uint8Array;
  prefix: string;
  last4: string;
  scope: ApiKeyScope;
  permissions: Generated<string[]>;
  ip_allowlist: Generated<string[]>;
  domain_allowlist: Generated<string[]>;
  rate_limit_per_minute: number;
  daily_quota: number | null;
  created_by: string | null;
  created_by_key_id: string | null;
  expires_at: Date | null;
  expiry_notified_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  last_used_ip: string | null;
  event_sequence: Generated<number>;
  created_at: Generated<Date>;
}

export interface ApiKeyRetiredSecretTable {
  hash: Uint8Array;
  key_id: string;
  created_by: string | null;
  expires_at: Date;
}

export interface AvailabilityTable {
  workspace_id: string;
  weekly: JsonColumns['availability']['weekly'];
  timezone: string;
  blackouts: JsonColumns['availability']['blackouts'];
  min_notice_min: number;
  max_advance_days: number;
  updated_at: Date;
}

export interface AvatarTable {
  id: string;
  account_id: string;
  image: Uint8Array;
  created_at: Date;
}

export interface BannerTable {
  id: string;
  workspace_id: string;
  image: Uint8Array;
  created_at: Date;
}

export interface BookingTable {
  id: string;
  workspace_id: string;
  product_id: string;
  type: BookingType;
  cohort_id: string | null;
  occurrence_id: string | null;
  status: BookingStatus;
  starts_at: Date | null;
  ends_at: Date | null;
  first_starts_at: Date | null;
  rescheduled_from: Date | null;
  timezone: string;
  customer_id: string | null;
  customer_name: string;
  customer_email: string;
  customer_timezone: string | null;
  intake_answers: JsonColumns['booking']['intake_answers'] | null;
  amount_cents: number;
  discount_cents: Generated<number>;
  discount_code: string | null;
  purchase_id: string | null;
  refund_policy_days: Generated<number>;
  replay_access_days: Generated<number>;
  waitlist_entry_id: string | null;
  room_id: string | null;
  link_revision: Generated<number>;
  recording_video_id: string | null;
  recording_video_ids: Generated<string[]>;
  replay_access_until: Date | null;
  cancel_reason: string | null;
  canceled_by: BookingCanceledBy | null;
  hold_expires_at: Date | null;
  hold_extended: Generated<boolean>;
  customer_joined_at: Date | null;
  creator_joined_at: Date | null;
  reminded_at: Date | null;
  reminded_until: Date | null;
  cohort_revision: Generated<number>;
  ics_sequence: Generated<number>;
  event_sequence: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

export interface BookingFeedTable {
  workspace_id: string;
  token_hash: Uint8Array;
  token_encrypted: Uint8Array;
  created_at: Date;
}

export interface BookingProductTable {
  id: string;
  workspace_id: string;
  type: BookingProductType;
  status: Generated<BookingProductStatus>;
  title: string;
  description: string | null;
  thumbnail_url: string | null;
  slug: string | null;
  price_cents: number;
  duration_min: number;
  buffer_min: number;
  capacity: number;
  recordable: boolean;
  replay_access_days: number;
  refund_policy_days: number;
  intake_fields: JsonColumns['booking_product']['intake_fields'] | null;
  event_sequence: Generated<number>;
  published_at: Date | null;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface BridgeTable {
  id: string;
  workspace_id: string;
  type: BridgeType;
  source_id: string | null;
  source_url: Uint8Array | null;
  source_url_redacted: string | null;
  target_id: string;
  layout: BridgeLayout | null;
  auto_restart: Generated<boolean>;
  status: Generated<BridgeStatus>;
  error: string | null;
  end_reason: BridgeEndReason | null;
  retry_count: Generated<number>;
  next_retry_at: Date | null;
  node_id: string | null;
  lease_until: Date | null;
  event_sequence: Generated<number>;
  expires_at: Date | null;
  started_at: Date | null;
  stopped_at: Date | null;
  created_at: Date;
}

export interface CalendarBusyTable {
  id: Generated<number>;
  calendar_number: number;
  starts_at: Date;
  busy_until: Date;
  product_id: string;
  booking_id: string | null;
  occurrence_id: string | null;
  session_id: string | null;
  waitlist_id: string | null;
}

export interface ChannelTable {
  workspace_id: string;
  display_name: string | null;
  description: string | null;
  links: Generated<JsonColumns['channel']['links']>;
  updated_at: Date;
}

export interface ChatBanTable {
  id: string;
  stream_id: string;
  author_id: string;
  expires_at: Date | null;
  created_at: Date;
}

export interface ChatMessageTable {
  id: string;
  stream_id: string;
  seq: number;
  at: Date;
  kind: Generated<ChatMessageKind>;
  text: string;
  author_id: string | null;
  guest_name: string | null;
  reply_to_id: string | null;
  client_id: string | null;
  created_at: Date;
  deleted_at: Date | null;
}

export interface CheckoutTable {
  id: string;
  workspace_id: string;
  kind: CheckoutKind;
  status: Generated<CheckoutStatus>;
  tier_id: string | null;
  video_id: string | null;
  booking_id: string | null;
  product_id: string | null;
  title: string;
  interval: CheckoutInterval | null;
  trial_days: Generated<number>;
  amount_cents: number;
  discount_cents: Generated<number>;
  discount_code_id: string | null;
  discount_code: string | null;
  customer_email: string | null;
  customer_id: string | null;
  subscription_id: string | null;
  purchase_id: string | null;
  payment_id: string | null;
  attempt_count: Generated<number>;
  success_url: string;
  cancel_url: string;
  client_reference_id: string | null;
  metadata: Generated<JsonColumns['checkout']['metadata']>;
  operation_id: string | null;
  reserved_until: Date | null;
  event_sequence: Generated<number>;
  expires_at: Date;
  completed_at: Date | null;
  created_at: Date;
}

export interface ClassOccurrenceTable {
  id: string;
  workspace_id: string;
  product_id: string;
  starts_at: Date;
  ends_at: Date;
  capacity: number;
  booked_count: Generated<number>;
  reserved_count: Generated<number>;
  room_id: string | null;
  created_at: Date;
}

export interface CohortTable {
  id: string;
  workspace_id: string;
  product_id: string;
  title: string | null;
  starts_at: Date;
  ends_at: Date | null;
  timezone: string;
  capacity: number | null;
  enrolled_count: Generated<number>;
  reserved_count: Generated<number>;
  status: CohortStatus;
  enrollment_opens_at: Date | null;
  enrollment_closes_at: Date | null;
  revision: Generated<number>;
  event_sequence: Generated<number>;
  canceled_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface CohortSessionTable {
  id: string;
  cohort_id: string;
  starts_at: Date;
  ends_at: Date;
  room_id: string | null;
  scheduled_at: Date;
}

export interface CohortSessionTombstoneTable {
  id: string;
  cohort_id: string;
  starts_at: Date;
  ends_at: Date;
  revision: number;
}

export interface CohortVideoTable {
  id: string;
  cohort_id: string;
  video_id: string;
  release_at: Date | null;
  position: number;
}

export interface ConnectAccountTable {
  workspace_id: string;
  provider: ConnectAccountProvider;
  provider_ref: string;
  charges_enabled: Generated<boolean>;
  payouts_enabled: Generated<boolean>;
  details_submitted: Generated<boolean>;
  requirements_due: Generated<string[]>;
  country: string | null;
  checked_at: Date;
  payouts_synced_at: Date | null;
  created_at: Date;
}

export interface CounterDeltaTable {
  workspace_id: string;
  name: CounterDeltaName;
  amount: number;
}

export interface CounterWindowTable {
  name: string;
  key: string;
  ends_at: Date;
  hits: number;
}

export interface CustomerTable {
  id: string;
  workspace_id: string;
  email: string;
  name: string | null;
  provider: CustomerProvider | null;
  provider_ref: string | null;
  method_ref: string | null;
  card_brand: string | null;
  card_last4: string | null;
  card_exp_month: number | null;
  card_exp_year: number | null;
  card_expiry_notified_for: string | null;
  trial_used_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface DeliveryJobTable {
  id: Generated<number>;
  workspace_id: string;
  webhook_id: string;
  event_id: string;
  event_created_at: Date;
  trigger: Generated<DeliveryJobTrigger>;
  replay_of: string | null;
  next_at: Generated<Date>;
  attempt: Generated<number>;
  lease: Generated<number>;
}

export interface DeliveryLogTable {
  id: string;
  workspace_id: string;
  webhook_id: string;
  event_id: string;
  event_type: string;
  trigger: DeliveryLogTrigger;
  attempt: number;
  status: DeliveryLogStatus;
  response_status: number | null;
  response_body: string | null;
  latency_ms: number | null;
  error_message: string | null;
  next_attempt_at: Date | null;
  replay_of: string | null;
  created_at: Date;
}

export interface DeprecatedEndpointUsageTable {
  workspace_id: string;
  endpoint: string;
  last_used_at: Date;
  notified_at: Date | null;
}

export interface DiscountCodeTable {
  id: string;
  workspace_id: string;
  code: string;
  product_id: string | null;
  percent_off: number | null;
  amount_cents_off: number | null;
  max_uses: number | null;
  used_count: Generated<number>;
  reserved_count: Generated<number>;
  is_active: Generated<boolean>;
  expires_at: Date | null;
  expiry_notified_at: Date | null;
  notes: string | null;
  event_sequence: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

export interface DvrSegmentTable {
  stream_id: string;
  workspace_id: string;
  epoch: string;
  file: string;
  seq: number;
  discontinuity: number;
  start_ms: number;
  duration_sec: number;
  rungs: JsonColumns['dvr_segment']['rungs'];
  size_bytes: number;
}

export interface EmailLinkRequestTable {
  id: Generated<number>;
  purpose: EmailLinkRequestPurpose;
  email: string;
  created_at: Date;
}

export interface EmailTokenTable {
  hash: Uint8Array;
  account_id: string;
  purpose: EmailTokenPurpose;
  email: string;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

export interface EventTable {
  id: string;
  workspace_id: string;
  type: string;
  created_at: Date;
  xid: Generated<string>;
  seq: Generated<number>;
  body: string;
}

export interface ExternalBusyTable {
  calendar_id: string;
  starts_at: Date;
  busy_until: Date;
}

export interface ExternalCalendarTable {
  id: string;
  workspace_id: string;
  name: string | null;
  url_encrypted: Uint8Array;
  host: string;
  status: Generated<ExternalCalendarStatus>;
  last_error: string | null;
  event_count: Generated<number>;
  etag: string | null;
  last_modified: string | null;
  failure_count: Generated<number>;
  fetched_at: Date | null;
  next_fetch_at: Date;
  content_fetched_at: Date | null;
  content_timezone: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface FollowTable {
  id: string;
  workspace_id: string;
  follower_id: string;
  created_at: Date;
}

export interface FollowerCountTable {
  workspace_id: string;
  followers: number;
  event_sequence: number;
}

export interface IdempotencyRecordTable {
  id: Uint8Array;
  workspace_id: string;
  fingerprint: Uint8Array;
  status: number | null;
  body: Uint8Array | null;
  leased_until: Date | null;
  operation_id: string | null;
  expires_at: Date;
}

export interface ImportTable {
  id: string;
  workspace_id: string;
  video_id: string | null;
  source_url: string;
  provider: ImportProvider;
  status: ImportStatus;
  replaces: Generated<boolean>;
  title: string;
  visibility: ImportVisibility;
  metadata: Generated<JsonColumns['import']['metadata']>;
  bytes_total: number | null;
  bytes_received: Generated<number>;
  validator: string | null;
  storage_state: JsonColumns['import']['storage_state'] | null;
  error_code: string | null;
  error_message: string | null;
  event_sequence: Generated<number>;
  created_at: Generated<Date>;
  completed_at: Date | null;
}

export interface IngestSessionTable {
  id: string;
  stream_id: string;
  node_id: string;
  protocol: string;
  started_at: Date;
  last_seen_at: Date | null;
  video: JsonColumns['ingest_session']['video'] | null;
  audio: JsonColumns['ingest_session']['audio'] | null;
  lost_at: Date | null;
  grace_until: Date | null;
  disconnect_reason: string | null;
  ended_at: Date | null;
  end_reason: string | null;
}

export interface IntegrationDomainTable {
  id: string;
  workspace_id: string;
  domain: string;
  include_subdomains: boolean;
  status: IntegrationDomainStatus;
  method: IntegrationDomainMethod | null;
  token: string;
  txt_verified: Generated<boolean>;
  pending_since: Date | null;
  checks: Generated<number>;
  failing_since: Date | null;
  last_checked_at: Date | null;
  last_error: string | null;
  verified_at: Date | null;
  next_check_at: Date | null;
  event_sequence: Generated<number>;
  created_at: Date;
}

export interface JobTable {
  id: Generated<string>;
  name: string;
  state: Generated<JobState>;
  payload: JsonColumns['job']['payload'];
  priority: Generated<number>;
  group_id: Generated<string>;
  singleton_key: string | null;
  run_after: Generated<Date>;
  fence: Generated<number>;
  failed_count: Generated<number>;
  lost_count: Generated<number>;
  error: string | null;
  created_at: Generated<Date>;
  heartbeat_at: Date | null;
  ended_at: Date | null;
}

export interface JobTurnTable {
  queue: string;
  group_id: string;
  served_pass: number;
  next_pass: number;
}

export interface LedgerAccountTable {
  id: string;
  workspace_id: string;
  provider: LedgerAccountProvider;
  kind: LedgerAccountKind;
  created_at: Date;
}

export interface LedgerEntryTable {
  transaction_id: string;
  account_id: string;
  amount_cents: number;
}

export interface LedgerRevenueTable {
  workspace_id: string;
  quarter_hour: Date;
  gross_cents: number;
  fee_cents: number;
  refund_cents: number;
  sale_count: number;
}

export interface LedgerRevenueItemTable {
  workspace_id: string;
  day: Date;
  sale_kind: LedgerRevenueItemSaleKind;
  item_id: string;
  gross_cents: number;
  fee_cents: number;
  refund_cents: number;
  sale_count: number;
}

export interface LedgerTransactionTable {
  id: string;
  workspace_id: string;
  kind: LedgerTransactionKind;
  source: string;
  sale_kind: LedgerTransactionSaleKind | null;
  item_id: string | null;
  purchase_id: string | null;
  occurred_at: Date;
}

export interface MailTable {
  id: string;
  kind: string;
  recipient: string;
  subject: string;
  body: Uint8Array | null;
  calendar: Uint8Array | null;
  unsubscribe_url: Uint8Array | null;
  status: Generated<MailStatus>;
  attempts: Generated<number>;
  last_error: string | null;
  next_at: Date;
  created_at: Date;
  finished_at: Date | null;
}

export interface MediaNodeTable {
  id: string;
  url: string | null;
  last_seen_at: Date;
}

export interface MemberLinkTable {
  token_hash: Uint8Array;
  customer_id: string;
  expires_at: Date;
  used_at: Date | null;
  created_at: Date;
}

export interface MemberLinkRequestTable {
  id: Generated<number>;
  workspace_id: string;
  email: string;
  created_at: Date;
}

export interface MemberSessionTable {
  token_hash: Uint8Array;
  customer_id: string;
  workspace_id: string;
  expires_at: Date;
  created_at: Date;
}

export interface MigrationTable {
  name: string;
  applied_at: Generated<Date>;
  phase: string | null;
}

export interface NotificationTable {
  id: string;
  account_id: string;
  type: string;
  title: string;
  body: string | null;
  severity: NotificationSeverity;
  resource_type: string | null;
  resource_id: string | null;
  action_url: string | null;
  read_at: Date | null;
  created_at: Date;
}

export interface NotificationPreferenceTable {
  account_id: string;
  email: boolean;
  in_app: boolean;
  types: JsonColumns['notification_preference']['types'];
}

export interface NotificationReadTable {
  notification_id: string;
  user_id: string;
  read_at: Date;
}

export interface PaymentTable {
  id: string;
  workspace_id: string;
  purchase_id: string | null;
  type: PaymentType;
  status: PaymentStatus;
  amount_cents: number;
  provider: PaymentProvider;
  provider_ref: string | null;
  provider_key: string;
  request: Generated<JsonColumns['payment']['request']>;
  payment_method: JsonColumns['payment']['payment_method'] | null;
  action_url: string | null;
  failure_code: string | null;
  failure_message: string | null;
  request_id: string | null;
  reason: string | null;
  outcome: PaymentOutcome | null;
  provider_requested_at: Date | null;
  next_poll_at: Date | null;
  next_ask_at: Date | null;
  settled_at: Date | null;
  event_sequence: Generated<number>;
  created_at: Date;
}

export interface PayoutTable {
  id: string;
  workspace_id: string;
  provider: PayoutProvider;
  provider_ref: string | null;
  amount_cents: number;
  currency: Generated<string>;
  status: PayoutStatus;
  failure_code: string | null;
  arrival_at: Date | null;
  event_sequence: Generated<number>;
  created_at: Date;
}

export interface PlaylistTable {
  id: string;
  workspace_id: string;
  title: string;
  description: string | null;
  visibility: PlaylistVisibility;
  thumbnail_video_id: string | null;
  event_sequence: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface PlaylistItemTable {
  id: string;
  playlist_id: string;
  video_id: string;
  position: number;
  note: string | null;
  start_sec: number | null;
  stop_sec: number | null;
  added_at: Generated<Date>;
}

export interface ProviderEventTable {
  provider: ProviderEventProvider;
  id: string;
  kind: ProviderEventKind;
  object_ref: string;
  account_ref: string | null;
  received_at: Date;
  handled_at: Date | null;
  attempts: Generated<number>;
  next_attempt_at: Date | null;
  error: string | null;
}

export interface ProviderPollStateTable {
  provider: ProviderPollStateProvider;
  synced_until: Date;
}

export interface PurchaseTable {
  id: string;
  workspace_id: string;
  customer_id: string;
  kind: PurchaseKind;
  video_id: string | null;
  booking_id: string | null;
  subscription_id: string | null;
  tier_id: string | null;
  product_id: string | null;
  checkout_id: string | null;
  status: Generated<PurchaseStatus>;
  status_before_dispute: PurchaseStatusBeforeDispute | null;
  amount_cents: number;
  discount_cents: Generated<number>;
  discount_code: string | null;
  fee_cents: Generated<number>;
  refunded_cents: Generated<number>;
  fee_refunded_cents: Generated<number>;
  payment_id: string | null;
  paid_at: Date | null;
  event_sequence: Generated<number>;
  created_at: Date;
}

export interface QuotaNotificationTable {
  workspace_id: string;
  resource: string;
  notified_level: QuotaNotificationNotifiedLevel;
  notified_used: number;
  notified_limit: Generated<number>;
  period_start: Date | null;
  version: Generated<number>;
  event_sequence: Generated<number>;
}

export interface RecordingTable {
  id: string;
  session_id: string;
  number: Generated<number>;
  workspace_id: string;
  stream_id: string;
  video_id: string | null;
  settled_at: Date | null;
  ready_notified_at: Date | null;
  created_at: Date;
}

export interface RecordingPartTable {
  id: string;
  recording_id: string;
  node_id: string;
  started_at: Date;
  last_seen_at: Date | null;
  has_media: Generated<boolean>;
  closed_at: Date | null;
  size_bytes: number | null;
  reserved_bytes: Generated<number>;
}

export interface RecoveryCodeTable {
  account_id: string;
  hash: string;
  used_at: Date | null;
}

export interface RegistrationInviteTable {
  hash: Uint8Array;
  email: string;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

export interface ReleaseNoticeTable {
  version: string;
  detected_at: Date;
  last_workspace_id: Generated<string>;
  notified_at: Date | null;
}

export interface RequestLogTable {
  id: string;
  workspace_id: string;
  request_id: string;
  key_id: string | null;
  method: string;
  path: string;
  status: number;
  code: string | null;
  ms: number;
  created_at: Date;
}

export interface RestreamTable {
  id: string;
  workspace_id: string;
  stream_id: string;
  name: string;
  enabled: Generated<boolean>;
  start_mode: RestreamStartMode;
  manual_override: Generated<RestreamManualOverride>;
  is_running: Generated<boolean>;
  operation_id: string | null;
  event_sequence: Generated<number>;
  started_at: Date | null;
  stopped_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface RestreamTargetTable {
  id: string;
  restream_id: string;
  name: string;
  platform: RestreamTargetPlatform;
  url: string;
  stream_key: Uint8Array | null;
  stream_key_last4: string | null;
  passphrase: Uint8Array | null;
  enabled: Generated<boolean>;
  state: Generated<RestreamTargetState>;
  error_severity: RestreamTargetErrorSeverity | null;
  error_message: string | null;
  retry_count: Generated<number>;
  next_retry_at: Date | null;
  connected_at: Date | null;
  bitrate_kbps: number | null;
  last_failure_at: Date | null;
  last_failure: string | null;
  revision: Generated<number>;
  node_id: string | null;
  lease_until: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface RollupStateTable {
  singleton: Generated<boolean>;
  next_xid: string;
  fresh_until: Date;
  pending_xid: string | null;
  pending_fresh_until: Date | null;
  compacted_until: Date | null;
}

export interface RoomTable {
  id: string;
  workspace_id: string;
  name: string;
  description: string | null;
  status: Generated<RoomStatus>;
  max_participants: number;
  empty_timeout_sec: number;
  departure_timeout_sec: number;
  max_duration_sec: number | null;
  auto_end_when_alone_sec: number | null;
  scheduled_start_at: Date | null;
  expires_at: Date | null;
  record_enabled: boolean;
  record_layout: Generated<RoomRecordLayout>;
  waiting_room: boolean;
  can_publish: boolean;
  can_subscribe: boolean;
  can_publish_data: boolean;
  can_screen_share: boolean;
  metadata: JsonColumns['room']['metadata'];
  recording_since: Date | null;
  recording_video_ids: Generated<string[]>;
  started_at: Date | null;
  peak_participants: Generated<number>;
  empty_since: Date | null;
  alone_since: Date | null;
  ended_at: Date | null;
  end_reason: RoomEndReason | null;
  event_sequence: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

export interface RoomBanTable {
  room_id: string;
  identity: string;
  created_at: Date;
}

export interface RoomMessageTable {
  id: string;
  room_id: string;
  node_id: string;
  recipient: string | null;
  body: string;
  created_at: Date;
}

export interface RoomNodeTable {
  id: string;
  last_seen_at: Date;
}

export interface RoomParticipantTable {
  id: string;
  room_id: string;
  identity: string;
  name: string | null;
  role: RoomParticipantRole;
  bridge_id: string | null;
  can_publish: boolean;
  can_subscribe: boolean;
  can_publish_data: boolean;
  can_screen_share: boolean;
  state: RoomParticipantState;
  leave_reason: RoomParticipantLeaveReason | null;
  connection_id: string | null;
  node_id: string | null;
  disconnected_since: Date | null;
  audio: Generated<boolean>;
  video: Generated<boolean>;
  screen: Generated<boolean>;
  audio_muted: Generated<boolean>;
  video_muted: Generated<boolean>;
  screen_muted: Generated<boolean>;
  hand_raised: Generated<boolean>;
  metered_until: Date | null;
  created_at: Date;
  joined_at: Date | null;
  left_at: Date | null;
}

export interface RoomRecordingTable {
  id: string;
  workspace_id: string;
  room_id: string | null;
  deleted_room_id: string | null;
  deleted_room_sequence: number | null;
  title: string;
  layout: Generated<RoomRecordingLayout>;
  node_id: string | null;
  started_at: Date;
  ended_at: Date | null;
  end_reason: RoomRecordingEndReason | null;
  reserved_bytes: Generated<number>;
  uploaded_at: Date | null;
  video_id: string | null;
  settled_at: Date | null;
  ready_notified_at: Date | null;
}

export interface SandboxCardTable {
  ref: string;
  key: string;
  workspace_id: string;
  customer_id: string;
  card: string;
  created_at: Date;
}

export interface SandboxPaymentTable {
  ref: string;
  key: string;
  workspace_id: string;
  amount_cents: number;
  fee_cents: Generated<number>;
  status: SandboxPaymentStatus;
  description: Generated<string>;
  return_url: string | null;
  card: string | null;
  card_ref: string | null;
  failure_code: string | null;
  refunded_cents: Generated<number>;
  dispute_status: SandboxPaymentDisputeStatus | null;
  expires_at: Date | null;
  created_at: Date;
}

export interface SandboxRefundTable {
  ref: string;
  key: string;
  payment_ref: string;
  amount_cents: number;
  created_at: Date;
}

export interface SignInChallengeTable {
  id: string;
  account_id: string;
  attempts: Generated<number>;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

export interface SignInLocationTable {
  account_id: string;
  location_hash: Uint8Array;
  network: Uint8Array | null;
  last_seen_at: Date;
}

export interface SignalSimulationTable {
  stream_id: string;
  workspace_id: string;
  ends_at: Date;
  node_id: string | null;
  last_seen_at: Date | null;
}

export interface SigningKeyTable {
  kid: string;
  private_key: Uint8Array;
  created_at: Date;
}

export interface StreamTable {
  id: string;
  workspace_id: string;
  title: string;
  description: string | null;
  visibility: StreamVisibility;
  tier_ids: Generated<string[]>;
  key_hash: Uint8Array;
  key_encrypted: Uint8Array;
  enabled: Generated<boolean>;
  has_signal: Generated<boolean>;
  is_live: Generated<boolean>;
  latency_mode: Generated<StreamLatencyMode>;
  dvr_window_sec: Generated<number>;
  record: Generated<boolean>;
  record_visibility: Generated<StreamRecordVisibility>;
  reconnect_window_sec: Generated<number>;
  auto_start: Generated<boolean>;
  auto_stop_after_sec: number | null;
  max_duration_sec: number | null;
  chat_enabled: Generated<boolean>;
  chat_mode: Generated<StreamChatMode>;
  slow_mode_sec: Generated<number>;
  banned_words: Generated<string[]>;
  scheduled_start_at: Date | null;
  metadata: Generated<JsonColumns['stream']['metadata']>;
  external_id: string | null;
  restream_ids: Generated<string[]>;
  current_session_id: string | null;
  live_since: Date | null;
  started_at: Date | null;
  ended_at: Date | null;
  last_signal_at: Date | null;
  signal_lost_at: Date | null;
  health: JsonColumns['stream']['health'] | null;
  viewer_count: Generated<number>;
  peak_viewers: Generated<number>;
  broadcast_started_notified_at: Date | null;
  broadcast_stopped_notified_at: Date | null;
  notified_is_live: Generated<boolean>;
  broadcast_notify_at: Date | null;
  signal_stop_notified_at: Date | null;
  notified_health_issues: Generated<string[]>;
  health_notified_at: Date | null;
  health_notify_at: Date | null;
  schedule_notified_for: Date | null;
  event_sequence: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  deleted_at: Date | null;
  taken_down_at: Date | null;
  takedown_reason: string | null;
}

export interface StreamHealthPointTable {
  stream_id: string;
  at: Date;
  bitrate_kbps: number;
  fps: number;
  keyframe_interval_ms: number | null;
  dropped_frames: number;
  late_frames: number;
  av_drift_ms: number | null;
}

export interface StreamLogTable {
  stream_id: string;
  tail: StreamLogTail;
  seq: number;
  at: Date;
  event: string;
  body: string | null;
}

export interface StreamLogHeadTable {
  stream_id: string;
  tail: StreamLogHeadTail;
  seq: number;
  at: Date;
}

export interface StreamSessionTable {
  id: string;
  stream_id: string;
  workspace_id: string;
  signal_started_at: Date;
  signal_ended_at: Date | null;
  broadcast_started_at: Date | null;
  broadcast_ended_at: Date | null;
  metered_until: Date | null;
  peak_viewers: Generated<number>;
  unique_viewers: Generated<number>;
  error: string | null;
}

export interface StreamViewerTable {
  stream_id: string;
  viewer: Uint8Array;
  session_id: string | null;
  salt_day: string;
  has_beacon: boolean;
  present_until: Date;
  is_counted: Generated<boolean>;
}

export interface SubscriberTable {
  id: string;
  workspace_id: string;
  email: string;
  name: string | null;
  status: SubscriberStatus;
  source: string;
  consent_at: Date | null;
  confirmation_round: Generated<number>;
  event_sequence: number;
  created_at: Date;
  updated_at: Date;
}

export interface SubscriberAddressTable {
  workspace_id: string;
  email_hash: Uint8Array;
  confirmation_sent_at: Date | null;
  unsubscribed_at: Date | null;
}

export interface SubscriptionTable {
  id: string;
  workspace_id: string;
  tier_id: string;
  customer_id: string;
  checkout_id: string | null;
  status: SubscriptionStatus;
  price_cents: number;
  interval: SubscriptionInterval;
  payment_method: JsonColumns['subscription']['payment_method'] | null;
  anchor_at: Date;
  timezone: string;
  next_period_month: Generated<number>;
  current_period_start: Date;
  current_period_end: Date;
  trial_ends_at: Date | null;
  pending_price_cents: number | null;
  pending_interval: SubscriptionPendingInterval | null;
  pending_tier_id: string | null;
  price_change_notified_at: Date | null;
  migrated_price_cents: number | null;
  cancel_at_period_end: Generated<boolean>;
  canceled_at: Date | null;
  ended_at: Date | null;
  cancel_reason: SubscriptionCancelReason | null;
  purchase_id: string | null;
  is_disputed: Generated<boolean>;
  upgrades: Generated<JsonColumns['subscription']['upgrades']>;
  failed_attempts: Generated<number>;
  next_charge_at: Date | null;
  payment_id: string | null;
  charge_kind: SubscriptionChargeKind | null;
  charge_tier_id: string | null;
  charge_price_cents: number | null;
  charge_interval: SubscriptionChargeInterval | null;
  charge_period_month: number | null;
  renewal_reminder_period: number | null;
  card_expiry_notified_for: string | null;
  discount_code: string | null;
  discount_cents: Generated<number>;
  client_reference_id: string | null;
  event_sequence: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

export interface SupportMessageTable {
  id: string;
  ticket_id: string;
  author: SupportMessageAuthor;
  message: string;
  created_at: Date;
}

export interface SupportTicketTable {
  id: string;
  account_id: string | null;
  workspace_id: string | null;
  number: number;
  subject: string;
  category: SupportTicketCategory;
  priority: SupportTicketPriority;
  status: SupportTicketStatus;
  reporter_email: string | null;
  reported_type: SupportTicketReportedType | null;
  reported_id: string | null;
  request_id: string | null;
  event_sequence: Generated<number>;
  last_message_at: Date;
  resolved_at: Date | null;
  created_at: Date;
}

export interface TeamActivityTable {
  account_id: string;
  user_id: string;
  last_active_at: Date;
}

export interface TeamInvitationTable {
  id: string;
  account_id: string;
  email: string;
  team_role: TeamInvitationTeamRole;
  hash: Uint8Array;
  status: TeamInvitationStatus;
  invited_by: string;
  created_at: Date;
  expires_at: Date;
}

export interface TeamMemberTable {
  id: string;
  account_id: string;
  user_id: string;
  team_role: TeamMemberTeamRole;
  event_sequence: Generated<number>;
  joined_at: Date;
}

export interface TierTable {
  id: string;
  workspace_id: string;
  name: string;
  description: string | null;
  price_cents: number;
  interval: TierInterval;
  trial_days: Generated<number>;
  benefits: Generated<string[]>;
  position: Generated<number>;
  is_active: Generated<boolean>;
  max_members: number | null;
  member_count: Generated<number>;
  reserved_count: Generated<number>;
  event_sequence: Generated<number>;
  created_at: Date;
  updated_at: Date;
  archived_at: Date | null;
}

export interface TranscodeNodeTable {
  id: string;
  slots: number;
  last_seen_at: Date;
}

export interface TwoFactorTable {
  account_id: string;
  secret: Uint8Array;
  enabled_at: Date | null;
  last_step: Generated<number>;
  created_at: Date;
}

export interface UploadTable {
  id: string;
  workspace_id: string;
  video_id: string;
  status: UploadStatus;
  protocol: Generated<UploadProtocol>;
  replaces: Generated<boolean>;
  token_hash: Uint8Array;
  token_encrypted: Uint8Array;
  key_id: string | null;
  created_by: string | null;
  cors_origin: string | null;
  filename: string;
  mime_type: string;
  size_bytes: number | null;
  received_bytes: Generated<number>;
  sha256: string | null;
  storage_state: Generated<JsonColumns['upload']['storage_state']>;
  has_bytes: Generated<boolean>;
  writer: string | null;
  writer_heartbeat_at: Date | null;
  error_code: string | null;
  error_message: string | null;
  expires_at: Date;
  created_at: Generated<Date>;
  ended_at: Date | null;
}

export interface UsageEventTable {
  created_at: Date;
  id: string;
  xid: Generated<string>;
  workspace_id: string;
  kind: UsageEventKind;
  subject_id: string | null;
  amount: Generated<number>;
  viewer: Uint8Array | null;
  country: string | null;
  device: string | null;
  browser: string | null;
  os: string | null;
  referrer: string | null;
  is_bot: Generated<boolean>;
  is_owner: Generated<boolean>;
  playback_session: string | null;
  sequence_number: number | null;
  player_events: JsonColumns['usage_event']['player_events'] | null;
  bitrate_kbps: number | null;
  key_id: string | null;
  status: number | null;
}

export interface UsageRequestTable {
  workspace_id: string;
  key_id: string;
  at: Date;
  requests: number;
  errors_4xx: number;
  errors_5xx: number;
  rate_limited: number;
}

export interface UsageTotalTable {
  workspace_id: string;
  metric: UsageTotalMetric;
  interval_min: UsageTotalIntervalMin;
  at: Date;
  amount: number;
}

export interface UserSessionTable {
  id: string;
  account_id: string;
  hash: Uint8Array;
  token_epoch: number;
  created_at: Date;
  last_seen_at: Date;
  password_checked_at: Date;
  ip: string | null;
  user_agent: string;
}

export interface UserTokenTable {
  id: string;
  account_id: string;
  expires_at: Date;
}

export interface VideoTable {
  id: string;
  workspace_id: string;
  title: string;
  description: string | null;
  status: VideoStatus;
  visibility: VideoVisibility;
  tier_ids: Generated<string[]>;
  price_cents: number | null;
  currency: Generated<string>;
  tags: Generated<string[]>;
  metadata: Generated<JsonColumns['video']['metadata']>;
  external_id: string | null;
  source: VideoSource;
  upload_id: string | null;
  import_id: string | null;
  stream_id: string | null;
  session_id: string | null;
  original_key: string | null;
  size_bytes: number | null;
  duration_sec: number | null;
  width: number | null;
  height: number | null;
  frame_rate: number | null;
  storage_bytes: Generated<number>;
  progress_percent: Generated<number>;
  error_code: string | null;
  error_message: string | null;
  processing_notes: Generated<JsonColumns['video']['processing_notes']>;
  revision: Generated<number>;
  attempt: Generated<number>;
  image_folder: string | null;
  has_storyboard: Generated<boolean>;
  has_preview: Generated<boolean>;
  thumbnail_file: string | null;
  chapters: Generated<JsonColumns['video']['chapters']>;
  view_count: Generated<number>;
  published_at: Date | null;
  publish_at: Date | null;
  retention_notified_at: Date | null;
  retention_notified_for: Date | null;
  event_sequence: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  deleted_at: Date | null;
  purged_at: Date | null;
  taken_down_at: Date | null;
  takedown_reason: string | null;
}

export interface VideoCaptionTable {
  id: string;
  video_id: string;
  language: string;
  label: string;
  is_auto: Generated<boolean>;
  from_source: Generated<boolean>;
  position: Generated<number>;
  is_default: Generated<boolean>;
  file: string;
  created_at: Generated<Date>;
}

export interface VideoChunkTable {
  video_id: string;
  revision: number;
  number: number;
  start_sec: number;
  duration_sec: number;
  source_key: string;
  folder: string | null;
  progress_percent: Generated<number>;
}

export interface VideoFolderTable {
  video_id: string;
  revision: number;
  number: number;
}

export interface VideoProcessingTable {
  video_id: string;
  revision: number;
  source: string;
  ladder: string;
  mode: VideoProcessingMode;
  align_to_source: boolean;
  images_done: Generated<boolean>;
  captions_done: boolean;
  restart_count: Generated<number>;
  last_activity_at: Date;
}

export interface VideoRenditionTable {
  video_id: string;
  revision: number;
  name: string;
  kind: VideoRenditionKind;
  status: VideoRenditionStatus;
  folder: string | null;
  width: number | null;
  height: number | null;
  frame_rate: number | null;
  codec: VideoRenditionCodec | null;
  codecs: string | null;
  video_range: Generated<VideoRenditionVideoRange>;
  average_bitrate: number | null;
  peak_bitrate: number | null;
  iframe_bitrate: number | null;
  track: number | null;
  language: string | null;
  label: string | null;
  channels: number | null;
  is_description: Generated<boolean>;
  size_bytes: number | null;
  progress_percent: Generated<number>;
}

export interface VideoReplacementTable {
  video_id: string;
  revision: number;
  status: VideoReplacementStatus;
  upload_id: string | null;
  import_id: string | null;
  original_key: string | null;
  size_bytes: number | null;
  storage_bytes: Generated<number>;
  progress_percent: Generated<number>;
  duration_sec: number | null;
  width: number | null;
  height: number | null;
  frame_rate: number | null;
  image_folder: string | null;
  has_storyboard: Generated<boolean>;
  has_preview: Generated<boolean>;
  chapters: Generated<JsonColumns['video_replacement']['chapters']>;
  processing_notes: Generated<JsonColumns['video_replacement']['processing_notes']>;
  captions: Generated<JsonColumns['video_replacement']['captions']>;
  error_code: string | null;
  error_message: string | null;
  created_at: Date;
  updated_at: Date;
  ended_at: Date | null;
  previous_kept_until: Date | null;
  previous_revision: number | null;
  previous_original_key: string | null;
  previous_image_folder: string | null;
  previous_captions: Generated<string[]>;
  previous_storage_bytes: Generated<number>;
}

export interface VideoTagTable {
  workspace_id: string;
  tag: string;
  status: string;
  visibility: string;
  video_id: string;
}

export interface VideoTranscriptionTable {
  video_id: string;
  status: VideoTranscriptionStatus;
  language: string | null;
  error: string | null;
  requested_at: Date;
  ended_at: Date | null;
}

export interface VideoViewTable {
  video_id: string;
  viewer: Uint8Array;
  counted_at: Date;
}

export interface ViewerSaltTable {
  day: string;
  salt_encrypted: Uint8Array;
}

export interface WaitlistEntryTable {
  id: string;
  workspace_id: string;
  product_id: string;
  cohort_id: string | null;
  starts_at: Date | null;
  email: string;
  name: string | null;
  position: number;
  queue_number: Generated<number>;
  status: Generated<WaitlistEntryStatus>;
  confirmed_at: Generated<Date | null>;
  offered_cohort_id: string | null;
  offered_starts_at: Date | null;
  offered_at: Date | null;
  offer_expires_at: Date | null;
  occurrence_id: string | null;
  holds_spot: Generated<boolean>;
  booking_id: string | null;
  event_sequence: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

export interface WatchedStreamTable {
  stream_id: string;
  sampled_at: Date | null;
  sampled_viewers: number | null;
}

export interface WebhookTable {
  id: string;
  workspace_id: string;
  url: string;
  events: Generated<string[]>;
  is_active: Generated<boolean>;
  description: Generated<string>;
  secret: Uint8Array;
  secret_rotated_at: Date | null;
  total_deliveries: Generated<number>;
  success_count: Generated<number>;
  failure_count: Generated<number>;
  consecutive_failures: Generated<number>;
  last_success_at: Date | null;
  last_failure_at: Date | null;
  last_status: number | null;
  latency_total_ms: Generated<number>;
  latency_count: Generated<number>;
  failing_since: Date | null;
  failing_notified_at: Date | null;
  event_sequence: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

export interface WhepSessionTable {
  id: string;
  stream_id: string;
  node_id: string | null;
  state: WhepSessionState;
  offer: string;
  answer: string | null;
  refusal: WhepSessionRefusal | null;
  sent_bytes: Generated<number>;
  ip_hash: string | null;
  admitted_until: Date;
  heartbeat_at: Date | null;
  created_at: Date;
}

export interface WhipSessionTable {
  id: string;
  stream_id: string;
  node_id: string | null;
  state: WhipSessionState;
  offer: string;
  answer: string | null;
  heartbeat_at: Date | null;
  created_at: Date;
}

export interface WorkspaceTable {
  id: string;
  account_id: string;
  mode: WorkspaceMode;
  calendar_number: Generated<number>;
  storage_bytes: Generated<number>;
  created_at: Generated<Date>;
}

/** Every table, as Kysely sees it; the SQL itself is in `migrations/`. */
export interface Database {
  account: AccountTable;
  account_erasure: AccountErasureTable;
  account_export: AccountExportTable;
  analytics_breakdown: AnalyticsBreakdownTable;
  analytics_retention: AnalyticsRetentionTable;
  analytics_total: AnalyticsTotalTable;
  analytics_unique_viewer: AnalyticsUniqueViewerTable;
  api_key: ApiKeyTable;
  api_key_retired_secret: ApiKeyRetiredSecretTable;
  availability: AvailabilityTable;
  avatar: AvatarTable;
  banner: BannerTable;
  booking: BookingTable;
  booking_feed: BookingFeedTable;
  booking_product: BookingProductTable;
  bridge: BridgeTable;
  calendar_busy: CalendarBusyTable;
  channel: ChannelTable;
  chat_ban: ChatBanTable;
  chat_message: ChatMessageTable;
  checkout: CheckoutTable;
  class_occurrence: ClassOccurrenceTable;
  cohort: CohortTable;
  cohort_session: CohortSessionTable;
  cohort_session_tombstone: CohortSessionTombstoneTable;
  cohort_video: CohortVideoTable;
  connect_account: ConnectAccountTable;
  counter_delta: CounterDeltaTable;
  counter_window: CounterWindowTable;
  customer: CustomerTable;
  delivery_job: DeliveryJobTable;
  delivery_log: DeliveryLogTable;
  deprecated_endpoint_usage: DeprecatedEndpointUsageTable;
  discount_code: DiscountCodeTable;
  dvr_segment: DvrSegmentTable;
  email_link_request: EmailLinkRequestTable;
  email_token: EmailTokenTable;
  event: EventTable;
  external_busy: ExternalBusyTable;
  external_calendar: ExternalCalendarTable;
  follow: FollowTable;
  follower_count: FollowerCountTable;
  idempotency_record: IdempotencyRecordTable;
  import: ImportTable;
  ingest_session: IngestSessionTable;
  integration_domain: IntegrationDomainTable;
  job: JobTable;
  job_turn: JobTurnTable;
  ledger_account: LedgerAccountTable;
  ledger_entry: LedgerEntryTable;
  ledger_revenue: LedgerRevenueTable;
  ledger_revenue_item: LedgerRevenueItemTable;
  ledger_transaction: LedgerTransactionTable;
  mail: MailTable;
  media_node: MediaNodeTable;
  member_link: MemberLinkTable;
  member_link_request: MemberLinkRequestTable;
  member_session: MemberSessionTable;
  migration: MigrationTable;
  notification: NotificationTable;
  notification_preference: NotificationPreferenceTable;
  notification_read: NotificationReadTable;
  payment: PaymentTable;
  payout: PayoutTable;
  playlist: PlaylistTable;
  playlist_item: PlaylistItemTable;
  provider_event: ProviderEventTable;
  provider_poll_state: ProviderPollStateTable;
  purchase: PurchaseTable;
  quota_notification: QuotaNotificationTable;
  recording: RecordingTable;
  recording_part: RecordingPartTable;
  recovery_code: RecoveryCodeTable;
  registration_invite: RegistrationInviteTable;
  release_notice: ReleaseNoticeTable;
  request_log: RequestLogTable;
  restream: RestreamTable;
  restream_target: RestreamTargetTable;
  rollup_state: RollupStateTable;
  room: RoomTable;
  room_ban: RoomBanTable;
  room_message: RoomMessageTable;
  room_node: RoomNodeTable;
  room_participant: RoomParticipantTable;
  room_recording: RoomRecordingTable;
  sandbox_card: SandboxCardTable;
  sandbox_payment: SandboxPaymentTable;
  sandbox_refund: SandboxRefundTable;
  sign_in_challenge: SignInChallengeTable;
  sign_in_location: SignInLocationTable;
  signal_simulation: SignalSimulationTable;
  signing_key: SigningKeyTable;
  stream: StreamTable;
  stream_health_point: StreamHealthPointTable;
  stream_log: StreamLogTable;
  stream_log_head: StreamLogHeadTable;
  stream_session: StreamSessionTable;
  stream_viewer: StreamViewerTable;
  subscriber: SubscriberTable;
  subscriber_address: SubscriberAddressTable;
  subscription: SubscriptionTable;
  support_message: SupportMessageTable;
  support_ticket: SupportTicketTable;
  team_activity: TeamActivityTable;
  team_invitation: TeamInvitationTable;
  team_member: TeamMemberTable;
  tier: TierTable;
  transcode_node: TranscodeNodeTable;
  two_factor: TwoFactorTable;
  upload: UploadTable;
  usage_event: UsageEventTable;
  usage_request: UsageRequestTable;
  usage_total: UsageTotalTable;
  user_session: UserSessionTable;
  user_token: UserTokenTable;
  video: VideoTable;
  video_caption: VideoCaptionTable;
  video_chunk: VideoChunkTable;
  video_folder: VideoFolderTable;
  video_processing: VideoProcessingTable;
  video_rendition: VideoRenditionTable;
  video_replacement: VideoReplacementTable;
  video_tag: VideoTagTable;
  video_transcription: VideoTranscriptionTable;
  video_view: VideoViewTable;
  viewer_salt: ViewerSaltTable;
  waitlist_entry: WaitlistEntryTable;
  watched_stream: WatchedStreamTable;
  webhook: WebhookTable;
  whep_session: WhepSessionTable;
  whip_session: WhipSessionTable;
  workspace: WorkspaceTable;
}
