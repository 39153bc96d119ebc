import type { SupportTicketStatus } from '../../platform/db/tables.generated.ts';

/** All of docs/api/support.md#limits. */
export const MAX_SUBJECT = 200;
export const MAX_MESSAGE = 10_000;
/** Of one ticket, before the partner has to open another one. */
export const MAX_MESSAGES = 200;
/** Of one account that are not CLOSED. */
export const MAX_UNCLOSED = 25;
/** So long a RESOLVED ticket waits for an objection. */
export const RESOLVED_MS = 7 * 86_400_000;

export const DEEDS = ['PARTNER_REPLIES', 'STAFF_REPLIES', 'RESOLVE', 'CLOSE'] as const;
export type Deed = (typeof DEEDS)[number];

/** docs/api/support.md#states; null is refused. */
const NEXT: Record<Deed, Record<SupportTicketStatus, SupportTicketStatus | null>> = {
  PARTNER_REPLIES: { OPEN: 'OPEN', PENDING: 'OPEN', RESOLVED: 'OPEN', CLOSED: null },
  STAFF_REPLIES: { OPEN: 'PENDING', PENDING: 'PENDING', RESOLVED: 'PENDING', CLOSED: null },
  RESOLVE: { OPEN: 'RESOLVED', PENDING: 'RESOLVED', RESOLVED: 'RESOLVED', CLOSED: null },
  CLOSE: { OPEN: 'CLOSED', PENDING: 'CLOSED', RESOLVED: 'CLOSED', CLOSED: 'CLOSED' },
};

/** Where the deed takes a ticket; null where it is refused. */
export function nextStatus(status: SupportTicketStatus, deed: Deed): SupportTicketStatus | null {
  return NEXT[deed][status];
}
