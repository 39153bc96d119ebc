import { parseSdp, type SdpLimits } from '../../protocols/sdp/parse.ts';
import {
  attributeOf,
  codecsOf,
  isReceiving,
  isSending,
  type SdpAttribute,
  type SdpMedia,
} from '../../protocols/sdp/session-description.ts';
import { InvalidSignalError, type RoomPeer, type RoomPermissions } from '../engine.ts';
import { type JanusSection, knownCodecs, writeForJanus } from './janus-sdp.ts';
import { describe, isPermitted, isSource, LEVEL_EXTENSION, type Source } from './sources.ts';

/** Offer to publish in a room, as sent to Janus. */
export interface RoomOffer {
  sdp: string;
  /** Kind and mid of each section, in their order. */
  sections: readonly string[];
  /** Descriptions that Janus stores with each stream. */
  descriptions: readonly { mid: string; description: string }[];
}

/** Permitted mids: Janus truncates longer ones in packets. */
const MID = /^[!-~]{1,15}$/;
const CODECS = { audio: ['OPUS'], video: ['VP8'] };
/** An answer has a section for each stream in the room: up to four for each of 100 participants. */
const ANSWER_LIMITS: SdpLimits = { maxBytes: 240 * 1024, maxLines: 12_000, maxSections: 400 };

/**
 * Reads an offer to publish.
 *
 * @param named source of each section that sends: `{<mid>: <source>}`.
 * @param former sections of the previous offer, which keep their position, kind and mid.
 * @throws {InvalidSignalError} when a section has no source, the source of another section, or one that is not permitted.
 * @throws {SdpError}
 */
export function readRoomOffer(
  sdp: unknown,
  named: unknown,
  { identity, permissions }: Pick<RoomPeer, 'identity' | 'permissions'>,
  former: readonly string[],
): RoomOffer {
  const { attributes, media } = parseSdp(textOf(sdp));
  const mids = midsOf(media);
  const sections = media.map(({ kind }, index) => `${kind} ${mids[index]}`);
  if (former.some((section, index) => section !== sections[index]))
    throw new InvalidSignalError(
      'An offer must keep the sections of the previous one, with their kind and `a=mid`.',
    );
  const sources = sourcesOf(media, mids, named, permissions);
  const levelOf = (mid: string) => levelIdOf(media[mids.indexOf(mid)]?.attributes ?? []);
  return {
    sdp: writeForJanus(
      attributes,
      media.map((section, index) => sectionFor(section, mids[index] ?? '', 'sendonly')),
    ),
    sections,
    descriptions: [...sources].map(([mid, source]) => ({
      mid,
      description: describe({ source, identity, levelId: levelOf(mid) }),
    })),
  };
}

/**
 * Reads the answer of a receiver, as Janus gets it: no section sends.
 *
 * @throws {InvalidSignalError}
 * @throws {SdpError}
 */
export function readRoomAnswer(sdp: unknown): string {
  const { attributes, media } = parseSdp(textOf(sdp), ANSWER_LIMITS);
  const mids = midsOf(media);
  const sections = media.map((section, index) => sectionFor(section, mids[index] ?? '', 'recvonly'));
  return writeForJanus(attributes, sections);
}

function textOf(sdp: unknown): string {
  if (typeof sdp !== 'string') throw new InvalidSignalError('`sdp` must be a session description.');
  return sdp;
}

/** Returns the mid of each section. Janus compares them case-insensitively. */
function midsOf(media: readonly SdpMedia[]): string[] {
  const mids = media.map(({ kind, attributes }) => {
    if (kind !== 'audio' && kind !== 'video')
      throw new InvalidSignalError('A section must be audio or video.');
    const mid = attributeOf(attributes, 'mid') ?? '';
    if (!MID.test(mid))
      throw new InvalidSignalError('Each section must have an `a=mid` of 1 to 15 characters.');
    return mid;
  });
  if (new Set(mids.map((mid) => mid.toLowerCase())).size < mids.length)
    throw new InvalidSignalError('Each section must have a unique `a=mid`.');
  return mids;
}

function sourcesOf(
  media: readonly SdpMedia[],
  mids: readonly string[],
  named: unknown,
  may: RoomPermissions,
): Map<string, Source> {
  const names = new Map(Object.entries(typeof named === 'object' && named !== null ? named : {}));
  const sources = new Map<string, Source>();
  const seen = new Set<string>();
  for (const [index, section] of media.entries()) {
    if (!isSending(section)) continue;
    const mid = mids[index] ?? '';
    const source = names.get(mid);
    if (!isSource(source))
      throw new InvalidSignalError(`\`sources\` must name the source of the section ${mid}.`);
    const isFit = source === 'SCREEN' || (section.kind === 'audio') === (source === 'MICROPHONE');
    if (!isFit || seen.has(`${source} ${section.kind}`))
      throw new InvalidSignalError(`The section ${mid} cannot be ${source}.`);
    if (!isPermitted(source, may))
      throw new InvalidSignalError(`You are not allowed to send ${source} to this room.`);
    if (codecsFor(section).length === 0)
      throw new InvalidSignalError(`The section ${mid} must offer VP8 or Opus.`);
    seen.add(`${source} ${section.kind}`);
    sources.set(mid, source);
  }
  return sources;
}

/** @param direction direction of an active section. */
function sectionFor(media: SdpMedia, mid: string, direction: 'sendonly' | 'recvonly'): JanusSection {
  const isActive = direction === 'sendonly' ? isSending(media) : isReceiving(media);
  return {
    media: { ...media, direction: isActive ? direction : 'inactive' },
    mid,
    codecs: codecsFor(media),
  };
}

const codecsFor = (media: SdpMedia) =>
  knownCodecs(codecsOf(media), media.kind === 'audio' ? CODECS.audio : CODECS.video);

/** Returns the ID of the audio level extension; null without one. */
function levelIdOf(attributes: readonly SdpAttribute[]): number | null {
  for (const { name, value } of attributes) {
    const [, id, uri] = name === 'extmap' ? (/^(\d{1,3})(?:\/\w+)? (\S+)/.exec(value) ?? []) : [];
    if (uri === LEVEL_EXTENSION) return Number(id);
  }
  return null;
}
