import { JanusError } from '../rooms/janus/client.ts';
import { BadOffer, hasLongMids, isBundled, MID_EXTENSION, type Offer, type OfferedMedia } from './offer.ts';

/** What Janus is given of an offer, and what the client is given of its answer. */
export interface JanusOffer {
  sdp: string;
  /** What Janus calls each section. */
  mids: readonly string[];
  /** @throws {BadOffer} where Janus takes less than was offered (RFC 9725, section 4.4.3). */
  answer(sdp: string): string;
}

const HEAD = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0'];
const TRANSPORT = /^a=(?:ice-ufrag|ice-pwd|ice-options|fingerprint|setup|extmap):./;
const SENDER = /^a=(?:ssrc:\d+ |ssrc-group:(?:SIM|FID) \d|rid:\S+ send|simulcast:.)/;
const RTPMAPS: ReadonlyMap<string, string> = new Map([
  ['H264', 'H264/90000'],
  ['OPUS', 'opus/48000/2'],
  ['RTX', 'rtx/90000'],
]);
/** Janus cuts what is longer, wherever that is. */
const MAX = { line: 500, head: 1000, section: 8000 };
/** What the core and the plugins say of a description. */
const INVALID_SDP: ReadonlySet<number> = new Set([437, 446, 447, 465]);

/**
 * Written anew, with what Janus needs and no address (docs/decisions/whip.md#offers-are-written-anew).
 *
 * @throws {BadOffer} for one that is too long.
 */
export function forJanus({ session, media }: Offer): JanusOffer {
  const isRenamed = hasLongMids(media);
  const mids = media.map(({ mid }, index) => (isRenamed ? String(index) : mid));
  const isKept = (line: string) => !isRenamed || !line.endsWith(` ${MID_EXTENSION}`);
  const all = [...session, ...media.flatMap(({ lines }) => lines)];
  // Who does not say begins (RFC 4145, section 4.1).
  const setup = all.some((line) => line.startsWith('a=setup:')) ? [] : ['a=setup:active'];
  const head = [...HEAD, ...session.filter((line) => TRANSPORT.test(line) && isKept(line)), ...setup];
  const sections = media.map((one, index) => sectionOf(one, mids[index] ?? '').filter(isKept));
  if (isTooLong(head, MAX.head) || sections.some((lines) => isTooLong(lines, MAX.section)))
    throw new BadOffer('The offer is longer than can be taken.');
  return {
    sdp: [...head, ...sections.flat(), ''].join('\r\n'),
    mids,
    answer: (sdp) => answerOf(sdp, media, isBundled(session, media)),
  };
}

function isTooLong(lines: readonly string[], limit: number): boolean {
  return lines.some((line) => line.length > MAX.line) || lines.join('\r\n').length > limit;
}

function sectionOf({ kind, codecs, direction, lines }: OfferedMedia, mid: string): string[] {
  const taken = codecs.flatMap(({ payloadType, name, parameters }) => {
    const rtpmap = RTPMAPS.get(name);
    return rtpmap === undefined ? [] : [{ payloadType, rtpmap, parameters }];
  });
  const types = new Set(taken.map(({ payloadType }) => String(payloadType)));
  const isOfTaken = (line: string) => types.has(/^a=rtcp-fb:(\d+) ./.exec(line)?.[1] ?? '');
  return [
    `m=${kind} 9 UDP/TLS/RTP/SAVPF ${[...types].join(' ')}`,
    `a=mid:${mid}`,
    `a=${direction}`,
    'a=rtcp-mux',
    ...lines.filter((line) => TRANSPORT.test(line)),
    ...taken.map(({ payloadType, rtpmap }) => `a=rtpmap:${payloadType} ${rtpmap}`),
    ...taken.flatMap(({ payloadType, parameters }) =>
      parameters === '' ? [] : [`a=fmtp:${payloadType} ${parameters}`],
    ),
    ...lines.filter(isOfTaken),
    ...lines.filter((line) => SENDER.test(line)),
  ];
}

/** With the names that the client has given, and no group where it has none (RFC 9143, section 7.3). */
function answerOf(sdp: string, media: readonly OfferedMedia[], isGrouped: boolean): string {
  const [, refused] = /^m=(\w+) 0 /m.exec(sdp) ?? [];
  if (refused !== undefined) throw new BadOffer(`The ${refused} section of the offer cannot be taken.`);
  let index = 0;
  const lines = sdp.split(/\r\n|\n/).flatMap((line) => {
    if (line.startsWith('a=group:BUNDLE'))
      return isGrouped ? [`a=group:BUNDLE ${media.map(({ mid }) => mid).join(' ')}`] : [];
    if (!line.startsWith('a=mid:')) return [line];
    const mid = media[index]?.mid ?? '';
    index += 1;
    return [`a=mid:${mid}`];
  });
  return lines.join('\r\n');
}

/** @throws {BadOffer} in the place of what Janus says of a description; else the error itself. */
export function blameOffer(error: unknown): never {
  if (error instanceof JanusError && INVALID_SDP.has(error.code))
    throw new BadOffer(`The offer cannot be taken: ${error.message}`);
  throw error;
}
