import { createHash, randomBytes } from 'node:crypto';
import type { Credentials } from '../../../kernel/pull-url.ts';
import type { PacedSocket } from '../../bridges/paced-socket.ts';
import { READ_BUDGETS } from '../../read-budget.ts';
import { ReadSlices } from '../../read-slices.ts';
import { PushError, toPushError } from '../../restream/failure.ts';

export interface RtspReply {
  status: number;
  /** Headers by lower-case name; of repeated ones the last, but all challenges. */
  headers: ReadonlyMap<string, string>;
  challenges: readonly string[];
  body: string;
}

export interface RtspConnectionOptions {
  paced: PacedSocket;
  credentials: Credentials | null;
  userAgent: string;
  /** Receives a packet interleaved with the responses, on its channel (RFC 2326, section 10.12). */
  onPacket(channel: number, packet: Buffer): void;
  /** After a portion of packets and responses. */
  onSlice(): void;
  onFailure(failure: PushError): void;
}

const DOLLAR = 0x24;
const MAX_HEAD_BYTES = 16 * 1024;
const MAX_HEAD_LINES = 100;
/** Bytes of a packet before its payload. */
const PREFIX_BYTES = 4;
const HEAD_END = Buffer.from('\r\n\r\n');

interface Waiting {
  resolve(reply: RtspReply): void;
  reject(failure: PushError): void;
}

/** The client's side of RTSP over one TCP connection (RFC 2326), media interleaved. */
export class RtspConnection {
  readonly #options: RtspConnectionOptions;
  readonly #waiting = new Map<number, Waiting>();
  /** Incomplete input. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Length of what arrives; the input is not joined before. */
  #neededBytes = PREFIX_BYTES;
  readonly #slices: ReadSlices;
  /** Resolves when a later turn continues to read. */
  #deferred: PromiseWithResolvers<void> | null = null;
  #isClosed = false;
  #sequence = 0;
  #challenge: string | null = null;

  constructor(options: RtspConnectionOptions) {
    this.#options = options;
    this.#slices = new ReadSlices(
      () => `RTSP source ${options.paced.socket.remoteAddress}`,
      () => this.#resume(),
    );
    options.paced.socket.on('data', (data: Buffer) => {
      if (this.#isClosed) return;
      this.#held.push(data);
      this.#heldBytes += data.length;
      if (this.#deferred === null) this.#read();
    });
  }

  /** Stops reading, including input already received. */
  close(): void {
    this.#isClosed = true;
    this.#held = [];
  }

  /**
   * Sends a request, and repeats it with the credentials when the server requires them. @throws {PushError}
   */
  async ask(method: string, url: string, headers: Record<string, string> = {}): Promise<RtspReply> {
    let reply = await this.#send(method, url, headers);
    if (reply.status === 401) {
      if (this.#options.credentials === null) {
        throw new PushError('refused', 'The source requires a user name and password.');
      }
      const digest = reply.challenges.find((one) => /^digest /i.test(one));
      this.#challenge = digest ?? reply.challenges[0] ?? null;
      reply = await this.#send(method, url, headers);
    }
    const { status } = reply;
    if (status === 401 || status === 403) {
      throw new PushError('refused', `The source rejected the user name or password (${status}).`);
    }
    if (status !== 200) throw new PushError('normal', `The source returned ${status} for ${method}.`);
    return reply;
  }

  /** Sends a request without waiting for the response. */
  tell(method: string, url: string, headers: Record<string, string> = {}): void {
    this.#write(method, url, headers);
  }

  #send(method: string, url: string, headers: Record<string, string>): Promise<RtspReply> {
    const { promise, resolve, reject } = Promise.withResolvers<RtspReply>();
    const sequence = this.#write(method, url, headers);
    const timer = setTimeout(
      () => reject(new PushError('normal', 'The source did not respond in time (RTSP).')),
      READ_BUDGETS.rtspDescription.ms,
    );
    this.#waiting.set(sequence, { resolve, reject });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(sequence);
    });
  }

  #write(method: string, url: string, headers: Record<string, string>): number {
    this.#sequence += 1;
    const { credentials, paced, userAgent } = this.#options;
    const proof =
      this.#challenge === null || credentials === null
        ? null
        : authorization(this.#challenge, credentials, method, url);
    const lines = [
      `${method} ${url} RTSP/1.0`,
      `CSeq: ${this.#sequence}`,
      `User-Agent: ${userAgent}`,
      ...(proof === null ? [] : [`Authorization: ${proof}`]),
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    paced.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return this.#sequence;
  }

  #read(): void {
    try {
      this.#readSlice();
    } catch (error) {
      this.close();
      // Whatever it is: thrown from here it would end the process, and with it all others that it carries.
      this.#options.onFailure(toPushError(error, 'source'));
    }
  }

  /** Reads complete elements for one slice; the rest in a later turn. */
  #readSlice(): void {
    if (this.#isClosed || this.#heldBytes < this.#neededBytes) return;
    const [first = Buffer.alloc(0)] = this.#held;
    const input = this.#held.length === 1 ? first : Buffer.concat(this.#held);
    let at = 0;
    let pieces = 0;
    const isAllRead = this.#slices.run(() => {
      const used = this.#isClosed ? 0 : this.#piece(input.subarray(at));
      at += used;
      if (used > 0) pieces += 1;
      return used > 0;
    });
    if (this.#isClosed) return;
    this.#held = at < input.length ? [input.subarray(at)] : [];
    this.#heldBytes = input.length - at;
    if (pieces > 0) this.#options.onSlice();
    const { paced } = this.#options;
    paced.add(pieces, 0);
    if (isAllRead || this.#deferred !== null) return;
    this.#deferred = Promise.withResolvers<void>();
    paced.hold(this.#deferred.promise);
  }

  #resume(): void {
    this.#deferred?.resolve();
    this.#deferred = null;
    this.#read();
  }

  /** @returns the length of the complete element; 0 when `#neededBytes` have to arrive first. */
  #piece(input: Buffer): number {
    this.#neededBytes = PREFIX_BYTES;
    if (input.length < PREFIX_BYTES) return 0;
    if (input[0] === DOLLAR) {
      const end = PREFIX_BYTES + input.readUInt16BE(2);
      if (input.length < end) return this.#wait(end);
      this.#options.onPacket(input.readUInt8(1), input.subarray(PREFIX_BYTES, end));
      return end;
    }
    const head = input.subarray(0, MAX_HEAD_BYTES + HEAD_END.length).indexOf(HEAD_END);
    if (head < 0 && input.length <= MAX_HEAD_BYTES) {
      return this.#isRtsp(input) ? this.#wait(input.length + 1) : this.#wrong();
    }
    if (head < 0) return this.#wrong();
    return this.#message(input, head);
  }

  #wait(bytes: number): 0 {
    this.#neededBytes = bytes;
    return 0;
  }

  #isRtsp(input: Buffer): boolean {
    return /^[A-Z]/.test(input.toString('latin1', 0, 1));
  }

  #wrong(): never {
    throw new PushError('normal', 'The source did not return a valid RTSP response.');
  }

  #message(input: Buffer, head: number): number {
    const [first = '', ...lines] = input.toString('utf8', 0, head).split('\r\n', MAX_HEAD_LINES);
    const headers = new Map<string, string>();
    const challenges: string[] = [];
    for (const line of lines) {
      const cut = line.indexOf(':');
      const name = line.slice(0, cut).trim().toLowerCase();
      headers.set(name, line.slice(cut + 1).trim());
      if (name === 'www-authenticate') challenges.push(line.slice(cut + 1).trim());
    }
    const length = Number(headers.get('content-length') ?? 0);
    if (!(Number.isInteger(length) && length >= 0 && length <= READ_BUDGETS.rtspDescription.bytes))
      this.#wrong();
    const end = head + HEAD_END.length + length;
    if (input.length < end) return this.#wait(end);
    const status = /^RTSP\/1\.\d (\d{3})/.exec(first)?.[1];
    // A request of the server gets no response: none is needed to receive media.
    if (status === undefined) return / RTSP\/1\.\d$/.test(first) ? end : this.#wrong();
    const body = input.toString('utf8', head + HEAD_END.length, end);
    const waiting = this.#waiting.get(Number(headers.get('cseq')));
    waiting?.resolve({ status: Number(status), headers, challenges, body });
    return end;
  }
}

const hashed = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');

/** Basic, or Digest with or without `qop` (RFC 7616; RFC 2069 for old cameras). */
export function authorization(
  challenge: string,
  { user, password }: Credentials,
  method: string,
  url: string,
): string {
  if (/^basic/i.test(challenge)) {
    return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  }
  const asked = new Map(
    [...challenge.matchAll(/\b(\w+)=(?:"([^"]*)"|([^\s,]+))/g)].map(([, name = '', quoted, bare]) => [
      name.toLowerCase(),
      quoted ?? bare ?? '',
    ]),
  );
  const algorithm = /sha-?256/i.test(asked.get('algorithm') ?? '') ? 'sha256' : 'md5';
  const realm = asked.get('realm') ?? '';
  const nonce = asked.get('nonce') ?? '';
  const secret = hashed(algorithm, `${user}:${realm}:${password}`);
  const act = hashed(algorithm, `${method}:${url}`);
  const parts = [`username="${user}"`, `realm="${realm}"`, `nonce="${nonce}"`, `uri="${url}"`];
  if ((asked.get('qop') ?? '').split(/, */).includes('auth')) {
    const cnonce = randomBytes(8).toString('hex');
    const response = hashed(algorithm, `${secret}:${nonce}:00000001:${cnonce}:auth:${act}`);
    parts.push('qop=auth', 'nc=00000001', `cnonce="${cnonce}"`, `response="${response}"`);
  } else parts.push(`response="${hashed(algorithm, `${secret}:${nonce}:${act}`)}"`);
  if (asked.has('algorithm')) parts.push(`algorithm=${asked.get('algorithm')}`);
  if (asked.has('opaque')) parts.push(`opaque="${asked.get('opaque')}"`);
  return `Digest ${parts.join(', ')}`;
}
