import { queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';

/** Webhook as calls return it: the client's types leave out fields that can only be null. */
export type Webhook = Omit<Shape<'Webhook'>, 'apiVersion'>;

/** Refetches webhooks, their delivery logs and pending deliveries. */
export function refreshWebhooks(): Promise<void> {
  return queries.invalidateQueries({
    predicate: ({ queryKey: [, path] }) => typeof path === 'string' && path.startsWith('/me/webhooks'),
  });
}
