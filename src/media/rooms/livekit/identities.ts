import { createHash } from 'node:crypto';
import {
  type AccessTokenOptions,
  type ParticipantInfo,
  TrackSource,
  TrackType,
  type VideoGrant,
} from 'livekit-server-sdk';
import type { RoomPermissions, RoomTrack, RoomTrackKind } from '../engine.ts';
import type { Source } from '../janus/sources.ts';

/** Mapping of room participants to and from LiveKit. */

/** Attributes of a participant in LiveKit besides the identity; participants cannot change them. */
const ATTRIBUTES = { identity: 'identity', visit: 'visit', muted: 'muted' } as const;
/** Maximum identity length in bytes; LiveKit's own limit is 256. */
const MAX_BYTES = 200;
const DIGEST = 'sha256:';
/** Identity prefix reserved for our own hidden participants. */
export const HIDDEN_IDENTITY_PREFIX = 'marquee:';

/** Returns the LiveKit identity of a participant: unchanged when short, else a stable digest. */
export function nameOf(identity: string): string {
  const isTaken = identity.startsWith(DIGEST) || identity.startsWith(HIDDEN_IDENTITY_PREFIX);
  return Buffer.byteLength(identity) <= MAX_BYTES && !isTaken
    ? identity
    : DIGEST + createHash('sha256').update(identity).digest('base64url');
}

export function identityOf({
  identity,
  attributes,
}: Pick<ParticipantInfo, 'identity' | 'attributes'>): string {
  return attributes[ATTRIBUTES.identity] ?? identity;
}

/** Reports whether a participant is one of our own readers of a room, without a seat. */
export function isHiddenParticipant({ identity }: Pick<ParticipantInfo, 'identity'>): boolean {
  return identity.startsWith(HIDDEN_IDENTITY_PREFIX);
}

/** Returns the ID of the connection that a participant belongs to. */
export function visitOf({ attributes }: Pick<ParticipantInfo, 'attributes'>): string | undefined {
  return attributes[ATTRIBUTES.visit];
}

/** One connection of a participant, with the tracks that a host has muted. */
export interface ParticipantConnection {
  identity: string;
  visit: string;
  muted: ReadonlySet<RoomTrackKind>;
}

export function attributesOf({
  identity,
  visit,
  muted,
}: ParticipantConnection): NonNullable<AccessTokenOptions['attributes']> {
  return {
    ...(nameOf(identity) === identity ? {} : { [ATTRIBUTES.identity]: identity }),
    [ATTRIBUTES.visit]: visit,
    [ATTRIBUTES.muted]: [...muted].join(' '),
  };
}

const SOURCES: Record<RoomTrackKind, readonly TrackSource[]> = {
  AUDIO: [TrackSource.MICROPHONE],
  VIDEO: [TrackSource.CAMERA],
  SCREEN: [TrackSource.SCREEN_SHARE, TrackSource.SCREEN_SHARE_AUDIO],
};
const KINDS = ['AUDIO', 'VIDEO', 'SCREEN'] as const;

/**
 * Returns the LiveKit permissions of a participant. Muting `AUDIO` covers screen audio as well: browsers name
 * their own sources. Muted sources are removed from the allowed ones, because participants can undo LiveKit's
 * own muting. LiveKit's data channels are disabled: the gateway transports messages.
 */
export function livekitPermissions(permissions: RoomPermissions, muted: ReadonlySet<RoomTrackKind>) {
  const { canPublish, canScreenShare, canSubscribe } = permissions;
  const may = { AUDIO: canPublish, VIDEO: canPublish, SCREEN: canScreenShare };
  const canPublishSources = KINDS.filter((kind) => may[kind] && !muted.has(kind))
    .flatMap((kind) => SOURCES[kind])
    .filter((source) => source !== TrackSource.SCREEN_SHARE_AUDIO || !muted.has('AUDIO'));
  // LiveKit treats an empty list as every source.
  return {
    canPublish: canPublishSources.length > 0,
    canPublishSources,
    canSubscribe,
    canPublishData: false,
  } satisfies VideoGrant;
}

/** Returns the kinds that the server treats as muted by a host. */
function mutedOf({ attributes }: Pick<ParticipantInfo, 'attributes'>): string[] {
  return (attributes[ATTRIBUTES.muted] ?? '').split(' ').filter((kind) => kind !== '');
}

/**
 * Reports whether the server has the current permissions of a seat. A participant who joins with an older
 * token has those of that token.
 */
export function isUpToDate(
  info: Pick<ParticipantInfo, 'attributes' | 'permission'>,
  who: ParticipantConnection,
  permissions: RoomPermissions,
): boolean {
  const known = mutedOf(info);
  const isMutedSo = known.length === who.muted.size && [...who.muted].every((kind) => known.includes(kind));
  return (
    isMutedSo && visitOf(info) === who.visit && hasRights(info, livekitPermissions(permissions, who.muted))
  );
}

function hasRights(
  { permission }: Pick<ParticipantInfo, 'permission'>,
  rights: ReturnType<typeof livekitPermissions>,
): boolean {
  // The server always sends it.
  if (permission === undefined) return true;
  const { canPublish, canPublishSources: sources, canSubscribe, canPublishData } = permission;
  const wanted = rights.canPublishSources;
  return (
    canPublish === rights.canPublish &&
    canSubscribe === rights.canSubscribe &&
    canPublishData === rights.canPublishData &&
    sources.length === wanted.length &&
    wanted.every((source) => sources.includes(source))
  );
}

/** Returns the tracks of a participant; those muted by a host are listed although no media arrives. */
export function tracksOf(info: Pick<ParticipantInfo, 'tracks' | 'attributes'>): RoomTrack[] {
  const muted = mutedOf(info);
  return KINDS.flatMap((kind) => {
    if (muted.includes(kind)) return [{ kind, muted: true }];
    const own = info.tracks.filter(({ source }) => SOURCES[kind].includes(source));
    return own.length === 0 ? [] : [{ kind, muted: own.every((track) => track.muted) }];
  });
}

const NAMES: Partial<Record<TrackSource, { source: Source; type: TrackType }>> = {
  [TrackSource.MICROPHONE]: { source: 'MICROPHONE', type: TrackType.AUDIO },
  [TrackSource.CAMERA]: { source: 'CAMERA', type: TrackType.VIDEO },
  [TrackSource.SCREEN_SHARE]: { source: 'SCREEN', type: TrackType.VIDEO },
  [TrackSource.SCREEN_SHARE_AUDIO]: { source: 'SCREEN', type: TrackType.AUDIO },
};

/** Returns the tracks available for subscription. */
export function remoteTracksOf(info: Pick<ParticipantInfo, 'tracks'>): { sid: string; source: Source }[] {
  return info.tracks.flatMap(({ sid, type, source: given }) => {
    const known = NAMES[given];
    return known?.type === type ? [{ sid, source: known.source }] : [];
  });
}

/** Reports whether a track has the kind of another source, such as video from a microphone: LiveKit allows it, and no mute covers it. */
export function hasFalseTrack({ tracks }: Pick<ParticipantInfo, 'tracks'>): boolean {
  return tracks.some(({ type, source }) => {
    const known = NAMES[source];
    return known !== undefined && known.type !== type;
  });
}
