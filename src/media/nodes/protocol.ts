import { Type } from 'typebox';
import { compileSchema } from '../../platform/schema-validator.ts';
import type { SegmentLocation } from './live-source.ts';

/**
 * Protocol between nodes for live streams. `/live/<stream>/changes` is an endless response: a line of JSON
 * each time texts or the state of the broadcast have changed, or a second after the last one.
 */
const Frame = Type.Object({
  /** The frame contains all existing texts. */
  isWhole: Type.Optional(Type.Literal(true)),
  /** Texts by name; null for a removed one. */
  texts: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()])),
  /** Last state of the broadcast that the node has read; absent when it has read none. */
  isLive: Type.Optional(Type.Boolean()),
});

export const frameShape = compileSchema(Frame);

export const HEARTBEAT_MS = 1000;
/** When the file was last changed, in milliseconds since the Unix epoch. */
export const MTIME_HEADER = 'x-mtime-ms';

/** Kinds of requests to a media node, for its metrics and those of its clients. */
export type LiveRequestKind = 'changes' | 'part' | 'segment' | 'thumbnail';

export const changesPath = (streamId: string) => `/live/${streamId}/changes`;
export const thumbnailPath = (streamId: string) => `/live/${streamId}/thumbnail`;
export const filePath = ({ streamId, epoch, rung, file }: SegmentLocation) =>
  `/live/${streamId}/${epoch}/${rung}/${file}`;
export const partPath = (place: SegmentLocation, { offset, bytes }: { offset: number; bytes: number }) =>
  `${filePath(place)}?offset=${offset}&bytes=${bytes}`;

/** Request that a path stands for; null for an unknown path. */
export type NodeRequest =
  | { kind: 'changes'; streamId: string }
  | { kind: 'thumbnail'; streamId: string }
  | { kind: 'segment'; place: SegmentLocation }
  | { kind: 'part'; place: SegmentLocation; offset: number; bytes: number };

/** Larger is no part of anything. */
const PART_MAX_BYTES = 2 ** 27;

export function parsePath(text: string): NodeRequest | null {
  const [path = '', query] = text.split('?');
  const [empty, root, streamId = '', epoch = '', rung, file, ...rest] = path.split('/');
  if (empty !== '' || root !== 'live' || rest.length > 0) return null;
  if (rung === undefined) {
    const isKnown = query === undefined && (epoch === 'changes' || epoch === 'thumbnail');
    return isKnown ? { kind: epoch, streamId } : null;
  }
  if (file === undefined) return null;
  const place = { streamId, epoch, rung, file };
  if (query === undefined) return { kind: 'segment', place };
  const range = /^offset=(\d{1,12})&bytes=(\d{1,9})$/.exec(query);
  const [offset, bytes] = [Number(range?.[1]), Number(range?.[2])];
  return range === null || bytes > PART_MAX_BYTES ? null : { kind: 'part', place, offset, bytes };
}
