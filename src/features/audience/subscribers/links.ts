import type { Clock } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Secrets } from '../../../platform/secrets.ts';

/** Links in mails to subscribers: signed, and stored nowhere (docs/concepts/subscribers.md#email-links). */
export interface SubscriberLinks {
  confirmUrl(subscriber: ConfirmationRequest): string;
  /** Reports whether the token belongs to an unexpired link of this request. */
  mayConfirm(subscriber: ConfirmationRequest, token: string): boolean;
  leaveUrl(id: string): string;
  /** Reports whether the token is valid. It never expires: anyone with an email can unsubscribe. */
  mayLeave(id: string, token: string): boolean;
}

interface ConfirmationRequest {
  id: string;
  confirmation_round: number;
}

const CONFIRM = 'subscriber confirm';
const LEAVE = 'subscriber leave';
export const CONFIRM_DAYS = 7;
const TOKEN = /^([0-9a-z]{1,9})\.([\w-]{43})$/;

export function createLinks({
  secrets,
  clock,
  publicUrl,
}: {
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  clock: Clock;
  publicUrl: string;
}): SubscriberLinks {
  const signed = ({ id, confirmation_round: round }: ConfirmationRequest, until: string) =>
    `${id} ${round} ${until}`;
  return {
    confirmUrl(subscriber) {
      const until = (clock.ms() + CONFIRM_DAYS * DAY_MS).toString(36);
      const token = `${until}.${secrets.sign(CONFIRM, signed(subscriber, until))}`;
      return `${publicUrl}/subscribers/${subscriber.id}/confirm?token=${token}`;
    },
    mayConfirm(subscriber, token) {
      const [, until = '', signature = ''] = TOKEN.exec(token) ?? [];
      if (Number.parseInt(until, 36) <= clock.ms()) return false;
      return signature !== '' && secrets.verify(CONFIRM, signed(subscriber, until), signature);
    },
    leaveUrl: (id) => `${publicUrl}/subscribers/${id}/unsubscribe?token=${secrets.sign(LEAVE, id)}`,
    mayLeave: (id, token) => secrets.verify(LEAVE, id, token),
  };
}
