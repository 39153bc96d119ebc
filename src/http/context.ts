import type { Caller } from '../kernel/access.ts';
import type { ClientInfo } from '../kernel/client-info.ts';
import type { Logger } from '../platform/logger.ts';

/** A file that came as a part of a multipart body. */
export interface UploadedFile {
  bytes: Buffer;
}

/** The cookie of the dashboard's session. */
export interface SessionCookieWriter {
  /** Sets the cookie in the response, or clears it. */
  set(token: string): void;
  clear(): void;
}

/** Context of a handler besides its validated input. */
export interface RequestContext<C extends Caller | null = Caller> {
  requestId: string;
  caller: C;
  /** ID of the user token sent with the request; null without one. */
  userTokenId: string | null;
  ip: string;
  /** Empty when the client names none. */
  userAgent: string;
  /** Returns the client info, for endpoints that count viewers. */
  client(): ClientInfo;
  /** The client asks for `text/event-stream`, where the endpoint has a tail. */
  acceptsEventStream: boolean;
  /** The client asks for `text/csv`, where the endpoint has a table. */
  acceptsCsv: boolean;
  log: Logger;
  /** ID of a leased idempotent request, shared by all its repetitions. Null without an Idempotency-Key. */
  idempotentRunId: string | null;
  session: SessionCookieWriter;
  /** Uploaded file, when the endpoint accepts one and the request has one. */
  upload: UploadedFile | undefined;
}
