import type { ColumnType, Generated } from 'kysely';

/** A column that is null until it is set. */
type Later<T> = ColumnType<T | null, T | null | undefined, T | null>;

export interface EventTable {
  id: string;
  workspace_id: string;
  type: string;
  created_at: Date;
  /** The exact text of the delivery body. */
  body: string;
  /** The transaction that appended it, and its place in it. */
  xid: Generated<string>;
  seq: Generated<number>;
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
  event_sequence: Generated<number>;
  failing_since: Later<Date>;
  failing_said_at: Later<Date>;
  created_at: Date;
  updated_at: Date;
}

/** Why a delivery is made (`api.md` C8). */
export type DeliveryTrigger = 'EVENT' | 'TEST' | 'REPLAY' | 'RECOVER';

export interface DeliveryJobTable {
  id: Generated<number>;
  workspace_id: string;
  webhook_id: string;
  event_id: string;
  event_created_at: Date;
  trigger: Generated<DeliveryTrigger>;
  next_at: Generated<Date>;
  attempt: Generated<number>;
  /** Odd while the job is claimed. */
  lease: Generated<number>;
  replay_of: Later<string>;
}

/**
 * How an attempt ended. FAILED has another attempt to come unless it was a test or a replay, EXHAUSTED was the
 * last of the schedule, CANCELED was not sent.
 */
export type DeliveryStatus = 'SUCCESS' | 'FAILED' | 'EXHAUSTED' | 'CANCELED';

export interface DeliveryLogTable {
  id: string;
  workspace_id: string;
  webhook_id: string;
  event_id: string;
  event_type: string;
  trigger: DeliveryTrigger;
  attempt: number;
  status: DeliveryStatus;
  response_status: number | null;
  response_body: string | null;
  latency_ms: number | null;
  error_message: string | null;
  next_attempt_at: Date | null;
  replay_of: string | null;
  created_at: Date;
}
