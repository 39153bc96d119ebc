import type { Clock } from '../../../../kernel/clock.ts';
import type { Logger } from '../../../../platform/logger.ts';
import { GuardError, type Outbound, OutboundError } from '../../../../platform/outbound/index.ts';
import type { Secrets } from '../../../../platform/secrets.ts';
import { renderDelivery } from './signature.ts';

/** Webhook and event data needed for one attempt. */
export interface Delivery {
  webhookId: string;
  url: string;
  /** The signing secret, encrypted in the context of the webhook's id. */
  secret: Uint8Array;
  eventId: string;
  eventType: string;
  body: string;
}

/** Log record of an attempt. */
export interface ResponseRecord {
  responseStatus: number | null;
  responseBody: string | null;
  /** To the status line, or to the failure; null when nothing was dialled. */
  latencyMs: number | null;
  errorMessage: string | null;
}

export interface AttemptResult extends ResponseRecord {
  success: boolean;
}

export interface AttemptOptions {
  outbound: Outbound;
  secrets: Secrets;
  clock: Clock;
  /** Time that a receiver has (docs/concepts/webhooks.md#attempts). */
  timeoutMs: number;
  log: Logger;
}

/** Makes one attempt with a fresh timestamp and signature. Never rejects: every failure is a result. */
export type Attempt = (delivery: Delivery) => Promise<AttemptResult>;

export function createAttempt(options: AttemptOptions): Attempt {
  const { outbound, clock, timeoutMs, log } = options;
  const secretOf = openedSecrets(options.secrets);
  return async (delivery) => {
    const startedAt = performance.now();
    try {
      const { url, eventId, eventType, body: sent } = delivery;
      const content = { url, secret: secretOf(delivery), eventId, eventType, body: sent };
      const request = renderDelivery(content, Math.floor(clock.ms() / 1000));
      const { status, body, latencyMs } = await outbound.request({ ...request, timeoutMs });
      const success = status >= 200 && status < 300;
      return {
        success,
        responseStatus: status,
        responseBody: body,
        latencyMs,
        errorMessage: success ? null : `status ${status}`,
      };
    } catch (error) {
      const latencyMs = Math.round(performance.now() - startedAt);
      const known = error instanceof GuardError || error instanceof OutboundError;
      if (!known)
        log.error({ err: error, webhookId: delivery.webhookId }, 'a delivery could not be attempted');
      return {
        success: false,
        responseStatus: null,
        responseBody: null,
        latencyMs: error instanceof OutboundError ? latencyMs : null,
        errorMessage: known ? error.message : 'internal error',
      };
    }
  };
}

/** Webhooks whose secret stays opened: to open it costs a fifteenth of a delivery. */
const OPENED = 1000;

function openedSecrets(secrets: Secrets): (delivery: Pick<Delivery, 'webhookId' | 'secret'>) => string {
  const opened = new Map<string, { sealed: Uint8Array; secret: string }>();
  return ({ webhookId, secret: sealed }) => {
    const known = opened.get(webhookId);
    if (known !== undefined && Buffer.compare(known.sealed, sealed) === 0) return known.secret;
    const secret = secrets.decrypt(sealed, webhookId);
    if (opened.size >= OPENED) opened.clear();
    // Copied, because a view would retain the driver's whole read buffer.
    opened.set(webhookId, { sealed: Uint8Array.from(sealed), secret });
    return secret;
  };
}
