import type { ColumnType } from 'kysely';

/** A list is written as JSON text: the driver turns an array into a PostgreSQL array. */
type JsonList<T> = ColumnType<T[], string, string>;

/** Latest measurements of the signal by the media plane. */
export interface StreamHealth {
  bitrateKbps: number;
  fps: number;
  width: number;
  height: number;
  codec: string;
  /** Absent in rows written before these values were measured. */
  keyframeIntervalSec?: number | null;
  droppedFrames?: number;
  lateFrames?: number;
  avDriftMs?: number | null;
  issues: string[];
}

interface IngestVideo {
  codec: string;
  width: number;
  height: number;
  fps: number;
}

interface IngestAudio {
  codec: string;
  sampleRate: number;
  channels: number;
}

/** Channels over which a notification is sent. */
export interface NotificationChannels {
  email: boolean;
  inApp: boolean;
}

/** Link on a channel page. */
export interface ChannelLink {
  label: string;
  url: string;
}

/** Something of its file that a video lacks. */
interface ProcessingNote {
  code:
    | 'CAPTIONS_LEFT_OUT'
    | 'AUDIO_LEFT_OUT'
    | 'VIDEO_LEFT_OUT'
    | 'CHAPTERS_LEFT_OUT'
    | 'SOURCE_DIFFERS'
    | 'COLORS_DIFFER';
  message: string;
}

/** Captions that came with a file, in their order; `file` is below the captions of the video. */
export interface SourceCaption {
  id: string;
  /** BCP 47; no two of a video have the same. */
  language: string;
  label: string;
  file: string;
  isDefault: boolean;
}

export interface Chapter {
  startSec: number;
  title: string;
}

/** Request to a payment provider; any process may repeat it. The card is the name of a test card. */
export interface PaymentRequest {
  description?: string;
  saveMethod?: boolean;
  returnUrl?: string;
  cancelUrl?: string;
  expiresAt?: string;
  card?: string | null;
  /** Whether the platform bears a refund instead of the creator. */
  isBorne?: boolean;
  /** The creator's account with the provider. */
  accountRef?: string | null;
}

/** A card stored by a provider, with its display details. */
export interface PaymentMethod {
  provider: 'SANDBOX' | 'STRIPE';
  customerRef: string;
  methodRef: string;
  brand: string;
  last4: string;
  /** 1 to 12. */
  expMonth: number;
  /** Four digits. */
  expYear: number;
}

/** An upgrade of a subscription that was paid in its present period. */
export interface PaidUpgrade {
  purchaseId: string;
  /** Before it. */
  tierId: string;
  priceCents: number;
}

/** Windows of one day of the week, wall times as HH:MM; `end` may be 24:00. */
export interface DayWindow {
  start: string;
  end: string;
}

export type Weekday = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';

/** Whole local days (`YYYY-MM-DD`, the last included) or instants (the end excluded). */
export interface Blackout {
  start: string;
  end: string;
  reason?: string;
}

/** A question that a buyer is asked. */
export interface IntakeField {
  key: string;
  label: string;
  type: 'TEXT' | 'LONGTEXT' | 'SELECT' | 'CHECKBOX' | 'EMAIL' | 'PHONE';
  required: boolean;
  options?: string[];
}

/** TypeScript types of the JSON columns, by table and column. The generated tables refer to it. */
/** One player event of a beacon. */
export interface PlayerEvent {
  type: 'PLAY' | 'PAUSE' | 'SEEK' | 'TICK' | 'END' | 'ERROR';
  positionSec: number;
  /** Timestamp on the player's clock, in milliseconds. */
  at: number;
  /** Video height in lines, where the player reports it. */
  quality?: number;
}

/** One rendition's part of a segment. */
interface RungOfSegment {
  durationSec: number;
  bytes: number;
  isDependent?: true;
}

export interface JsonColumns {
  availability: { weekly: Partial<Record<Weekday, DayWindow[]>>; blackouts: JsonList<Blackout> };
  booking: { intake_answers: Record<string, string | boolean> };
  booking_product: { intake_fields: JsonList<IntakeField> };
  channel: { links: JsonList<ChannelLink> };
  checkout: { metadata: Record<string, string> };
  dvr_segment: { rungs: ColumnType<Record<string, RungOfSegment>, string, string> };
  job: { payload: object };
  usage_event: { player_events: JsonList<PlayerEvent> };
  import: { metadata: Record<string, string>; storage_state: Record<string, unknown> };
  ingest_session: { video: IngestVideo; audio: IngestAudio };
  notification_preference: { types: Record<string, NotificationChannels> };
  payment: { request: PaymentRequest; payment_method: PaymentMethod };
  room: { metadata: Record<string, string> };
  stream: { metadata: Record<string, string>; health: StreamHealth };
  subscription: { payment_method: PaymentMethod; upgrades: JsonList<PaidUpgrade> };
  upload: { storage_state: object };
  video: {
    metadata: Record<string, string>;
    chapters: JsonList<Chapter>;
    processing_notes: JsonList<ProcessingNote>;
  };
  video_replacement: {
    chapters: JsonList<Chapter>;
    processing_notes: JsonList<ProcessingNote>;
    captions: JsonList<SourceCaption>;
  };
}
