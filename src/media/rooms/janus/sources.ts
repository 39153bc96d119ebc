import type { RoomPermissions, RoomTrackKind } from '../engine.ts';
import { BadSignal } from '../engine.ts';

const KINDS = { MICROPHONE: 'AUDIO', CAMERA: 'VIDEO', SCREEN: 'SCREEN' } as const;

/** What a browser sends. A screen may have a picture and sound, the others have one stream each. */
export type Source = keyof typeof KINDS;

export function isSource(value: unknown): value is Source {
  return typeof value === 'string' && Object.hasOwn(KINDS, value);
}

export const kindOf = (source: Source): RoomTrackKind => KINDS[source];

/** What Janus keeps with a stream, tells its receivers and writes into recordings. */
export const describe = (source: Source, identity: string) => `${source}:${identity}`;

export function readDescription(text: unknown): { source: Source; identity: string } | null {
  if (typeof text !== 'string') return null;
  const end = text.indexOf(':');
  const source = text.slice(0, end);
  return isSource(source) ? { source, identity: text.slice(end + 1) } : null;
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
