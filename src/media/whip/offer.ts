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

/** An offer that cannot be answered; the words are for whoever has sent it. */
export class BadOffer extends Error {
  override name = 'BadOffer';
}

/** A session description (RFC 8866), as a client of WHIP or WHEP offers it. */
export interface Offer {
  attributes: readonly SdpAttribute[];
  media: readonly OfferedMedia[];
}

/** One section of a session description that sends or receives sound or pictures. */
export interface OfferedMedia {
  kind: 'audio' | 'video';
  mid: string;
  /** Those that are published and watched, and retransmission of them, by preference. */
  codecs: readonly SdpCodec[];
  direction: SdpDirection;
  /** The same pictures come in several sizes at once (RFC 8853). */
  isSimulcast: boolean;
  /** All of it. */
  section: SdpMedia;
}

const CODECS = ['H264', 'OPUS'];
const MAX_MID = 255;
/** Janus keeps no more of the name of a size. */
const MAX_RID = 15;
/** Says in each packet which section it belongs to (RFC 9143, section 15). */
export const MID_EXTENSION = 'urn:ietf:params:rtp-hdrext:sdes:mid';
/** Janus knows no longer mid in a packet. */
const JANUS_MID = 15;

/**
 * Reads what a client of WHIP or WHEP offers: sound and pictures, at most one of each, over one transport.
 *
 * @throws {BadOffer}
 */
export function readOffer(sdp: string): Offer {
  const { attributes, media: sections } = parse(sdp);
  const [first] = sections;
  if (first === undefined) throw new BadOffer('The offer has neither sound nor pictures.');
  assertTransport([...first.attributes, ...attributes]);
  const media = sections.map(mediaOf);
  for (const kind of ['audio', 'video'] as const) {
    if (media.filter((one) => one.kind === kind).length > 1)
      throw new BadOffer(`The offer has more than one ${kind} section.`);
  }
  if (new Set(media.map(({ mid }) => mid)).size < media.length)
    throw new BadOffer('Each section of the offer needs an `a=mid` of its own.');
  if (media.length > 1 && !isBundled(attributes, media))
    throw new BadOffer(
      'Sound and pictures come over one transport: the offer needs `a=group:BUNDLE` with both.',
    );
  return { attributes, media };
}

function parse(sdp: string): SessionDescription {
  try {
    return parseSdp(sdp);
  } catch (error) {
    if (error instanceof SdpError) throw new BadOffer(error.message);
    throw error;
  }
}

/** All over one transport (RFC 9143). */
export function isBundled(session: readonly SdpAttribute[], media: readonly OfferedMedia[]): boolean {
  const group = session.find(({ name, value }) => name === 'group' && value.startsWith('BUNDLE '));
  const mids = group?.value.split(' ') ?? [];
  return media.every(({ mid }) => mids.includes(mid));
}

/** How the other side is reached and known: ICE (RFC 8839) and DTLS (RFC 8842). */
function assertTransport(attributes: readonly SdpAttribute[]): void {
  const isReachable = /^[\w+/=-]{4,256}$/.test(attributeOf(attributes, 'ice-ufrag') ?? '');
  if (!isReachable || !/^[\w+/=-]{22,256}$/.test(attributeOf(attributes, 'ice-pwd') ?? ''))
    throw new BadOffer('The offer has no `a=ice-ufrag` and `a=ice-pwd`.');
  const isKnown = ({ name, value }: SdpAttribute) =>
    name === 'fingerprint' && /^sha-(?:256|1) [0-9A-F:]{2,200}$/i.test(value);
  if (!attributes.some(isKnown)) throw new BadOffer('The offer has no `a=fingerprint` by SHA-256.');
  // Neither side would begin: RFC 9725, section 4.4.5.
  if (attributeOf(attributes, 'ice-lite') !== undefined)
    throw new BadOffer('A client that is `a=ice-lite` is not reached: it has to look for the server.');
}

function mediaOf(section: SdpMedia): OfferedMedia {
  const { kind, protocol, attributes } = section;
  if ((kind !== 'audio' && kind !== 'video') || protocol !== 'UDP/TLS/RTP/SAVPF')
    throw new BadOffer('Each section of the offer is audio or video, by UDP/TLS/RTP/SAVPF.');
  if (isRejected(section))
    throw new BadOffer(`The ${kind} section of the offer is switched off: it has port 0.`);
  const mid = attributeOf(attributes, 'mid') ?? '';
  if (!/^[!-~]+$/.test(mid) || mid.length > MAX_MID)
    throw new BadOffer(`Each section of the offer needs an \`a=mid\` of 1 to ${MAX_MID} characters.`);
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
 * What a client of WHIP may publish: H.264 and Opus are taken as they come, and nothing is coded anew.
 *
 * @throws {BadOffer}
 */
export function assertPublishable({ media }: Offer): void {
  for (const { kind, codecs, direction, section } of media) {
    const { attributes } = section;
    if (direction === 'recvonly' || direction === 'inactive')
      throw new BadOffer(`The ${kind} section of the offer sends nothing: it is a=${direction}.`);
    if (kind === 'video' && !codecs.some(isTakenPicture))
      throw new BadOffer(
        'Pictures are taken in H.264 alone, in several packets (packetization-mode=1), and the offer has none. Let the encoder send H.264.',
      );
    if (kind === 'audio' && !codecs.some(({ name }) => name === 'OPUS'))
      throw new BadOffer('Sound is taken in Opus alone (opus/48000/2), and the offer has none.');
    const hasExtension = attributes.some(isMidExtension);
    const isTold = attributes.some(({ name, value }) => name === 'ssrc' && /^\d+ /.test(value));
    if (!isTold && (!hasExtension || hasLongMids(media)))
      throw new BadOffer(
        `What is sent for the ${kind} section cannot be told from the rest: it needs an \`a=ssrc\`, or the extension ${MID_EXTENSION} and an \`a=mid\` of at most ${JANUS_MID} characters.`,
      );
    const rids = attributes.flatMap(({ name, value }) =>
      name === 'rid' ? (/^(\S+) send/.exec(value)?.[1] ?? []) : [],
    );
    if (rids.some((rid) => rid.length > MAX_RID))
      throw new BadOffer(`An \`a=rid\` has at most ${MAX_RID} characters.`);
  }
}

export const isMidExtension = ({ name, value }: SdpAttribute) =>
  name === 'extmap' && value.endsWith(` ${MID_EXTENSION}`);

const isTakenPicture = ({ name, parameters }: SdpCodec) =>
  name === 'H264' && !parameters.includes('packetization-mode=0');
