import { type ClientRequest, type IncomingMessage, request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { TLSSocket } from 'node:tls';

/** Response of one of the operator's own sites. */
export interface ProbeResult {
  status: number;
  /** Clock of the site, epoch ms, to the second; null when it sends no date. */
  timeMs: number | null;
  /** Expiry of its certificate, epoch ms; null for plain HTTP. */
  certificateEndsMs: number | null;
}

/**
 * Requests a URL of the configuration, without the SSRF guard and without following redirects. Expired
 * certificates and certificates of another name are read, too.
 *
 * @throws {Error} when there is no response.
 */
export function probe(url: string, timeoutMs: number): Promise<ProbeResult> {
  return new Promise((resolve, reject) => {
    const options = { method: 'HEAD', signal: AbortSignal.timeout(timeoutMs) };
    const answered = (response: IncomingMessage) => {
      response.resume();
      const time = Date.parse(response.headers.date ?? '');
      resolve({
        status: response.statusCode ?? 0,
        timeMs: Number.isNaN(time) ? null : time,
        certificateEndsMs: certificateEnd(response),
      });
    };
    const call: ClientRequest = url.startsWith('https:')
      ? secure(url, { ...options, rejectUnauthorized: false, agent: false }, answered)
      : plain(url, { ...options, agent: false }, answered);
    call.on('error', reject);
    call.end();
  });
}

function certificateEnd({ socket }: IncomingMessage): number | null {
  if (!(socket instanceof TLSSocket)) return null;
  const time = Date.parse(socket.getPeerCertificate().valid_to);
  return Number.isNaN(time) ? null : time;
}
