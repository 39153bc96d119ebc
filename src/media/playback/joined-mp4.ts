import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BlobInfo, BlobStore } from '../contract/index.ts';
import { box, fullBox, u32 } from '../protocols/fmp4/box.ts';
import { parsePrivatePlaylist } from '../transcode/hls-playlist.ts';
import { BoxRewriter, boxesOf, ofTrack } from './boxes.ts';

/** Folders of one rendition's video and of the audio, without a trailing slash. */
export interface JoinedInput {
  video: string;
  audio: string | null;
  durationSec: number;
}

interface Piece {
  key: string;
  sizeBytes: number;
  trackId: number;
  startSec: number;
}

/**
 * Fragmented MP4 (ISO/IEC 14496-12 8.8) of the segments of a rendition and of its audio, which is generated
 * while it is read: nothing of it is stored. Each segment keeps its length, so that any range of it can be
 * sent.
 */
export interface JoinedMp4 {
  sizeBytes: number;
  /** Approximate memory of the segment table. */
  tableBytes: number;
  /** ETag without quotes. */
  etag: string;
  /** @param end inclusive. */
  read(start: number, end: number): Readable;
}

const VIDEO_TRACK = 1;
const AUDIO_TRACK = 2;
const PIECE_BYTES = 200;

/** @returns null when the files are not there. */
export async function joinMp4(store: BlobStore, input: JoinedInput): Promise<JoinedMp4 | null> {
  const { video, audio, durationSec } = input;
  const [pictures, sound] = await Promise.all([
    readTrack(store, video, VIDEO_TRACK),
    audio === null ? null : readTrack(store, audio, AUDIO_TRACK),
  ]);
  if (pictures === null || (audio !== null && sound === null)) return null;
  const head = joinInits(pictures.init, sound?.init ?? null, durationSec);
  const pieces = [...pictures.pieces, ...(sound?.pieces ?? [])].toSorted((a, b) => a.startSec - b.startSec);
  const sizeBytes = pieces.reduce((sum, piece) => sum + piece.sizeBytes, head.length);
  const etag = createHash('sha1').update(`${video} ${audio} ${sizeBytes}`).digest('base64url');
  return {
    sizeBytes,
    tableBytes: head.length + pieces.length * PIECE_BYTES,
    etag,
    read: (start, end) => Readable.from(readPieces(store, head, pieces, { start, end })),
  };
}

async function readTrack(store: BlobStore, folder: string, trackId: number) {
  const [init, index] = await Promise.all([
    store.read(`${folder}/init.mp4`),
    store.read(`${folder}/index.m3u8`),
  ]);
  if (init === null || index === null) return null;
  const stored = new Map<string, BlobInfo>();
  for await (const info of store.list(`${folder}/`)) stored.set(info.key, info);
  const pieces: Piece[] = [];
  let startSec = 0;
  for (const { file, durationSec } of parsePrivatePlaylist(index.toString('utf8')).segments) {
    const info = stored.get(`${folder}/${file}`);
    if (info === undefined) return null;
    pieces.push({ key: info.key, sizeBytes: info.sizeBytes, trackId, startSec });
    startSec += durationSec;
  }
  return { init, pieces };
}

/** Builds a header from the first one, with the track of the second added, and the total duration. */
function joinInits(video: Buffer, audio: Buffer | null, durationSec: number): Buffer {
  const tracks = [partsOf(video, VIDEO_TRACK), ...(audio === null ? [] : [partsOf(audio, AUDIO_TRACK)])];
  const header = Buffer.from(tracks[0]?.mvhd ?? []);
  const timescale = header.readUInt32BE(header[8] === 0 ? 20 : 28);
  // The number of the next track is the last of the header.
  header.writeUInt32BE(tracks.length + 1, header.length - 4);
  const lasts = fullBox('mehd', 0, 0, u32(Math.round(durationSec * timescale)));
  const moov = box(
    'moov',
    header,
    ...tracks.map(({ trak }) => trak),
    box('mvex', lasts, ...tracks.map(({ trex }) => trex)),
  );
  return Buffer.concat([tracks[0]?.ftyp ?? Buffer.alloc(0), moov]);
}

function partsOf(init: Buffer, trackId: number) {
  const whole = ofTrack(init, { trackId });
  const find = (inside: Buffer, type: string) => {
    const found = boxesOf(inside).find((one) => one.type === type);
    if (found === undefined) throw new Error(`an init segment has no ${type}`);
    return found;
  };
  const moov = find(whole, 'moov').content;
  return {
    ftyp: find(whole, 'ftyp').bytes,
    mvhd: find(moov, 'mvhd').bytes,
    trak: find(moov, 'trak').bytes,
    trex: find(find(moov, 'mvex').content, 'trex').bytes,
  };
}

async function* readPieces(
  store: BlobStore,
  head: Buffer,
  pieces: readonly Piece[],
  { start, end }: { start: number; end: number },
): AsyncGenerator<Buffer> {
  if (start < head.length) yield head.subarray(start, end + 1);
  let at = head.length;
  for (const [index, piece] of pieces.entries()) {
    const from = Math.max(0, start - at);
    const to = Math.min(piece.sizeBytes, end + 1 - at);
    at += piece.sizeBytes;
    if (from >= piece.sizeBytes) continue;
    if (to <= 0) return;
    yield* cut(rewritten(store, piece, index + 1), from, to);
  }
}

async function* rewritten(store: BlobStore, piece: Piece, sequence: number): AsyncGenerator<Buffer> {
  const found = await store.open(piece.key);
  if (found === null) throw new Error(`${piece.key} was removed while it was sent`);
  const boxes = new BoxRewriter({ trackId: piece.trackId, sequence });
  for await (const chunk of found.body) {
    yield* boxes.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  }
  yield boxes.rest();
}

/** Yields the bytes from `from` up to (excluding) `to`; the source is closed after them. */
async function* cut(source: AsyncIterable<Buffer>, from: number, to: number): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const chunk of source) {
    const part = chunk.subarray(Math.max(0, from - at), Math.max(0, to - at));
    if (part.length > 0) yield part;
    at += chunk.length;
    if (at >= to) return;
  }
}
