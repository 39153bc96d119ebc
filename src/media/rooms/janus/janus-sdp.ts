import {
  isRejected,
  type SdpAttribute,
  type SdpCodec,
  SdpError,
  type SdpMedia,
} from '../../protocols/sdp/session-description.ts';
import { writeSdp } from '../../protocols/sdp/write.ts';

/** Codecs of rooms, of publishes and of viewers, as `a=rtpmap` names them. */
const RTPMAPS: ReadonlyMap<string, string> = new Map([
  ['H264/90000', 'H264/90000'],
  ['VP8/90000', 'VP8/90000'],
  ['OPUS/48000/2', 'opus/48000/2'],
  ['RTX/90000', 'rtx/90000'],
]);
/** How a client is reached and identified, and the header extensions of its packets. */
const TRANSPORT: ReadonlySet<string> = new Set([
  ...['ice-ufrag', 'ice-pwd', 'ice-options', 'fingerprint', 'setup', 'extmap'],
]);
/** What packets are told apart by. Janus truncates a longer `a=rid`. */
const SENDER: ReadonlyMap<string, RegExp> = new Map([
  ['ssrc', /^\d+ ./],
  ['ssrc-group', /^(?:SIM|FID) \d/],
  ['rid', /^\S{1,15} send/],
  ['simulcast', /./],
]);
/** Bytes. Janus truncates lines of 512, a session of 1024 and sections of 8192. */
const MAX_BYTES = { line: 500, session: 900, section: 7900 };
const PROTOCOL = 'UDP/TLS/RTP/SAVPF';
/** The discard port, as in all descriptions of WebRTC. */
const ANY_PORT = 9;

/** One section of a description for Janus. */
export interface JanusSection {
  /** As its author describes it. The direction is the one that Janus is to see. */
  media: SdpMedia;
  mid: string;
  codecs: readonly SdpCodec[];
}

/** Returns those codecs that have one of the names, and retransmission (RFC 4588) of them. */
export function knownCodecs(codecs: readonly SdpCodec[], names: readonly string[]): SdpCodec[] {
  const media = codecs.filter((codec) => names.includes(codec.name) && rtpmapOf(codec) !== undefined);
  const types = new Set(media.map(({ payloadType }) => payloadType));
  const isRepair = ({ name, parameters }: SdpCodec) =>
    name === 'RTX' && types.has(Number(/^apt=(\d{1,3})\b/.exec(parameters)?.[1]));
  return codecs.filter((codec) => types.has(codec.payloadType) || (isRepair(codec) && rtpmapOf(codec)));
}

/**
 * Writes a description for Janus: what it needs, one direction per section, and no address
 * (docs/decisions/whip.md#rewritten-offers).
 *
 * @throws {SdpError} for one that Janus would truncate.
 */
export function writeForJanus(session: readonly SdpAttribute[], sections: readonly JanusSection[]): string {
  const all = [...session, ...sections.flatMap(({ media }) => media.attributes)];
  // A client that does not say which role it takes is active (RFC 4145, section 4.1).
  const setup = all.some(({ name }) => name === 'setup') ? [] : [{ name: 'setup', value: 'active' }];
  const attributes = [...session.filter(isTransport), ...setup];
  const media = sections.map(forJanus);
  if (
    isTooLong(attributes, MAX_BYTES.session) ||
    media.some((one) => isTooLong(one.attributes, MAX_BYTES.section))
  )
    throw new SdpError('The session description is too long.');
  return writeSdp({ attributes, media });
}

function forJanus({ media, mid, codecs }: JanusSection): SdpMedia {
  const formats = codecs.map(({ payloadType }) => String(payloadType));
  const isOff = isRejected(media) || formats.length === 0;
  return {
    kind: media.kind,
    port: isOff ? 0 : ANY_PORT,
    protocol: PROTOCOL,
    formats: formats.length === 0 ? ['0'] : formats,
    direction: isOff ? 'inactive' : (media.direction ?? 'sendrecv'),
    attributes: [
      { name: 'mid', value: mid },
      { name: 'rtcp-mux', value: '' },
      ...media.attributes.filter(isTransport),
      ...codecs.map((codec) => ({ name: 'rtpmap', value: `${codec.payloadType} ${rtpmapOf(codec)}` })),
      ...codecs.flatMap(({ payloadType, parameters }) =>
        parameters === '' ? [] : [{ name: 'fmtp', value: `${payloadType} ${parameters}` }],
      ),
      ...media.attributes.filter(({ name, value }) => name === 'rtcp-fb' && isOf(value, formats)),
      ...media.attributes.filter(({ name, value }) => SENDER.get(name)?.test(value) === true),
    ],
  };
}

function rtpmapOf({ name, clockRate, channels }: SdpCodec): string | undefined {
  return RTPMAPS.get(`${name}/${clockRate}${channels === 1 ? '' : `/${channels}`}`);
}

const isTransport = ({ name, value }: SdpAttribute) => TRANSPORT.has(name) && value !== '';

const isOf = (value: string, formats: readonly string[]) =>
  formats.includes(/^(\d{1,3}) ./.exec(value)?.[1] ?? '');

function isTooLong(attributes: readonly SdpAttribute[], maxBytes: number): boolean {
  const lengths = attributes.map(({ name, value }) => Buffer.byteLength(`a=${name}:${value}\r\n`));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return total > maxBytes || lengths.some((length) => length > MAX_BYTES.line);
}
