import { HOUR_SEC, MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError, tooManyRequests } from '../../../kernel/errors.ts';
import { ipBlock } from '../../../kernel/ip-block.ts';
import { type Counter, counterKey } from '../../../platform/counters.ts';

/** Party that sends an email to an address it entered; an actor is a workspace or an account. */
export type TypedMailSender = { ip: string } | { actorId: string };

/**
 * Counts a mail to a typed address, just before it is sent.
 *
 * @param email as `parseEmail` returns it.
 * @throws {AppError} RATE_LIMITED with `Retry-After`, for the mailbox with field `email`.
 */
export type CountMail = (email: string) => Promise<void>;

/**
 * The caps that every mail to a typed address counts against (docs/decisions/memory-bounds.md#email-to-typed-addresses). A mail
 * that is not about to be sent is not counted: otherwise a stranger could block a mailbox with attempts that fail.
 */
export interface MailCaps {
  from(sender: TypedMailSender): CountMail;
  /** Counts an email sent in the background. @returns false when it must not be sent. */
  mayMail(email: string, sender: TypedMailSender | null): Promise<boolean>;
}

/** Emails an hour. */
const MAX_PER_MAILBOX = 20;
/** In an hour: an address sends by forms, an actor by programs as well. */
const MAX_PER_ADDRESS = 200;
const MAX_PER_ACTOR = 2000;

export function createMailCaps(ports: { window(windowSec: number): Counter }): MailCaps {
  const hit = (key: string) => ports.window(HOUR_SEC).hit(counterKey(key));
  const count = async (email: string, sender: TypedMailSender | null): Promise<void> => {
    if (sender !== null) {
      const { key, max } = countedAs(sender);
      const sent = await hit(`mail-sender:${key}`);
      if (sent.count > max) throw tooManyRequests('RATE_LIMITED', sent.resetInMs);
    }
    const received = await hit(`mailbox:${email}`);
    if (received.count > MAX_PER_MAILBOX) throw mailboxFull(received.resetInMs);
  };
  return {
    from: (sender) => (email) => count(email, sender),
    async mayMail(email, sender) {
      try {
        await count(email, sender);
        return true;
      } catch (error) {
        if (error instanceof AppError && error.code === 'RATE_LIMITED') return false;
        throw error;
      }
    },
  };
}

function countedAs(sender: TypedMailSender): { key: string; max: number } {
  return 'ip' in sender
    ? { key: ipBlock(sender.ip), max: MAX_PER_ADDRESS }
    : { key: sender.actorId, max: MAX_PER_ACTOR };
}

function mailboxFull(resetInMs: number): AppError {
  const { headers } = tooManyRequests('RATE_LIMITED', resetInMs);
  const minutes = Math.ceil(resetInMs / MINUTE_MS);
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  const message = `This address has received too many emails from us within an hour. Try again in ${wait}.`;
  return new AppError('RATE_LIMITED', { field: 'email', headers, message });
}
