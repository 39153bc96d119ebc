import type { RoomPermissions, RoomTrackKind } from '../engine.ts';

const KINDS = { MICROPHONE: 'AUDIO', CAMERA: 'VIDEO', SCREEN: 'SCREEN' } as const;

/** What a browser sends. A screen may have a picture and sound, the others have one stream each. */
export type Source = keyof typeof KINDS;

export function isSource(value: unknown): value is Source {
  return typeof value === 'string' && Object.hasOwn(KINDS, value);
}

export const kindOf = (source: Source): RoomTrackKind => KINDS[source];

/** The RTP header extension that says how loud a packet is (RFC 6464). */
export const LEVEL_EXTENSION = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level';

/** What Janus keeps with a stream. */
export interface Description {
  source: Source;
  identity: string;
  /** By which id of RTP header extensions the packets say how loud they are; null where they do not. */
  levelId: number | null;
}

const DESCRIPTION = /^([A-Z]+)(?:\/(\d{1,3}))?:(.*)$/s;

/** What Janus keeps with a stream, tells its receivers and writes into recordings; it does not write the ids of extensions of sound. */
export function describe({ source, identity, levelId }: Description): string {
  return `${source}${levelId === null ? '' : `/${levelId}`}:${identity}`;
}

export function readDescription(text: unknown): Description | null {
  const [, source, levelId, identity = ''] = typeof text === 'string' ? (DESCRIPTION.exec(text) ?? []) : [];
  if (!isSource(source)) return null;
  return { source, identity, levelId: levelId === undefined ? null : Number(levelId) };
}

export function isPermitted(source: Source, { canPublish, canScreenShare }: RoomPermissions): boolean {
  return canPublish && (source !== 'SCREEN' || canScreenShare);
}

/** A stream as Janus lists it. */
export interface StreamInfo {
  isAudio: boolean;
  /** Null when it is unknown. */
  source: Source | null;
}

/** Reports whether a host's mutes cover a stream. `AUDIO` covers screen audio as well: browsers name their own sources. */
export function isMuted({ isAudio, source }: StreamInfo, muted: ReadonlySet<RoomTrackKind>): boolean {
  if (isAudio && muted.has('AUDIO')) return true;
  if (source !== null) return muted.has(kindOf(source));
  return muted.has('SCREEN') || (!isAudio && muted.has('VIDEO'));
}
