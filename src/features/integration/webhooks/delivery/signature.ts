import { createHmac } from 'node:crypto';

export interface DeliveryContent {
  url: string;
  secret: string;
  eventId: string;
  eventType: string;
  /** The exact text of the event; never serialized again. */
  body: string;
}

export interface RenderedDelivery {
  url: string;
  method: 'POST';
  headers: Record<string, string>;
  body: string;
}

/**
 * `t=<unix>,v1=<hex HMAC-SHA256 of "{t}.{rawBody}">` (docs/decisions/events-and-deliveries.md#signatures).
 *
 * @param timestamp Unix seconds.
 */
export function signatureHeader(secret: string, timestamp: number, body: string): string {
  const mac = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return `t=${timestamp},v1=${mac}`;
}

/** The request exactly as docs/concepts/webhooks.md#the-request writes it. */
export function renderDelivery(content: DeliveryContent, timestamp: number): RenderedDelivery {
  const { url, secret, eventId, eventType, body } = content;
  return {
    url,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'svc-webhook/1.0',
      'SVC-Event-Id': eventId,
      'SVC-Event-Type': eventType,
      'SVC-Signature': signatureHeader(secret, timestamp, body),
    },
    body,
  };
}
