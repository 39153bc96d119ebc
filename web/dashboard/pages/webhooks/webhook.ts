import { queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';

/** As calls answer it: the client's types leave out what can only be null. */
export type Webhook = Omit<Shape<'Webhook'>, 'apiVersion'>;

/** After something was sent or changed: the webhooks, their logs and what is pending. */
export function refreshWebhooks(): Promise<void> {
  return queries.invalidateQueries({
    predicate: ({ queryKey: [, path] }) => typeof path === 'string' && path.startsWith('/me/webhooks'),
  });
}
