/** An offer that cannot be answered; the words are for whoever has sent it. */
export class BadOffer extends Error {
  override name = 'BadOffer';
}

/** One section of a session description (RFC 8866) that sends or receives sound or pictures. */
export interface OfferedMedia {
  kind: 'audio' | 'video';
  mid: string;
  /** Those that stand in the first line, by preference. */
  codecs: readonly OfferedCodec[];
  direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
  /** The same pictures come in several sizes at once (RFC 8853). */
  isSimulcast: boolean;
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
const DIRECTIONS = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const;

/**
 * Reads what a client of WHIP or WHEP offers: sound and pictures, at most one of each, over one transport.
 *
 * @throws {BadOffer}
 */
export function readOffer(sdp: string): OfferedMedia[] {
  if (!sdp.startsWith('v=0')) throw new BadOffer('This is no session description: it begins with "v=0".');
  const lines = sdp.split(/\r\n|\r|\n/, MAX_LINES).map((line) => line.trim());
  const [session = [], ...sections] = split(lines);
  if (sections.length === 0) throw new BadOffer('The offer has neither sound nor pictures.');
  assertTransport([...sections.flat(), ...session]);
  const media = sections.map(mediaOf);
  for (const kind of ['audio', 'video'] as const) {
    if (media.filter((one) => one.kind === kind).length > 1)
      throw new BadOffer(`The offer has more than one ${kind} section.`);
  }
  if (new Set(media.map(({ mid }) => mid)).size < media.length)
    throw new BadOffer('Each section of the offer needs an `a=mid` of its own.');
  return media;
}

/** How the other side is reached and known: ICE (RFC 8839) and DTLS (RFC 8842). */
function assertTransport(lines: readonly string[]): void {
  const isReachable = /^[\w+/=-]{4,256}$/.test(attributeOf(lines, 'ice-ufrag:'));
  if (!isReachable || !/^[\w+/=-]{22,256}$/.test(attributeOf(lines, 'ice-pwd:')))
    throw new BadOffer('The offer has no `a=ice-ufrag` and `a=ice-pwd`.');
  if (!/^[\w-]{1,20} [0-9A-Fa-f:]{2,200}$/.test(attributeOf(lines, 'fingerprint:')))
    throw new BadOffer('The offer has no `a=fingerprint`.');
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
  const [, kind, types = ''] =
    /^m=(audio|video) \d+ UDP\/TLS\/RTP\/SAVPF ([\d ]+)$/.exec(lines[0] ?? '') ?? [];
  if (kind !== 'audio' && kind !== 'video')
    throw new BadOffer('Each section of the offer is audio or video, by UDP/TLS/RTP/SAVPF.');
  const mid = attributeOf(lines, 'mid:');
  if (!/^[!-~]{1,64}$/.test(mid)) throw new BadOffer('Each section of the offer needs an `a=mid`.');
  const codecs = types.split(' ').flatMap((text): OfferedCodec[] => {
    const payloadType = Number(text);
    const [, name] = /^([\w.-]{1,40})\//.exec(attributeOf(lines, `rtpmap:${text} `)) ?? [];
    if (text === '' || payloadType > 127 || name === undefined) return [];
    const parameters = attributeOf(lines, `fmtp:${text} `).slice(0, MAX_PARAMETERS);
    return [{ payloadType, name: name.toUpperCase(), parameters }];
  });
  const direction = DIRECTIONS.find((one) => lines.includes(`a=${one}`)) ?? 'sendrecv';
  const isSimulcast = lines.some((line) => line.startsWith('a=simulcast:'));
  return { kind, mid, codecs, direction, isSimulcast };
}

function attributeOf(lines: readonly string[], name: string): string {
  return lines.find((line) => line.startsWith(`a=${name}`))?.slice(2 + name.length) ?? '';
}

/**
 * What a client of WHIP may publish: H.264 and Opus are taken as they come, and nothing is coded anew.
 *
 * @throws {BadOffer}
 */
export function assertPublishable(media: readonly OfferedMedia[]): void {
  for (const { kind, codecs, direction } of media) {
    if (direction === 'recvonly' || direction === 'inactive')
      throw new BadOffer(`The ${kind} section of the offer sends nothing: it is a=${direction}.`);
    if (kind === 'video' && !codecs.some(({ name }) => name === 'H264'))
      throw new BadOffer(
        'Pictures are taken in H.264 alone, and the offer has none. Let the encoder send H.264.',
      );
    if (kind === 'audio' && !codecs.some(({ name }) => name === 'OPUS'))
      throw new BadOffer('Sound is taken in Opus alone, and the offer has none.');
  }
}
