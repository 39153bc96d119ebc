import type { IncomingHttpHeaders } from 'node:http';

/** What a request tells of who makes it. Nothing of it is kept as it is. */
export interface ClientInfo {
  ip: string;
  /** Empty when the client names none. */
  userAgent: string;
  headers: IncomingHttpHeaders;
  /** Host name of the request. */
  host: string;
  /** It came through a proxy that is trusted: what that one says in a header holds. */
  isProxied: boolean;
}
