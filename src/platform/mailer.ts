import type { Transporter } from 'nodemailer';

/** A mail as it is handed to the SMTP server. */
export interface OutgoingEmail {
  /** ID that the Message-ID is derived from, so that an email sent twice can be recognized. */
  id: string;
  to: string;
  subject: string;
  text: string;
  /** An iCalendar object; its METHOD is what mail programs act on (RFC 6047). */
  calendar: string | null;
  /** URL to unsubscribe from the mailing list; null for an email to one person. */
  unsubscribeUrl: string | null;
}

/** The way out for mail. */
export interface Mailer {
  /** @throws {EmailRejectedError} when the server will never take it; any other error is worth another try. */
  send(mail: OutgoingEmail): Promise<void>;
  close(): void;
}

/** The server rejected this email with a 5xx reply (RFC 5321 4.2.1). */
export class EmailRejectedError extends Error {}

const TIMEOUT_MS = 10_000;

/**
 * Sends by the operator's SMTP server.
 *
 * @param url `smtp://` or `smtps://`, with the user and password in it where the server wants them.
 * @param from the sender, e.g. `Marquee <no-reply@example.com>`.
 */
export function createMailer(url: string, from: string): Mailer {
  let transport: Promise<Transporter> | undefined;
  const host = /@([^>\s]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
  return {
    async send({ id, to, subject, text, calendar, unsubscribeUrl }) {
      try {
        transport ??= connect(url);
        await (await transport).sendMail({
          messageId: `<${id}@${host}>`,
          from,
          to: { name: '', address: to },
          subject,
          text,
          ...(calendar === null ? {} : { icalEvent: entryOf(calendar) }),
          headers: { 'Auto-Submitted': 'auto-generated', ...leaving(unsubscribeUrl) },
          disableFileAccess: true,
          disableUrlAccess: true,
        });
      } catch (error) {
        const status = rejectionStatusOf(error);
        if (status !== null)
          throw new EmailRejectedError(`the server returned status ${status}`, { cause: error });
        throw error;
      }
    },
    close: () => void transport?.then((opened) => opened.close()),
  };
}

/**
 * Connects to the server, with TLS and the password where required. @throws {Error} with the server's
 * rejection.
 */
export async function checkMailServer(url: string): Promise<void> {
  const transport = await connect(url);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/** With the first mail: to load the library takes a tenth of a second. */
async function connect(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
}

/** Mail programs show a button that leaves the list (RFC 2369, RFC 8058). */
function leaving(url: string | null): Record<string, string> {
  if (url === null) return {};
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

function entryOf(content: string) {
  const method = /^METHOD:(\w+)\r?$/m.exec(content)?.[1] ?? 'PUBLISH';
  return { method, filename: 'booking.ics', content };
}

/**
 * Returns the status of a permanent reply to the envelope or the text; a rejected login is for the operator
 * to fix.
 */
function rejectionStatusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('code' in error) || !('responseCode' in error)) return null;
  const status = Number(error.responseCode);
  const ours = error.code === 'EENVELOPE' || error.code === 'EMESSAGE';
  return ours && status >= 500 && status < 600 ? status : null;
}
