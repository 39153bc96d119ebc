import type { IncomingHttpHeaders } from 'node:http';

/** The token of `Authorization: Bearer` (RFC 6750, section 2.1). */
export function bearerOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+)\s*$/i.exec(authorization)?.[1];
}
