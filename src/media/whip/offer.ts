import { parseSdp } from '../protocols/sdp/parse.ts';
import {
  attributeOf,
  codecsOf,
  isRejected,
  type SdpAttribute,
  type SdpCodec,
  type SdpDirection,
  SdpError,
  type SdpMedia,
  type SessionDescription,
} from '../protocols/sdp/session-description.ts';
import { knownCodecs } from '../rooms/janus/janus-sdp.ts';

/** Error for an offer that cannot be answered; its message is for the sender. */
export class InvalidOfferError extends Error {
  override name = 'InvalidOfferError';
}

/** A session description (RFC 8866), as a client of WHIP or WHEP offers it. */
export interface Offer {
  attributes: readonly SdpAttribute[];
  media: readonly OfferedMedia[];
}

/** One section of a session description that sends or receives audio or video. */
export interface OfferedMedia {
  kind: 'audio' | 'video';
  mid: string;
  /** Codecs supported for publishing and playback, and their retransmission, by preference. */
  codecs: readonly SdpCodec[];
  direction: SdpDirection;
  /** The video is sent in several sizes (RFC 8853). */
  isSimulcast: boolean;
  /** All of it. */
  section: SdpMedia;
}

const CODECS = ['H264', 'OPUS'];
const MAX_MID = 255;
/** Maximum length that Janus stores of a layer's name. */
const MAX_RID = 15;
/** URI of the extension that names the section of each packet (RFC 9143, section 15). */
export const MID_EXTENSION = 'urn:ietf:params:rtp-hdrext:sdes:mid';
/** Janus knows no longer mid in a packet. */
const JANUS_MID = 15;

/**
 * Parses the offer of a WHIP or WHEP client: audio and video, at most one of each, over one transport.
 *
 * @throws {InvalidOfferError}
 */
export function readOffer(sdp: string): Offer {
  const { attributes, media: sections } = parse(sdp);
  const [first] = sections;
  if (first === undefined) throw new InvalidOfferError('The offer has neither audio nor video.');
  assertTransport([...first.attributes, ...attributes]);
  const media = sections.map(mediaOf);
  for (const kind of ['audio', 'video'] as const) {
    if (media.filter((one) => one.kind === kind).length > 1)
      throw new InvalidOfferError(`The offer has more than one ${kind} section.`);
  }
  if (new Set(media.map(({ mid }) => mid)).size < media.length)
    throw new InvalidOfferError('Each section of the offer must have a unique `a=mid`.');
  if (media.length > 1 && !isBundled(attributes, media))
    throw new InvalidOfferError(
      'Audio and video must share one transport: the offer needs `a=group:BUNDLE` with both.',
    );
  return { attributes, media };
}

function parse(sdp: string): SessionDescription {
  try {
    return parseSdp(sdp);
  } catch (error) {
    if (error instanceof SdpError) throw new InvalidOfferError(error.message);
    throw error;
  }
}

/** All over one transport (RFC 9143). */
export function isBundled(session: readonly SdpAttribute[], media: readonly OfferedMedia[]): boolean {
  const group = session.find(({ name, value }) => name === 'group' && value.startsWith('BUNDLE '));
  const mids = group?.value.split(' ') ?? [];
  return media.every(({ mid }) => mids.includes(mid));
}

/** Checks the transport: ICE (RFC 8839) and DTLS (RFC 8842). */
function assertTransport(attributes: readonly SdpAttribute[]): void {
  const isReachable = /^[\w+/=-]{4,256}$/.test(attributeOf(attributes, 'ice-ufrag') ?? '');
  if (!isReachable || !/^[\w+/=-]{22,256}$/.test(attributeOf(attributes, 'ice-pwd') ?? ''))
    throw new InvalidOfferError('The offer has no `a=ice-ufrag` and `a=ice-pwd`.');
  const isKnown = ({ name, value }: SdpAttribute) =>
    name === 'fingerprint' && /^sha-(?:256|1) [0-9A-F:]{2,200}$/i.test(value);
  if (!attributes.some(isKnown))
    throw new InvalidOfferError('The offer has no `a=fingerprint` with SHA-256.');
  // Neither side would begin: RFC 9725, section 4.4.5.
  if (attributeOf(attributes, 'ice-lite') !== undefined)
    throw new InvalidOfferError(
      '`a=ice-lite` clients are not supported: the client must connect to the server.',
    );
}

function mediaOf(section: SdpMedia): OfferedMedia {
  const { kind, protocol, attributes } = section;
  if ((kind !== 'audio' && kind !== 'video') || protocol !== 'UDP/TLS/RTP/SAVPF')
    throw new InvalidOfferError('Each section of the offer must be audio or video over UDP/TLS/RTP/SAVPF.');
  if (isRejected(section))
    throw new InvalidOfferError(`The ${kind} section of the offer is disabled: its port is 0.`);
  const mid = attributeOf(attributes, 'mid') ?? '';
  if (!/^[!-~]+$/.test(mid) || mid.length > MAX_MID)
    throw new InvalidOfferError(
      `Each section of the offer must have an \`a=mid\` of 1 to ${MAX_MID} characters.`,
    );
  const codecs = knownCodecs(codecsOf(section), CODECS);
  const direction = section.direction ?? 'sendrecv';
  const isSimulcast = attributeOf(attributes, 'simulcast') !== undefined;
  return { kind, mid, codecs, direction, isSimulcast, section };
}

/** Janus would not take these mids. */
export function hasLongMids(media: readonly OfferedMedia[]): boolean {
  return media.some(({ mid }) => mid.length > JANUS_MID);
}

/**
 * Checks that a WHIP client may publish the offer: H.264 and Opus are accepted without re-encoding.
 *
 * @throws {InvalidOfferError}
 */
export function assertPublishable({ media }: Offer): void {
  for (const { kind, codecs, direction, section } of media) {
    const { attributes } = section;
    if (direction === 'recvonly' || direction === 'inactive')
      throw new InvalidOfferError(`The ${kind} section of the offer must send media, but is a=${direction}.`);
    if (kind === 'video' && !codecs.some(isTakenPicture))
      throw new InvalidOfferError(
        'Video must be H.264 with packetization-mode=1, which the offer does not include. Set the encoder to H.264.',
      );
    if (kind === 'audio' && !codecs.some(({ name }) => name === 'OPUS'))
      throw new InvalidOfferError('Audio must be Opus (opus/48000/2), which the offer does not include.');
    const hasExtension = attributes.some(isMidExtension);
    const isTold = attributes.some(({ name, value }) => name === 'ssrc' && /^\d+ /.test(value));
    if (!isTold && (!hasExtension || hasLongMids(media)))
      throw new InvalidOfferError(
        `The ${kind} section cannot be identified: it needs an \`a=ssrc\`, or the extension ${MID_EXTENSION} and an \`a=mid\` of at most ${JANUS_MID} characters.`,
      );
    const rids = attributes.flatMap(({ name, value }) =>
      name === 'rid' ? (/^(\S+) send/.exec(value)?.[1] ?? []) : [],
    );
    if (rids.some((rid) => rid.length > MAX_RID))
      throw new InvalidOfferError(`\`a=rid\` must have at most ${MAX_RID} characters.`);
  }
}

export const isMidExtension = ({ name, value }: SdpAttribute) =>
  name === 'extmap' && value.endsWith(` ${MID_EXTENSION}`);

const isTakenPicture = ({ name, parameters }: SdpCodec) =>
  name === 'H264' && !parameters.includes('packetization-mode=0');
