import type { RoomPermissions, RoomTrackKind } from '../engine.ts';

const KINDS = { MICROPHONE: 'AUDIO', CAMERA: 'VIDEO', SCREEN: 'SCREEN' } as const;

/** Source of a browser's media. A screen may have video and audio, the others have one stream each. */
export type Source = keyof typeof KINDS;

export function isSource(value: unknown): value is Source {
  return typeof value === 'string' && Object.hasOwn(KINDS, value);
}

export const kindOf = (source: Source): RoomTrackKind => KINDS[source];

/** RTP header extension with the audio level of a packet (RFC 6464). */
export const LEVEL_EXTENSION = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level';

/** Description that Janus stores with a stream. */
export interface Description {
  source: Source;
  identity: string;
  /** ID of the RTP header extension with the audio level; null without one. */
  levelId: number | null;
}

const DESCRIPTION = /^([A-Z]+)(?:\/(\d{1,3}))?:(.*)$/s;

/**
 * Encodes the description that Janus stores with a stream, sends to its receivers and writes into recordings,
 * because it does not record the IDs of audio extensions.
 */
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

/** Stream as listed by Janus. */
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
