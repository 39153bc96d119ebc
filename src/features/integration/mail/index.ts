/** Outgoing mail: an outbox that commits with the change, and the sender that empties it. */
export type { CountMail, MailCaps } from './caps.ts';
export type { Mailbox, NewEmail } from './service.ts';
