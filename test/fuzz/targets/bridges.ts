import { PacedSocket } from '../../../src/media/bridges/paced-socket.ts';
import { createPlayoutTrack, Playout } from '../../../src/media/bridges/playout.ts';
import {
  chooseVariant,
  PlaylistError,
  parsePlaylist,
  resolveUri,
} from '../../../src/media/protocols/hls/playlist.ts';
import { WebmReader } from '../../../src/media/protocols/matroska/reader.ts';
import {
  AacDepacketiser,
  aacFormat,
  type Depacketiser,
  H264Depacketiser,
  readRtp,
} from '../../../src/media/protocols/rtp/reader.ts';
import { authorization, RtspConnection } from '../../../src/media/protocols/rtsp/connection.ts';
import { parseSdp } from '../../../src/media/protocols/rtsp/describe.ts';
import { READ_BUDGETS } from '../../../src/media/read-budget.ts';
import { PushError, toPushError } from '../../../src/media/restream/failure.ts';
import { FakeSocket, letReadersFinish } from '../fake-socket.ts';
import { allow, type FuzzTarget } from '../runner.ts';

const TARGET = { maxHeight: 1080, maxBitrateKbps: 6000 };
const BASE = 'https://source.example/live/index.m3u8';
/** Message of unexpected errors. */
const UNKNOWN = toPushError(new Error('any'), 'source').message;

function expectAtMost(max: number, count: number, what: string): void {
  if (count > max) throw new Error(`${count} ${what}, and not ${max} at most`);
}

function hlsPlaylist(input: Buffer): void {
  allow([PlaylistError], () => {
    const playlist = parsePlaylist(input.toString('utf8'));
    if (playlist.kind === 'master') {
      resolveUri(chooseVariant(playlist, TARGET).uri, BASE);
      return;
    }
    expectAtMost(READ_BUDGETS.hlsPlaylist.items, playlist.segments.length, 'segments');
    for (const { uri } of playlist.segments.slice(-3)) resolveUri(uri, BASE);
  });
}

/** The packets of an input, each behind its length in two bytes. */
function* packetsOf(input: Buffer): Generator<Buffer> {
  for (let at = 0; at + 2 < input.length; ) {
    const start = at + 2;
    at = Math.min(input.length, start + input.readUInt16BE(at));
    yield input.subarray(start, at);
  }
}

/** Parses all packets. @param unitsPerPacket maximum units that one packet may yield. */
function depacketize(
  input: Buffer,
  unitsPerPacket: number,
  create: (onTag: () => void) => Depacketiser,
): void {
  let tags = 0;
  let packets = 0;
  const depacketizer = create(() => {
    tags += 1;
  });
  for (const packet of packetsOf(input)) {
    packets += 1;
    const rtp = readRtp(packet);
    if (rtp !== null) depacketizer.packet(rtp, rtp.timestamp / 90);
  }
  expectAtMost(packets * unitsPerPacket + 2, tags, 'tags');
}

function rtpAac(input: Buffer): void {
  for (const [sizelength, indexlength] of [
    ['13', '3'],
    ['6', '2'],
  ] as const) {
    const format = aacFormat(
      new Map([
        ['config', '1190'],
        ['sizelength', sizelength],
        ['indexlength', indexlength],
      ]),
    );
    if (format === null) throw new Error('AAC is not read');
    depacketize(input, 64, (onTag) => new AacDepacketiser(format, 48_000, onTag));
  }
}

function rtpH264(input: Buffer): void {
  const parameters = new Map([['sprop-parameter-sets', 'Z0LAHtkA,aM48gA==']]);
  // Two frames may end with a packet, each with a header.
  depacketize(input, 4, (onTag) => new H264Depacketiser(parameters, onTag));
}

function rtspChallenge(input: Buffer): void {
  authorization(input.toString('utf8'), { user: 'a', password: 'b' }, 'DESCRIBE', 'rtsp://127.0.0.1/a');
}

function rtspDescription(input: Buffer): void {
  const { tracks } = parseSdp(input.toString('utf8'));
  for (const { parameters } of tracks) {
    aacFormat(parameters);
    new H264Depacketiser(parameters, () => {});
  }
}

/** Responses and packets of a server. */
async function rtspResponses(input: Buffer): Promise<void> {
  const socket = new FakeSocket();
  let packets = 0;
  let fault: unknown = null;
  const connection = new RtspConnection({
    paced: new PacedSocket(socket, READ_BUDGETS.rtspConnection),
    credentials: { user: 'a', password: 'b' },
    userAgent: 'Marquee',
    onPacket() {
      packets += 1;
    },
    onSlice() {},
    onFailure(failure) {
      if (failure.message === UNKNOWN) fault = failure;
    },
  });
  for (let at = 0; at < input.length; at += 1000) socket.receive(input.subarray(at, at + 1000));
  await letReadersFinish(socket);
  connection.close();
  if (fault !== null) throw fault;
  expectAtMost(input.length / 4, packets, 'packets');
}

function webm(input: Buffer): void {
  let frames = 0;
  const reader = new WebmReader(() => {
    frames += 1;
  });
  allow([RangeError], () => {
    for (let at = 0; at < input.length; at += 1000) reader.push(input.subarray(at, at + 1000));
  });
  expectAtMost(input.length / 2, frames, 'frames');
}

/** Parses frames of eight bytes: type, time, and the beginning of their payload. */
function playout(input: Buffer): void {
  const [lane, stretch] = [createPlayoutTrack(), { shift: null }];
  let sent = 0;
  const player = new Playout({ aheadMs: 10_000, tracks: 1, out: () => (sent += 1), fail() {} });
  try {
    allow([PushError], () => {
      for (let at = 0; at + 8 <= input.length; at += 8) {
        const timestamp = input.readUInt32BE(at + 1);
        player.tag(lane, stretch, {
          type: input.readUInt8(at),
          timestamp,
          payload: input.subarray(at + 5, at + 8),
        });
        if (at % 64 === 0) player.flush();
      }
    });
  } finally {
    player.stop();
  }
  expectAtMost(input.length / 8, sent, 'messages');
}

export const targets: Record<string, FuzzTarget> = {
  'hls-playlist': hlsPlaylist,
  playout,
  'rtp-aac': rtpAac,
  'rtp-h264': rtpH264,
  'rtsp-challenge': rtspChallenge,
  'rtsp-description': rtspDescription,
  'rtsp-responses': rtspResponses,
  webm,
};
