import { parseSdp } from '../protocols/sdp/parse.ts';
import type { SdpCodec } from '../protocols/sdp/session-description.ts';
import { InvalidOfferError, type OfferedMedia } from '../whip/offer.ts';

/** Codec chosen for one section of an offer. */
export interface ChosenMedia {
  kind: 'audio' | 'video';
  codec: SdpCodec;
}

type ReceivedMedia = Pick<OfferedMedia, 'kind' | 'codecs' | 'direction'>;

const NAMES = { video: 'H264', audio: 'OPUS' } as const;
const RTPMAPS = { video: 'H264/90000', audio: 'opus/48000/2' } as const;
/** RTCP feedback reports losses, so that Janus retransmits buffered packets (RFC 4585, section 6.2.1). */
const FEEDBACK = { video: ['nack', 'nack pli'], audio: [] } as const;

/**
 * Chooses the media for a WHEP client: H.264 and Opus, which every browser offers.
 *
 * @param codec of the video, by RFC 6381: the other codecs of an offer only describe decoding.
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

/** Returns a codec of the same profile where the offer has one; browsers decode other profiles as well. */
function pictureCodec(fitting: readonly SdpCodec[], codec: string | null): SdpCodec | undefined {
  const whole = fitting.filter(({ parameters }) => /(?:^|;)\s*packetization-mode=1\b/.test(parameters));
  const profile = codec?.slice('avc1.'.length, 'avc1.'.length + 2).toLowerCase();
  const isOfProfile = ({ parameters }: SdpCodec) =>
    /profile-level-id=([0-9a-f]{2})/i.exec(parameters)?.[1]?.toLowerCase() === profile;
  return whole.find(isOfProfile) ?? whole[0];
}

/**
 * Builds the answer of a peer without WebRTC (RFC 3264), from which Janus builds the one for the browser. All
 * packets come from one port, and RTCP goes to the next one.
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

/**
 * Returns the ports on which Janus receives each section, from the description it created; null for an
 * inactive section.
 */
export function portsOf(description: string): { audio: number | null; video: number | null } {
  const { media } = parseSdp(description);
  const portOf = (wanted: string) => media.find(({ kind }) => kind === wanted)?.port || null;
  return { audio: portOf('audio'), video: portOf('video') };
}
