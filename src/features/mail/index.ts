/** Outgoing mail: an outbox that commits with the change, and the sender that empties it. */
export { mailRoutes } from './routes.ts';
export { createMailSender, type MailSender } from './sender.service.ts';
export { createMailbox, type Mailbox, type NewMail, type StoredMail } from './service.ts';
