import type { IncomingHttpHeaders } from 'node:http';

/** Information in a request about its client. None of it is stored unchanged. */
export interface ClientInfo {
  ip: string;
  /** Empty when the client names none. */
  userAgent: string;
  headers: IncomingHttpHeaders;
  /** Host name of the request. */
  host: string;
  /** Whether the request came through a trusted proxy, whose headers can be relied on. */
  isProxied: boolean;
}
