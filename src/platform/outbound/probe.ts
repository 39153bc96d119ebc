import { type ClientRequest, type IncomingMessage, request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { TLSSocket } from 'node:tls';

/** What a site of the operator's own answers with. */
export interface ProbeResult {
  status: number;
  /** What time it is there, epoch ms, to the second; null when it does not say. */
  timeMs: number | null;
  /** When its certificate is no longer good, epoch ms; null for plain HTTP. */
  certificateEndsMs: number | null;
}

/**
 * Asks an address of the configuration: nothing guards it, and no redirect is followed. A certificate that has
 * expired or is of another name is looked at, too.
 *
 * @throws {Error} when nobody answers.
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
