import { once } from 'node:events';
import { connect } from 'node:net';
import { recordErrorCode } from './contract-coverage.ts';
import { TestResponse } from './response.ts';
import { waitFor } from './wait-for.ts';

/** Plain TCP connection to an HTTP server, for requests that no client would send. */
export interface RawSocket {
  write(data: string | Uint8Array): void;
  /** Returns the next complete response on this connection. */
  answer(): Promise<TestResponse>;
  exchange(data: string | Uint8Array): Promise<TestResponse>;
  /** Waits until the server has hung up. */
  closed(): Promise<void>;
  close(): void;
}

export async function openRawSocket(port: number): Promise<RawSocket> {
  const socket = connect(port, '127.0.0.1');
  let received: Buffer = Buffer.alloc(0);
  let ended = false;
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, Buffer.from(chunk)]);
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    ended = true;
  });
  await once(socket, 'connect');

  const send = (data: string | Uint8Array) => void socket.write(data);
  const answer = () =>
    waitFor(
      () => {
        const parsed = parse(received);
        if (parsed === null) return null;
        received = received.subarray(parsed.bytes);
        recordErrorCode(parsed.response);
        return parsed.response;
      },
      { intervalMs: 2, message: () => `an answer; there is ${JSON.stringify(received.toString())}` },
    );
  return {
    write: send,
    answer,
    exchange(data) {
      send(data);
      return answer();
    },
    closed: async () => void (await waitFor(() => ended, { message: 'the server to hang up' })),
    close: () => void socket.destroy(),
  };
}

/** Parses one response with a Content-Length; null while it is incomplete. */
function parse(bytes: Buffer): { response: TestResponse; bytes: number } | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString().split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const length = Number(headers['content-length'] ?? 0);
  if (bytes.length < end + 4 + length) return null;
  const text = bytes.subarray(end + 4, end + 4 + length).toString();
  return { response: new TestResponse(status, headers, text), bytes: end + 4 + length };
}
