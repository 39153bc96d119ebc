import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { AnyObject, CommaList, CommaTexts, IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { badRequest } from '../../../kernel/errors.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { DeliveryRow, PendingRow, WebhookRow } from './repository.ts';

/** Statuses of an attempt: a pending one has no row in the log. */
const STATUSES = VALUES.delivery_log.status;

namedSchema('DeliveryStatus', OneOf(STATUSES));
namedSchema('DeliveryTrigger', OneOf(VALUES.delivery_log.trigger));

export const WebhookIn = namedSchema(
  'WebhookCreate',
  Type.Object({
    // The guard measures and judges the text (docs/concepts/webhooks.md#url-rules).
    url: Type.String({ description: 'Publicly routable HTTPS URL, at most 2048 characters.' }),
    events: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 200,
        description: 'Event types or `prefix.*`; empty or `*` means all types.',
      }),
    ),
    description: Type.Optional(Type.String({ maxLength: 500 })),
    isActive: Type.Optional(Type.Boolean()),
  }),
  {
    url: 'https://receiver.example.com/marquee',
    events: ['stream.*', 'video.processing.completed'],
    description: 'Production',
  },
);

export const WebhookPatch = namedSchema('WebhookUpdate', Type.Partial(WebhookIn), { isActive: false });

export const SimulateIn = namedSchema(
  'WebhookSimulate',
  Type.Object({
    event: Type.String({ description: 'Event type from the catalog.' }),
    payload: Type.Optional(AnyObject),
  }),
  { event: 'stream.live', payload: { streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr' } },
);

export const RecoverIn = namedSchema(
  'WebhookRecover',
  Type.Object({
    since: Type.String({ format: 'date-time' }),
    until: Type.Optional(Type.String({ format: 'date-time', description: 'Defaults to now.' })),
    events: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 200,
        description: 'Event types or `prefix.*` among those the webhook subscribes to; defaults to all.',
      }),
    ),
  }),
  { since: '2026-11-20T09:00:00.000Z', events: ['stream.*'] },
);

export const Recovered = namedSchema(
  'WebhookRecovered',
  Type.Object({ queued: Type.Integer({ description: 'Number of deliveries scheduled.' }) }),
  { queued: 12 },
);

const STATS = {
  totalDeliveries: 120,
  successCount: 119,
  failureCount: 1,
  pendingCount: 0,
  consecutiveFailures: 0,
  lastSuccessAt: '2026-11-20T09:00:00.000Z',
  lastFailureAt: null,
  lastStatus: 200,
  avgLatencyMs: 84,
};
const Stats = namedSchema(
  'WebhookStats',
  Type.Object({
    totalDeliveries: Type.Integer({ description: 'Total attempts: sum of successful and failed ones.' }),
    successCount: Type.Integer(),
    failureCount: Type.Integer(),
    pendingCount: Type.Integer({ description: 'Deliveries waiting for an attempt.' }),
    consecutiveFailures: Type.Integer(),
    lastSuccessAt: Nullable(Instant),
    lastFailureAt: Nullable(Instant),
    lastStatus: Nullable(Type.Integer({ description: 'HTTP status of the last attempt, if it got one.' })),
    avgLatencyMs: Nullable(Type.Integer()),
  }),
  STATS,
);

const EXAMPLE = {
  id: 'wh_01kafe3n4pfx2v9yq6m8d7t5zr',
  url: 'https://receiver.example.com/marquee',
  events: ['stream.*', 'video.processing.completed'],
  isActive: true,
  description: 'Production',
  mode: 'live' as const,
  apiVersion: null,
  secretRotatedAt: null,
  stats: STATS,
  createdAt: '2026-11-20T09:00:00.000Z',
  updatedAt: '2026-11-20T09:00:00.000Z',
};

const fields = {
  id: IdOf('wh'),
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

export const Webhook = namedSchema('Webhook', Type.Object(fields), EXAMPLE);

export const WebhookWithSecret = namedSchema(
  'WebhookWithSecret',
  Type.Object({
    ...fields,
    signingSecret: Type.String({ pattern: '^whsec_', description: 'Returned only in this response.' }),
  }),
  { ...EXAMPLE, signingSecret: 'whsec_pC7yJ0wq3kTq8ZrW1xY6vB0nM4sD7fGh2LxQe9UaHdM' },
);

export const WebhookDelivery = namedSchema(
  'WebhookDelivery',
  Type.Object({
    id: IdOf('dlv'),
    webhookId: IdOf('wh'),
    eventType: Type.String(),
    eventId: Type.String(),
    attempt: Type.Integer({ minimum: 1, maximum: 7 }),
    status: OneOf(STATUSES),
    responseStatus: Nullable(Type.Integer()),
    responseBody: Nullable(Type.String({ description: 'First 16 KiB of the response body.' })),
    latencyMs: Nullable(Type.Integer()),
    errorMessage: Nullable(Type.String({ description: '`ssrf_guard: <reason>` if the URL was blocked.' })),
    nextAttemptAt: Nullable(Instant),
    trigger: OneOf(VALUES.delivery_log.trigger),
    replayOf: Nullable(Type.String()),
    createdAt: Instant,
  }),
  {
    id: 'dlv_01kafe3n4pfx2v9yq6m8d7t5zr',
    webhookId: 'wh_01kafe3n4pfx2v9yq6m8d7t5zr',
    eventType: 'stream.live',
    eventId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    attempt: 1,
    status: 'SUCCESS',
    responseStatus: 200,
    responseBody: 'ok',
    latencyMs: 84,
    errorMessage: null,
    nextAttemptAt: null,
    trigger: 'EVENT',
    replayOf: null,
    createdAt: '2026-11-20T09:00:00.000Z',
  },
);

/** A delivery that waits for an attempt. */
export const PendingDelivery = namedSchema(
  'PendingDelivery',
  Type.Object({
    eventId: Type.String(),
    eventType: Type.String(),
    attempt: Type.Integer({ minimum: 1, maximum: 7, description: 'Number of the next attempt.' }),
    nextAttemptAt: Instant,
  }),
  {
    eventId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    eventType: 'stream.live',
    attempt: 2,
    nextAttemptAt: '2026-11-20T09:01:00.000Z',
  },
);

/** The outcome of the one attempt of a test or a replay. */
export const SingleAttempt = namedSchema(
  'WebhookAttempt',
  Type.Object({
    deliveryId: Type.String(),
    eventId: Type.String(),
    status: OneOf(STATUSES),
    responseStatus: Nullable(Type.Integer()),
    latencyMs: Nullable(Type.Integer()),
    errorMessage: Nullable(Type.String()),
  }),
  {
    deliveryId: 'dlv_01kafe3n4pfx2v9yq6m8d7t5zr',
    eventId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    status: 'SUCCESS',
    responseStatus: 200,
    latencyMs: 84,
    errorMessage: null,
  },
);

/** See docs/concepts/webhooks.md#simulation. */
export const Simulation = namedSchema(
  'WebhookSimulation',
  Type.Object({
    deliveryUrl: Type.String(),
    wouldDeliver: Type.Boolean({
      description: 'False if the webhook is inactive or does not subscribe to the type.',
    }),
    renderedRequest: Type.Object({
      method: Type.Literal('POST'),
      url: Type.String(),
      headers: Type.Object({
        'Content-Type': Type.String(),
        'User-Agent': Type.String({ pattern: '^svc-webhook/1\\.0$' }),
        'SVC-Event-Id': Type.String({ pattern: '^evt_dry_[0-9a-f]+$' }),
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
      bodyString: Type.String({ description: 'Exact bytes the signature is computed over.' }),
    }),
    note: Type.String(),
  }),
  {
    deliveryUrl: 'https://receiver.example.com/marquee',
    wouldDeliver: true,
    renderedRequest: {
      method: 'POST',
      url: 'https://receiver.example.com/marquee',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'svc-webhook/1.0',
        'SVC-Event-Id': 'evt_dry_5f0c2a',
        'SVC-Event-Type': 'stream.live',
        'SVC-Event-Timestamp': '1795165200',
        'SVC-Signature': 't=1795165200,v1=28d58866e58259ee96f144bd9f65e215798e47b570be085766735bb96d608707',
      },
      body: {
        id: 'evt_dry_5f0c2a',
        type: 'stream.live',
        created: 1_795_165_200,
        data: { streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr' },
      },
      bodyString:
        '{"id":"evt_dry_5f0c2a","type":"stream.live","created":1795165200,"data":{"streamId":"str_01kafe3n4pfx2v9yq6m8d7t5zr"}}',
    },
    note: 'Nothing was sent.',
  },
);

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

export function toPending(row: PendingRow): Static<typeof PendingDelivery> {
  return {
    eventId: row.event_id,
    eventType: row.event_type,
    attempt: row.attempt + 1,
    nextAttemptAt: row.next_at.toISOString(),
  };
}

/** The filters of the delivery log (docs/concepts/webhooks.md#delivery-log). */
export const deliveryFilters = {
  status: CommaList(STATUSES),
  eventType: CommaTexts('Only deliveries of these event types.'),
  eventId: CommaTexts('Only deliveries of these event IDs.'),
  trigger: CommaList(VALUES.delivery_log.trigger),
};

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
    if (known === undefined)
      throw badRequest(field, `${field} must be a comma-separated list of: ${values.join(', ')}.`);
    return known;
  });
}
