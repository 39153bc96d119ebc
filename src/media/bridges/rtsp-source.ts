import type { RtspUrl } from '../../kernel/pull-url.ts';
import type { FlvTag } from '../protocols/flv/reader.ts';
import {
  AacDepacketiser,
  aacFormat,
  type Depacketiser,
  H264Depacketiser,
  readRtp,
} from '../protocols/rtp/reader.ts';
import { RtspConnection, type RtspReply } from '../protocols/rtsp/connection.ts';
import { parseSdp, type SdpTrack } from '../protocols/rtsp/describe.ts';
import { READ_BUDGETS } from '../read-budget.ts';
import { PushError, toPushError } from '../restream/failure.ts';
import { LiveLane } from './live-playout.ts';
import { PacedSocket, planBudget } from './paced-socket.ts';
import type { SourceContext } from './source.ts';

const CONNECT_MS = 8000;
const DEFAULT_SESSION_SEC = 60;
const BYE = 203;
/** Reports in one packet that are looked at. */
const MAX_REPORTS = 64;

/** Track being played: its URL, and the depacketizer of its packets. */
interface Playing {
  track: SdpTrack;
  url: string;
  depacketiser: Depacketiser;
  /** Time of the last packet, as its RTP timestamp and in milliseconds; null before the first. */
  base: { timestamp: number; ms: number } | null;
}

/** Plays an RTSP session over TCP (RFC 2326): its H.264, and its AAC. */
export async function runRtsp(
  address: RtspUrl,
  { outbound, grant, begin, signal }: SourceContext,
): Promise<void> {
  const { guarded, port, scheme, url, credentials } = address;
  const tls = scheme === 'rtsps';
  const socket = await outbound.connect({ url: guarded, port, tls, timeoutMs: CONNECT_MS });
  const lane = new LiveLane(begin);
  const over = Promise.withResolvers<void>();
  over.promise.catch(() => {});
  const playing: Playing[] = [];
  socket.on('error', (error) => over.reject(toPushError(error, 'source')));
  socket.on('close', () => over.reject(new PushError('normal', 'The source closed the connection.')));
  signal.addEventListener('abort', () => over.resolve(), { once: true });
  if (signal.aborted) over.resolve();
  const paced = new PacedSocket(socket, planBudget(READ_BUDGETS.rtspConnection, grant));
  const connection = new RtspConnection({
    paced,
    credentials,
    userAgent: outbound.userAgent,
    onFailure: over.reject,
    onPacket(channel, packet) {
      const one = playing[channel >> 1];
      if (one === undefined) return;
      if (channel % 2 === 0) take(one, packet);
      else if (saysBye(packet)) over.resolve();
    },
    onSlice() {
      lane.flush();
      const wait = lane.wait();
      if (wait !== null) paced.hold(wait);
    },
  });
  let keepAlive: NodeJS.Timeout | undefined;
  try {
    const session = await Promise.race([open(connection, url, lane, playing), over.promise]);
    if (session) keepAlive = stayAlive(connection, session);
    await Promise.race([over.promise, lane.silence]);
    if (session) connection.tell('TEARDOWN', session.url, { Session: session.id });
  } finally {
    clearInterval(keepAlive);
    lane.end();
    connection.close();
    socket.end();
    setTimeout(() => socket.destroy(), 200).unref();
  }
}

interface Session {
  url: string;
  id: string;
  timeoutSec: number;
  knowsGetParameter: boolean;
}

async function open(
  connection: RtspConnection,
  url: string,
  lane: LiveLane,
  playing: Playing[],
): Promise<Session> {
  const options = await connection.ask('OPTIONS', url);
  const described = await connection.ask('DESCRIBE', url, { Accept: 'application/sdp' });
  const base = described.headers.get('content-base') ?? described.headers.get('content-location') ?? url;
  const { control, tracks } = parseSdp(described.body);
  const whole = control === '*' ? base : below(base, control);
  let id = '';
  let timeoutSec = DEFAULT_SESSION_SEC;
  for (const { track, depacketiser } of chosen(tracks, lane)) {
    const one = { track, depacketiser, url: below(base, track.control), base: null };
    const channel = playing.length * 2;
    playing.push(one);
    const reply = await connection.ask('SETUP', one.url, {
      Transport: `RTP/AVP/TCP;unicast;interleaved=${channel}-${channel + 1}`,
      ...(id === '' ? {} : { Session: id }),
    });
    const [name = '', ...rest] = (reply.headers.get('session') ?? '').split(';');
    id = name.trim();
    timeoutSec = Number(/timeout=(\d+)/.exec(rest.join(';'))?.[1] ?? DEFAULT_SESSION_SEC);
  }
  const played = await connection.ask('PLAY', whole, { Session: id, Range: 'npt=0.000-' });
  placeBy(played, playing);
  const knowsGetParameter = (options.headers.get('public') ?? '').includes('GET_PARAMETER');
  return { url: whole, id, timeoutSec, knowsGetParameter };
}

/** Selected track, and its depacketizer. */
interface Chosen {
  track: SdpTrack;
  depacketiser: Depacketiser;
}

/** @throws {PushError} when the video uses another codec, or there is none. */
function chosen(tracks: readonly SdpTrack[], lane: LiveLane): Chosen[] {
  const onTag = (tag: FlvTag) => lane.tag(tag);
  const picture = tracks.find(({ kind, encoding }) => kind === 'video' && encoding === 'H264');
  const other = tracks.find(({ kind }) => kind === 'video');
  if (picture === undefined && other !== undefined) {
    const coded = other.encoding.slice(0, 20) || 'something unknown';
    throw new PushError('fatal', `The source uses ${coded}, which is not supported. Encode it as H.264.`);
  }
  const found: Chosen[] = [];
  if (picture !== undefined) {
    found.push({ track: picture, depacketiser: new H264Depacketiser(picture.parameters, onTag) });
  }
  // Audio with another codec is left out: a camera without audio is better than none.
  for (const track of tracks) {
    const { kind, encoding, parameters, clockRate } = track;
    const format = kind === 'audio' && encoding === 'MPEG4-GENERIC' ? aacFormat(parameters) : null;
    if (format === null) continue;
    found.push({ track, depacketiser: new AacDepacketiser(format, clockRate, onTag) });
    break;
  }
  if (found.length === 0) throw new PushError('fatal', 'The source has neither H.264 nor AAC.');
  return found;
}

/** Applies `RTP-Info`, which holds the start time of each track and keeps audio and video in sync. */
function placeBy({ headers }: RtspReply, playing: Playing[]): void {
  for (const part of (headers.get('rtp-info') ?? '').split(/,(?=\s*url=)/)) {
    const url = /url=([^;]+)/.exec(part)?.[1]?.trim();
    const timestamp = /rtptime=(\d+)/.exec(part)?.[1];
    const one = playing.find((candidate) => url !== undefined && candidate.url.endsWith(url));
    if (one !== undefined && timestamp !== undefined) one.base ??= { timestamp: Number(timestamp), ms: 0 };
  }
  if (!playing.every(({ base }) => base !== null)) for (const one of playing) one.base = null;
}

function take(one: Playing, bytes: Buffer): void {
  const packet = readRtp(bytes);
  if (packet === null) return;
  one.base ??= { timestamp: packet.timestamp, ms: performance.now() };
  const steps = (packet.timestamp - one.base.timestamp) | 0;
  one.base = { timestamp: packet.timestamp, ms: one.base.ms + (steps * 1000) / one.track.clockRate };
  one.depacketiser.packet(packet, one.base.ms);
}

/** Reports whether a report in the packet (RFC 3550, section 6.1) announces that the source leaves. */
function saysBye(packet: Buffer): boolean {
  let at = 0;
  for (let report = 0; report < MAX_REPORTS && at + 4 <= packet.length; report += 1) {
    if (packet.readUInt8(at + 1) === BYE) return true;
    at += 4 + 4 * packet.readUInt16BE(at + 2);
  }
  return false;
}

function stayAlive(connection: RtspConnection, session: Session): NodeJS.Timeout {
  const method = session.knowsGetParameter ? 'GET_PARAMETER' : 'OPTIONS';
  const everyMs = Math.max(5, Math.min(session.timeoutSec, 300) / 2) * 1000;
  return setInterval(() => connection.tell(method, session.url, { Session: session.id }), everyMs);
}

/** Returns the URL of a track; requests still go to the connected server, whatever host it names. */
function below(base: string, control: string): string {
  if (/^rtsps?:\/\//i.test(control)) return control;
  if (control === '' || control === '*') return base;
  return `${base.replace(/\/+$/, '')}/${control}`;
}
