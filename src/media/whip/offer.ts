/** An offer that cannot be answered; the words are for whoever has sent it. */
export class BadOffer extends Error {
  override name = 'BadOffer';
}

/** A session description (RFC 8866), as a client of WHIP or WHEP offers it. */
export interface Offer {
  /** The lines before the first section. */
  session: readonly string[];
  media: readonly OfferedMedia[];
}

/** One section of a session description that sends or receives sound or pictures. */
export interface OfferedMedia {
  kind: 'audio' | 'video';
  mid: string;
  /** Those that stand in the first line, by preference. */
  codecs: readonly OfferedCodec[];
  direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
  /** The same pictures come in several sizes at once (RFC 8853). */
  isSimulcast: boolean;
  /** All of it, as it came. */
  lines: readonly string[];
}

export interface OfferedCodec {
  payloadType: number;
  /** Upper case, such as `H264`. */
  name: string;
  /** Its parameters as they stand in `a=fmtp`; empty where it has none. */
  parameters: string;
}

const MAX_LINES = 2000;
const MAX_PARAMETERS = 400;
const MAX_MID = 255;
/** Janus keeps no more of the name of a size. */
const MAX_RID = 15;
const DIRECTIONS = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const;
const OPUS = 'OPUS/48000/2';
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
  if (!sdp.startsWith('v=0')) throw new BadOffer('This is no session description: it begins with "v=0".');
  const lines = sdp.split(/\r\n|\r|\n/, MAX_LINES + 1).map((line) => line.trim());
  if (lines.length > MAX_LINES) throw new BadOffer(`The offer has more than ${MAX_LINES} lines.`);
  const [session = [], ...sections] = split(lines);
  const [first] = sections;
  if (first === undefined) throw new BadOffer('The offer has neither sound nor pictures.');
  assertTransport([...first, ...session]);
  const media = sections.map(mediaOf);
  for (const kind of ['audio', 'video'] as const) {
    if (media.filter((one) => one.kind === kind).length > 1)
      throw new BadOffer(`The offer has more than one ${kind} section.`);
  }
  if (new Set(media.map(({ mid }) => mid)).size < media.length)
    throw new BadOffer('Each section of the offer needs an `a=mid` of its own.');
  if (media.length > 1 && !isBundled(session, media))
    throw new BadOffer(
      'Sound and pictures come over one transport: the offer needs `a=group:BUNDLE` with both.',
    );
  return { session, media };
}

/** All over one transport (RFC 9143). */
export function isBundled(session: readonly string[], media: readonly OfferedMedia[]): boolean {
  const group = attributeOf(session, 'group:BUNDLE ').split(' ');
  return media.every(({ mid }) => group.includes(mid));
}

/** How the other side is reached and known: ICE (RFC 8839) and DTLS (RFC 8842). */
function assertTransport(lines: readonly string[]): void {
  const isReachable = /^[\w+/=-]{4,256}$/.test(attributeOf(lines, 'ice-ufrag:'));
  if (!isReachable || !/^[\w+/=-]{22,256}$/.test(attributeOf(lines, 'ice-pwd:')))
    throw new BadOffer('The offer has no `a=ice-ufrag` and `a=ice-pwd`.');
  if (!lines.some((line) => /^a=fingerprint:sha-(?:256|1) [0-9A-F:]{2,200}$/i.test(line)))
    throw new BadOffer('The offer has no `a=fingerprint` by SHA-256.');
  // Neither side would begin: RFC 9725, section 4.4.5.
  if (lines.includes('a=ice-lite'))
    throw new BadOffer('A client that is `a=ice-lite` is not reached: it has to look for the server.');
}

function split(lines: readonly string[]): string[][] {
  const found: string[][] = [[]];
  for (const line of lines) {
    if (line.startsWith('m=')) found.push([]);
    found.at(-1)?.push(line);
  }
  return found;
}

function mediaOf(lines: string[]): OfferedMedia {
  const [, kind, port, types = ''] =
    /^m=(audio|video) (\d+) UDP\/TLS\/RTP\/SAVPF ([\d ]+)$/.exec(lines[0] ?? '') ?? [];
  if (kind !== 'audio' && kind !== 'video')
    throw new BadOffer('Each section of the offer is audio or video, by UDP/TLS/RTP/SAVPF.');
  if (Number(port) === 0 && !lines.includes('a=bundle-only'))
    throw new BadOffer(`The ${kind} section of the offer is switched off: it has port 0.`);
  const mid = attributeOf(lines, 'mid:');
  if (!/^[!-~]+$/.test(mid) || mid.length > MAX_MID)
    throw new BadOffer(`Each section of the offer needs an \`a=mid\` of 1 to ${MAX_MID} characters.`);
  // Each is looked for in all lines, and a line may have thousands.
  const payloadTypes = new Set(types.split(' ').flatMap((text) => (text === '' ? [] : Number(text))));
  const codecs = [...payloadTypes].flatMap((payloadType): OfferedCodec[] => {
    if (payloadType > 127) return [];
    const encoding = attributeOf(lines, `rtpmap:${payloadType} `).toUpperCase();
    const [, name] = /^([\w.-]{1,40})\//.exec(encoding) ?? [];
    if (name === undefined) return [];
    if (name === 'OPUS' && encoding !== OPUS) return [];
    const parameters = attributeOf(lines, `fmtp:${payloadType} `).slice(0, MAX_PARAMETERS);
    return [{ payloadType, name, parameters }];
  });
  const direction = DIRECTIONS.find((one) => lines.includes(`a=${one}`)) ?? 'sendrecv';
  const isSimulcast = lines.some((line) => line.startsWith('a=simulcast:'));
  return { kind, mid, codecs, direction, isSimulcast, lines };
}

function attributeOf(lines: readonly string[], name: string): string {
  const start = `a=${name}`;
  return lines.find((line) => line.startsWith(start))?.slice(start.length) ?? '';
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
  for (const { kind, codecs, direction, lines } of media) {
    if (direction === 'recvonly' || direction === 'inactive')
      throw new BadOffer(`The ${kind} section of the offer sends nothing: it is a=${direction}.`);
    if (kind === 'video' && !codecs.some(isTakenPicture))
      throw new BadOffer(
        'Pictures are taken in H.264 alone, in several packets (packetization-mode=1), and the offer has none. Let the encoder send H.264.',
      );
    if (kind === 'audio' && !codecs.some(({ name }) => name === 'OPUS'))
      throw new BadOffer('Sound is taken in Opus alone (opus/48000/2), and the offer has none.');
    const hasExtension = lines.some((line) => line.endsWith(` ${MID_EXTENSION}`));
    const isTold = lines.some((line) => /^a=ssrc:\d+ /.test(line));
    if (!isTold && (!hasExtension || hasLongMids(media)))
      throw new BadOffer(
        `What is sent for the ${kind} section cannot be told from the rest: it needs an \`a=ssrc\`, or the extension ${MID_EXTENSION} and an \`a=mid\` of at most ${JANUS_MID} characters.`,
      );
    const rids = lines.flatMap((line) => /^a=rid:(\S+) send/.exec(line)?.[1] ?? []);
    if (rids.some((rid) => rid.length > MAX_RID))
      throw new BadOffer(`An \`a=rid\` has at most ${MAX_RID} characters.`);
  }
}

const isTakenPicture = ({ name, parameters }: OfferedCodec) =>
  name === 'H264' && !parameters.includes('packetization-mode=0');
