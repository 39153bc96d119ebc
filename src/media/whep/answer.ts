import { parseSdp } from '../protocols/sdp/parse.ts';
import type { SdpCodec } from '../protocols/sdp/session-description.ts';
import { InvalidOfferError, type OfferedMedia } from '../whip/offer.ts';

/** What one section of an offer is answered with. */
export interface ChosenMedia {
  kind: 'audio' | 'video';
  codec: SdpCodec;
}

type ReceivedMedia = Pick<OfferedMedia, 'kind' | 'codecs' | 'direction'>;

const NAMES = { video: 'H264', audio: 'OPUS' } as const;
const RTPMAPS = { video: 'H264/90000', audio: 'opus/48000/2' } as const;
/** Losses are told, so that Janus sends once more what it still has (RFC 4585, section 6.2.1). */
const FEEDBACK = { video: ['nack', 'nack pli'], audio: [] } as const;

/**
 * What a client of WHEP is sent: H.264 and Opus, which every browser offers.
 *
 * @param codec of the picture, by RFC 6381: what an offer says beside it is a matter of decoding.
 * @throws {InvalidOfferError}
 */
export function chooseMedia(media: readonly ReceivedMedia[], codec: string | null): ChosenMedia[] {
  return media.map(({ kind, codecs, direction }) => {
    if (direction === 'sendonly' || direction === 'inactive')
      throw new InvalidOfferError(
        `The ${kind} section of the offer must receive media, but is a=${direction}.`,
      );
    const fitting = codecs.filter(({ name }) => name === NAMES[kind]);
    const chosen = kind === 'video' ? pictureCodec(fitting, codec) : fitting[0];
    if (chosen === undefined)
      throw new InvalidOfferError(
        kind === 'video'
          ? 'Video is sent as H.264 with packetization-mode=1, which the offer does not include.'
          : 'Audio is sent as Opus, which the offer does not include.',
      );
    return { kind, codec: chosen };
  });
}

/** Of the same profile where the offer has one; browsers decode the others as well as those that they name. */
function pictureCodec(fitting: readonly SdpCodec[], codec: string | null): SdpCodec | undefined {
  const whole = fitting.filter(({ parameters }) => /(?:^|;)\s*packetization-mode=1\b/.test(parameters));
  const profile = codec?.slice('avc1.'.length, 'avc1.'.length + 2).toLowerCase();
  const isOfProfile = ({ parameters }: SdpCodec) =>
    /profile-level-id=([0-9a-f]{2})/i.exec(parameters)?.[1]?.toLowerCase() === profile;
  return whole.find(isOfProfile) ?? whole[0];
}

/**
 * The answer as a peer without WebRTC would give it (RFC 3264), of which Janus makes the one for the browser. All packets
 * come from one port, and those about them go to the next one.
 */
export function plainAnswer(chosen: readonly ChosenMedia[], address: string, port: number): string {
  const sections = chosen.flatMap(({ kind, codec: { payloadType: type, parameters } }) => [
    `m=${kind} ${port} RTP/AVP ${type}`,
    `c=IN IP4 ${address}`,
    `a=rtpmap:${type} ${RTPMAPS[kind]}`,
    ...(parameters === '' ? [] : [`a=fmtp:${type} ${parameters}`]),
    ...FEEDBACK[kind].map((what) => `a=rtcp-fb:${type} ${what}`),
    'a=sendonly',
  ]);
  const head = ['v=0', `o=- 1 1 IN IP4 ${address}`, 's=-', `c=IN IP4 ${address}`, 't=0 0'];
  return [...head, ...sections, ''].join('\r\n');
}

/** Where Janus takes the packets of each section, by the description that it has made for its peer; null where it takes none. */
export function portsOf(description: string): { audio: number | null; video: number | null } {
  const { media } = parseSdp(description);
  const portOf = (wanted: string) => media.find(({ kind }) => kind === wanted)?.port || null;
  return { audio: portOf('audio'), video: portOf('video') };
}
