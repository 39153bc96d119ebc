import {
  isRejected,
  type SdpAttribute,
  type SdpCodec,
  SdpError,
  type SdpMedia,
} from '../../protocols/sdp/session-description.ts';
import { writeSdp } from '../../protocols/sdp/write.ts';

/** Codecs of rooms, publishes and viewers, with their `a=rtpmap`. */
const RTPMAPS: ReadonlyMap<string, string> = new Map([
  ['H264/90000', 'H264/90000'],
  ['VP8/90000', 'VP8/90000'],
  ['OPUS/48000/2', 'opus/48000/2'],
  ['RTX/90000', 'rtx/90000'],
]);
/** Attributes for reaching and identifying a client, and for the header extensions of its packets. */
const TRANSPORT: ReadonlySet<string> = new Set([
  ...['ice-ufrag', 'ice-pwd', 'ice-options', 'fingerprint', 'setup', 'extmap'],
]);
/** Attributes that identify the packets of a stream. Janus truncates a longer `a=rid`. */
const SENDER: ReadonlyMap<string, RegExp> = new Map([
  ['ssrc', /^\d+ ./],
  ['ssrc-group', /^(?:SIM|FID) \d/],
  ['rid', /^\S{1,15} send/],
  ['simulcast', /./],
]);
/** Limits in bytes. Janus truncates lines at 512, a session at 1024 and sections at 8192. */
const MAX_BYTES = { line: 500, session: 900, section: 7900 };
const PROTOCOL = 'UDP/TLS/RTP/SAVPF';
/** Discard port, as in all WebRTC descriptions. */
const ANY_PORT = 9;

/** Section of a description for Janus. */
export interface JanusSection {
  /** Section as its author describes it, but with the direction for Janus. */
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
 * Writes a description for Janus: only the attributes it needs, one direction per section, and no address
 * (docs/decisions/whip.md#rewritten-offers).
 *
 * @throws {SdpError} for one that Janus would truncate.
 */
export function writeForJanus(session: readonly SdpAttribute[], sections: readonly JanusSection[]): string {
  const all = [...session, ...sections.flatMap(({ media }) => media.attributes)];
  // The role defaults to active when the client names none (RFC 4145, section 4.1).
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
