import type { RoomPermissions, RoomTrackKind } from '../engine.ts';
import { BadSignal } from '../engine.ts';

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

/** By the ids of the media sections of an offer, the id of the extension that says how loud packets are. */
export function readLevelIds(sdp: string): Map<string, number> {
  const ids = new Map<string, number>();
  for (const section of sdp.split(/^(?=m=)/m).slice(1)) {
    const mid = /^a=mid:(\S+)/m.exec(section)?.[1];
    const line = /^a=extmap:(\d{1,3})(?:\/\w+)? (\S+)/gm;
    const level = [...section.matchAll(line)].find(([, , name]) => name === LEVEL_EXTENSION);
    if (mid !== undefined && level !== undefined) ids.set(mid, Number(level[1]));
  }
  return ids;
}

const SDP_MAX = 200_000;

/** @throws {BadSignal} when it is no description of a session. */
export function readSdp(value: unknown): string {
  if (typeof value !== 'string' || value.length > SDP_MAX || !value.startsWith('v=0'))
    throw new BadSignal('A description has the text of a session description in `sdp`.');
  return value;
}

/**
 * What of an offer is which source, by the ids of its media sections.
 *
 * @param given `{<mid>: <source>}`
 * @throws {BadSignal} when a section sends what has no name, has the name of another, or is not permitted.
 */
export function readSources(sdp: string, given: unknown, may: RoomPermissions): Map<string, Source> {
  const names = new Map(Object.entries(typeof given === 'object' && given !== null ? given : {}));
  const sources = new Map<string, Source>();
  const seen = new Set<string>();
  for (const section of sdp.split(/^(?=m=)/m).slice(1)) {
    if (/^a=(?:recvonly|inactive)\s*$/m.test(section) || /^m=\w+ 0 /.test(section)) continue;
    const mid = /^a=mid:(\S+)/m.exec(section)?.[1] ?? '';
    const source = names.get(mid);
    if (!isSource(source)) throw new BadSignal(`\`sources\` says what the section ${mid} is.`);
    const isAudio = section.startsWith('m=audio');
    const isFit = source === 'SCREEN' || isAudio === (source === 'MICROPHONE');
    if (!isFit || seen.has(`${source} ${isAudio}`))
      throw new BadSignal(`The section ${mid} cannot be ${source}.`);
    if (!isPermitted(source, may)) throw new BadSignal(`You may not send ${source} into this room.`);
    seen.add(`${source} ${isAudio}`);
    sources.set(mid, source);
  }
  return sources;
}

export function isPermitted(source: Source, { canPublish, canScreenShare }: RoomPermissions): boolean {
  return canPublish && (source !== 'SCREEN' || canScreenShare);
}
