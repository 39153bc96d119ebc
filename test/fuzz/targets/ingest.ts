import { systemClock } from '../../../src/kernel/clock.ts';
import { Broadcast } from '../../../src/media/ingest/broadcast.ts';
import { PublishSession } from '../../../src/media/ingest/publish-session.ts';
import { parseAudioSpecificConfig } from '../../../src/media/protocols/codec/aac.ts';
import { parseAv1Codec, parseVp9Codec } from '../../../src/media/protocols/codec/av1-vp9.ts';
import { CodecError } from '../../../src/media/protocols/codec/bit-reader.ts';
import { parseAudioInfo, readAudioPacket } from '../../../src/media/protocols/codec/flv-audio.ts';
import { parseVideoHeader, readVideoPacket } from '../../../src/media/protocols/codec/flv-video.ts';
import { parseAvcConfig } from '../../../src/media/protocols/codec/h264.ts';
import { parseHevcConfig } from '../../../src/media/protocols/codec/hevc.ts';
import { readFrame } from '../../../src/media/protocols/codec/nal-units.ts';
import { FlvReader } from '../../../src/media/protocols/flv/reader.ts';
import { SourceMuxer } from '../../../src/media/protocols/fmp4/source-muxer.ts';
import { decodeAmf0 } from '../../../src/media/protocols/rtmp/amf0.ts';
import { ChunkReader, PUBLISHING_LIMITS } from '../../../src/media/protocols/rtmp/chunk-reader.ts';
import { RtmpConnection } from '../../../src/media/protocols/rtmp/connection.ts';
import { readMetadata, splitAggregate } from '../../../src/media/protocols/rtmp/media-messages.ts';
import { MessageType } from '../../../src/media/protocols/rtmp/messages.ts';
import { ProtocolError } from '../../../src/media/protocols/rtmp/protocol-error.ts';
import { h264Payloads, parameterSetsOf } from '../../../src/media/whep/h264-packets.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { FakeSocket, letReadersFinish } from '../fake-socket.ts';
import { allow, type FuzzTarget } from '../runner.ts';

const CONFIGS = [parseAvcConfig, parseHevcConfig, parseAv1Codec, parseVp9Codec, parseAudioSpecificConfig];
const NO_LOG = createLogger('silent');

function createSession(onError: (error: unknown) => void): PublishSession {
  const broadcast = new Broadcast({ readerQueueBytes: 2 ** 20 });
  const muxer = createMuxer();
  const detach = broadcast.attach({
    write: (bytes) => allow([CodecError], () => muxer.push(bytes)),
    hold() {},
    flush() {},
    queuedBytes: () => 0,
    end() {},
  });
  return new PublishSession({
    sessionId: 'ing_1',
    nodeId: 'node-1',
    protocol: 'rtmp',
    grant: { streamId: 'str_1', maxHeight: 1080, maxFps: 60 },
    broadcast,
    hooks: {
      authorise: async () => null,
      onStart: async () => {},
      onMedia: () => {},
      onRefused: async () => {},
      onEnd: async () => {},
    },
    clock: systemClock,
    // Errors that the connection catches and logs also count as faults.
    log: Object.assign(Object.create(NO_LOG), { error: onError }),
    onEnded: detach,
  });
}

function createMuxer(): SourceMuxer {
  return new SourceMuxer({
    picture: { width: 640, height: 360 },
    hasSound: true,
    partMs: 500,
    now: () => performance.now(),
    onBytes: () => {},
    onChanged: () => {},
  });
}

/** A whole connection: handshake, chunks, commands, media. */
async function connection(input: Buffer): Promise<void> {
  const faults: unknown[] = [];
  const onError = (fields: unknown) => void faults.push(fields);
  const socket = new FakeSocket();
  const host = {
    apps: new Set(['live']),
    handshakeMs: 10_000,
    publishMs: 10_000,
    accept: async () => {
      const session = createSession(onError);
      await session.start(1000);
      return session;
    },
  };
  new RtmpConnection(socket, host, Object.assign(Object.create(NO_LOG), { error: onError }));
  socket.receive(input);
  await letReadersFinish(socket);
  if (faults.length > 0) throw new Error('an unexpected error was logged', { cause: faults[0] });
}

function chunks(input: Buffer): void {
  allow([ProtocolError], () => {
    const reader = new ChunkReader(PUBLISHING_LIMITS);
    const session = createSession(() => {});
    const half = input.length >> 1;
    for (const piece of [input.subarray(0, half), input.subarray(half)]) {
      reader.push(piece);
      for (let message = reader.next(); message !== null; message = reader.next()) session.media(message);
    }
  });
}

function flv(input: Buffer): void {
  const reader = new FlvReader(
    () => {},
    () => {},
  );
  const step = 1 + (input[0] ?? 0);
  for (let at = 0; at < input.length; at += step) reader.push(input.subarray(at, at + step), at % 2 === 0);
  allow([CodecError], () => createMuxer().push(input));
}

function codecHeaders(input: Buffer): void {
  for (const parse of CONFIGS) allow([CodecError], () => void parse(input));
  allow([CodecError], () => void parseVideoHeader(readVideoPacket(input)));
  allow([CodecError], () => void parseAudioInfo(readAudioPacket(input)));
  parameterSetsOf(input);
}

function nalUnits(input: Buffer): void {
  for (const codec of ['avc1', 'hvc1']) {
    for (const lengthBytes of [1, 2, 4]) readFrame(codec, input, lengthBytes);
  }
  for (const lengthBytes of [1, 4]) h264Payloads(input, lengthBytes, []);
}

export const targets: Record<string, FuzzTarget> = {
  rtmp: connection,
  'rtmp-chunks': chunks,
  amf0: (input) => {
    allow([ProtocolError], () => void decodeAmf0(input));
    readMetadata({ type: MessageType.data, streamId: 1, timestamp: 0, payload: input });
  },
  'rtmp-aggregate': (input) => {
    const message = { type: MessageType.aggregate, streamId: 1, timestamp: 0, payload: input };
    allow([ProtocolError], () => void splitAggregate(message));
  },
  flv,
  'codec-headers': codecHeaders,
  'nal-units': nalUnits,
};
