import Type, { type Static } from 'typebox';
import { AnyObject, Instant, Nullable, OneOf } from '../../http/schema.ts';
import { MODES, type Mode } from '../../kernel/access.ts';
import { badRequest } from '../../kernel/errors.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { DeliveryRow, WebhookRow } from './repository.ts';

/** A delivery that waits has no row in the log yet. */
const STATUSES = ['PENDING', ...VALUES.delivery_log.status] as const;

export const WebhookIn = Type.Object({
  // The guard measures and judges the text (contract 6.4).
  url: Type.String({ description: 'https only, at most 2048 characters, publicly routable.' }),
  events: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 200,
      description: 'Types or `prefix.*`; empty, or `*`, is every type.',
    }),
  ),
  description: Type.Optional(Type.String({ maxLength: 500 })),
  isActive: Type.Optional(Type.Boolean()),
});

export const WebhookPatch = Type.Partial(WebhookIn);

export const SimulateIn = Type.Object({
  event: Type.String({ description: 'A type of the catalogue.' }),
  payload: Type.Optional(AnyObject),
});

export const RecoverIn = Type.Object({
  since: Type.String({ format: 'date-time' }),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Default: now.' })),
  events: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 200,
      description: 'Types or `prefix.*` among those that the webhook subscribes to; default: all of them.',
    }),
  ),
});

export const Recovered = Type.Object({ queued: Type.Integer({ description: 'Deliveries planned.' }) });

const Stats = Type.Object({
  totalDeliveries: Type.Integer({ description: 'Attempts made; the two counts below add up to it.' }),
  successCount: Type.Integer(),
  failureCount: Type.Integer(),
  pendingCount: Type.Integer({ description: 'Deliveries that wait for an attempt.' }),
  consecutiveFailures: Type.Integer(),
  lastSuccessAt: Nullable(Instant),
  lastFailureAt: Nullable(Instant),
  lastStatus: Nullable(Type.Integer({ description: 'HTTP status of the last attempt, if it got one.' })),
  avgLatencyMs: Nullable(Type.Integer()),
});

const fields = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  isActive: Type.Boolean(),
  description: Type.String(),
  mode: OneOf(MODES),
  apiVersion: Type.Null({ description: 'Reserved.' }),
  secretRotatedAt: Nullable(Instant),
  stats: Stats,
  createdAt: Instant,
  updatedAt: Instant,
};

export const Webhook = Type.Object(fields, { $id: 'Webhook' });

export const WebhookWithSecret = Type.Object(
  {
    ...fields,
    signingSecret: Type.String({ description: '`whsec_…`; shown here and never again.' }),
  },
  { $id: 'WebhookWithSecret' },
);

export const WebhookDelivery = Type.Object(
  {
    id: Type.String(),
    webhookId: Type.String(),
    eventType: Type.String(),
    eventId: Type.String(),
    attempt: Type.Integer({ minimum: 1, maximum: 7 }),
    status: OneOf(STATUSES),
    responseStatus: Nullable(Type.Integer()),
    responseBody: Nullable(Type.String({ description: 'The first 16 KiB.' })),
    latencyMs: Nullable(Type.Integer()),
    errorMessage: Nullable(Type.String({ description: '`ssrf_guard: <reason>` when the guard refused.' })),
    nextAttemptAt: Nullable(Instant),
    trigger: OneOf(VALUES.delivery_log.trigger),
    replayOf: Nullable(Type.String()),
    createdAt: Instant,
  },
  { $id: 'WebhookDelivery' },
);

/** The outcome of the one attempt of a test or a replay. */
export const SingleAttempt = Type.Object({
  deliveryId: Type.String(),
  eventId: Type.String(),
  status: OneOf(STATUSES),
  responseStatus: Nullable(Type.Integer()),
  latencyMs: Nullable(Type.Integer()),
  errorMessage: Nullable(Type.String()),
});

/** Exactly contract 4.7. */
export const Simulation = Type.Object({
  deliveryUrl: Type.String(),
  wouldDeliver: Type.Boolean({
    description: 'False when the webhook is not active or does not subscribe to the type.',
  }),
  renderedRequest: Type.Object({
    method: Type.Literal('POST'),
    url: Type.String(),
    headers: Type.Object({
      'Content-Type': Type.String(),
      'User-Agent': Type.String(),
      'SVC-Event-Id': Type.String({ description: '`evt_dry_<hex>`' }),
      'SVC-Event-Type': Type.String(),
      'SVC-Event-Timestamp': Type.String({
        description: 'Unix seconds; real deliveries have no such header.',
      }),
      'SVC-Signature': Type.String(),
    }),
    body: Type.Object({
      id: Type.String(),
      type: Type.String(),
      created: Type.Integer(),
      data: AnyObject,
    }),
    bodyString: Type.String({ description: 'The exact bytes that the signature is computed over.' }),
  }),
  note: Type.String(),
});

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toWebhook(row: WebhookRow, mode: Mode): Static<typeof Webhook> {
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    isActive: row.is_active,
    description: row.description,
    mode,
    apiVersion: null,
    secretRotatedAt: iso(row.secret_rotated_at),
    stats: {
      totalDeliveries: row.total_deliveries,
      successCount: row.success_count,
      failureCount: row.failure_count,
      pendingCount: row.pending_count,
      consecutiveFailures: row.consecutive_failures,
      lastSuccessAt: iso(row.last_success_at),
      lastFailureAt: iso(row.last_failure_at),
      lastStatus: row.last_status,
      avgLatencyMs: row.latency_count === 0 ? null : Math.round(row.latency_total_ms / row.latency_count),
    },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export function toDelivery(row: DeliveryRow): Static<typeof WebhookDelivery> {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    eventType: row.event_type,
    eventId: row.event_id,
    attempt: row.attempt,
    status: row.status,
    responseStatus: row.response_status,
    responseBody: row.response_body,
    latencyMs: row.latency_ms,
    errorMessage: row.error_message,
    nextAttemptAt: iso(row.next_attempt_at),
    trigger: row.trigger,
    replayOf: row.replay_of,
    createdAt: row.created_at.toISOString(),
  };
}

const list = Type.Optional(Type.String({ description: 'One or more, comma-separated.' }));

/** The filters of the delivery log (`api.md` C8). */
export const deliveryFilters = { status: list, eventType: list, eventId: list, trigger: list };

interface FilterTexts {
  status?: string;
  eventType?: string;
  eventId?: string;
  trigger?: string;
}

/** @throws {AppError} BAD_REQUEST naming the filter that has an unknown value. */
export function parseDeliveryFilter(texts: FilterTexts) {
  return {
    status: oneOf('status', STATUSES, texts.status),
    trigger: oneOf('trigger', VALUES.delivery_log.trigger, texts.trigger),
    eventType: split(texts.eventType),
    eventId: split(texts.eventId)?.map((id) => id.toLowerCase()),
  };
}

function split(text: string | undefined): string[] | undefined {
  return text?.split(',').map((item) => item.trim());
}

function oneOf<V extends string>(
  field: string,
  values: readonly V[],
  text: string | undefined,
): V[] | undefined {
  return split(text)?.map((item) => {
    const known = values.find((value) => value === item);
    if (known === undefined) throw badRequest(field, `${field} is a list out of ${values.join(', ')}.`);
    return known;
  });
}
