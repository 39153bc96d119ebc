import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Frame from an encoder, with its time. */
export interface CodedFrame {
  ms: number;
  data: Buffer;
}

/** Media of a participant: a flash and a beep at the beginning of each second that `everySec` divides. */
export interface Source {
  seconds: number;
  everySec?: number;
  size?: string;
  /** Between two key frames. */
  keyframeSec?: number;
  frequency?: number;
  beepSec?: number;
  colour?: string;
}

const FLASH_SEC = 0.1;

/** VP8 with a white flash. */
export async function flashes(path: string, source: Source): Promise<CodedFrame[]> {
  const { seconds, everySec = 2, size = '320x180', keyframeSec = 2, colour = 'black' } = source;
  const flash = `drawbox=c=white:t=fill:enable='lt(mod(t,${everySec}),${FLASH_SEC})'`;
  await ffmpeg([
    ...['-f', 'lavfi', '-i', `color=${colour}:s=${size}:r=30:d=${seconds},${flash}`],
    ...['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '300k'],
    ...['-g', String(Math.round(30 * keyframeSec)), '-auto-alt-ref', '0', '-f', 'ivf', path],
  ]);
  const ivf = await readFile(path);
  const frames: CodedFrame[] = [];
  for (let at = 32; at + 12 <= ivf.length; ) {
    const bytes = ivf.readUInt32LE(at);
    frames.push({ ms: (ivf.readUInt32LE(at + 4) * 1000) / 30, data: ivf.subarray(at + 12, at + 12 + bytes) });
    at += 12 + bytes;
  }
  return frames;
}

/** Opus with a beep, in packets of 20 ms. */
export async function beeps(path: string, source: Source): Promise<CodedFrame[]> {
  const { seconds, everySec = 2, frequency = 1000, beepSec = FLASH_SEC } = source;
  const tone = `if(lt(mod(t\\,${everySec})\\,${beepSec})\\,0.4*sin(2*PI*${frequency}*t)\\,0)`;
  await ffmpeg([
    ...['-f', 'lavfi', '-i', `aevalsrc=${tone}:s=48000:d=${seconds}`],
    ...[
      '-c:a',
      'libopus',
      '-b:a',
      '32k',
      '-application',
      'lowdelay',
      '-frame_duration',
      '20',
      '-f',
      'ogg',
      path,
    ],
  ]);
  // The first two packets contain the header and the tags.
  return oggPackets(await readFile(path))
    .slice(2)
    .map((data, index) => ({ ms: index * 20, data }));
}

/** Reads Ogg packets (RFC 3533); no packet of these files spans pages. */
function oggPackets(ogg: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  for (let at = 0; at + 27 <= ogg.length; ) {
    const segments = ogg.readUInt8(at + 26);
    let start = at + 27 + segments;
    let end = start;
    for (let index = 0; index < segments; index++) {
      const bytes = ogg.readUInt8(at + 27 + index);
      end += bytes;
      if (bytes === 255) continue;
      packets.push(ogg.subarray(start, end));
      start = end;
    }
    at = end;
  }
  return packets;
}

/** Network conditions between participant and recorder. */
export interface TransportConditions {
  /** Time of the first frame, epoch milliseconds. */
  startMs: number;
  /** Network delay of each packet. */
  delayMs?: (index: number) => number;
  /** Rate by which the sender's clock is too fast, in parts per million. */
  driftPpm?: number;
  isLost?: (index: number) => boolean;
  /** Description set by the publisher. */
  description?: string;
  /** Name of an RTP header extension and its one byte, for each frame. */
  extension?: { name: string; value: (ms: number) => number };
}

interface Sent {
  ms: number;
  rtp: Buffer;
}

const MTU = 1100;
const EXTENSION_ID = 3;

/** Writes a recording in the format of Janus. */
export async function writeMjr(
  path: string,
  codec: 'vp8' | 'opus',
  frames: readonly CodedFrame[],
  way: TransportConditions,
): Promise<void> {
  const rate = codec === 'vp8' ? 90 : 48;
  const faster = 1 + (way.driftPpm ?? 0) / 1e6;
  const arrivals: Sent[] = [];
  // Both counters start at an arbitrary value, and soon wrap around.
  let sequence = 65_500;
  for (const { ms, data } of frames) {
    const timestamp = (4_294_900_000 + Math.round(ms * rate * faster)) % 2 ** 32;
    for (const { payload, isLast } of partsOf(codec, data)) {
      const index = sequence - 65_500;
      const header = headerOf(
        { sequence: sequence % 65_536, timestamp, isLast, codec },
        way.extension?.value(ms),
      );
      sequence += 1;
      if (way.isLost?.(index)) continue;
      arrivals.push({ ms: ms + (way.delayMs?.(index) ?? 0), rtp: Buffer.concat([header, payload]) });
    }
  }
  arrivals.sort((a, b) => a.ms - b.ms);
  await writeFile(path, mjrOf(codec, arrivals, way));
}

function mjrOf(
  codec: string,
  arrivals: readonly Sent[],
  { startMs, extension, description }: TransportConditions,
): Buffer {
  const first = arrivals[0]?.ms ?? 0;
  const extensions = extension === undefined ? {} : { x: { [EXTENSION_ID]: extension.name } };
  const startedUs = Math.round((startMs + first) * 1000);
  const info = {
    t: codec === 'vp8' ? 'v' : 'a',
    c: codec,
    d: description,
    ...extensions,
    s: startedUs,
    u: startedUs,
  };
  const json = Buffer.from(JSON.stringify(info));
  const head = Buffer.from('MJR00002\0\0', 'latin1');
  head.writeUInt16BE(json.length, 8);
  const packets = arrivals.map(({ ms, rtp }) => {
    const frame = Buffer.from('MEET\0\0\0\0\0\0', 'latin1');
    frame.writeUInt32BE(Math.floor(ms - first), 4);
    frame.writeUInt16BE(rtp.length, 8);
    return Buffer.concat([frame, rtp]);
  });
  return Buffer.concat([head, json, ...packets]);
}

function partsOf(codec: string, data: Buffer): { payload: Buffer; isLast: boolean }[] {
  if (codec === 'opus') return [{ payload: data, isLast: true }];
  const parts = [];
  for (let at = 0; at < data.length; at += MTU) {
    const descriptor = Buffer.from([at === 0 ? 0x10 : 0]);
    const isLast = at + MTU >= data.length;
    parts.push({ payload: Buffer.concat([descriptor, data.subarray(at, at + MTU)]), isLast });
  }
  return parts;
}

function headerOf(
  rtp: { sequence: number; timestamp: number; isLast: boolean; codec: string },
  extension: number | undefined,
): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt8(extension === undefined ? 0x80 : 0x90, 0);
  header.writeUInt8((rtp.isLast && rtp.codec === 'vp8' ? 0x80 : 0) | (rtp.codec === 'vp8' ? 96 : 111), 1);
  header.writeUInt16BE(rtp.sequence, 2);
  header.writeUInt32BE(rtp.timestamp, 4);
  header.writeUInt32BE(0x1234, 8);
  if (extension === undefined) return header;
  return Buffer.concat([header, Buffer.from([0xbe, 0xde, 0, 1, EXTENSION_ID << 4, extension, 0, 0])]);
}

async function ffmpeg(args: string[]): Promise<void> {
  await run('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
}
