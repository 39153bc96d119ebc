/** Outgoing mail: an outbox that commits with the change, and the sender that empties it. */
export { type CountMail, createMailCaps, type MailCaps, type TypedMailSender } from './caps.ts';
export { mailRoutes } from './routes.ts';
export { createEmailSender, type EmailSender } from './sender.service.ts';
export { createMailbox, type Mailbox, type NewEmail, type StoredEmail } from './service.ts';
