import type { Mode } from '../../app/mode.ts';
import type { Shape } from '../../app/shape.ts';

/** What a notification is about. */
export interface Subject {
  kind: 'webhook' | 'domain' | 'video' | 'key';
  /** Its page, below `/dashboard`. */
  to: string;
  mode: Mode;
}

/** @returns null for what has no page. */
export function subjectOf({ resource, title }: Shape<'Notification'>): Subject | null {
  if (resource === null) return null;
  const { type, id } = resource;
  // Live and test stand in one list; docs/guides/notifications.md says how they differ.
  const mode = title.endsWith('(test mode)') ? 'test' : 'live';
  switch (type) {
    case 'WEBHOOK':
      return { kind: 'webhook', to: `/webhooks/${id}`, mode };
    case 'INTEGRATION_DOMAIN':
      return { kind: 'domain', to: '/domains', mode };
    case 'VIDEO':
      return { kind: 'video', to: `/videos/${id}`, mode };
    case 'API_KEY':
      return { kind: 'key', to: '/keys', mode };
    default:
      return null;
  }
}
